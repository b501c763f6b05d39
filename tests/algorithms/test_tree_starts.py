"""The trees that descent begins with: spanning, near the EMST, and each worth its own descent."""

from __future__ import annotations

import networkx
import numpy as np
import pytest

import reknit
from reknit.algorithms.descent import Descent
from reknit.algorithms.tree_starts import candidate_links, descend_trees, drawn_trees
from reknit.base.types import FloatArray
from reknit.network.emst import emst
from reknit.network.links import links

POINTS = {
    "plane": np.random.default_rng(1).uniform(0.0, 900.0, (60, 2)),
    "space": np.random.default_rng(2).uniform(0.0, 400.0, (60, 3)),
    "line": np.stack([np.arange(40) * 150.0, np.zeros(40)], axis=1),
    "coincident": np.repeat(np.arange(30).reshape(-1, 2) * 200.0, 3, axis=0),
    "two": np.array([[0.0, 0.0], [300.0, 0.0]]),
}


@pytest.mark.parametrize("name", POINTS)
def test_candidates_hold_the_emst_and_no_pair_twice(name: str) -> None:
    """Pairs are different, ordered, and hold a spanning tree as short as the EMST."""
    points = POINTS[name]
    pairs = candidate_links(points)
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert len({tuple(pair) for pair in pairs.tolist()}) == len(pairs)
    graph = networkx.Graph()
    for one, other in pairs.tolist():
        graph.add_edge(one, other, weight=float(np.linalg.norm(points[one] - points[other])))
    shortest = networkx.minimum_spanning_tree(graph).size(weight="weight")
    tree = emst(points)
    assert len(graph) == len(points)
    assert shortest == pytest.approx(
        np.linalg.norm(points[tree[:, 0]] - points[tree[:, 1]], axis=1).sum()
    )


@pytest.mark.parametrize("name", POINTS)
def test_drawn_trees_span_and_keep_the_links_that_are_there(name: str) -> None:
    """The first is the EMST; each spans all, and within a sub-net uses links that are there."""
    points = POINTS[name]
    trees = drawn_trees(points, 120.0, 12.0, 5, np.random.default_rng(3))
    assert (trees[0] == emst(points)).all()
    there = networkx.Graph()
    there.add_nodes_from(range(len(points)))
    there.add_edges_from(links(points, 120.0).tolist())
    subnets = networkx.number_connected_components(there)
    for tree in trees.tolist():
        assert networkx.is_tree(networkx.Graph(tree))
        length_m = [float(np.linalg.norm(points[one] - points[other])) for one, other in tree]
        assert sum(length > 120.0 for length in length_m) == subnets - 1


def test_more_noise_draws_trees_farther_from_the_emst() -> None:
    """Hardly any noise draws the EMST again, much of it longer trees, each another one."""
    points = POINTS["plane"]

    def total_m(noise_m: float) -> list[float]:
        trees = drawn_trees(points, 60.0, noise_m, 9, np.random.default_rng(4))[1:]
        return [
            float(np.linalg.norm(points[t[:, 0]] - points[t[:, 1]], axis=1).sum()) for t in trees
        ]

    assert len({round(total) for total in total_m(1e-6)}) == 1
    assert len(set(total_m(30.0))) == 8
    assert np.mean(total_m(1e-6)) < np.mean(total_m(6.0)) < np.mean(total_m(30.0))


def test_trees_descended_together_end_where_each_ends_alone() -> None:
    """No tree feels another one of the same array."""
    scenario = reknit.generate(60, 42, seed=5, split=True)
    points = scenario.survivor_positions
    trees = drawn_trees(points, 120.0, 20.0, 4, np.random.default_rng(6))
    planner = Descent()
    fixed = np.zeros(len(points), dtype=bool)

    def descend(which: slice) -> tuple[FloatArray, FloatArray]:
        return descend_trees(
            points, fixed, trees[which], lambda x, t: planner.loss(scenario, x, t), 25, 5.0
        )

    together, losses_m = descend(slice(None))
    for row in range(4):
        alone, loss_m = descend(slice(row, row + 1))
        np.testing.assert_array_equal(alone[0], together[row])
        assert loss_m[0] == losses_m[row]
    assert len(set(losses_m.tolist())) > 1


def test_who_may_not_move_does_not() -> None:
    """Anchors are where they were in every one of the trees' targets."""
    points = POINTS["plane"]
    fixed = np.arange(60) < 7
    scenario = reknit.Scenario(points, [], 120.0, 10.0, anchors=np.flatnonzero(fixed))
    trees = drawn_trees(points, 120.0, 20.0, 3, np.random.default_rng(7))
    planner = Descent()
    targets, _ = descend_trees(
        points, fixed, trees, lambda x, t: planner.loss(scenario, x, t), 10, 5.0
    )
    assert (targets[:, fixed] == points[fixed]).all()
    assert (targets[:, ~fixed] != points[~fixed]).any()
