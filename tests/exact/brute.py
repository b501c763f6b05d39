"""The optimum by brute force: the cone program on every spanning tree."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from functools import cache

import numpy as np

from reknit.base.types import IntArray
from reknit.exact.model.cone import solve
from reknit.exact.model.problem import Problem
from reknit.swarm.scenario import Scenario


@cache
def all_trees(nodes: int) -> tuple[IntArray, ...]:
    """Every labelled tree, n^(n-2) of them, from its Pruefer code."""
    return tuple(_decode(code, nodes) for code in itertools.product(range(nodes), repeat=nodes - 2))


def _decode(code: tuple[int, ...], nodes: int) -> IntArray:
    degree = [1 + code.count(node) for node in range(nodes)]
    leaves = [node for node in range(nodes) if degree[node] == 1]
    links = []
    for node in code:
        leaf = heapq.heappop(leaves)
        links.append((min(leaf, node), max(leaf, node)))
        degree[node] -= 1
        if degree[node] == 1:
            heapq.heappush(leaves, node)
    links.append((min(leaves), max(leaves)))
    return np.asarray(links, dtype=np.int64)


def optimum_s(scenario: Scenario, known_s: float = np.inf) -> float:
    """The least time over all trees; `known_s` is the time of a plan that surely exists."""
    problem = Problem.of(scenario)
    best = known_s
    for tree in all_trees(problem.count):
        if problem.closing_time_s(tree).max() < best:
            best = min(best, solve(problem, tree).time_s)
    return best


def small_scenarios(seed: int, count: int, least: int, most: int) -> Iterator[Scenario]:
    """Split swarms of a few survivors of every kind: scattered, gridded, thin, in line, 3-D,
    with different speeds, with an anchor, with a link margin.
    """
    rng = np.random.default_rng(seed)
    while count:
        nodes = int(rng.integers(least, most + 1))
        points = rng.random((nodes, int(rng.choice([2, 2, 3])))) * rng.choice([200, 300, 500, 2000])
        kind = rng.integers(5)
        if kind == 1:
            points = np.round(points / 60.0) * 60.0
        elif kind == 2:
            points[:, 1:] *= rng.choice([0.0, 0.05])
        speeds = rng.uniform(1.0, 20.0, nodes) if rng.random() < 0.3 else 10.0
        anchors = [int(rng.integers(nodes))] if rng.random() < 0.2 else []
        margin = 0.1 if rng.random() < 0.2 else 0.0
        scenario = Scenario(points, (), 120.0, speeds, anchors=anchors, link_margin=margin)
        if scenario.is_split:
            count -= 1
            yield scenario
