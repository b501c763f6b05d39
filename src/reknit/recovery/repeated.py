"""Repeated damage: `Strike`, a further loss while the swarm is still recovering, and the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reknit.base.errors import InvalidParameter
from reknit.base.types import IntArray
from reknit.base.values import is_finite, is_whole, real_numbers
from reknit.recovery.runs import Run
from reknit.swarm.scenario import Scenario
from reknit.swarm.validation import rows


@dataclass(frozen=True)
class Strike:
    """A further loss: a number of random UAVs, chosen ones, or all within a disc (a ball in 3-D).

    Exactly one of `count`, `uavs` and `centre_m` with `radius_m` is given.

    Parameters
    ----------
    time_s
        When, in seconds from the first damage.
    count
        How many survivors, drawn at random; fewer than there are at that time.
    uavs
        Ids (or names) of the UAVs that are lost; those lost before count no more.
    centre_m, radius_m
        Everybody within this distance of this point, in metres, at that time.
    """

    time_s: float
    count: int | None = None
    uavs: tuple[int | str, ...] = ()
    centre_m: tuple[float, ...] | None = None
    radius_m: float | None = None

    def __post_init__(self) -> None:
        if not (is_finite(self.time_s) and self.time_s >= 0):
            raise InvalidParameter("strike.time_s", self.time_s, "a number of at least 0")
        given: object = self.uavs
        if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
            raise InvalidParameter("strike.uavs", self.uavs, "a list of ids or names")
        has_disc = self.centre_m is not None or self.radius_m is not None
        if (self.count is not None) + bool(self.uavs) + has_disc != 1:
            raise InvalidParameter("strike", self, "one of count, uavs, centre_m with radius_m")
        if self.count is not None and not (is_whole(self.count) and self.count >= 1):
            raise InvalidParameter("strike.count", self.count, "a whole number of at least 1")
        if has_disc:
            self._check_disc()

    def _check_disc(self) -> None:
        centre = real_numbers(self.centre_m)
        if centre is None or centre.shape not in ((2,), (3,)) or not np.isfinite(centre).all():
            raise InvalidParameter("strike.centre_m", self.centre_m, "two or three finite numbers")
        if self.radius_m is None or not (is_finite(self.radius_m) and self.radius_m >= 0):
            raise InvalidParameter("strike.radius_m", self.radius_m, "a number of at least 0")

    def lost(self, scenario: Scenario, rng: np.random.Generator) -> IntArray:
        """Which survivors of a swarm as it is now are lost.

        Parameters
        ----------
        scenario
            The swarm at the time of the strike, with everybody lost before.
        rng
            Draws the UAVs of a `count`; not asked otherwise.

        Returns
        -------
        IntArray
            (k,) ids of the UAVs that are lost by it; at least one survivor is not among them.

        Raises
        ------
        InvalidParameter
            If nobody would be left, or UAVs or centre do not fit the scenario.
        """
        survivors = scenario.survivors
        if self.count is not None:
            if self.count >= len(survivors):
                allowed = f"fewer than the {len(survivors)} survivors at {self.time_s:g} s"
                raise InvalidParameter("strike.count", self.count, allowed)
            return rng.permutation(survivors)[: self.count]
        if self.uavs:
            lost = np.intersect1d(
                rows("strike.uavs", self.uavs, scenario.uavs, scenario.names), survivors
            )
        else:
            centre = np.asarray(self.centre_m)
            if len(centre) != scenario.dim:
                raise InvalidParameter("strike.centre_m", self.centre_m, f"{scenario.dim} numbers")
            away_m = np.linalg.norm(scenario.survivor_positions - centre, axis=1)
            lost = survivors[away_m <= self.radius_m]
        if len(lost) == len(survivors):
            named = "strike.uavs" if self.uavs else "strike.radius_m"
            value = self.uavs if self.uavs else self.radius_m
            raise InvalidParameter(named, value, "a strike that leaves at least one survivor")
        return lost


@dataclass(frozen=True, eq=False)
class RepeatedRun:
    """A recovery under further losses.

    Parameters
    ----------
    phases
        The run after the first damage and after every strike; all but the last may have been cut
        short by the next strike.
    begins_s
        When each phase began, seconds from the first damage.
    reconnected_at_s
        When the swarm was connected for good, seconds from the first damage; None if not within
        the allowed time.
    connected_share
        Share of the time, up to that instant or the allowed time, during which the survivors were
        connected.
    """

    phases: tuple[Run, ...]
    begins_s: tuple[float, ...]
    reconnected_at_s: float | None
    connected_share: float

    @property
    def replans(self) -> int:
        """How often the planner was asked again."""
        return len(self.phases) - 1

    @property
    def compute_s(self) -> float:
        """Computing time of all phases together, seconds."""
        return sum(run.compute_s for run in self.phases)
