"""`believe:PLANNER`: any planner on the belief, as if it were true.

Unknown counts as alive, where it was last known to be or announced to fly. The plan is made anew
on contact, on news of a death, and when somebody misses an appointment: whoever should by the plan
be in range when both have arrived, and is silent, is presumed dead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from reknit.algorithms.protocols import SteeringPlanner, TargetPlanner
from reknit.base.context import Context
from reknit.base.types import BoolArray, FloatArray
from reknit.knowledge.belief import Knowledge
from reknit.knowledge.policies.protocols import Briefing, Orders, View
from reknit.network.connectivity import is_k_connected
from reknit.network.links import links
from reknit.swarm.demands import meets_demands
from reknit.swarm.demands.link_length import SIGMAS
from reknit.swarm.scenario import Scenario

_MARGIN = 1e-4
"""Believed links are planned this share shorter than the range: one planned at exactly the range
may come to lie a rounding error beyond it, and its silence would be taken for death."""


@dataclass(frozen=True)
class Believe:
    """Plan or steer on the belief.

    Parameters
    ----------
    planner
        Any planner of the registry.
    """

    planner: TargetPlanner | SteeringPlanner

    def brief(self, briefing: Briefing) -> _Planning | _Steering:
        if isinstance(self.planner, TargetPlanner):
            return _Planning(briefing, self.planner)
        return _Steering(briefing, self.planner)

    def promised_s(self, briefing: Briefing) -> float | None:
        return None


def believed_scenario(
    briefing: Briefing, view: View, dead: BoolArray, positions: FloatArray
) -> Scenario:
    """The swarm as it is believed to be, with links that are planned shorter by the margin."""
    swarm, destroyed = briefing.swarm, np.flatnonzero(dead)
    link_margin = swarm.link_margin
    if not briefing.is_told_all:
        uncertain_m = SIGMAS * np.sqrt(2.0) * swarm.position_sigma_m
        planned_m = swarm.planning_range_m * (1.0 - margin(briefing)) + uncertain_m
        link_margin = 1.0 - planned_m / swarm.radio_range_m
    return replace(
        swarm,
        positions=positions,
        destroyed=destroyed,
        anchors=np.setdiff1d(swarm.anchors, destroyed),
        allowed_time_s=max(0.0, swarm.allowed_time_s - (view.now_s - view.belief.alarm_s)),
        link_margin=link_margin,
    )


def margin(briefing: Briefing) -> float:
    """Share by which planned links are shorter than the range: rounding, and navigation errors
    of both ends at one and a half sigma each (half of their bound).
    """
    return min(0.9, _MARGIN + briefing.error_bound_m / briefing.range_m)


def believed_positions(briefing: Briefing, view: View) -> FloatArray:
    """(N, dim) members where they are, the others where they should be by what they announced;
    all by what the station told where all share that.
    """
    positions = view.belief.expected(briefing.speeds_mps, view.now_s)
    if not briefing.is_told_all:
        positions[view.members] = view.here
    return positions


class _Planning:
    def __init__(self, briefing: Briefing, planner: TargetPlanner) -> None:
        self._briefing, self._planner = briefing, planner
        self.replans = 0

    def act(self, view: View) -> Orders:
        memory, belief = view.memory, view.belief
        if view.leads:
            self._miss_appointments(view)
            dead = view.status >= Knowledge.PRESUMED_DEAD
            dead |= (belief.presumed_s > belief.heard_s) & ~view.is_in_touch
            news = view.crew.tobytes() + np.packbits(dead).tobytes()
            if holds(view, dead, self._briefing):
                if memory.get("news") != b"whole":
                    memory["news"] = b"whole"
                    _announce(view, believed_positions(self._briefing, view))
            elif memory.get("news") != news:
                memory["news"] = news
                self._plan(view, dead)
        return Orders(announced(view))

    def _plan(self, view: View, dead: BoolArray) -> None:
        briefing = self._briefing
        positions = believed_positions(briefing, view)
        scenario = believed_scenario(briefing, view, dead, positions)
        targets = positions.copy()
        view.memory.pop("appointments", None)
        if not meets_demands(scenario, scenario.survivor_positions):
            context = Context(briefing.seed)
            targets[scenario.survivors] = self._planner.propose(scenario, context).targets
            self.replans += 1
            away = targets - positions
            speeds_mps = np.maximum(briefing.speeds_mps, 1e-9)  # anchors stay
            time_s = np.sqrt((away * away).sum(axis=1)) / speeds_mps
            in_touch = view.is_in_touch
            others = np.flatnonzero(~dead & ~in_touch)
            if len(others):
                distance, nearest = cKDTree(targets[view.crew]).query(targets[others])
                due_s = np.maximum(time_s[others], time_s[view.crew][nearest])
                met = distance <= briefing.range_m
                last_s = view.now_s + due_s + 2.0 * briefing.step_s + briefing.patience.radio_s
                view.memory["appointments"] = (others[met], last_s[met])
        _announce(view, targets)

    def _miss_appointments(self, view: View) -> None:
        appointments: Any = view.memory.get("appointments")
        if appointments is None:
            return
        others, due_s = appointments
        silent = ~view.is_in_touch[others]
        missed = others[silent & (due_s <= view.now_s)]
        view.belief.presumed_s[missed] = view.now_s


class _Steering:
    def __init__(self, briefing: Briefing, planner: SteeringPlanner) -> None:
        self._briefing, self._planner = briefing, planner
        self.replans = 0

    def act(self, view: View) -> Orders:
        """Others are expected to steer as we do; a silent UAV that should be in range is
        presumed dead.
        """
        memory, belief, briefing = view.memory, view.belief, self._briefing
        expected = believed_positions(briefing, view)
        unknown = view.status == Knowledge.UNKNOWN
        if "expected" in memory:
            expected[unknown] = memory["expected"][unknown]
            others = np.flatnonzero(unknown)
            if len(others):
                near_m = briefing.range_m * (1.0 - margin(briefing)) - 2.0 * float(
                    briefing.speeds_mps.max()
                ) * (briefing.step_s + briefing.patience.radio_s)
                distance, _ = cKDTree(expected[view.crew]).query(expected[others])
                belief.presumed_s[others[distance <= near_m]] = view.now_s
        dead = (view.status >= Knowledge.PRESUMED_DEAD) | (belief.presumed_s > belief.heard_s)
        dead[view.crew] = False
        if holds(view, dead, briefing):
            return Orders(velocities_mps=np.zeros_like(view.here))
        news = view.crew.tobytes() + np.packbits(dead).tobytes()
        if memory.get("news") != news:
            scenario = believed_scenario(briefing, view, dead, expected)
            memory["news"] = news
            memory["steer"] = self._planner.controller(scenario, Context(briefing.seed))
            memory["survivors"] = scenario.survivors
            self.replans += 1
        survivors = memory["survivors"]
        velocity = np.zeros_like(expected)
        now_s = view.now_s - belief.alarm_s
        velocity[survivors] = memory["steer"](expected[survivors], now_s, briefing.step_s)
        memory["expected"] = expected + velocity * briefing.step_s
        limit = briefing.speeds_mps
        speed = np.sqrt((velocity * velocity).sum(axis=1))
        scale = np.minimum(1.0, limit / np.maximum(speed, 1e-300))
        return Orders(velocities_mps=(velocity * scale[:, None])[view.members])


def holds(view: View, dead: BoolArray, briefing: Briefing) -> bool:
    """Whether nobody is missed and those in touch are connected as demanded: then all stay."""
    if len(view.crew) + int(dead.sum()) < view.belief.uavs:
        return False
    swarm = briefing.swarm
    is_linked = len(view.members) == len(view.crew) and not briefing.is_told_all
    if is_linked and not swarm.has_demands:
        return True  # all are in touch over live links
    positions = view.belief.positions[view.crew]
    pairs = links(positions, briefing.link_m)
    return is_k_connected(pairs, len(positions), swarm.connectivity)


def _announce(view: View, targets: FloatArray) -> None:
    view.belief.targets[view.crew] = targets[view.crew]
    view.belief.announced_s[view.crew] = view.now_s


def announced(view: View) -> FloatArray:
    """Where the members announced to fly; who has no announced target stays."""
    targets = view.belief.targets[view.members]
    return np.where(np.isfinite(targets), targets, view.here)
