"""Articulation points and bridges against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given

from reknit.base.types import FloatArray
from reknit.network.cuts import cut_nodes_and_bridges
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
