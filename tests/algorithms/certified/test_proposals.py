"""Starting trees from ML-DAGL's branches."""

from __future__ import annotations

import reknit
from reknit.algorithms.base import Budget, Context
from reknit.algorithms.certified.problem import is_spanning
from reknit.algorithms.certified.proposals import proposed_trees
from reknit.plans.check import check_plan


def test_proposals_are_different_spanning_trees() -> None:
    """What the branches propose spans the survivors, and nothing is proposed twice."""
    scenario = reknit.generate(uavs=100, destroyed=85, seed=8304, split=True)
    trees = list(proposed_trees(scenario, Context()))
    assert trees
    assert len({tree.tobytes() for tree in trees}) == len(trees)
    survivors = len(scenario.survivors)
    for tree in trees:
        assert len(tree) == survivors - 1
        assert is_spanning(tree, survivors)


def test_a_short_search_gains_from_the_proposals() -> None:
    """On a swarm that one cone program leaves far from the best, the branches know better trees."""
    scenario = reknit.generate(uavs=200, destroyed=180, seed=8300, split=True)
    alone = reknit.plan(scenario, "certified", effort=1, proposals=False)
    helped = reknit.plan(scenario, "certified", effort=1)
    assert helped.recovery_time_s < 0.9 * alone.recovery_time_s
    check_plan(helped, scenario)


def test_nothing_is_proposed_when_time_is_short() -> None:
    """With a second left there is no time to load a network."""
    scenario = reknit.generate(uavs=100, destroyed=85, seed=8304, split=True)
    assert not list(proposed_trees(scenario, Context(budget=Budget(1.0))))
