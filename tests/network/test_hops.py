"""Hop distances against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reknit.base.errors import InvalidParameter
from reknit.base.types import FloatArray
from reknit.network.hops import UNREACHED, hop_diameter, hop_matrix, hops_within
from reknit.network.links import adjacency, links
from tests.strategies import point_sets


def brute_hops(
    points: FloatArray, range_m: float
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """H_ij by breadth-first search from every node."""
    graph = nx.Graph(links(points, range_m).tolist())
    graph.add_nodes_from(range(len(points)))
    hops = np.full((len(points), len(points)), UNREACHED)
    for i, lengths in nx.all_pairs_shortest_path_length(graph):
        for j, length in lengths.items():
            hops[i, j] = length
    return hops


@given(point_sets(), st.one_of(st.none(), st.integers(0, 4)))
def test_hops_match_networkx(points: FloatArray, max_hops: int | None) -> None:
    """The flood counts hops, and stops at the depth asked for."""
    expected = brute_hops(points, 120.0)
    if max_hops is not None:
        expected[expected > max_hops] = UNREACHED
    graph = adjacency(links(points, 120.0), len(points))
    assert np.array_equal(hop_matrix(graph, max_hops), expected)


@given(point_sets(), st.integers(0, 4))
def test_the_sparse_form_holds_the_same_pairs(points: FloatArray, max_hops: int) -> None:
    """hops_within stores H + 1 for just the pairs within the depth."""
    expected = brute_hops(points, 120.0) + 1
    expected[expected > max_hops + 1] = 0
    graph = adjacency(links(points, 120.0), len(points))
    assert np.array_equal(hops_within(graph, max_hops).toarray(), expected)


def test_more_sources_than_fit_in_one_block() -> None:
    """A line of 1,500 UAVs: several blocks of floods, and a diameter of 1,499."""
    pairs = np.stack([np.arange(1499), np.arange(1, 1500)], axis=1)
    graph = adjacency(pairs, 1500)
    ids = np.arange(1500)
    assert np.array_equal(hop_matrix(graph), np.abs(ids[:, None] - ids[None, :]))
    assert hop_diameter(graph) == 1499


def test_a_whole_matrix_of_a_large_swarm_is_refused() -> None:
    """A dense N x N array is never made for large N."""
    graph = adjacency(np.array([[0, 1]]), 6000)
    with pytest.raises(InvalidParameter, match="hops_within"):
        hop_matrix(graph)
    assert hops_within(graph, 1).nnz == 6002
