"""`descent`: its gradient, how near to the optimum it comes, and what it honours."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations

import networkx
import numpy as np
import pytest

import reknit
from reknit.algorithms.descent import Descent
from reknit.base.types import FloatArray, IntArray
from reknit.network.emst import emst

PAIR = reknit.Scenario([[0.0, 0.0], [240.0, 0.0]], [], 120.0, 10.0)
"""Two UAVs 240 m apart: each must fly 60 m."""

GAPS = reknit.Scenario([[1000.0 * place, 0.0] for place in range(5)], [], 120.0)
"""Five UAVs in a line, 1000 m apart."""


def slow_tree(points: FloatArray) -> IntArray:
    """The EMST from all pairs, by networkx."""
    graph = networkx.Graph()
    for one, other in combinations(range(len(points)), 2):
        graph.add_edge(one, other, weight=float(np.linalg.norm(points[one] - points[other])))
    return np.array(sorted(networkx.minimum_spanning_edges(graph, data=False)))


def slow_loss(planner: Descent, scenario: reknit.Scenario, targets: FloatArray) -> float:
    """The formula of the docstring, UAV by UAV and edge by edge."""
    fastest = max(scenario.max_speed_mps[uav] for uav in scenario.survivors)
    total = 0.0
    for row, uav in enumerate(scenario.survivors):
        moved = float(np.linalg.norm(targets[row] - scenario.positions[uav]))
        total += (moved * fastest / scenario.max_speed_mps[uav]) ** planner.power
    loss = total ** (1.0 / planner.power)
    limit = scenario.planning_range_m * (1.0 - planner.margin)
    for one, other in slow_tree(targets):
        length = float(np.linalg.norm(targets[one] - targets[other]))
        slowest = min(scenario.max_speed_mps[uav] for uav in scenario.survivors)
        loss += planner.penalty * 0.5 * fastest / slowest * max(0.0, length - limit)
    return float(loss)


@pytest.mark.parametrize("dim", [2, 3])
def test_the_gradient_is_that_of_the_loss(dim: int) -> None:
    """Central differences of the formula, written out slowly, agree in every coordinate."""
    rng = np.random.default_rng(dim)
    positions = rng.uniform(0.0, 400.0, (9, dim))
    scenario = reknit.Scenario(positions, [4], 90.0, rng.uniform(5.0, 15.0, 9))
    planner = Descent(power=6.0, penalty=1.7, margin=0.01)
    targets = scenario.survivor_positions + rng.normal(0.0, 20.0, (8, dim))
    losses, gradients = planner.loss(scenario, targets[None], emst(targets)[None])
    [gradient] = gradients
    assert losses[0] == pytest.approx(slow_loss(planner, scenario, targets), rel=1e-12)
    for index in np.ndindex(*targets.shape):
        nudge = np.zeros_like(targets)
        nudge[index] = 1e-5
        rise = slow_loss(planner, scenario, targets + nudge)
        rise -= slow_loss(planner, scenario, targets - nudge)
        assert gradient[index] == pytest.approx(rise / 2e-5, abs=1e-6)


def test_two_uavs_meet_halfway() -> None:
    """60 m each at 10 m/s is 6 s, and a plan is never faster than that."""
    plan = reknit.plan(PAIR, "descent")
    assert 6.0 <= plan.recovery_time_s <= 6.05


def test_it_comes_near_the_proven_optimum() -> None:
    """Where the EMST is the right tree, as it mostly is, it finds what cone programs prove."""
    scenarios = [reknit.generate(60, 30, seed=seed, split=True) for seed in range(10)]
    ratios = [
        reknit.plan(scenario, "descent").recovery_time_s
        / reknit.plan(scenario, "certified").recovery_time_s
        for scenario in scenarios
    ]
    assert sum(ratio <= 1.005 for ratio in ratios) >= 8
    assert max(ratios) < 1.5


def test_without_the_excess_nobody_has_a_reason_to_move() -> None:
    """The ablation: below the least penalty that pays the swarm stays apart, above it is joined."""
    scenario = reknit.generate(60, 30, seed=3, split=True)
    connected = [
        reknit.plan(
            scenario, "descent", penalty=penalty, contraction=False, trimming=False
        ).status.is_connected
        for penalty in (0.5, 2.0)
    ]
    assert connected == [False, True]


def test_other_trees_are_never_worse_and_at_heavy_damage_better() -> None:
    """The ablation: 16 trees against the EMST alone, three quarters lost."""
    scenarios = [reknit.generate(120, 90, seed=seed, split=True) for seed in range(12)]
    alone, several = (
        np.array([reknit.plan(one, "descent", trees=many).recovery_time_s for one in scenarios])
        for many in (1, 16)
    )
    assert (several <= alone).all()
    assert several.mean() < 0.99 * alone.mean()


def test_a_tree_that_is_kept_longer_costs_next_to_nothing() -> None:
    """The EMST anew at every step or at every fifth: the mean time differs by less than 1 %."""
    scenarios = [reknit.generate(80, 50, seed=seed, split=True) for seed in range(6)]
    means = [
        np.mean([reknit.plan(one, "descent", tree_every=many).recovery_time_s for one in scenarios])
        for many in (1, 5)
    ]
    assert means[1] == pytest.approx(means[0], rel=0.01)


def test_anchors_stay_and_the_others_come_to_them() -> None:
    """The pair with one end held: the other flies the whole 120 m; held targets are exact."""
    scenario = reknit.Scenario([[0.0, 0.0], [240.0, 0.0]], [], 120.0, 10.0, anchors=[0])
    plan = reknit.plan(scenario, "descent")
    assert plan.targets[0].tolist() == [0.0, 0.0]
    assert 12.0 <= plan.recovery_time_s <= 12.1


def test_the_faster_uav_flies_farther() -> None:
    """At 30 and 10 m/s they close 120 m together in 3 s."""
    scenario = reknit.Scenario([[0.0, 0.0], [240.0, 0.0]], [], 120.0, [30.0, 10.0])
    plan = reknit.plan(scenario, "descent")
    assert 3.0 <= plan.recovery_time_s <= 3.06
    assert plan.targets[0][0] == pytest.approx(90.0, abs=2.0)


def test_a_swarm_in_space_is_joined() -> None:
    """Three dimensions, half lost: connected and verified."""
    scenario = reknit.generate(40, 20, seed=5, split=True, dim=3)
    plan = reknit.plan(scenario, "descent")
    assert plan.status.is_connected
    assert plan.details["contracted"] == "no"


def test_a_budget_that_is_over_still_gives_a_plan() -> None:
    """With no time at all the contracted positions are the plan, marked as cut short."""
    plan = reknit.plan(reknit.generate(60, 30, seed=1, split=True), "descent", budget_s=0.0)
    assert plan.status is reknit.Status.DEADLINE


def test_it_stops_at_the_step_after_a_cancel() -> None:
    """`cancel` is asked once a step; the best so far is returned."""
    scenario = reknit.generate(60, 45, seed=1, split=True)
    asked = []

    def cancel() -> bool:
        asked.append(True)
        return len(asked) > 7

    proposal = Descent().propose(scenario, reknit.Context(cancel=cancel))
    assert proposal.details["iterations"] == 7
    assert proposal.details["stopped_by"] == "deadline"
    assert proposal.status is reknit.Status.DEADLINE


def test_it_begins_from_an_earlier_plan() -> None:
    """Given connected targets it has a plan after no step at all."""
    scenario = reknit.generate(60, 30, seed=2, split=True)
    earlier = reknit.plan(scenario, "certified")
    planner = Descent(iterations=0)
    again = planner.propose(scenario, reknit.Context(warm_start=earlier.targets))
    assert again.details["contracted"] == "no"
    fresh = planner.propose(scenario, reknit.Context())
    assert fresh.details["contracted"] != "no"


def test_it_takes_more_steps_while_nothing_is_connected() -> None:
    """Twice the iterations at most; then what is there is contracted or called not connected."""
    plan = reknit.plan(GAPS, "descent", iterations=4, step=1e-3, contraction=False)
    assert plan.details["iterations"] == 8
    assert plan.status is reknit.Status.NOT_CONNECTED
    assert reknit.plan(GAPS, "descent", iterations=4, step=1e-3).status.is_connected


def test_it_needs_no_neural_network_library() -> None:
    """Planning with it imports no torch."""
    program = (
        "import sys, reknit; reknit.plan(reknit.generate(20, 10, seed=1, split=True), 'descent');"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
