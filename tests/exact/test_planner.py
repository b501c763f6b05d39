"""The certified planner: quality, deadlines, movement, determinism, polishing."""

from __future__ import annotations

import numpy as np
import pytest

import reknit
from reknit.base.errors import InvalidParameter
from reknit.plans.status import Status


@pytest.mark.parametrize(
    ("uavs", "destroyed"), [(20, 10), (50, 25), (100, 50), (200, 100), (1000, 500)]
)
def test_half_damage_is_solved_to_proof(uavs: int, destroyed: int) -> None:
    """At half damage the planner meets its own bound."""
    for seed in range(4):
        scenario = reknit.generate(uavs=uavs, destroyed=destroyed, seed=seed, split=True)
        assert reknit.plan(scenario, "certified").status is Status.OPTIMAL


@pytest.mark.parametrize(("destroyed", "mean"), [(150, 1.04), (180, 1.12)])
def test_heavy_damage(destroyed: int, mean: float) -> None:
    """With 50 and with 20 survivors left the mean time over the bound stays small."""
    ratios = []
    for seed in range(6):
        scenario = reknit.generate(uavs=200, destroyed=destroyed, seed=seed, split=True)
        ratios.append(1.0 + reknit.plan(scenario, "certified").gap)
    assert np.mean(ratios) <= mean


@pytest.mark.parametrize("damage", ["disc", "corridor", "degree", "articulation"])
@pytest.mark.parametrize("layout", ["grid", "clusters", "corridor"])
def test_other_layouts_and_damages(layout: str, damage: str) -> None:
    """Every layout and damage gets a plan within 5 % of its bound."""
    try:
        scenario = reknit.generate(120, 50, seed=1, layout=layout, damage=damage, split=True)
    except reknit.base.errors.NoSplitFound:
        pytest.skip("this damage does not split this layout")
    assert reknit.plan(scenario, "certified").gap < 0.05


def test_three_dimensions() -> None:
    """The same in 3-D."""
    for seed in range(4):
        scenario = reknit.generate(uavs=100, destroyed=60, dim=3, seed=seed, split=True)
        assert reknit.plan(scenario, "certified").gap < 0.01


@pytest.mark.parametrize("uavs", [10_000, 50_000])
def test_large_swarms(uavs: int) -> None:
    """Large swarms stay within 3 % of the bound."""
    scenario = reknit.generate(uavs=uavs, destroyed=0.5, seed=1, split=True)
    assert reknit.plan(scenario, "certified").gap <= 0.03


@pytest.mark.parametrize("budget_s", [0.0, 1e-4, 1e-3, 5e-3, 0.02, 0.1])
@pytest.mark.parametrize("destroyed", [100, 180])
def test_any_deadline_has_a_plan(budget_s: float, destroyed: int) -> None:
    """However short the budget, a checked connected plan comes back."""
    scenario = reknit.generate(uavs=200, destroyed=destroyed, seed=3, split=True)
    plan = reknit.plan(scenario, "certified", budget_s=budget_s)
    assert plan.status.is_connected
    assert plan.recovery_time_s >= plan.lower_bound_s


@pytest.mark.parametrize("destroyed", [100, 150, 190])
def test_no_time_means_no_search(destroyed: int) -> None:
    """With no time at all there is a plan no slower than the contraction, and it says that the
    deadline cut it short.
    """
    scenario = reknit.generate(uavs=200, destroyed=destroyed, seed=3, split=True)
    plan = reknit.plan(scenario, "certified", budget_s=0.0)
    assert plan.status is Status.DEADLINE
    assert plan.recovery_time_s <= reknit.plan(scenario, "contraction").recovery_time_s


@pytest.mark.parametrize("uavs", [1_000, 20_000])
def test_the_fallback_is_within_three_times_the_bound(uavs: int) -> None:
    """At half damage each UAV flying into range of the next is not far from the optimum."""
    scenario = reknit.generate(uavs=uavs, destroyed=0.5, seed=4, split=True)
    plan = reknit.plan(scenario, "certified", budget_s=0.0)
    assert plan.recovery_time_s <= 3.0 * plan.lower_bound_s


def test_the_uninvolved_stay_where_they_are() -> None:
    """Most UAVs of a large swarm have no part in the recovery and do not move by one bit."""
    scenario = reknit.generate(uavs=400, destroyed=200, seed=5, split=True)
    plan = reknit.plan(scenario, "certified")
    still = (plan.targets == scenario.survivor_positions).all(axis=1)
    assert still.mean() > 0.5


def test_movement_is_least_by_hand() -> None:
    """One gap in a line of four: the total movement is what the gap lacks, and the ends stay."""
    points = [[0.0, 0.0], [60.0, 0.0], [200.0, 0.0], [260.0, 0.0]]
    scenario = reknit.Scenario(points, (), 120.0, 10.0)
    plan = reknit.plan(scenario, "certified")
    assert plan.status is Status.OPTIMAL
    assert plan.recovery_time_s == pytest.approx(1.0, rel=1e-6)
    moved = np.linalg.norm(plan.targets - np.asarray(points), axis=1)
    assert moved.sum() == pytest.approx(20.0, rel=1e-5)
    assert moved[0] == moved[3] == 0.0


def test_the_same_seed_gives_the_same_bytes() -> None:
    """Two runs agree in targets, status and bound to the last bit."""
    for demands in ({}, {"min_separation_m": 25.0}, {"connectivity": 2}):
        scenario = reknit.generate(60, 35, seed=4, split=True, **demands)
        one, two = (reknit.plan(scenario, "certified", seed=9) for _ in range(2))
        assert one.targets.tobytes() == two.targets.tobytes()
        assert (one.status, one.lower_bound_s, one.details) == (
            two.status,
            two.lower_bound_s,
            two.details,
        )


def test_polishing_never_harms() -> None:
    """The cone program on the tree of a contracted swarm is far better than the contraction."""
    scenario = reknit.generate(uavs=200, destroyed=150, seed=2, split=True)
    rough = reknit.plan(scenario, "contraction")
    fine = reknit.plan(scenario, "contraction+certified")
    best = reknit.plan(scenario, "certified")
    assert best.recovery_time_s <= fine.recovery_time_s * (1 + 1e-6)
    assert fine.recovery_time_s < 0.5 * rough.recovery_time_s


def test_effort_is_checked() -> None:
    """A wrong effort is named, and none still gives a plan."""
    scenario = reknit.generate(uavs=50, destroyed=25, seed=2, split=True)
    assert reknit.plan(scenario, "certified", effort=0).status.is_connected
    for effort in (-1, 1.5, True):
        with pytest.raises(InvalidParameter, match="effort"):
            reknit.plan(scenario, "certified", effort=effort)


@pytest.mark.parametrize("gap_m", [1e-6, 1e-3, 0.1])
def test_tiny_gaps(gap_m: float) -> None:
    """A gap of a hair is closed by a hair's breadth, exactly."""
    points = [[0.0, 0.0], [100.0, 0.0], [220.0 + gap_m, 0.0], [300.0, 50.0]]
    plan = reknit.plan(reknit.Scenario(points, (), 120.0, 10.0), "certified")
    assert plan.recovery_time_s == pytest.approx(gap_m / 20.0, rel=1e-3)


def test_far_from_the_origin_and_coincident() -> None:
    """Large coordinates, coincident and collinear UAVs do no harm."""
    far = np.array([[0.0, 0.0], [0.0, 0.0], [150.0, 0.0], [150.0, 0.0], [400.0, 0.0]]) + 1e7
    plan = reknit.plan(reknit.Scenario(far, (), 120.0), "certified")
    assert plan.gap < 1e-3


def test_anchors_that_no_tree_is_known_for() -> None:
    """Where the first trees are all impossible, the search asks for any plan until it is proved
    that there is none; it once went on for ever, with nothing to improve and nothing to climb to.
    """
    positions = [
        [396.0, 711.0, 127.0], [216.0, 422.0, 321.0], [452.0, 600.0, 653.0], [368.0, 0.0, 70.0],
        [500.0, 467.0, 631.0], [214.0, 636.0, 565.0], [707.0, 84.0, 49.0], [223.0, 74.0, 428.0],
    ]  # fmt: skip
    scenario = reknit.Scenario(positions, (), 120.0, 10.0, anchors=[0, 4, 7])
    plan = reknit.plan(scenario, "certified")
    assert plan.status is Status.INFEASIBLE
    plan.verify(scenario)
