"""What a real swarm needs: each demand is met, or the plan says that it is not."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import reknit
from reknit.base.errors import ImpossibleDemands
from reknit.plans.checker.claims import demand_faults
from reknit.plans.status import Status


def _plan(**demands: Any) -> tuple[reknit.Scenario, reknit.Plan]:
    scenario = reknit.generate(uavs=60, destroyed=30, seed=6, split=True, **demands)
    plan = reknit.plan(scenario, "certified")
    assert not demand_faults(scenario, plan.targets)
    return scenario, plan


def test_link_margin() -> None:
    """Planned links are shorter than d_tr by the margin; the plan is still optimal."""
    _, free = _plan()
    _, safe = _plan(link_margin=0.2)
    assert safe.status is Status.OPTIMAL
    assert safe.recovery_time_s > free.recovery_time_s


def test_link_reliability() -> None:
    """A radio's reliability shortens the links in the same way."""
    radio = reknit.Radio()
    points = np.array([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0]]) * radio.range_m
    scenario = reknit.Scenario(points, (), radio=radio, link_reliability=0.95)
    plan = reknit.plan(scenario, "certified")
    assert plan.status is Status.OPTIMAL
    expected_m = 2.0 * radio.range_m - scenario.planning_range_m
    assert plan.recovery_time_s == pytest.approx(expected_m / 10.0, rel=1e-6)


def test_speeds() -> None:
    """A slow UAV flies less: both arrive at once."""
    points = [[0.0, 0.0], [200.0, 0.0]]
    plan = reknit.plan(reknit.Scenario(points, (), 120.0, [5.0, 15.0]), "certified")
    assert plan.status is Status.OPTIMAL
    assert plan.recovery_time_s == pytest.approx(4.0, rel=1e-6)
    moved = np.linalg.norm(plan.targets - np.asarray(points), axis=1)
    assert moved == pytest.approx([20.0, 60.0], rel=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_anchors(seed: int) -> None:
    """Anchors keep their place to the bit, and the plan is optimal among those that do."""
    free = reknit.generate(60, 30, seed=seed, split=True)
    scenario = replace(free, anchors=free.survivors[free.survivors < 15])
    plan = reknit.plan(scenario, "certified")
    anchored = np.isin(scenario.survivors, scenario.anchors)
    assert np.array_equal(plan.targets[anchored], scenario.survivor_positions[anchored])
    assert plan.status is Status.OPTIMAL


@pytest.mark.parametrize("gap_m", [10.0, 40.0, 70.0, 110.0])
def test_separation(gap_m: float) -> None:
    """No two targets are closer than asked, up to nearly the range itself."""
    _, plan = _plan(min_separation_m=gap_m)
    assert plan.status in (Status.OPTIMAL, Status.FEASIBLE)
    pairs = np.stack(np.triu_indices(len(plan.targets), k=1), axis=1)
    delta = plan.targets[pairs[:, 0]] - plan.targets[pairs[:, 1]]
    assert np.sqrt((delta**2).sum(axis=1)).min() >= gap_m


def test_separation_of_coincident_uavs() -> None:
    """Three UAVs in one place are parted to a triangle of side s, whose corners are s / sqrt(3)
    away; the bound knows more than that two of them must part, and nothing false.
    """
    scenario = reknit.Scenario([[0.0, 0.0]] * 3 + [[100.0, 0.0]], (), 120.0, min_separation_m=20.0)
    plan = reknit.plan(scenario, "certified")
    assert plan.status.is_connected
    optimum_s = 20.0 / np.sqrt(3.0) / 10.0
    assert 1.0 < plan.lower_bound_s <= optimum_s
    assert optimum_s <= plan.recovery_time_s < 1.01 * optimum_s


@pytest.mark.parametrize("dim", [2, 3])
def test_two_connected(dim: int) -> None:
    """The loss of any one UAV leaves the rest connected."""
    scenario = reknit.generate(40, 20, seed=2, dim=dim, split=True, connectivity=2)
    plan = reknit.plan(scenario, "certified")
    assert plan.status.is_connected
    for lost in range(len(plan.targets)):
        rest = reknit.Scenario(np.delete(plan.targets, lost, axis=0), (), 120.0)
        assert not rest.is_split
    assert plan.gap < 0.5


def test_all_at_once() -> None:
    """A margin, a separation, an anchor and 2-connectivity together."""
    _, plan = _plan(link_margin=0.05, min_separation_m=20.0, anchors=[4], connectivity=2)
    assert plan.status.is_connected


@pytest.mark.parametrize(
    ("demands", "named"),
    [
        ({"min_separation_m": 130.0}, "min_separation_m"),
        ({"min_separation_m": 115.0, "link_margin": 0.1}, "min_separation_m"),
        ({"anchors": [0, 1], "min_separation_m": 60.0}, "anchors"),
        ({"anchors": [0, 3]}, "anchors"),
        ({"anchors": [0, 1, 2, 3]}, "anchors"),
        ({"anchors": [0, 2], "connectivity": 2}, "connectivity"),
    ],
)
def test_impossible_demands_are_named(demands: dict[str, Any], named: str) -> None:
    """Demands at odds raise one typed error that says which, whatever the planner."""
    points = [[0.0, 0.0], [50.0, 0.0], [250.0, 0.0], [700.0, 0.0]]
    scenario = reknit.Scenario(points, (), 120.0, **demands)
    for planner in ("certified", "contraction"):
        with pytest.raises(ImpossibleDemands, match=named) as caught:
            reknit.plan(scenario, planner)
        assert named in caught.value.demands
    with pytest.raises(ImpossibleDemands):
        reknit.lower_bound(scenario)


def test_anchors_that_contradict_are_told_by_name() -> None:
    """Where UAVs have names, so have the anchors of a message."""
    places = [[0.0, 0.0], [5.0, 0.0], [90.0, 0.0]]
    names = ["north", "south", "east"]
    scenario = reknit.Scenario(
        places, (), 100.0, names=names, anchors=["north", "south"], min_separation_m=10.0
    )
    with pytest.raises(ImpossibleDemands, match="anchors north and south are 5 m apart"):
        reknit.plan(scenario)


def test_infeasible_by_proof() -> None:
    """Three anchors in a triangle and one UAV that reaches any two of them but not all three."""
    anchors = [[0.0, 0.0], [230.0, 0.0], [115.0, 115.0 * math.sqrt(3.0)]]
    points = [*anchors, [115.0, 66.0]]
    scenario = reknit.Scenario(points, (), 120.0, anchors=[0, 1, 2])
    plan = reknit.plan(scenario, "certified")
    assert plan.status is Status.INFEASIBLE
    wider = reknit.Scenario(points, (), 133.0, anchors=[0, 1, 2])
    assert reknit.plan(wider, "certified").status is Status.OPTIMAL


def test_not_found_is_not_infeasible() -> None:
    """With no time and anchors apart there is no plan yet, and nothing more is claimed."""
    points = [[0.0, 0.0], [500.0, 0.0], [100.0, 0.0], [200.0, 10.0], [230.0, 30.0], [250.0, 80.0]]
    scenario = reknit.Scenario(points, (), 120.0, anchors=[0, 1])
    assert reknit.plan(scenario, "certified", budget_s=0.0).status is Status.NOT_FOUND
    assert reknit.plan(scenario, "certified").status is Status.OPTIMAL


@pytest.mark.parametrize(
    "demands",
    [
        {"anchors": [0]},
        {"anchors": [0, 1]},
        {"connectivity": 2},
        {"min_separation_m": 50.0},
        {"min_separation_m": 100.0, "connectivity": 2},
        {"link_margin": 0.3},
    ],
)
def test_a_plan_without_time(demands: dict[str, Any]) -> None:
    """Where a contraction or another plan without search is allowed, it comes back at 0 ms."""
    rng = np.random.default_rng(1)
    points = np.vstack([[[0.0, 0.0], [100.0, 0.0]], rng.random((14, 2)) * 900.0])
    scenario = reknit.Scenario(points, (), 120.0, **demands)
    plan = reknit.plan(scenario, "certified", budget_s=0.0)
    assert plan.status is Status.DEADLINE
