"""The Euclidean minimum spanning tree against networkx on all pairs."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from reknit.base.types import FloatArray, IntArray
from reknit.network.emst import (
    _boruvka,
    _forest,
    _from_near_pairs,
    delaunay_edges,
    emst,
    longest_edge_m,
)
from reknit.network.links import components, count_subnets, lengths
from tests.strategies import point_sets


def brute_tree_lengths(points: FloatArray) -> list[float]:
    """Sorted edge lengths of a minimum spanning tree of the complete graph; unique even where
    the tree is not.
    """
    graph = nx.Graph()
    graph.add_nodes_from(range(len(points)))
    for i, j in combinations(range(len(points)), 2):
        graph.add_edge(i, j, weight=float(np.linalg.norm(points[i] - points[j])))
    tree = nx.minimum_spanning_tree(graph)
    return sorted(weight for _, _, weight in tree.edges(data="weight"))


@pytest.mark.parametrize("method", [emst, _boruvka])
@given(points=point_sets(min_size=2, max_size=50))
def test_it_is_a_minimum_spanning_tree(method, points: FloatArray) -> None:  # type: ignore[no-untyped-def]
    """Both methods give n - 1 edges that span, with the edge lengths of a minimum tree."""
    edges = method(points)
    assert len(edges) == len(points) - 1
    assert components(edges, len(points)).max() == 0
    found = np.sort(lengths(points, edges))
    assert found == pytest.approx(brute_tree_lengths(points), rel=1e-12, abs=1e-12)


@given(point_sets(max_size=50))
def test_long_edges_count_subnets(points: FloatArray) -> None:
    """N_s - 1 is the number of EMST edges longer than the range."""
    long_edges = int((lengths(points, emst(points)) > 120.0).sum())
    assert count_subnets(points, 120.0) == long_edges + 1


@pytest.mark.parametrize("dim", [2, 3])
def test_large_swarms_agree_between_methods(dim: int) -> None:
    """On thousands of points the triangulation and the k-d tree give the same tree."""
    points = np.random.default_rng(dim).random((3000, dim)) * 4000.0
    assert np.array_equal(emst(points), _boruvka(points))


@pytest.mark.parametrize("seed", range(5))
def test_near_pairs_give_the_tree_of_the_triangulation(seed: int) -> None:
    """In a swarm of even density, with gaps of many lengths, the tree from near pairs is the one
    from the Delaunay triangulation, edge by edge.
    """
    rng = np.random.default_rng(seed)
    points = rng.random((4000, 2)) * 5000.0
    points = points[np.abs(points[:, 0] - 4500.0) > 40.0 * seed]  # a part lies behind a gap
    triangulated = delaunay_edges(points)
    near = _from_near_pairs(points)
    assert triangulated is not None
    assert near is not None
    assert np.array_equal(near, _forest(points, triangulated))


@pytest.mark.parametrize("kind", ["halves", "crowded", "one place"])
def test_near_pairs_are_not_used_where_the_density_is_uneven(kind: str) -> None:
    """Where near pairs are too many, or leave large parts unjoined, another method is taken, and
    the tree is a minimum one all the same.
    """
    rng = np.random.default_rng(8)
    points = rng.random((3000, 2)) * 1000.0
    if kind == "halves":
        points[::2] += [9e4, 0.0]
    elif kind == "crowded":
        points[::3] = rng.random((1000, 2))
    else:
        points[:] = 7.0
    assert _from_near_pairs(points) is None
    found = np.sort(lengths(points, emst(points)))
    assert found == pytest.approx(np.sort(lengths(points, _boruvka(points))), rel=1e-12)


def test_far_clusters_are_joined() -> None:
    """Dense clusters far apart: the neighbours first looked at are all in the same cluster."""
    rng = np.random.default_rng(5)
    points = np.concatenate([rng.random((80, 3)) + [1000.0 * k, 0.0, 0.0] for k in range(4)])
    assert np.sort(lengths(points, emst(points))) == pytest.approx(brute_tree_lengths(points))


def test_coincident_points_keep_their_edges() -> None:
    """Edges of length zero are edges."""
    points = np.array([[0.0, 0.0]] * 40 + [[5.0, 0.0]] * 40)
    edges = emst(points)
    assert len(edges) == 79
    assert np.count_nonzero(lengths(points, edges)) == 1


def test_a_place_is_searched_once_however_many_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 50,000 UAVs at 30 places in a row only the places are looked for neighbours of; a search
    among all of them would see nobody but those at the same place.
    """
    rng = np.random.default_rng(4)
    points = np.stack([rng.integers(0, 30, 50_000) * 7.0, np.zeros(50_000)], axis=1)
    asked: list[int] = []

    def counted(positions: FloatArray) -> IntArray:
        asked.append(len(positions))
        return _boruvka(positions)

    monkeypatch.setattr("reknit.network.emst._boruvka", counted)
    edges = emst(points)
    assert asked == [30]
    assert len(edges) == 49_999
    assert np.sort(lengths(points, edges))[-29:] == pytest.approx(7.0)
    assert np.count_nonzero(lengths(points, edges)) == 29
    assert (edges[:, 0] < edges[:, 1]).all()


def test_the_longest_edge_of_one_point_is_zero() -> None:
    """A single UAV is connected at any range."""
    assert longest_edge_m(np.zeros((1, 2))) == 0.0
