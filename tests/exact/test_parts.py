"""The parts of the search: clashing pairs, cuts, 2-connected links, fallbacks."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import reknit
from reknit.exact.demands.redundant_links import (
    patched_links,
    redundant_range_m,
    sparse_links,
)
from reknit.exact.model.cone import Cones, solve
from reknit.exact.model.problem import Problem
from reknit.exact.proof.bounds import emst_bound
from reknit.exact.search.bits import bits, labels, lowest, members, tree_sides, walk
from reknit.exact.search.case_search import CaseSearch
from reknit.exact.search.conflicts import clashing_pairs
from reknit.exact.search.proof_tree import Faster, Proof, Region, Work
from reknit.network.emst import longest_edge_m
from reknit.network.links import lengths


@pytest.mark.parametrize("seed", range(12))
def test_two_links_clash_exactly_when_their_cone_program_says_so(seed: int) -> None:
    """The three-disc test agrees with the cone program on every two links that share a UAV."""
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
                least_s = solve(problem, pairs[[f, e]]).time_s
                if abs(least_s / time_s - 1.0) > 1e-5:
                    assert (frozenset({e, f}) in clashing) == (least_s > time_s)


def test_bit_sets() -> None:
    """Sets as integers give back what went in."""
    assert members(bits(np.array([5, 0, 70]))) == [0, 5, 70]
    assert lowest(0b1100) == 2
    order, parent = walk([0b010, 0b101, 0b010, 0])
    assert order == [0, 1, 2]
    assert parent == [-1, 0, 1, -1]
    assert labels([[0, 1], [2, 3]], [0, 1], 5).tolist() == [0, 0, 1, 1, 2]
    sides = tree_sides(np.array([[0, 1], [1, 2]]), 3)
    assert sides.sum(axis=1).tolist() == [1, 1, 2, 1]


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
    links = sparse_links(points, np.empty((0, 2), dtype=np.int64), order)
    assert nx.node_connectivity(nx.Graph(links.tolist())) >= order
    range_m = redundant_range_m(points, order)
    assert lengths(points, links).max() == range_m
    pairs = np.stack(np.triu_indices(15, k=1), axis=1)
    shorter = nx.Graph(pairs[lengths(points, pairs) < range_m].tolist())
    shorter.add_nodes_from(range(15))
    assert nx.node_connectivity(shorter) < order


@pytest.mark.parametrize("seed", range(6))
def test_patched_links(seed: int) -> None:
    """The quick choice for large swarms is 2-connected too, and sparse."""
    points = np.random.default_rng(seed).random((150, 2)) * 1400.0
    links = patched_links(points, 120.0)
    graph = nx.Graph(links.tolist())
    assert nx.is_biconnected(graph)
    assert len(graph) == 150
    assert len(links) <= 3 * 150


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
