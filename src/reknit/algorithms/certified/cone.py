"""The cone program on given links, with clarabel called directly.

For links E that must hold, with displacements u_i = x_i - p_i:

    minimise t   subject to   |u_i| <= v_i t,   |p_i + u_i - p_j - u_j| <= d   for ij in E.

Its dual vectors y_e prove its value without a solver (`dual_time_s`): for any y, with z_i the
signed sum of the y_e at node i,

    t >= (sum_e y_e . (p_i - p_j) - d |y_e|) / sum_i v_i |z_i|.

Links in different connected pieces have nothing to do with one another, so callers pass one
piece at a time. Lengths are scaled by d and speeds by the fastest, which makes the solution
independent of the units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import clarabel
import numpy as np
from scipy.sparse import csc_matrix

from reknit.algorithms.certified.problem import Problem
from reknit.types import BoolArray, FloatArray, IntArray

_TOLERANCE = 1e-10

_USABLE = ("Solved", "AlmostSolved", "InsufficientProgress")
"""Ends of the solver whose point is worth looking at; nothing is believed without a check."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The optimum on one set of links.

    time_s   the optimum, infinite if the links cannot all hold; proved_s what the dual proves.
    nodes    the survivors that the links touch, sorted; shift (m, dim) their displacements.
    forces   (links, dim) the dual vectors y_e.
    """

    time_s: float
    proved_s: float
    nodes: IntArray
    shift: FloatArray
    forces: FloatArray


def dual_time_s(problem: Problem, pairs: IntArray, forces: FloatArray) -> float:
    """The time that any vectors y_e on links prove, by weak duality; 0 if they prove nothing."""
    delta = problem.start[pairs[:, 0]] - problem.start[pairs[:, 1]]
    pull = float((forces * delta).sum() - problem.range_m * np.sqrt((forces**2).sum(axis=1)).sum())
    if pull <= 0.0:
        return 0.0
    nodes, index = np.unique(pairs, return_inverse=True)
    index = index.reshape(pairs.shape)
    z = np.zeros((len(nodes), forces.shape[1]))
    np.add.at(z, index[:, 0], forces)
    np.add.at(z, index[:, 1], -forces)
    give = float((problem.speeds[nodes] * np.sqrt((z**2).sum(axis=1))).sum())
    return pull / give if give > 0.0 else np.inf


class Cones:
    """Cone programs on pieces, each solved once."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._known: dict[bytes, Solution] = {}

    @property
    def solved(self) -> int:
        """How many were solved."""
        return len(self._known)

    def solve(self, pairs: IntArray, movable: BoolArray | None = None) -> tuple[Solution, bool]:
        """The solution, and whether it had to be computed. By default everybody may move."""
        still = None
        if movable is not None and not movable[pairs].all():
            still = ~movable[pairs]
        key = pairs.tobytes() + (still.tobytes() if still is not None else b"")
        known = self._known.get(key)
        if known is not None:
            return known, False
        problem = self.problem
        if still is not None and movable is not None:
            speeds = np.where(movable, problem.speeds, 0.0)
            problem = Problem(problem.start, speeds, problem.range_m)
        solution = solve(problem, pairs)
        self._known[key] = solution
        return solution, True


def solve(problem: Problem, pairs: IntArray) -> Solution:
    """The least time in which all the given links can hold."""
    nodes, index = np.unique(pairs, return_inverse=True)
    index = index.reshape(pairs.shape)
    delta = problem.start[pairs[:, 0]] - problem.start[pairs[:, 1]]
    length = np.sqrt((delta**2).sum(axis=1))
    if (length <= problem.range_m).all():
        return Solution(0.0, 0.0, nodes, np.zeros((len(nodes), delta.shape[1])), 0.0 * delta)
    speeds = problem.speeds[nodes]
    if len(pairs) == 1:
        return _one_link(problem, pairs, nodes, speeds, delta, length)
    return _solve(problem, pairs, nodes, index, speeds, delta)


def least_movement(
    problem: Problem, pairs: IntArray, time_s: float, closest_m: float
) -> tuple[IntArray, FloatArray]:
    """Survivors and displacements of least total length with all links at most `closest_m` and
    every flight at most `time_s`; not finite where the solver fails.
    """
    nodes, index = np.unique(pairs, return_inverse=True)
    index = index.reshape(pairs.shape)
    delta = (problem.start[pairs[:, 0]] - problem.start[pairs[:, 1]]) / problem.range_m
    speeds = problem.speeds[nodes]
    top = max(float(speeds.max()), 1e-300)
    cone = _Cone(index, speeds / top, delta)
    result = cone.least_movement(time_s * top / problem.range_m, closest_m / problem.range_m)
    shift = np.zeros((len(nodes), delta.shape[1]))
    if str(result.status) not in _USABLE:
        return nodes, np.full_like(shift, np.nan)
    x = np.asarray(result.x)[: len(cone.movers) * cone.dim]
    shift[cone.movers] = x.reshape(-1, cone.dim) * problem.range_m
    return nodes, shift


def _one_link(
    problem: Problem,
    pairs: IntArray,
    nodes: IntArray,
    speeds: FloatArray,
    delta: FloatArray,
    length: FloatArray,
) -> Solution:
    """Both ends fly straight at each other."""
    total = float(speeds.sum())
    unit = delta / length[:, None]
    time_s = float(length[0] - problem.range_m) / total if total > 0.0 else np.inf
    moves = np.zeros((2, delta.shape[1]))
    if total > 0.0:
        moves = np.stack([-speeds[0] * time_s * unit[0], speeds[1] * time_s * unit[0]])
    return Solution(time_s, dual_time_s(problem, pairs, unit), nodes, moves, unit)


def _solve(
    problem: Problem,
    pairs: IntArray,
    nodes: IntArray,
    index: IntArray,
    speeds: FloatArray,
    delta: FloatArray,
) -> Solution:
    dim = delta.shape[1]
    top = float(speeds.max())
    if top == 0.0:
        top = 1.0
    cone = _Cone(index, speeds / top, delta / problem.range_m)
    result = cone.least_time()
    z = np.asarray(result.z).reshape(-1, dim + 1)
    forces = -z[len(cone.movers) :, 1:]
    status = str(result.status)
    if status not in _USABLE:
        proved_s = dual_time_s(problem, pairs, forces)
        impossible = "PrimalInfeasible" in status
        return Solution(
            np.inf, proved_s if impossible else 0.0, nodes, np.zeros((len(nodes), dim)), forces
        )
    x = np.asarray(result.x)
    shift = np.zeros((len(nodes), dim))
    shift[cone.movers] = x[:-1].reshape(-1, dim) * problem.range_m
    time_s = float(x[-1]) * problem.range_m / top
    return Solution(time_s, dual_time_s(problem, pairs, forces), nodes, shift, forces)


def _settings() -> clarabel.DefaultSettings:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _TOLERANCE
    return settings


class _Cone:
    """The cone data of one piece in units of the range and the top speed.

    Variables: the displacement of every mover, then t (or one length per mover). Rows: a cone
    ``(v_i t, u_i)`` for every mover, then a cone ``(1, p_i - p_j + u_i - u_j)`` for every link.
    """

    def __init__(self, index: IntArray, speeds: FloatArray, delta: FloatArray) -> None:
        self.movers = np.flatnonzero(speeds > 0.0)
        self.speeds = speeds[self.movers]
        self.dim = delta.shape[1]
        self.links = len(delta)
        place = np.full(len(speeds), -1, dtype=np.int64)
        place[self.movers] = np.arange(len(self.movers))
        dim, wide, first = self.dim, self.dim + 1, len(self.movers) * (self.dim + 1)
        axis = np.arange(dim)
        moved = np.arange(len(self.movers))
        rows = [(moved[:, None] * wide + 1 + axis).ravel()]
        columns = [(moved[:, None] * dim + axis).ravel()]
        values = [np.full(len(moved) * dim, -1.0)]
        for end, sign in ((0, -1.0), (1, 1.0)):
            node = place[index[:, end]]
            which = np.flatnonzero(node >= 0)
            rows.append((first + which[:, None] * wide + 1 + axis).ravel())
            columns.append((node[which][:, None] * dim + axis).ravel())
            values.append(np.full(len(which) * dim, sign))
        self._rows, self._columns = np.concatenate(rows), np.concatenate(columns)
        self._values = np.concatenate(values)
        right = np.zeros((self.links, wide))
        right[:, 0], right[:, 1:] = 1.0, delta
        self.right = np.concatenate([np.zeros(first), right.ravel()])

    def least_time(self) -> clarabel.DefaultSolution:
        """Minimise t."""
        count = len(self.movers)
        heads = np.arange(count) * (self.dim + 1)
        rows = np.concatenate([self._rows, heads])
        columns = np.concatenate([self._columns, np.full(count, count * self.dim)])
        values = np.concatenate([self._values, -self.speeds])
        cost = np.zeros(count * self.dim + 1)
        cost[-1] = 1.0
        return self._run(rows, columns, values, self.right, cost, count + self.links)

    def least_movement(self, limit: float, closest: float) -> clarabel.DefaultSolution:
        """Minimise the sum of ``|u_i|`` with ``|u_i| <= v_i limit`` and links of at most `closest`.

        Variables: the displacements, then one length s_i per mover, ``|u_i| <= s_i <= v_i limit``.
        """
        count, wide = len(self.movers), self.dim + 1
        height, width = len(self.right), count * wide
        heads, lengths = np.arange(count) * wide, count * self.dim + np.arange(count)
        rows = np.concatenate([self._rows, heads, height + np.arange(count)])
        columns = np.concatenate([self._columns, lengths, lengths])
        values = np.concatenate([self._values, np.full(count, -1.0), np.ones(count)])
        right = np.concatenate([self.right, self.speeds * limit])
        right[count * wide : height : wide] = closest
        cost = np.zeros(width)
        cost[count * self.dim :] = 1.0
        more = [clarabel.NonnegativeConeT(count)]
        return self._run(rows, columns, values, right, cost, count + self.links, more)

    def _run(
        self,
        rows: IntArray,
        columns: IntArray,
        values: FloatArray,
        right: FloatArray,
        cost: FloatArray,
        cones: int,
        more: Sequence[object] = (),
    ) -> clarabel.DefaultSolution:
        height, width = len(right), len(cost)
        order = np.argsort(columns * height + rows)
        starts = np.zeros(width + 1, dtype=np.int64)
        np.cumsum(np.bincount(columns, minlength=width), out=starts[1:])
        matrix = csc_matrix((values[order], rows[order], starts), shape=(height, width))
        kinds = [clarabel.SecondOrderConeT(self.dim + 1)] * cones + list(more)
        nothing = csc_matrix((width, width))
        return clarabel.DefaultSolver(nothing, cost, matrix, right, kinds, _settings()).solve()
