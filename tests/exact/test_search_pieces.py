"""The parts of the search: clashing pairs, cuts, 2-connected links, fallbacks."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import reknit
from reknit.base.types import BoolArray, IntArray
from reknit.exact.demands.redundant_links import (
    Rule,
    patched_links,
    redundant_range_m,
    sparse_links,
)
from reknit.exact.model.cone import Cones
from reknit.exact.model.problem import Problem
from reknit.exact.proof.bounds import emst_bound
from reknit.exact.search.bits import (
    as_rows,
    bits,
    grow,
    labels,
    lowest,
    members,
    parts,
    tree_cuts,
    tree_sides,
)
from reknit.exact.search.case_search import CaseSearch
from reknit.exact.search.conflicts import clashing_pairs
from reknit.exact.search.lessons import Lessons
from reknit.exact.search.proof_tree import Faster, Proof, Region, Work
from reknit.network.emst import longest_edge_m
from reknit.network.links import components, lengths
from tests.exact.brute import tree_time_s


@pytest.mark.parametrize("seed", range(12))
def test_two_links_clash_exactly_when_their_cone_program_says_so(seed: int) -> None:
    """The three-disc test agrees with scipy's answer on every two links that share a UAV."""
    rng = np.random.default_rng(seed)
    count = 7
    start = rng.random((count, 2 + seed % 2)) * 450.0
    if seed % 5 == 4:
        start = np.round(start / 60.0) * 60.0
    speeds = rng.uniform(2.0, 20.0, count) if seed % 3 else np.full(count, 10.0)
    if seed % 4 == 1:
        speeds[0] = 0.0
    problem = Problem(start, speeds, 120.0)
    time_s = float(rng.uniform(1.0, 10.0))
    pairs = problem.candidates(time_s)
    first, second = clashing_pairs(problem, pairs, time_s)
    clashing = {frozenset(two) for two in zip(first.tolist(), second.tolist(), strict=True)}
    for e in range(len(pairs)):
        for f in range(e):
            if set(pairs[e]) & set(pairs[f]):
                least_s = two_links_s(problem, pairs[[f, e]])
                if abs(least_s / time_s - 1.0) > 1e-5:
                    assert (frozenset({e, f}) in clashing) == (least_s > time_s)


def two_links_s(problem: Problem, links: IntArray) -> float:
    """The least time of two links that share a UAV, by the oracle of whole trees."""
    members, tree = np.unique(links, return_inverse=True)
    return tree_time_s(
        problem.start[members], problem.speeds[members], problem.range_m, tree.reshape(2, 2)
    )


def test_bit_sets() -> None:
    """Sets as integers give back what went in."""
    assert members(bits(np.array([5, 0, 70]))) == [0, 5, 70]
    assert lowest(0b1100) == 2
    assert as_rows([0b101, 0b010], 3).tolist() == [[True, False, True], [False, True, False]]
    assert labels([[0, 1], [2, 3]], [0, 1], 5).tolist() == [0, 0, 1, 1, 2]
    sides = tree_sides(np.array([[0, 1], [1, 2]]), 3)
    assert sides.sum(axis=1).tolist() == [1, 1, 2, 1]


def test_cuts_by_exclusive_or_are_those_found_by_going_through_the_links() -> None:
    """What grows along links, what falls apart and what crosses a cut agree with scipy and with
    a look at every link.
    """
    rng = np.random.default_rng(3)
    for _ in range(30):
        size = int(rng.integers(2, 9))
        pairs = rng.integers(size, size=(int(rng.integers(1, 14)), 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        ends, at = pairs.tolist(), [0] * size
        for link, (a, b) in enumerate(ends):
            at[a] |= 1 << link
            at[b] |= 1 << link
        some = int(rng.integers(1 << len(ends)))
        label = components(pairs[members(some)], size)
        order, parent, across = grow(at, ends, some)
        assert sorted(order) == np.flatnonzero(label == label[0]).tolist()
        assert all(
            {node, parent[node]} in [set(ends[k]) for k in members(some)] for node in order[1:]
        )
        inside = set(order)
        assert members(across) == [
            k for k, (a, b) in enumerate(ends) if (a in inside) != (b in inside)
        ]
        found = parts(at, ends, some)
        assert sorted(map(sorted, found)) == sorted(
            np.flatnonzero(label == k).tolist() for k in range(int(label.max()) + 1)
        )
        cuts = tree_cuts(ends, at, label.tolist(), list(range(len(ends))))
        kept = [k for k in range(len(ends)) if label[pairs[k, 0]] != label[pairs[k, 1]]]
        sides = tree_sides(label[pairs[kept]].reshape(-1, 2), int(label.max()) + 1)
        expected = {
            sum(1 << k for k in kept if side[label[pairs[k, 0]]] != side[label[pairs[k, 1]]])
            for side in sides
        }
        assert set(cuts) == expected - {0}


def test_lessons_are_found_where_one_decision_is_missing() -> None:
    """The table of lessons answers as a look at every lesson does, for many links as for few."""
    rng = np.random.default_rng(4)
    for links in (5, 64, 200):
        lessons = Lessons(links)
        for _ in range(150):
            needs, lacks = (
                bits(rng.choice(links, int(rng.integers(0, 4)), replace=False)) for _ in range(2)
            )
            lessons.add(Proof(0, -1, None, needs, lacks & ~needs))
        for _ in range(20):
            used = bits(np.flatnonzero(rng.random(links) < 0.4))
            barred = bits(np.flatnonzero(rng.random(links) < 0.4)) & ~used
            expected = [
                proof
                for proof in lessons.proofs
                if (proof.needs & ~used).bit_count() + (proof.lacks & ~barred).bit_count() <= 1
            ]
            assert lessons.near(used, barred) == expected
        assert (lessons.activity >= 0.0).all()


def test_a_search_ends_in_one_of_three_ways() -> None:
    """Below the optimum a proof, above it a plan, and with no work neither."""
    scenario = reknit.generate(uavs=200, destroyed=180, seed=1006, split=True)
    problem = Problem.of(scenario)
    best_s = reknit.plan(scenario, "certified").recovery_time_s

    def search(time_s: float, limit: int) -> CaseSearch:
        region = Region.whole(problem.count)
        return CaseSearch(Cones(problem), region, problem.candidates(time_s), time_s, Work(limit))

    proof = search(0.999 * best_s, 5_000).run()
    assert isinstance(proof, Proof)
    assert proof.needs == 0
    assert proof.lacks == 0
    assert isinstance(search(1.01 * best_s, 5_000).run(), Faster)
    assert search(0.999 * best_s, 3).run() is None


@pytest.mark.parametrize("seed", range(8))
def test_a_region_only_relaxes(seed: int) -> None:
    """What is proved of a part of the swarm holds for the whole, as the checker confirms."""
    scenario = reknit.generate(uavs=400, destroyed=200, seed=seed, split=True)
    plan = reknit.plan(scenario, "certified")
    plan.verify(scenario)
    assert plan.gap < 1e-3


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_sparse_links(seed: int, order: int) -> None:
    """Sparse links are k-connected by networkx's count, and no shorter range would do."""
    points = np.random.default_rng(seed).random((15, 2)) * 500.0
    links = sparse_links(points, order)
    assert nx.node_connectivity(nx.Graph(links.tolist())) >= order
    range_m = redundant_range_m(points, order)
    assert lengths(points, links).max() == range_m
    pairs = np.stack(np.triu_indices(15, k=1), axis=1)
    shorter = nx.Graph(pairs[lengths(points, pairs) < range_m].tolist())
    shorter.add_nodes_from(range(15))
    assert nx.node_connectivity(shorter) < order


def test_links_are_given_up_without_time() -> None:
    """Once the time is over the choice of links ends with what is there, and asks often before."""
    points = np.random.default_rng(3).random((400, 2)) * 2_400.0
    asked = 0

    def is_over() -> bool:
        nonlocal asked
        asked += 1
        return asked > 5

    assert len(patched_links(points, 120.0, is_over)) >= 399
    assert 5 < asked < 400
    whole = patched_links(points, 120.0)
    assert len(patched_links(points, 120.0, lambda: False)) == len(whole)


@pytest.mark.parametrize("seed", range(6))
def test_patched_links(seed: int) -> None:
    """The quick choice for large swarms is 2-connected too, and sparse."""
    points = np.random.default_rng(seed).random((150, 2)) * 1400.0
    links = patched_links(points, 120.0)
    graph = nx.Graph(links.tolist())
    assert nx.is_biconnected(graph)
    assert len(graph) == 150
    assert len(links) <= 3 * 150


@pytest.mark.parametrize("is_quick", [False, True])
def test_links_keep_to_the_pairs_that_may_be_linked(is_quick: bool) -> None:
    """Pairs that may not be linked are gone round, even the only short ones across a gap; where no
    others are left, the choice ends without them.
    """
    points = np.random.default_rng(5).random((60, 2)) * 500.0
    points[30:, 0] += 700.0
    is_fixed = (points[:, 0] > 350.0) & (points[:, 0] < 900.0)

    def may_link(pairs: IntArray) -> BoolArray:
        return np.asarray(~is_fixed[pairs].all(axis=1))

    def chosen(rule: Rule) -> IntArray:
        if is_quick:
            return patched_links(points, 120.0, may_link=rule)
        return sparse_links(points, 2, may_link=rule)

    links = chosen(may_link)
    assert may_link(links).all()
    assert nx.is_biconnected(nx.Graph(links.tolist()))
    assert len(np.unique(links)) == 60
    apart = chosen(lambda pairs: np.asarray((pairs < 30).sum(axis=1) != 1))
    assert nx.number_connected_components(nx.Graph(apart.tolist())) == 2


def test_the_emst_bound_is_the_formula() -> None:
    """(l - d_tr) / (2 v_max), l the longest EMST edge."""
    scenario = reknit.generate(uavs=60, destroyed=30, seed=2, split=True)
    expected = (longest_edge_m(scenario.survivor_positions) - 120.0) / 20.0
    assert emst_bound(scenario).bound_s == pytest.approx(expected, rel=1e-9)
    assert reknit.lower_bound(scenario).bound_s >= emst_bound(scenario).bound_s


def test_the_bound_is_computed_once() -> None:
    """The second call gives the same object."""
    scenario = reknit.generate(uavs=60, destroyed=30, seed=2, split=True)
    assert reknit.lower_bound(scenario) is reknit.lower_bound(scenario)
