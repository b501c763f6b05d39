"""Every registered planner on every kind of scenario; and planners that must not pass."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import reknit
from reknit.algorithms.registry import BUILT_IN
from reknit.base.types import FloatArray
from reknit.testing import check_planner, kinds_of_scenario

QUICK: dict[str, dict[str, Any]] = {
    "gcn": {"iterations": 3, "hidden": 32},
    "gat": {"iterations": 3, "hidden": 8},
    "cr-mgc": {"iterations": 2},
    "demd": {"iterations": 3, "hidden": 32},
}
"""Parameters with which planners that train online take little time here."""


@pytest.mark.parametrize("kind", kinds_of_scenario())
@pytest.mark.parametrize("name", [entry.name for entry in BUILT_IN])
def test_every_planner_conforms(name: str, kind: str) -> None:
    """The shipped conformance tests pass for every built-in planner."""
    check_planner(name, {kind: kinds_of_scenario()[kind]}, QUICK.get(name))


@dataclass
class Moody:
    """Different every time it is asked."""

    asked: list[int] = field(default_factory=list)

    def propose(self, scenario: reknit.Scenario, context: reknit.Context) -> reknit.Proposal:
        self.asked.append(1)
        return reknit.Proposal(scenario.survivor_positions * 0.0 + len(self.asked))


@dataclass(frozen=True)
class Vandal:
    """Tries to write into the scenario."""

    def propose(self, scenario: reknit.Scenario, context: reknit.Context) -> reknit.Proposal:
        scenario.positions.flags.writeable = True
        scenario.positions[0] = 0.5
        return reknit.Proposal(np.zeros_like(scenario.survivor_positions))


@dataclass(frozen=True)
class Broken:
    """Proposes nonsense."""

    def propose(self, scenario: reknit.Scenario, context: reknit.Context) -> reknit.Proposal:
        return reknit.Proposal(scenario.survivor_positions[:1] * np.nan)


def test_faulty_planners_are_caught() -> None:
    """Changing results, changing the scenario and proposing nonsense are each found."""
    with pytest.raises(AssertionError, match="two different results"):
        check_planner(Moody())
    with pytest.raises(AssertionError, match="scenario was changed"):
        check_planner(Vandal(), {"split": reknit.generate(30, 15, seed=1, split=True)})
    with pytest.raises(reknit.errors.BrokenPlanner, match="Broken"):
        check_planner(Broken())


@dataclass(frozen=True)
class Stay:
    """Leaves everyone where they are."""

    def propose(self, scenario: reknit.Scenario, context: reknit.Context) -> reknit.Proposal:
        return reknit.Proposal(scenario.survivor_positions)


def test_a_method_that_cannot_connect_says_so() -> None:
    """The plan's status is 'not found', since nobody moves, and its gap infinite; it is not
    repaired.
    """
    scenario = reknit.generate(30, 15, seed=1, split=True)
    plan = reknit.plan(scenario, Stay())
    assert plan.status is reknit.Status.NOT_FOUND
    assert plan.gap == np.inf
    run = reknit.recover(scenario, Stay())
    assert not run.metrics.converged
    assert run.metrics.charged_time_s == scenario.allowed_time_s


def test_degenerate_scenarios_need_no_move() -> None:
    """One survivor, coincident survivors, already connected: zero time, bound 0, gap 0."""
    points: list[FloatArray] = [
        np.array([[0.0, 0.0]]),
        np.zeros((4, 2)),
        np.array([[0.0, 0.0], [120.0, 0.0]]),
    ]
    for positions in points:
        plan = reknit.plan(reknit.Scenario(positions, [], 120.0), "contraction")
        assert plan.status is reknit.Status.ALREADY_CONNECTED
        assert plan.recovery_time_s == plan.lower_bound_s == plan.gap == 0.0
