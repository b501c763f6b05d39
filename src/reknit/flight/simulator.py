"""`fly`: simulate a recovery step by step and note the instant of reconnection."""

from __future__ import annotations

import math

import numpy as np

from reknit.base.context import Cancel, never
from reknit.base.errors import InvalidParameter
from reknit.base.progress import Progress, silent
from reknit.base.types import FloatArray, IntArray
from reknit.base.values import check_callable, check_known, is_finite
from reknit.flight.controller import Controller
from reknit.flight.flight import Flight
from reknit.flight.motion import GentleFlight, Leg, Motion, SteeredFlight, StraightFlight
from reknit.flight.reconnection import first_connected_s
from reknit.flight.separation import closest_approach, closest_at_rest
from reknit.network.connectivity import is_k_connected
from reknit.network.emst import longest_edge_m
from reknit.network.links import count_subnets, links, subnets
from reknit.plans.plan import Plan
from reknit.swarm.demands import check_kept
from reknit.swarm.objective import planned_time_s
from reknit.swarm.scenario import Scenario, check_scenario

STEP_S = 0.1
"""The paper's time step."""

DEMANDS_KEPT = ("allowed time", "link length", "separation", "anchors", "connectivity")
"""Demands that decide whether a flight counts as reconnected."""

UNTIL = ("reconnected", "arrived", "allowed")
_MAX_STEPS = 1_000_000
_SHORTEST_STEP_S = 1e-4
_LEAST_ACCELERATION_MPS2 = 1e-3
"""With less than these a flight would take next to for ever to compute."""

_MOST = 1e6
"""Of the same: no swarm is that fast, and larger ones would overflow."""

_LONG_QUIET_S = 50.0
_QUIET_SHARE = 0.01
"""Share of a long quiet time that one step may cover: controllers still see the swarm often
enough, and a day of empty flight costs some thousand steps."""


def fly(
    scenario: Scenario,
    plan: Plan | Controller,
    *,
    until: str = "reconnected",
    step_s: float = STEP_S,
    max_acceleration_mps2: float | None = None,
    progress: Progress = silent,
    cancel: Cancel = never,
) -> Flight:
    """Fly a plan, or let a controller steer.

    The swarm counts as reconnected once it is what the scenario demands: connected (k-connected)
    by links of at most the planned length, with no two UAVs closer than the separation. So no
    flight is reconnected before a bound on plans.

    Parameters
    ----------
    scenario
        Where everybody starts, and how fast each may fly.
    plan
        A plan of this scenario, or a controller that is asked at every step.
    until
        "reconnected": end at the exact instant of reconnection, or at the allowed time (or once
        all have arrived) if there is none; "arrived": go on until every survivor is at its
        target; "allowed": fly the whole allowed time.
    step_s
        Time between two frames, seconds. While no link that is missing can close for hundreds
        of steps, frames are farther apart: nothing happens between them.
    max_acceleration_mps2
        None neglects inertia, as the paper does.
    progress
        Told how much is done (0 to 1) and what is being done.
    cancel
        Asked at every step; once it returns true the flight ends there.

    Returns
    -------
    Flight
        Where everybody was at every frame, and when the swarm was whole.
    """
    _check(scenario, plan, until, step_s, max_acceleration_mps2)
    check_callable(progress=progress, cancel=cancel)
    clock = _Clock(step_s, None if until == "arrived" else scenario.allowed_time_s)
    motion = _motion(scenario, plan, max_acceleration_mps2)
    recorder = _Recorder(scenario.survivor_positions, scenario.radio_range_m)
    watch = _Watch(scenario)
    watch.look(0.0, scenario.survivor_positions, recorder.subnets[-1])
    while not (clock.is_over or (until != "allowed" and motion.is_over) or cancel()):
        if until == "reconnected" and watch.reconnected_at_s is not None:
            break
        begin_s = clock.time_s
        progress(min(1.0, begin_s / max(scenario.allowed_time_s, STEP_S)), "flying")
        leg = motion.next_leg(clock.tick(watch.quiet_s(begin_s)))
        within_leg_s = watch.look_inside(begin_s, leg)
        if until == "reconnected" and within_leg_s is not None:
            recorder.add(leg.until(within_leg_s), begin_s + within_leg_s)
            watch.look_at_end(clock.time_s, leg)
            break
        recorder.add(leg, clock.time_s)
        watch.look(clock.time_s, leg.end, recorder.subnets[-1])
    while watch.seen_at_step_s is None and not (clock.is_over or motion.is_over or cancel()):
        leg = motion.next_leg(clock.tick(watch.quiet_s(clock.time_s)))
        watch.look_at_end(clock.time_s, leg)
    return recorder.flight(watch, scenario.allowed_time_s)


class _Clock:
    """Counts steps, so that no rounding error adds up."""

    def __init__(self, step_s: float, end_s: float | None) -> None:
        self._step_s = step_s
        self._end_s = math.inf if end_s is None else end_s
        self._steps = 0
        self._ticks = 0
        self.time_s = 0.0

    @property
    def is_over(self) -> bool:
        """Whether the last step has been taken."""
        return self.time_s >= self._end_s

    def tick(self, quiet_s: float) -> float:
        """Go on by one step (the last may be short), or by a share of a long quiet time.

        Parameters
        ----------
        quiet_s
            How long nothing can happen for, seconds.

        Returns
        -------
        Length of the step, seconds.
        """
        before_s = self.time_s
        self._ticks += 1
        is_long = quiet_s > _LONG_QUIET_S
        self._steps += max(1, int(quiet_s * _QUIET_SHARE / self._step_s)) if is_long else 1
        if self._ticks > _MAX_STEPS:
            raise InvalidParameter("step_s", self._step_s, f"at most {_MAX_STEPS} steps a flight")
        self.time_s = min(self._steps * self._step_s, self._end_s)
        return self.time_s - before_s


class _Watch:
    """Looks for the first connected instant, and the first connected end of a step.

    If the longest EMST edge is l now, no link of that length closes before
    ``(l - d_tr) / (2 v_max)``, so legs that end earlier need no look inside.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._range_m = scenario.planning_range_m
        self._order = scenario.connectivity
        self._separation_m = scenario.min_separation_m
        self._closing_mps = 2.0 * float(scenario.max_speed_mps.max())
        self._is_plain = scenario.planning_range_m == scenario.radio_range_m
        self._not_before_s = 0.0
        self.reconnected_at_s: float | None = None
        self.seen_at_step_s: float | None = None

    def look_inside(self, begin_s: float, leg: Leg) -> float | None:
        """The first connected instant, counted from the leg's beginning, if it is in this leg."""
        if self.reconnected_at_s is not None or begin_s + leg.duration_s < self._not_before_s:
            return None
        within_leg_s = first_connected_s(leg, self._range_m, self._order, self._separation_m)
        if within_leg_s is not None:
            self.reconnected_at_s = begin_s + within_leg_s
        return within_leg_s

    def look_at_end(self, time_s: float, leg: Leg) -> None:
        """See the swarm at the end of a leg that nobody counted yet."""
        self.look(time_s, leg.end, None)

    def quiet_s(self, time_s: float) -> float:
        """How long the swarm cannot reconnect for; 0 once it has."""
        return max(0.0, self._not_before_s - time_s) if self.reconnected_at_s is None else 0.0

    def look(self, time_s: float, positions: FloatArray, subnets_now: int | None) -> None:
        """See the swarm at the end of a step, and in how many sub-nets it is, if that is known."""
        if self._is_whole(positions, subnets_now):
            if self.reconnected_at_s is None:
                self.reconnected_at_s = time_s
            if self.seen_at_step_s is None:
                self.seen_at_step_s = time_s
        elif self.reconnected_at_s is None and (
            time_s >= self._not_before_s or self.quiet_s(time_s) > _LONG_QUIET_S
        ):
            missing_m = max(0.0, longest_edge_m(positions) - self._range_m)
            self._not_before_s = time_s + missing_m / self._closing_mps * (1 - 1e-9)

    def _is_whole(self, positions: FloatArray, subnets_now: int | None) -> bool:
        if subnets_now is not None and subnets_now > 1:
            return False
        is_known = subnets_now == 1 and self._is_plain
        if not is_known and count_subnets(positions, self._range_m) > 1:
            return False
        if self._separation_m > 0.0 and closest_at_rest(positions).distance_m < self._separation_m:
            return False
        if self._order == 1:
            return True
        return is_k_connected(links(positions, self._range_m), len(positions), self._order)


class _Recorder:
    """Collects the frames of a flight."""

    def __init__(self, start: FloatArray, range_m: float) -> None:
        self._range_m = range_m
        self._times: list[float] = [0.0]
        self._positions: list[FloatArray] = [start]
        self.subnets: list[int] = []
        self._largest: list[int] = []
        self._closest = closest_at_rest(start)
        self._paths_m = np.zeros(len(start))
        self._count(start)

    def add(self, leg: Leg, time_s: float) -> None:
        """Record a whole leg."""
        self._closest = closest_approach(leg, self._closest)
        self._paths_m += leg.path_lengths_m
        self._times.append(time_s)
        self._positions.append(leg.end)
        if leg.is_still:
            self.subnets.append(self.subnets[-1])
            self._largest.append(self._largest[-1])
        else:
            self._count(leg.end)

    def _count(self, positions: FloatArray) -> None:
        sizes: IntArray = np.bincount(subnets(positions, self._range_m))
        self.subnets.append(len(sizes))
        self._largest.append(int(sizes.max()))

    def flight(self, watch: _Watch, allowed_s: float) -> Flight:
        """What was recorded, read-only."""
        arrays = (
            np.asarray(self._times),
            np.stack(self._positions),
            np.asarray(self.subnets, dtype=np.int64),
            np.asarray(self._largest, dtype=np.int64),
            self._paths_m,
        )
        for array in arrays:
            array.setflags(write=False)
        times, positions, counts, largest, paths = arrays
        return Flight(
            times_s=times,
            positions=positions,
            subnets=counts,
            largest_subnet=largest,
            reconnected_at_s=_within(watch.reconnected_at_s, allowed_s),
            reconnected_at_step_s=_within(watch.seen_at_step_s, allowed_s),
            min_separation_m=self._closest.distance_m,
            path_lengths_m=paths,
            closest_rows=self._closest.rows,
        )


def _within(time_s: float | None, allowed_s: float) -> float | None:
    return time_s if time_s is not None and time_s <= allowed_s else None


def _motion(scenario: Scenario, plan: Plan | Controller, limit: float | None) -> Motion:
    if isinstance(plan, Plan):
        if limit is None:
            return StraightFlight(scenario, plan.targets)
        return GentleFlight(scenario, plan.targets, limit)
    return SteeredFlight(scenario, plan) if limit is None else GentleFlight(scenario, plan, limit)


def _check(
    scenario: Scenario,
    plan: Plan | Controller,
    until: str,
    step_s: float,
    limit: float | None,
) -> None:
    check_scenario(scenario)
    check_kept(scenario, DEMANDS_KEPT, "fly")
    check_known("until", until, UNTIL)
    if isinstance(plan, Plan):
        wanted = scenario.survivor_positions.shape
        if plan.targets.shape != wanted:
            raise InvalidParameter(
                "plan", f"targets of shape {plan.targets.shape}", f"a plan for {wanted} survivors"
            )
        if plan.uavs and list(plan.uavs) != scenario.survivor_labels:
            raise InvalidParameter("plan", "for other UAVs", "a plan of this scenario")
        time_s = planned_time_s(scenario, plan.targets)
        if not math.isclose(time_s, plan.recovery_time_s, rel_tol=1e-9, abs_tol=1e-9):
            times = f"of {plan.recovery_time_s:g} s, which from here would be {time_s:g} s"
            raise InvalidParameter("plan", times, "a plan of this scenario")
    elif not callable(plan):
        raise InvalidParameter("plan", plan, "a reknit.Plan or a controller")
    elif until == "arrived":
        raise InvalidParameter("until", until, "'reconnected' or 'allowed' without a plan")
    for name, value, least in (
        ("step_s", step_s, _SHORTEST_STEP_S),
        ("max_acceleration_mps2", limit, _LEAST_ACCELERATION_MPS2),
    ):
        if value is None and name != "step_s":
            continue
        if value is None or not (is_finite(value) and least <= value <= _MOST):
            raise InvalidParameter(name, value, f"a number from {least:g} to {_MOST:g}")
