"""The optimum by brute force: the least time on every spanning tree.

The program on a tree is solved here by scipy's sequential quadratic programming, so that this
oracle shares neither formulation nor solver with the code that it judges.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from functools import cache

import numpy as np
from scipy.optimize import minimize

from reknit.base.types import FloatArray, IntArray
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
    start, speeds = scenario.survivor_positions, scenario.survivor_speeds_mps
    best = known_s
    for tree in all_trees(len(start)):
        apart_m = np.sqrt(((start[tree[:, 0]] - start[tree[:, 1]]) ** 2).sum(axis=1))
        excess_m = np.maximum(0.0, apart_m - scenario.planning_range_m)
        speed = speeds[tree].sum(axis=1)
        never = np.where(excess_m > 0.0, np.inf, 0.0)
        soonest_s = np.divide(excess_m, speed, out=never, where=speed > 0.0).max()
        if soonest_s < best * (1.0 - 1e-6):
            best = min(best, tree_time_s(start, speeds, scenario.planning_range_m, tree))
    return best


def tree_time_s(start: FloatArray, speeds: FloatArray, range_m: float, tree: IntArray) -> float:
    """The least time in which the links of a tree can all hold; infinite if they never can.

    With lengths in units of the range and t in units of range / top speed, over the displacements
    u and t: minimise t with ``(v_i t)^2 >= |u_i|^2`` and ``1 >= |p_i + u_i - p_j - u_j|^2``.
    """
    movers = np.flatnonzero(speeds > 0.0)
    top = float(speeds.max())
    if len(movers) == 0:
        return np.inf if _longest(start, tree) > range_m else 0.0
    program = _TreeProgram(start / range_m, speeds[movers] / top, movers, tree)
    if len(start) - len(movers) > 1 and program.least_overlength() > 1e-7:
        return np.inf
    return program.least_time() * range_m / top


class _TreeProgram:
    """One tree in scaled units, as scipy takes it."""

    def __init__(
        self, start: FloatArray, speeds: FloatArray, movers: IntArray, tree: IntArray
    ) -> None:
        self.start, self.speeds, self.movers, self.tree = start, speeds, movers, tree
        count, dim = start.shape
        place = np.full(count, -1)
        place[movers] = np.arange(len(movers))
        # difference @ u gives u_i - u_j for every link.
        self.difference = np.zeros((len(tree), len(movers)))
        for row, (i, j) in enumerate(tree.tolist()):
            if place[i] >= 0:
                self.difference[row, place[i]] = 1.0
            if place[j] >= 0:
                self.difference[row, place[j]] = -1.0
        self.delta = start[tree[:, 0]] - start[tree[:, 1]]
        self.shape = (len(movers), dim)

    def _spread(self, x: FloatArray) -> FloatArray:
        return np.asarray(self.delta + self.difference @ x[:-1].reshape(self.shape))

    def least_time(self) -> float:
        """The least t, from everybody in one place; the last variable is t."""
        for goal in (self.start.mean(axis=0), *self.start):  # again where a line search fails
            shift = goal - self.start[self.movers]
            latest = float((np.sqrt((shift**2).sum(axis=1)) / self.speeds).max())
            least = self._minimise(np.append(shift.ravel(), 1.2 * latest), is_time=True)
            if least is not None:
                return least
        raise AssertionError("the oracle failed")

    def least_overlength(self) -> float:
        """The least s such that links of at most 1 + s can hold, however long it takes."""
        for goal in (None, *self.start):
            shift = np.zeros(self.shape) if goal is None else goal - self.start[self.movers]
            first = np.append(shift.ravel(), 0.0)
            longest = np.sqrt((self._spread(first) ** 2).sum(axis=1)).max()
            first[-1] = longest - 0.9
            least = self._minimise(first, is_time=False)
            if least is not None:
                return least
        raise AssertionError("the oracle failed")

    def _minimise(self, first: FloatArray, *, is_time: bool) -> float | None:
        width = len(first)
        gradient = np.zeros(width)
        gradient[-1] = 1.0
        dim = self.shape[1]

        def margins(x: FloatArray) -> FloatArray:
            spread = self._spread(x)
            allowed = 1.0 if is_time else 1.0 + x[-1]
            links = allowed**2 - (spread**2).sum(axis=1)
            if not is_time:
                return np.asarray(np.append(links, 1.0 + x[-1]))
            flown = (x[:-1].reshape(self.shape) ** 2).sum(axis=1)
            return np.concatenate([links, (self.speeds * x[-1]) ** 2 - flown, x[-1:]])

        def slopes(x: FloatArray) -> FloatArray:
            spread = self._spread(x)
            rows = -2.0 * self.difference[:, :, None] * spread[:, None, :]
            links = np.zeros((len(self.tree), width))
            links[:, :-1] = rows.reshape(len(self.tree), -1)
            if not is_time:
                links[:, -1] = 2.0 * (1.0 + x[-1])
                return np.vstack([links, gradient])
            flown = np.zeros((len(self.movers), width))
            for row in range(len(self.movers)):
                flown[row, row * dim : (row + 1) * dim] = -2.0 * x[row * dim : (row + 1) * dim]
            flown[:, -1] = 2.0 * self.speeds**2 * x[-1]
            return np.vstack([links, flown, gradient])

        result = minimize(
            lambda x: x[-1],
            first,
            jac=lambda x: gradient,
            method="SLSQP",
            constraints={"type": "ineq", "fun": margins, "jac": slopes},
            options={"ftol": 1e-12, "maxiter": 400},
        )
        is_plan = bool(margins(result.x).min() >= -1e-7)
        return float(result.x[-1]) if result.success and is_plan else None


def _longest(start: FloatArray, tree: IntArray) -> float:
    return float(np.sqrt(((start[tree[:, 0]] - start[tree[:, 1]]) ** 2).sum(axis=1)).max())


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
