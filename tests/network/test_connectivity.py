"""k-connectivity against networkx, which counts disjoint paths in its own way."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reknit.base.types import FloatArray
from reknit.network.connectivity import is_k_connected, separating_nodes, without_needless
from reknit.network.links import links
from tests.strategies import point_sets


@given(points=point_sets(min_size=2, max_size=14), range_m=st.sampled_from([90.0, 180.0, 300.0]))
def test_it_agrees_with_networkx(points: FloatArray, range_m: float) -> None:
    """The same verdict for every k, and what is returned does separate the rest."""
    pairs = links(points, range_m)
    graph = nx.Graph(pairs.tolist())
    graph.add_nodes_from(range(len(points)))
    for order in (1, 2, 3, 4):
        wanted = min(order, len(points) - 1)
        assert is_k_connected(pairs, len(points), order) == (nx.node_connectivity(graph) >= wanted)
        lost = separating_nodes(pairs, len(points), order)
        if lost is not None:
            assert len(lost) < order
            rest = graph.copy()
            rest.remove_nodes_from(lost)
            assert not nx.is_connected(rest)


@pytest.mark.parametrize("seed", range(8))
def test_it_agrees_with_networkx_on_larger_swarms(seed: int) -> None:
    """Also where few nodes of many have to be searched for paths."""
    points = np.random.default_rng(seed).random((70, 2)) * 1000.0
    for range_m in (200.0, 240.0, 280.0, 330.0):
        pairs = links(points, range_m)
        graph = nx.Graph(pairs.tolist())
        graph.add_nodes_from(range(len(points)))
        number = nx.node_connectivity(graph)
        for order in (3, 4, 5):
            lost = separating_nodes(pairs, len(points), order)
            assert (lost is None) == (number >= order)
            if lost:
                assert len(lost) < order
                rest = graph.copy()
                rest.remove_nodes_from(lost)
                assert not nx.is_connected(rest)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_a_complete_network_survives_any_loss(order: int) -> None:
    """Among nodes that are all linked to one another no loss parts the rest."""
    pairs = np.asarray(list(itertools.combinations(range(5), 2)))
    assert is_k_connected(pairs, 5, order)
    assert is_k_connected(pairs[1:], 5, order) == (order < 4)


@pytest.mark.parametrize("order", [2, 3, 4])
def test_needless_links_are_kept_without_time(order: int) -> None:
    """Once the time is over every link that was not tried stays."""
    pairs = links(np.random.default_rng(order).random((16, 2)) * 300.0, 220.0)
    asked = iter([False, False, True])
    kept = without_needless(pairs, 16, order, lambda: next(asked))
    assert np.array_equal(kept[-len(pairs) + 2 :], pairs[2:])
    assert without_needless(pairs, 16, order, lambda: True).tolist() == pairs.tolist()


@pytest.mark.parametrize("order", [2, 3, 4])
def test_needless_links_are_dropped(order: int) -> None:
    """What is kept is k-connected, and no link of it can be spared."""
    rng = np.random.default_rng(order)
    points = rng.random((16, 2)) * 300.0
    pairs = links(points, 220.0)
    kept = without_needless(pairs, 16, order)
    graph = nx.Graph(kept.tolist())
    assert nx.node_connectivity(graph) >= order
    assert len(kept) < len(pairs)
    for link in kept.tolist():
        spared = nx.restricted_view(graph, [], [tuple(link)])
        assert nx.node_connectivity(spared) < order
