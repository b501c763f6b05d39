"""`plan`: what it takes, what it refuses, what it tells."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import reknit
from reknit.algorithms.registry import build
from reknit.base.errors import BrokenPlanner, InvalidParameter, InvalidPlan, NoPlan
from reknit.base.types import FloatArray
from reknit.plans.certificate import Certificate
from reknit.recovery import planning


@dataclass(frozen=True)
class Answers:
    """A planner that answers with whatever it is given."""

    answer: Any

    def propose(self, scenario: reknit.Scenario, context: reknit.Context) -> Any:
        return self.answer


@dataclass
class Listens:
    """A planner that remembers what it was given."""

    warm_start: FloatArray | None = None
    draws: tuple[float, ...] = ()

    def propose(self, scenario: reknit.Scenario, context: reknit.Context) -> reknit.Proposal:
        self.warm_start = context.warm_start
        self.draws = (float(context.rng.random()), float(context.rng.random()))
        return reknit.Proposal(scenario.survivor_positions)


NO_PLAN: Any = "an earlier plan"
SCENARIO = reknit.generate(20, 10, seed=1, split=True)


@pytest.mark.parametrize(
    "answer",
    [None, np.zeros((10, 2)), reknit.Proposal(np.zeros((3, 2))), reknit.Proposal("x")],  # type: ignore[arg-type]
    ids=["None", "array", "shape", "text"],
)
def test_a_planners_nonsense_is_named(answer: Any) -> None:
    """What is no proposal of the right shape ends in one typed error with the planner's name."""
    with pytest.raises(BrokenPlanner, match="Answers"):
        reknit.plan(SCENARIO, Answers(answer))


@pytest.mark.parametrize("value", ["5", -1.0, np.nan, np.inf, True])
def test_budgets_are_numbers(value: Any) -> None:
    """A budget that is no number of at least 0 is named."""
    with pytest.raises(InvalidParameter, match="budget_s"):
        reknit.plan(SCENARIO, "contraction", budget_s=value)


@pytest.mark.parametrize("seed", [-1, 0.5, "1", True])
@pytest.mark.parametrize("planner", ["contraction", "center-fly"])
def test_seeds_are_whole_numbers(planner: str, seed: Any) -> None:
    """A wrong seed is named, whether the planner plans or steers."""
    with pytest.raises(InvalidParameter, match="seed"):
        reknit.recover(SCENARIO, planner, seed=seed)


def test_steering_planners_have_no_plan() -> None:
    """A plan asked of a planner that steers is refused with a word on what to use."""
    with pytest.raises(NoPlan, match=r"reknit\.recover"):
        reknit.plan(SCENARIO, "hero")


def test_a_plan_tells_its_parts_and_its_uavs() -> None:
    """What loading, bound, planner and check took, and whose targets they are."""
    plan = reknit.plan(SCENARIO, "certified")
    assert set(plan.timings_s) == {"loading", "bound", "planner", "check"}
    assert all(seconds >= 0.0 for seconds in plan.timings_s.values())
    assert plan.compute_s == plan.timings_s["planner"]
    assert plan.uavs == tuple(SCENARIO.survivors.tolist())
    with pytest.raises(InvalidPlan, match="survivors of this scenario"):
        replace(plan, uavs=plan.uavs[::-1]).verify(SCENARIO)


def test_loading_a_planner_is_not_the_bounds_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the first import of a planner's libraries takes is told apart from the bound."""

    def slow_build(name: str, parameters: Any) -> Any:
        time.sleep(0.2)
        return build(name, parameters)

    monkeypatch.setattr(planning, "build", slow_build)
    timings_s = reknit.plan(SCENARIO, "certified").timings_s
    assert timings_s["loading"] >= 0.2
    monkeypatch.setattr(planning, "lower_bound", lambda *_: Certificate.trivial())
    assert reknit.plan(SCENARIO, "certified").timings_s["bound"] < 0.2


def test_a_warm_start_follows_the_uavs() -> None:
    """After a further loss the earlier targets go to those who are left; others stay."""
    earlier = reknit.plan(SCENARIO, "contraction")
    lost = int(SCENARIO.survivors[0])
    later = replace(SCENARIO, destroyed=np.append(SCENARIO.destroyed, lost))
    planner = Listens()
    reknit.plan(later, planner, warm_start=earlier)
    assert planner.warm_start is not None
    assert np.array_equal(planner.warm_start, earlier.targets[1:])
    other = reknit.generate(20, 10, seed=1, dim=3, split=True)
    stranger = Listens()
    reknit.plan(other, stranger, warm_start=earlier)
    assert stranger.warm_start is None
    with pytest.raises(InvalidParameter, match="warm_start"):
        reknit.plan(later, planner, warm_start=NO_PLAN)


def test_randomness_is_one_stream() -> None:
    """Two draws differ, and the same seed gives the same two."""
    first, second = Listens(), Listens()
    reknit.plan(SCENARIO, first, seed=5)
    reknit.plan(SCENARIO, second, seed=5)
    assert first.draws[0] != first.draws[1]
    assert first.draws == second.draws


def test_the_time_of_a_controller_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """`compute_s` of a planner that steers counts the controller, not the simulation: by a clock
    that moves by one second at every look, it is one second a step and one for the beginning.
    """
    looks = itertools.count()
    monkeypatch.setattr(
        "reknit.recovery.runs.time", SimpleNamespace(perf_counter=lambda: float(next(looks)))
    )

    @dataclass(frozen=True)
    class Hovers:
        def controller(self, scenario: reknit.Scenario, context: reknit.Context) -> Any:
            return lambda positions, time_s, step_s: np.zeros_like(positions)

    run = reknit.recover(SCENARIO, Hovers())
    assert run.compute_s == len(run.flight.times_s)


def test_a_flight_that_violates_the_separation_says_so() -> None:
    """A UAV that flies through another before the swarm is whole makes the run warn."""
    start = [[0.0, 0.0], [50.0, 0.0], [400.0, 0.0]]
    scenario = reknit.Scenario(start, (), 120.0, min_separation_m=10.0, allowed_time_s=60.0)

    @dataclass(frozen=True)
    class Through:
        def propose(self, scenario: reknit.Scenario, context: reknit.Context) -> reknit.Proposal:
            return reknit.Proposal(np.array([[250.0, 0.0], [150.0, 0.0], [360.0, 0.0]]))

    run = reknit.recover(scenario, Through())
    assert run.plan is not None
    assert run.plan.status.is_connected
    assert run.flight.reconnected_at_s is not None
    assert "0.00 m" in run.warnings[0]
    assert reknit.recover(replace(scenario, min_separation_m=0.0), Through()).warnings == ()
