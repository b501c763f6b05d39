"""The checker's pieces against a brute-force graph, on sparse swarms, crowds and copies."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from reknit.base.types import FloatArray
from reknit.plans.checker import pieces as module
from reknit.plans.checker.pieces import LinkRule, pieces


def _expected(rule: LinkRule) -> int:
    graph = nx.Graph()
    graph.add_nodes_from(range(len(rule.points)))
    one, two = np.triu_indices(len(rule.points), 1)
    held = rule.holds(one, two)
    graph.add_edges_from(zip(one[held].tolist(), two[held].tolist(), strict=True))
    return int(nx.number_connected_components(graph))


def _points(kind: str, rng: np.random.Generator) -> FloatArray:
    count = int(rng.integers(2, 90))
    points = rng.random((count, int(rng.choice([2, 3])))) * 1000.0
    if kind == "crowds":
        centres = rng.random((4, points.shape[1])) * 300.0
        points = centres[rng.integers(4, size=count)] + points / 100.0
    elif kind == "copies":
        points = points[rng.integers(max(1, count // 3), size=count)]
    elif kind == "lattice":
        points = np.round(points / 120.0) * 120.0
    return np.asarray(points)


@pytest.mark.parametrize(
    ("few_pairs", "few_neighbours"), [(0, 0.0), (20_000_000, 0.0), (20_000_000, 30.0)]
)
@pytest.mark.parametrize("kind", ["sparse", "crowds", "copies", "lattice"])
def test_pieces_match_brute_force(
    kind: str, few_pairs: int, few_neighbours: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of pieces is that of the graph of all links, whichever way they are searched and
    with different speeds as with one.
    """
    monkeypatch.setattr(module, "_FEW_PAIRS", few_pairs)
    monkeypatch.setattr(module, "_FEW_NEIGHBOURS", few_neighbours)
    monkeypatch.setattr(module, "_NEAREST", 2)
    monkeypatch.setattr(module, "_PAIRS_AT_ONCE", 50)
    rng = np.random.default_rng(len(kind))
    seen = set()
    for trial in range(12):
        points = _points(kind, rng)
        speeds = rng.uniform(0.0, 20.0, len(points)) if trial % 2 else np.full(len(points), 10.0)
        rule = LinkRule(points, 120.0, speeds, float(rng.choice([0.0, 1.0, 4.0])), 1e-12)
        for each in (rule, LinkRule(points, 120.0)):
            label = pieces(each, np.arange(len(points)))
            assert len(np.unique(label)) == label.max() + 1 == _expected(each)
            seen.add(int(label.max()) + 1)
    assert len(seen) > 2


def test_only_the_given_points_count() -> None:
    """A point that is left out links nobody."""
    rule = LinkRule(np.array([[0.0, 0.0], [100.0, 0.0], [200.0, 0.0]]), 120.0)
    assert pieces(rule, np.array([0, 1, 2])).max() == 0
    assert pieces(rule, np.array([0, 2])).tolist() in ([0, 1], [1, 0])


def test_work_grows_with_the_number_of_points() -> None:
    """Four times as many points propose about four times as many pairs, not sixteen times."""
    proposed: list[int] = []

    class Counting(LinkRule):
        def holds(self, one: np.ndarray, two: np.ndarray) -> np.ndarray:
            proposed[-1] += len(one)
            return super().holds(one, two)

    for count in (500, 2_000, 8_000):
        proposed.append(0)
        points = np.random.default_rng(1).random((count, 2)) * 70.0 * np.sqrt(count)
        original = module._chosen
        module._chosen = lambda rule, rows: Counting(rule.points[rows], rule.range_m)
        try:
            pieces(Counting(points, 120.0), np.arange(count))
        finally:
            module._chosen = original
    assert proposed[1] < 6 * proposed[0]
    assert proposed[2] < 6 * proposed[1]
