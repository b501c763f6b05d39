"""Articulation points and bridges against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reknit.base.types import FloatArray
from reknit.network.cuts import cut_nodes_and_bridges, thinned
from reknit.network.links import links
from tests.strategies import point_sets


@given(point_sets())
def test_cuts_match_networkx(points: FloatArray) -> None:
    """The same articulation points and bridges as networkx finds."""
    pairs = links(points, 120.0)
    graph = nx.Graph(pairs.tolist())
    cut, bridges = cut_nodes_and_bridges(pairs, len(points))
    assert cut.tolist() == sorted(nx.articulation_points(graph))
    assert [tuple(pair) for pair in bridges.tolist()] == sorted(
        tuple(sorted(pair)) for pair in nx.bridges(graph)
    )


def test_a_long_chain_does_not_recurse() -> None:
    """A chain of 20,000 UAVs is all bridges."""
    pairs = np.stack([np.arange(19_999), np.arange(1, 20_000)], axis=1)
    cut, bridges = cut_nodes_and_bridges(pairs, 20_000)
    assert len(cut) == 19_998
    assert np.array_equal(bridges, pairs)


@given(st.integers(3, 40), st.integers(0, 2**32 - 1), st.floats(0.02, 0.5))
def test_thinned_links_have_the_same_cuts(nodes: int, seed: int, share: float) -> None:
    """Of any network, also one that is split: fewer than two links a node, the same cuts."""
    rng = np.random.default_rng(seed)
    pairs = np.argwhere(np.triu(rng.random((nodes, nodes)) < share, 1))
    thin = thinned(pairs, nodes)
    assert len(thin) <= 2 * (nodes - 1)
    whole, less = nx.Graph(pairs.tolist()), nx.Graph(thin.tolist())
    assert set(nx.articulation_points(whole)) == set(nx.articulation_points(less))
    assert {frozenset(pair) for pair in nx.bridges(whole)} == {
        frozenset(pair) for pair in nx.bridges(less)
    }
    for lost in range(nodes):
        whole.remove_nodes_from([lost])
        parts = {frozenset(part) for part in nx.connected_components(whole)}
        smaller = less.subgraph(set(less) - {lost})
        assert parts == {frozenset(part) for part in nx.connected_components(smaller)}
        whole = nx.Graph(pairs.tolist())
