"""`recover_repeatedly`: `operate` with full knowledge at every instant, under further strikes.

Everybody reports at every step and is told at once (the global channel without delay). At every
strike the survivors are where their flight has brought them; the planner sees that swarm (the lost
UAVs at the places where they were lost) and plans or steers anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reknit.base.errors import InvalidParameter
from reknit.base.progress import Progress, silent
from reknit.base.types import FloatArray
from reknit.base.values import check_seed
from reknit.flight.flight import Flight
from reknit.flight.simulator import STEP_S
from reknit.knowledge.channels.station import Station
from reknit.knowledge.mission import Mission
from reknit.knowledge.policies.protocols import Briefing, Orders, View
from reknit.knowledge.simulator import Simulation
from reknit.knowledge.strikes import Damage, in_order, struck_swarm
from reknit.recovery.repeated import RepeatedRun, Strike
from reknit.recovery.runs import Run, recover
from reknit.swarm.scenario import Scenario, check_scenario


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
    """Recover from a scenario while further strikes take survivors; see `recover` and `Strike`.

    This is `operate` over the global channel with reports at every instant and no latency, by a
    policy that flies what `recover` does after every strike.

    Parameters
    ----------
    scenario
        The swarm at the first damage and what is demanded of its recovery.
    planner
        A name from `reknit.planners()`, combined by plus signs.
    strikes
        The further losses, in any order.
    seed
        Of the UAVs that strikes draw, and of the planner.
    budget_s
        Wall time of each planning, seconds; None: no limit.
    max_acceleration_mps2
        Acceleration limit, metres per second squared; None neglects inertia, as the paper does.
    progress
        Told how much of each phase is done (0 to 1) and what is being done.
    parameters
        The planner's own.

    Returns
    -------
    RepeatedRun
        A run for the first damage and one for every strike.
    """
    check_scenario(scenario)
    check_seed(seed)
    settings = {
        "seed": seed,
        "budget_s": budget_s,
        "max_acceleration_mps2": max_acceleration_mps2,
        "progress": progress,
        **parameters,
    }
    order = in_order(strikes)
    times_s = [strike.time_s for strike in order]
    for time_s in times_s:
        if time_s > scenario.allowed_time_s:
            allowed = f"at most {scenario.allowed_time_s:g} s, the time that the recovery may take"
            raise InvalidParameter("strike.time_s", time_s, allowed)
    policy = _Recovering(scenario, planner, times_s, settings)
    channel = ("global", Station())
    end_s = max(times_s, default=0.0) + STEP_S
    flown = Simulation(Mission(scenario), (str(planner), policy), channel, order, seed, end_s)
    for _ in flown.steps("end"):
        pass
    first = Damage(0.0, scenario.positions, scenario.destroyed)
    damages = [first, *flown.damages]
    phases = [policy.run_of(damage) for damage in damages]
    return _summary(scenario, phases, [damage.time_s for damage in damages])


class _Recovering:
    """Flies what `recover` does with the swarm as the station tells it, anew at every strike,
    also at one that takes nobody.
    """

    def __init__(
        self, scenario: Scenario, planner: str, times_s: list[float], settings: dict[str, Any]
    ) -> None:
        self._scenario, self._planner, self._settings = scenario, planner, settings
        self._times_s = times_s
        self._runs: dict[tuple[float, bytes], Run] = {}
        self.replans = 0

    def brief(self, briefing: Briefing) -> _Recovering:
        return self

    def promised_s(self, briefing: Briefing) -> None:
        return None

    def act(self, view: View) -> Orders:
        belief, memory = view.belief, view.memory
        lost = np.flatnonzero(np.isfinite(belief.dead_s))
        struck = sum(time_s <= view.now_s for time_s in self._times_s)
        if memory.get("struck") != struck:
            run = self.run_of(Damage(view.now_s, belief.positions, lost))
            memory.update(struck=struck, begin_s=view.now_s, flight=run.flight)
            memory["course"] = lambda after_s: position_at(run.flight, after_s)
        is_over = view.now_s - memory["begin_s"] > memory["flight"].duration_s
        return Orders(course=memory["course"], is_at_rest=is_over)

    def run_of(self, damage: Damage) -> Run:
        """The recovery from a damage; made once."""
        key = damage.time_s, damage.destroyed.tobytes()
        if key not in self._runs:
            left_s = self._scenario.allowed_time_s - damage.time_s
            now = struck_swarm(self._scenario, damage.positions, damage.destroyed, left_s)
            self._runs[key] = recover(now, self._planner, **self._settings)
            self.replans += 1
        return self._runs[key]


def position_at(flight: Flight, time_s: float) -> FloatArray:
    """(survivors, dim) where a flight is at a time. Who has reconnected holds its position."""
    after = int(np.searchsorted(flight.times_s, time_s))
    if after >= len(flight.times_s):
        return np.asarray(flight.positions[-1])
    if after == 0:
        return np.asarray(flight.positions[0])
    low_s, high_s = flight.times_s[after - 1], flight.times_s[after]
    part = (time_s - low_s) / (high_s - low_s)
    return np.asarray((1 - part) * flight.positions[after - 1] + part * flight.positions[after])


def _summary(scenario: Scenario, phases: list[Run], begins_s: list[float]) -> RepeatedRun:
    """When it was over, and for which share of the time the swarm was connected."""
    connected_s = 0.0
    for run, begin_s, end_s in zip(phases, begins_s, begins_s[1:], strict=False):
        at = run.flight.reconnected_at_s
        phase_s = min(end_s, scenario.allowed_time_s) - begin_s
        connected_s += 0.0 if at is None else max(0.0, phase_s - at)
    final = phases[-1].flight.reconnected_at_s
    total = None if final is None else begins_s[-1] + final
    if total is not None and total > scenario.allowed_time_s:
        total = None
    span_s = scenario.allowed_time_s if total is None else total
    share = 1.0 if span_s == 0 else min(1.0, connected_s / span_s)
    return RepeatedRun(tuple(phases), tuple(begins_s), total, share)
