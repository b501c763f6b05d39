"""Repeated damage: further UAVs are lost while the swarm is still recovering.

At every strike the survivors are where their flight has brought them; the planner sees that swarm
(the lost UAVs at the places where they were lost) and plans or steers anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reknit.base.errors import InvalidParameter
from reknit.base.progress import Progress, silent
from reknit.base.types import FloatArray, IntArray
from reknit.recovery.planning import check_seed
from reknit.recovery.runs import Run, recover
from reknit.swarm.scenario import Scenario, check_scenario
from reknit.swarm.validation import rows


@dataclass(frozen=True)
class Strike:
    """A further loss: a number of random UAVs, chosen ones, or all within a disc (a ball in 3-D).

    Parameters
    ----------
    time_s
        When, in seconds from the first damage.
    count
        How many survivors, drawn at random; one always stays.
    uavs
        Ids (or names) of the UAVs that are lost; those lost before count no more.
    centre_m, radius_m
        Everybody within this distance of this point, in metres, at that time.

    Exactly one of `count`, `uavs` and `centre_m` with `radius_m` is given.
    """

    time_s: float
    count: int | None = None
    uavs: tuple[int | str, ...] = ()
    centre_m: tuple[float, ...] | None = None
    radius_m: float | None = None

    def __post_init__(self) -> None:
        if not (_is_number(self.time_s) and self.time_s >= 0):
            raise InvalidParameter("strike.time_s", self.time_s, "a number of at least 0")
        given: object = self.uavs
        if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
            raise InvalidParameter("strike.uavs", self.uavs, "a list of ids or names")
        has_disc = self.centre_m is not None or self.radius_m is not None
        if (self.count is not None) + bool(self.uavs) + has_disc != 1:
            raise InvalidParameter("strike", self, "one of count, uavs, centre_m with radius_m")
        is_whole = isinstance(self.count, (int, np.integer)) and not isinstance(self.count, bool)
        if self.count is not None and not (is_whole and self.count >= 1):
            raise InvalidParameter("strike.count", self.count, "a whole number of at least 1")
        if has_disc:
            self._check_disc()

    def _check_disc(self) -> None:
        centre = self.centre_m
        is_list = isinstance(centre, (Sequence, np.ndarray))
        if centre is None or not is_list or len(centre) not in (2, 3) or not _are_numbers(centre):
            raise InvalidParameter("strike.centre_m", centre, "two or three finite numbers")
        if self.radius_m is None or not (_is_number(self.radius_m) and self.radius_m >= 0):
            raise InvalidParameter("strike.radius_m", self.radius_m, "a number of at least 0")

    def lost(self, scenario: Scenario, rng: np.random.Generator) -> IntArray:
        """Which survivors of a swarm as it is now are lost; one always stays."""
        survivors = scenario.survivors
        if self.count is not None:
            return rng.permutation(survivors)[: min(self.count, len(survivors) - 1)]
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
        return lost if len(lost) < len(survivors) else lost[1:]


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        return False
    return bool(-np.inf < value < np.inf)


def _are_numbers(values: Iterable[object]) -> bool:
    return all(_is_number(value) for value in values)


@dataclass(frozen=True, eq=False)
class RepeatedRun:
    """A recovery under further losses.

    Parameters
    ----------
    phases
        The run after the first damage and after every strike; all but the last may have been cut
        short by the next strike.
    begins_s
        When each phase began, counted from the first damage.
    reconnected_at_s
        When the swarm was connected for good; None if not within the allowed time.
    replans
        How often the planner was asked again.
    connected_share
        Share of the time, up to that instant or the allowed time, during which the survivors were
        connected.
    compute_s
        Computing of all phases together.
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
        """Computing time of all phases together."""
        return sum(run.compute_s for run in self.phases)


def recover_repeatedly(
    scenario: Scenario,
    planner: str,
    strikes: Sequence[Strike],
    *,
    seed: int = 0,
    budget_s: float | None = None,
    max_acceleration_mps2: float | None = None,
    progress: Progress = silent,
    **parameters: Any,
) -> RepeatedRun:
    """Recover from a scenario while further strikes take survivors; see `recover` and `Strike`."""
    check_scenario(scenario)
    check_seed(seed)
    if not isinstance(strikes, Sequence) or not all(isinstance(each, Strike) for each in strikes):
        raise InvalidParameter("strikes", strikes, "a list of reknit.Strike")
    order = sorted(strikes, key=lambda strike: strike.time_s)
    rng = np.random.default_rng([seed, 1])
    ends_s = [strike.time_s for strike in order] + [np.inf]
    positions, destroyed = scenario.positions, scenario.destroyed
    phases: list[Run] = []
    begins_s: list[float] = []
    begin_s = connected_s = 0.0
    for number, end_s in enumerate(ends_s):
        left_s = max(0.0, scenario.allowed_time_s - begin_s)
        now = _continued(scenario, positions, destroyed, left_s)
        run = recover(
            now,
            planner,
            seed=seed,
            budget_s=budget_s,
            max_acceleration_mps2=max_acceleration_mps2,
            progress=progress,
            **parameters,
        )
        phases.append(run)
        begins_s.append(begin_s)
        at = run.flight.reconnected_at_s
        phase_s = min(end_s, scenario.allowed_time_s) - begin_s
        if number < len(order):
            connected_s += 0.0 if at is None else max(0.0, phase_s - at)
            positions = _positions_at(now, run, max(0.0, end_s - begin_s))
            struck = _continued(scenario, positions, destroyed, left_s)
            destroyed = np.union1d(destroyed, order[number].lost(struck, rng))
            begin_s = end_s
    final = phases[-1].flight.reconnected_at_s
    total = None if final is None else begins_s[-1] + final
    if total is not None and total > scenario.allowed_time_s:
        total = None
    span_s = scenario.allowed_time_s if total is None else total
    share = 1.0 if span_s == 0 else min(1.0, connected_s / span_s)
    return RepeatedRun(tuple(phases), tuple(begins_s), total, share)


def _continued(
    scenario: Scenario, positions: FloatArray, destroyed: IntArray, left_s: float
) -> Scenario:
    """The same scenario with the swarm as it is now."""
    return replace(
        scenario,
        positions=positions,
        destroyed=destroyed,
        anchors=np.setdiff1d(scenario.anchors, destroyed),
        allowed_time_s=left_s,
    )


def _positions_at(scenario: Scenario, run: Run, time_s: float) -> FloatArray:
    """All UAVs at a time of a phase. A swarm that has reconnected holds its positions."""
    flight = run.flight
    positions = scenario.positions.copy()
    after = int(np.searchsorted(flight.times_s, time_s))
    if after >= len(flight.times_s):
        here = flight.positions[-1]
    elif after == 0:
        here = flight.positions[0]
    else:
        low_s, high_s = flight.times_s[after - 1], flight.times_s[after]
        part = (time_s - low_s) / (high_s - low_s)
        here = (1 - part) * flight.positions[after - 1] + part * flight.positions[after]
    positions[scenario.survivors] = here
    return positions
