"""The bound and the planner against brute force over all trees."""

from __future__ import annotations

import numpy as np
import pytest

import reknit
from reknit.base.errors import ImpossibleDemands
from reknit.plans.status import Status
from tests.exact.brute import optimum_s, small_scenarios


def _compare(seed: int, count: int, least: int, most: int) -> None:
    for scenario in small_scenarios(seed, count, least, most):
        plan = reknit.plan(scenario, "certified")
        best_s = optimum_s(scenario, plan.recovery_time_s)
        assert plan.recovery_time_s <= 1.001 * best_s
        assert plan.lower_bound_s <= (1.0 + 1e-6) * best_s
        assert reknit.lower_bound(scenario).bound_s <= (1.0 + 1e-6) * best_s
        assert plan.lower_bound_s >= 0.999 * best_s


@pytest.mark.parametrize("seed", range(4))
def test_no_bound_is_above_the_optimum_and_no_plan_far_from_it(seed: int) -> None:
    """On 320 swarms of 3 to 5 survivors the bound is at most the optimum, and the plan and the
    planner's own bound are within 0.1 % of it.
    """
    _compare(seed, 60, 3, 4)
    _compare(100 + seed, 20, 5, 5)


@pytest.mark.long
def test_six_survivors() -> None:
    """The same on eight swarms of six, with 1,296 trees each."""
    _compare(7, 8, 6, 6)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
def test_many_more(seed: int) -> None:
    """The same on thousands more."""
    _compare(1_000 + seed, 400, 3, 5)
    _compare(2_000 + seed, 12, 6, 6)


@pytest.mark.parametrize("seed", range(3))
def test_several_anchors(seed: int) -> None:
    """With two anchors or more: the optimum where some tree is possible, and where none is a
    proof of that, by a typed error or by the status.
    """
    rng = np.random.default_rng(seed)
    for _ in range(40):
        count = int(rng.integers(3, 6))
        points = rng.random((count, int(rng.choice([2, 3])))) * rng.choice([200, 300, 400, 600])
        anchors = rng.permutation(count)[: rng.integers(2, count + 1)].tolist()
        speeds = rng.uniform(1.0, 20.0, count)
        scenario = reknit.Scenario(points, (), 120.0, speeds, anchors=anchors)
        if not scenario.is_split:
            continue
        best_s = optimum_s(scenario)
        try:
            plan = reknit.plan(scenario, "certified")
        except ImpossibleDemands:
            assert best_s == np.inf
            continue
        if best_s == np.inf:
            assert plan.status is Status.INFEASIBLE
        else:
            assert plan.recovery_time_s <= 1.001 * best_s
            assert plan.lower_bound_s <= (1.0 + 1e-6) * best_s


@pytest.mark.parametrize("seed", range(6))
def test_the_scenarios_bound_is_no_formality(seed: int) -> None:
    """On the paper's kind of swarms the quick bound reaches the optimum within 10 %."""
    scenario = reknit.generate(uavs=200, destroyed=150, seed=seed, split=True)
    plan = reknit.plan(scenario, "certified")
    assert reknit.lower_bound(scenario).bound_s >= 0.9 * plan.recovery_time_s
