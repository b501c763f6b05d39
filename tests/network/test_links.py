"""Links, sub-nets and degrees against brute force, networkx and the paper's Laplacian count."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from reknit.base.types import FloatArray
from reknit.network import links as module
from reknit.network.links import adjacency, count_subnets, degrees, links, subnets
from tests.strategies import point_sets


def brute_links(points: FloatArray, range_m: float) -> list[tuple[int, int]]:
    """Every pair, one at a time, by the defining formula."""
    found = []
    for i in range(len(points)):
        for j in range(i + 1, len(points)):
            square = sum(
                float(a - b) * float(a - b) for a, b in zip(points[i], points[j], strict=True)
            )
            if np.sqrt(square) <= range_m:
                found.append((i, j))
    return found


def laplacian_subnets(points: FloatArray, range_m: float) -> int:
    """N_s as the paper counts it: zero eigenvalues of L = D - A."""
    graph = np.zeros((len(points), len(points)))
    for i, j in brute_links(points, range_m):
        graph[i, j] = graph[j, i] = 1.0
    eigenvalues = np.linalg.eigvalsh(np.diag(graph.sum(axis=1)) - graph)
    return int((eigenvalues < 1e-8).sum())


@given(point_sets(), st.sampled_from([60.0, 84.9, 120.0, 250.0]))
def test_links_are_those_of_the_definition(points: FloatArray, range_m: float) -> None:
    """The k-d tree finds exactly the pairs that the formula calls linked."""
    assert [tuple(pair) for pair in links(points, range_m).tolist()] == brute_links(points, range_m)


@given(point_sets(), st.sampled_from([60.0, 120.0, 250.0]))
def test_subnets_match_the_laplacian_count(points: FloatArray, range_m: float) -> None:
    """The number of sub-nets equals the number of zero eigenvalues of the Laplacian."""
    assert count_subnets(points, range_m) == laplacian_subnets(points, range_m)


@given(point_sets(), st.sampled_from([60.0, 120.0, 250.0]))
def test_subnets_match_networkx(points: FloatArray, range_m: float) -> None:
    """Sub-nets are the connected components, numbered by their first UAV."""
    graph = nx.Graph(brute_links(points, range_m))
    graph.add_nodes_from(range(len(points)))
    expected = np.empty(len(points), dtype=int)
    for number, members in enumerate(sorted(nx.connected_components(graph), key=min)):
        expected[list(members)] = number
    assert np.array_equal(subnets(points, range_m), expected)


@given(point_sets(), st.sampled_from([60.0, 120.0, 250.0]))
def test_degrees_match_networkx(points: FloatArray, range_m: float) -> None:
    """The degree of a UAV is the number of its links."""
    graph = nx.Graph(brute_links(points, range_m))
    graph.add_nodes_from(range(len(points)))
    assert degrees(points, range_m).tolist() == [graph.degree[i] for i in range(len(points))]


def test_exactly_the_range_is_a_link() -> None:
    """A pair at exactly d_tr is linked, one rounding error farther is not."""
    farther = np.nextafter(120.0, 121.0)
    assert len(links(np.array([[0.0, 0.0], [120.0, 0.0]]), 120.0)) == 1
    assert len(links(np.array([[0.0, 0.0], [72.0, 96.0]]), 120.0)) == 1
    assert len(links(np.array([[0.0, 0.0], [farther, 0.0]]), 120.0)) == 0


def test_a_crowd_with_outliers_is_split_right() -> None:
    """Two dense crowds and a straggler: found without listing the links inside the crowds."""
    rng = np.random.default_rng(0)
    crowd = rng.random((90, 2))
    points = np.concatenate([crowd, crowd + [121.5, 0.0], [[500.0, 0.0]]])
    assert count_subnets(points, 120.0) == laplacian_subnets(points, 120.0) == 3
    near = np.concatenate([crowd, crowd + [120.2, 0.0], [[500.0, 0.0]]])
    assert count_subnets(near, 120.0) == laplacian_subnets(near, 120.0) == 2


@given(point_sets(min_size=2), st.sampled_from([60.0, 120.0, 250.0]))
def test_the_crowd_method_agrees(points: FloatArray, range_m: float) -> None:
    """The method for crowds gives the same sub-nets on any swarm."""
    crowd = module._crowd_subnets(cKDTree(points), points, range_m)
    assert np.array_equal(crowd, subnets(points, range_m))


def test_the_crowd_method_needs_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Degrees of a crowd come out right when only a few links fit in memory at once."""
    monkeypatch.setattr(module, "_PAIRS_AT_ONCE", 50)
    points = np.random.default_rng(1).random((60, 2)) * 100.0
    graph = adjacency(links(points, 70.0), 60)
    assert np.array_equal(degrees(points, 70.0), graph.sum(axis=1))


def test_adjacency_is_symmetric() -> None:
    """A is symmetric with zeros on its diagonal."""
    graph = adjacency(np.array([[0, 1], [1, 3]]), 4).toarray()
    assert np.array_equal(graph, graph.T)
    assert graph.sum() == 4
    assert not graph.diagonal().any()
