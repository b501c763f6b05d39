"""The survivors as the checker sees them, straight from the scenario's arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reknit.base.errors import InvalidProof
from reknit.base.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from reknit.swarm.scenario import Scenario

_LEAST, _MOST = 2.0**-400, 2.0**400
"""Ranges and speeds outside this could make a distance or a time underflow or overflow in ways
that the proofs do not allow for; nothing is proved about such swarms."""


@dataclass(frozen=True, eq=False)
class Survivors:
    """What a proof is about.

    Attributes
    ----------
    start
        (n, dim) positions p_i at t_0, metres.
    speeds
        (n,) v_i, metres per second; 0 for anchors.
    range_m
        d, the length that a planned link may have.
    lost
        Row of a survivor whose loss is supposed, or None.
    may_lose_one
        Whether a (further) loss may be supposed: the links must connect whoever is lost.
    """

    start: FloatArray
    speeds: FloatArray
    range_m: float
    lost: int | None = None
    may_lose_one: bool = False

    @staticmethod
    def of(scenario: Scenario, lost: int | None = None) -> Survivors:
        """The survivors of a scenario; `InvalidProof` where nothing can be proved about them."""
        rows = survivor_rows(scenario)
        speeds = np.asarray(scenario.max_speed_mps)[rows]
        speeds = np.where(np.isin(rows, np.asarray(scenario.anchors)), 0.0, speeds)
        positions = np.asarray(scenario.positions)[rows]
        is_redundant = scenario.connectivity >= 2 and len(rows) >= 3
        swarm = Survivors(
            positions, speeds, link_limit_m(scenario), lost, is_redundant and lost is None
        )
        values = np.append(speeds[speeds > 0.0], swarm.range_m)
        if values.min() < _LEAST or values.max() > _MOST:
            raise InvalidProof(
                "nothing can be proved about ranges and speeds beyond 2^400 or below 2^-400"
            )
        if lost is None:
            return swarm
        if not is_redundant:
            raise InvalidProof("the certificate supposes a loss that the scenario does not")
        if isinstance(lost, bool) or not isinstance(lost, int) or not 0 <= lost < len(rows):
            raise InvalidProof(
                f"the certificate supposes the loss of survivor {lost!r}; there is none"
            )
        return swarm

    @property
    def count(self) -> int:
        """Number of survivors, the supposed loss included."""
        return len(self.start)

    @property
    def present(self) -> BoolArray:
        """(n,) everybody but the supposed loss."""
        present = np.ones(self.count, dtype=bool)
        if self.lost is not None:
            present[self.lost] = False
        return present

    def check_links(self, links: IntArray) -> None:
        """Refuse rows that are no pairs ``i < j`` of survivors, or that use the supposed loss."""
        left, right = links[:, 0], links[:, 1]
        wrong = (left < 0) | (left >= right) | (right >= self.count)
        if wrong.any():
            pair = tuple(links[np.flatnonzero(wrong)[0]].tolist())
            raise InvalidProof(f"the certificate names the link {pair}, which cannot be")
        if self.lost is not None and (links == self.lost).any():
            raise InvalidProof(f"the certificate uses survivor {self.lost}, which it supposes lost")


def survivor_rows(scenario: Scenario) -> IntArray:
    """Ids of the UAVs that are not destroyed, ascending."""
    present = np.ones(len(scenario.positions), dtype=bool)
    present[np.asarray(scenario.destroyed, dtype=np.int64)] = False
    return np.flatnonzero(present)


def link_limit_m(scenario: Scenario) -> float:
    """The length that a planned link may have, metres, from what the scenario says of links.

    ``d = min(d_tr (1 - margin), d_tr sqrt(Q / m)) - 3 sqrt(2) sigma``, where a Gamma variable of
    shape m and mean 1, the fading, exceeds ``Q / m`` with the demanded reliability. Written out
    here again, so that a slip in what planners go by is not a slip of the checker too.
    """
    limit_m = scenario.radio_range_m * (1.0 - scenario.link_margin)
    if scenario.link_reliability is not None and scenario.radio is not None:
        from scipy.special import gammainccinv

        shape = scenario.radio.fading_shape
        quantile = float(gammainccinv(shape, scenario.link_reliability))
        limit_m = min(limit_m, scenario.radio_range_m * math.sqrt(quantile / shape))
    return limit_m - 3.0 * math.sqrt(2.0) * scenario.position_sigma_m


def whole_numbers(name: str, value: object, columns: int) -> IntArray:
    """An (k, columns) int64 array, or `InvalidProof`."""
    if type(value) is not np.ndarray or value.dtype != np.int64:
        raise InvalidProof(f"the certificate's {name} are not int64 numbers")
    if value.ndim != 2 or value.shape[1] != columns:
        raise InvalidProof(f"the certificate's {name} are not rows of {columns} numbers")
    return value


def finite_numbers(name: str, value: object, shape: tuple[int, ...]) -> FloatArray:
    """A finite float64 array of a shape, none of its numbers absurdly large or all of them
    absurdly small; or `InvalidProof`.
    """
    if type(value) is not np.ndarray or value.dtype != np.float64:
        raise InvalidProof(f"the certificate's {name} are not float64 numbers")
    if value.shape != shape:
        raise InvalidProof(f"the certificate's {name} have shape {value.shape}, not {shape}")
    top = float(np.abs(value).max(initial=0.0))
    if not np.isfinite(top) or top > 1e100 or 0.0 < top < 1e-100:
        raise InvalidProof(f"the certificate's {name} are not finite or badly scaled ({top:g})")
    return value
