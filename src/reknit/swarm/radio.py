"""The radio model of Section III-A: Friis path loss with Gamma (Nakagami-m) fading."""

from __future__ import annotations

import math
from dataclasses import dataclass

from reknit.base.errors import InvalidRadio
from reknit.base.values import is_finite

DEFAULT_RANGE_M = 120.0
"""d_tr of a scenario that names neither a range nor a radio, and of the radio by default."""

_LONGEST_M = 1e100
"""Of a link: its square is still a number."""


@dataclass(frozen=True)
class Radio:
    """A line-of-sight radio link between two UAVs.

    Received power (Section III-A): ``P = P_0 G_tx G_rx (lambda_c / (4 pi d))^2 |h_0|^2``.
    A link exists when the received power is at least the sensitivity tau; the paper's
    inequality (dtr) reads the other way round, which is a slip.

    ``|h_0|^2`` is Gamma distributed with shape `fading_shape` (the m of Nakagami-m) and mean
    one. `range_m` is the transmission range d_tr at the mean of the fading.

    Parameters
    ----------
    transmit_power_w
        P_0, watts.
    transmit_gain, receive_gain
        G_tx and G_rx of the antennas, as factors (not dB).
    wavelength_m
        lambda_c of the carrier, metres.
    sensitivity_w
        tau, the least received power of a link, watts. The default gives a range of
        `DEFAULT_RANGE_M`, 120 m.
    fading_shape
        m of the fading; the larger, the less it varies.
    """

    transmit_power_w: float = 0.1
    transmit_gain: float = 1.0
    receive_gain: float = 1.0
    wavelength_m: float = 0.125
    sensitivity_w: float = 0.1 * (0.125 / (4 * math.pi * DEFAULT_RANGE_M)) ** 2
    fading_shape: float = 3.0

    def __post_init__(self) -> None:
        for field in self.__dataclass_fields__:
            value = getattr(self, field)
            if not (is_finite(value) and value > 0):
                raise InvalidRadio(f"radio.{field}", value, "a finite number above 0")
            # Products of whole numbers or of single precision overflow otherwise than float64's.
            object.__setattr__(self, field, float(value))
        if not (math.isfinite(self.range_m) and self.range_m > 0):
            raise InvalidRadio("radio.range_m", self.range_m, "values that give a finite range")

    @property
    def range_m(self) -> float:
        """d_tr in metres: where (dtr) holds with equality at ``|h_0|^2 = 1``."""
        budget = self.transmit_power_w * self.transmit_gain * self.receive_gain / self.sensitivity_w
        return self.wavelength_m / (4 * math.pi) * math.sqrt(budget)

    def outage_probability(self, distance_m: float) -> float:
        """Probability that a link of this length is down.

        ``P(|h_0|^2 < (d / d_tr)^2) = gammainc(m, m (d / d_tr)^2)`` for a Gamma variable of
        shape m and mean one.

        Parameters
        ----------
        distance_m
            Length of the link, metres.

        Returns
        -------
        float
            From 0 to 1.

        Raises
        ------
        InvalidRadio
            If the distance is negative, no number or too large to be squared.
        """
        from scipy.special import gammainc

        if not (is_finite(distance_m) and 0 <= distance_m <= _LONGEST_M):
            raise InvalidRadio("distance_m", distance_m, f"a number from 0 to {_LONGEST_M:g}")
        ratio = (distance_m / self.range_m) ** 2
        return float(gammainc(self.fading_shape, self.fading_shape * ratio))

    def range_at_reliability_m(self, reliability: float) -> float:
        """The longest link that is up with at least this probability.

        The inverse of `outage_probability`: ``d = d_tr sqrt(gammaincinv(m, 1 - q) / m)``.

        Parameters
        ----------
        reliability
            q, the probability that the link is up, between 0 and 1.

        Returns
        -------
        float
            Length of the link, metres.

        Raises
        ------
        InvalidRadio
            If the reliability is not between 0 and 1.
        """
        from scipy.special import gammainccinv

        if not (is_finite(reliability) and 0 < reliability < 1):
            raise InvalidRadio("reliability", reliability, "a probability between 0 and 1")
        quantile = float(gammainccinv(self.fading_shape, reliability))
        return self.range_m * math.sqrt(quantile / self.fading_shape)
