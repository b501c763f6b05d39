"""Hop distances against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reknit.base.types import FloatArray
from reknit.network.hops import hop_diameter, hops_within
from reknit.network.links import adjacency, links
from tests.strategies import point_sets


def brute_hops(
    points: FloatArray, range_m: float
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """H_ij by breadth-first search from every node; -1 where there is no path."""
    graph = nx.Graph(links(points, range_m).tolist())
    graph.add_nodes_from(range(len(points)))
    hops = np.full((len(points), len(points)), -1)
    for i, lengths in nx.all_pairs_shortest_path_length(graph):
        for j, length in lengths.items():
            hops[i, j] = length
    return hops


@given(point_sets(), st.integers(0, 4))
def test_hops_match_networkx(points: FloatArray, max_hops: int) -> None:
    """The flood counts hops and stops at the depth asked for: H + 1 of just the pairs within it."""
    hops = brute_hops(points, 120.0)
    expected = np.where(hops > max_hops, 0, hops + 1)
    graph = adjacency(links(points, 120.0), len(points))
    assert np.array_equal(hops_within(graph, max_hops).toarray(), expected)
    assert hop_diameter(graph) == hops.max()


def test_more_sources_than_fit_in_one_block() -> None:
    """A line of 1,100 UAVs: two blocks of floods, and a diameter of 1,099."""
    pairs = np.stack([np.arange(1099), np.arange(1, 1100)], axis=1)
    graph = adjacency(pairs, 1100)
    ids = np.arange(1100)
    expected = np.abs(ids[:, None] - ids[None, :]) + 1
    assert np.array_equal(hops_within(graph, 1099).toarray(), expected)
    assert hop_diameter(graph) == 1099


def test_a_large_swarm_makes_no_dense_matrix() -> None:
    """Only the pairs within reach are kept, however many UAVs there are."""
    graph = adjacency(np.array([[0, 1]]), 6000)
    assert hops_within(graph, 1).nnz == 6002
