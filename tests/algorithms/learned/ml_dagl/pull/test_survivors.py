"""What the pulling net is told of a swarm."""

from __future__ import annotations

import networkx as nx
import numpy as np
import torch

import reknit
from reknit.algorithms.learned.ml_dagl.pull.survivors import HOPS, PullGraph, Survivors
from reknit.network.links import components


def _survivors(dim: int = 2, trees: int = 3, *, attention: bool = False) -> Survivors:
    scenario = reknit.generate(40, 20, seed=5, split=True, dim=dim)
    return Survivors.of(scenario, trees, np.random.default_rng(1), attention=attention)


def test_every_tree_spans_the_survivors() -> None:
    """N - 1 edges that leave one component."""
    swarm = _survivors()
    assert swarm.trees.shape == (3, 19, 2)
    for tree in swarm.trees:
        assert components(tree, 20).max() == 0


def test_metres_are_the_inverse_of_the_units() -> None:
    """Where everybody is, in the plane and in space, comes back."""
    for dim in (2, 3):
        scenario = reknit.generate(40, 20, seed=5, split=True, dim=dim)
        swarm = _survivors(dim)
        back_m = swarm.metres(torch.from_numpy(swarm.start)[None])
        np.testing.assert_allclose(back_m[0], scenario.survivor_positions, atol=1e-9)


def test_anchors_stay_whatever_the_output() -> None:
    """An output that moves everybody leaves anchors at their places, to the bit."""
    base = reknit.generate(40, 20, seed=5, split=True)
    scenario = reknit.Scenario(base.positions, base.destroyed, anchors=[int(base.survivors[3])])
    swarm = Survivors.of(scenario, 1, np.random.default_rng(1), attention=False)
    targets = swarm.metres(torch.from_numpy(swarm.start + 1.0)[None])
    moved_m = np.abs(targets[0] - scenario.survivor_positions).max(axis=1)
    assert moved_m[3] < 1e-9
    assert np.delete(moved_m, 3).min() > 100.0


def test_damage_is_what_breadth_first_search_says() -> None:
    """Counts and mean ways to the destroyed UAVs within k hops, by networkx."""
    scenario = reknit.generate(40, 20, seed=5, split=True)
    swarm = _survivors(attention=True)
    graph = nx.Graph(scenario.links.tolist())
    for row, survivor in enumerate(scenario.survivors.tolist()):
        hops = nx.single_source_shortest_path_length(graph, survivor)
        for column, k in enumerate(HOPS):
            near = [j for j in scenario.destroyed.tolist() if hops.get(j, k + 1) <= k]
            count, *way = swarm.damage[row, column]
            assert np.isclose(count, np.log1p(len(near)))
            mean_m = np.zeros(2)
            if near:
                mean_m = (scenario.positions[near] - scenario.positions[survivor]).mean(axis=0)
            np.testing.assert_allclose(way, [*(mean_m / swarm.unit_m), 0.0], atol=1e-9)


def test_copies_stand_side_by_side() -> None:
    """Each swarm has its own rows, and no link crosses from one to another."""
    swarm = _survivors()
    graph = PullGraph.of([swarm, swarm], [0, 2])
    assert graph.swarms == 2
    assert graph.start.shape == (40, 3)
    assert torch.equal(graph.swarm[graph.near], graph.swarm[graph.far])
    second = graph.swarm[graph.near] == 1
    links = torch.stack([graph.near[second], graph.far[second]], dim=1) - 20
    assert {tuple(pair) for pair in links.tolist()} == {
        pair for i, j in swarm.trees[2].tolist() for pair in ((i, j), (j, i))
    }
