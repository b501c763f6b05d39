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

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from reknit.base.context import never
from reknit.base.types import BoolArray, FloatArray, IntArray
from reknit.exact.model.learned import LearnedClashes
from reknit.exact.model.problem import Problem
from reknit.exact.model.program import Program

_USABLE = ("Solved", "AlmostSolved", "InsufficientProgress")
"""Ends of the solver whose point is worth looking at; nothing is believed without a check."""


_BATCH = 300
"""Links of small pieces that are solved in one program."""

_MOST_KNOWN = 20_000
"""Solutions that are kept, so that a long search does not fill the memory."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The optimum on one set of links.

    time_s   the optimum, infinite if the links cannot all hold; proved_s what the dual proves.
    nodes    the survivors that the links touch, sorted; shift (m, dim) their displacements.
    forces   (links, dim) the dual vectors y_e.
    is_whole whether the solver came to its end; otherwise `time_s` is only known to be at least
             `proved_s`, and nobody is displaced.
    """

    time_s: float
    proved_s: float
    nodes: IntArray
    shift: FloatArray
    forces: FloatArray
    is_whole: bool = True


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
    """Cone programs on pieces, each solved once.

    Parameters
    ----------
    problem
        Survivors, speeds and range.
    is_over
        Asked while programs are solved; once it is true they are given up.
    """

    def __init__(self, problem: Problem, is_over: Callable[[], bool] = never) -> None:
        self.problem, self.is_over = problem, is_over
        self.clashes = LearnedClashes()
        self.solved = 0
        self._known: dict[bytes, Solution] = {}

    def copy(self, is_over: Callable[[], bool] = never) -> Cones:
        """The same cone programs and clashes, to be added to without changing these."""
        copied = Cones(self.problem, is_over)
        copied.clashes, copied._known = self.clashes.copy(), dict(self._known)
        copied.solved = self.solved
        return copied

    def solve(
        self,
        pairs: IntArray,
        movable: BoolArray | None = None,
        limit_s: float = np.inf,
    ) -> tuple[Solution, bool]:
        """The solution, and whether it had to be computed.

        Parameters
        ----------
        pairs
            (k, 2) the links.
        movable
            (n,) who may move; by default everybody.
        limit_s
            A solution that takes longer need not be known any better than that.
        """
        key = _key(pairs, movable)
        known = self._known.get(key)
        if known is not None and (known.is_whole or known.time_s >= limit_s):
            return known, False
        solution = solve(self._held_still(movable), pairs, limit_s, self.is_over)
        self._keep(key, solution, limit_s)
        return solution, True

    def solve_all(self, pieces: list[IntArray], movable: BoolArray) -> list[Solution]:
        """The solutions of many pieces; those not known are computed in batches."""
        keys = [_key(piece, movable) for piece in pieces]
        new = [row for row, key in enumerate(keys) if key not in self._known]
        local = self._held_still(movable)
        solutions = dict(
            zip(new, _solve_batches(local, [pieces[row] for row in new], self.is_over), strict=True)
        )
        for row, solution in solutions.items():
            self._keep(keys[row], solution, np.inf)
        return [solutions.get(row) or self._known[key] for row, key in enumerate(keys)]

    def _held_still(self, movable: BoolArray | None) -> Problem:
        """The problem when only some may move."""
        if movable is None or movable.all():
            return self.problem
        speeds = np.where(movable, self.problem.speeds, 0.0)
        return Problem(self.problem.start, speeds, self.problem.range_m)

    def _keep(self, key: bytes, solution: Solution, limit_s: float) -> None:
        self.solved += 1
        if solution.is_whole or solution.proved_s >= limit_s:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = solution


def _key(pairs: IntArray, movable: BoolArray | None) -> bytes:
    """What a solution is known by: the links, and who of their ends may not move."""
    still = b""
    if movable is not None and not movable[pairs].all():
        still = (~movable[pairs]).tobytes()
    return pairs.tobytes() + still


def solve(
    problem: Problem,
    pairs: IntArray,
    limit_s: float = np.inf,
    is_over: Callable[[], bool] = never,
) -> Solution:
    """The least time in which all the given links can hold.

    When that is more than `limit_s`, the solver may stop once this is proved; it gives up when
    `is_over` says so. The solution is then not whole.
    """
    nodes, index = np.unique(pairs, return_inverse=True)
    index = index.reshape(pairs.shape)
    delta = problem.start[pairs[:, 0]] - problem.start[pairs[:, 1]]
    length = np.sqrt((delta**2).sum(axis=1))
    if (length <= problem.range_m).all():
        return Solution(0.0, 0.0, nodes, np.zeros((len(nodes), delta.shape[1])), 0.0 * delta)
    speeds = problem.speeds[nodes]
    if len(pairs) == 1:
        return _one_link(problem, pairs, nodes, speeds, delta, length)
    return _solve(problem, pairs, nodes, index, speeds, delta, limit_s, is_over)


def _solve_batches(
    problem: Problem, pieces: list[IntArray], is_over: Callable[[], bool]
) -> list[Solution]:
    """The solutions of pieces that share no survivor who may move, some hundred links at once,
    since a small cone program takes longer to set up than to solve.
    """
    solutions: list[Solution] = []
    first = 0
    while first < len(pieces):
        last, links = first, 0
        while last < len(pieces) and (last == first or links + len(pieces[last]) <= _BATCH):
            links += len(pieces[last])
            last += 1
        batch = pieces[first:last]
        solved = None
        if len(batch) > 1:
            solved = _solve_batch(problem, batch, is_over)
        if solved is None:
            solved = [solve(problem, piece, is_over=is_over) for piece in batch]
        solutions += solved
        first = last
    return solutions


def _solve_batch(
    problem: Problem, pieces: list[IntArray], is_over: Callable[[], bool]
) -> list[Solution] | None:
    """The solutions of pieces in one program of blocks; None if the solver fails."""
    pairs = np.concatenate(pieces)
    nodes, index = np.unique(pairs, return_inverse=True)
    index = index.reshape(pairs.shape)
    owner = np.repeat(np.arange(len(pieces)), [len(piece) for piece in pieces])
    block = np.zeros(len(nodes), dtype=np.int64)
    block[index[:, 0]] = owner
    block[index[:, 1]] = owner
    delta = problem.start[pairs[:, 0]] - problem.start[pairs[:, 1]]
    speeds = problem.speeds[nodes]
    top = float(speeds.max())
    if top == 0.0:
        return None
    dim = delta.shape[1]
    program = Program(index, speeds / top, delta / problem.range_m, block)
    if len(np.unique(program.block)) < len(pieces):
        return None  # a piece of which nobody may move has no time of its own
    result = program.least_time(is_over=is_over)
    if str(result.status) != "Solved":
        return None
    x = np.asarray(result.x)
    forces = -np.asarray(result.z).reshape(-1, dim + 1)[len(program.movers) :, 1:]
    shift = np.zeros((len(nodes), dim))
    flown = len(program.movers) * dim
    shift[program.movers] = x[:flown].reshape(-1, dim) * problem.range_m
    times_s = x[flown:] * problem.range_m / top
    solutions = []
    start = 0
    for piece, time_s in zip(pieces, times_s.tolist(), strict=True):
        rows = slice(start, start + len(piece))
        start += len(piece)
        own = np.unique(index[rows])
        proved_s = dual_time_s(problem, piece, forces[rows])
        solutions.append(Solution(time_s, proved_s, nodes[own], shift[own], forces[rows]))
    return solutions


def least_movement(
    problem: Problem,
    pairs: IntArray,
    time_s: float,
    closest_m: float,
    is_over: Callable[[], bool] = never,
) -> tuple[IntArray, FloatArray]:
    """Survivors and displacements of least total length with all links at most `closest_m` and
    every flight at most `time_s`; not finite where the solver fails or `is_over` ends it.
    """
    nodes, index = np.unique(pairs, return_inverse=True)
    index = index.reshape(pairs.shape)
    delta = (problem.start[pairs[:, 0]] - problem.start[pairs[:, 1]]) / problem.range_m
    speeds = problem.speeds[nodes]
    top = max(float(speeds.max()), 1e-300)
    cone = Program(index, speeds / top, delta)
    result = cone.least_movement(
        time_s * top / problem.range_m, closest_m / problem.range_m, is_over
    )
    shift = np.zeros((len(nodes), delta.shape[1]))
    if str(result.status) not in _USABLE:
        return nodes, np.full_like(shift, np.nan)
    x = np.asarray(result.x)[: len(cone.movers) * cone.dim]
    shift[cone.movers] = x.reshape(-1, cone.dim) * problem.range_m
    return nodes, shift


@dataclass(frozen=True, eq=False)
class Apart:
    """Pairs kept at least `gap_m` apart along fixed unit vectors, ``n . (x_i - x_j) >= gap_m``.

    A pair that does so is at least that far apart: the convex part of a demand that is not.
    """

    pairs: IntArray
    normals: FloatArray
    gap_m: float


def solve_apart(
    problem: Problem,
    links: IntArray,
    apart: Apart,
    closest_m: float,
    limit_s: float | None,
    is_over: Callable[[], bool] = never,
) -> FloatArray | None:
    """(n, dim) displacements with all links at most `closest_m` and all pairs apart; None if there
    are none, or if `is_over` ends the solving. The least time, or the least total movement within
    `limit_s`, if given.
    """
    program, nodes, top = _apart_program(problem, links, apart, closest_m)
    if limit_s is None:
        result = program.least_time(is_over=is_over)
    else:
        result = program.least_movement(limit_s * top / closest_m, 1.0, is_over)
    if str(result.status) not in _USABLE:
        return None
    shift = np.zeros_like(problem.start)
    x = np.asarray(result.x)[: len(program.movers) * program.dim]
    shift[nodes[program.movers]] = x.reshape(-1, program.dim) * closest_m
    return shift


def apart_forces(
    problem: Problem,
    links: IntArray,
    apart: Apart,
    closest_m: float,
    is_over: Callable[[], bool] = never,
) -> FloatArray:
    """(pairs + links,) how large the forces are that the pairs, kept apart, and then the links
    carry at the least time; zeros where that is not found, or if `is_over` ends the solving.
    """
    program, _, _ = _apart_program(problem, links, apart, closest_m)
    result = program.least_time(is_over=is_over)
    count, dim = len(apart.pairs), program.dim
    if str(result.status) not in _USABLE:
        return np.zeros(count + len(links))
    dual = np.asarray(result.z)
    ends = len(dual) - count
    of_links = dual[ends - len(links) * (dim + 1) : ends].reshape(-1, dim + 1)
    return np.concatenate([dual[ends:], np.sqrt((of_links[:, 1:] ** 2).sum(axis=1))])


def _apart_program(
    problem: Problem, links: IntArray, apart: Apart, closest_m: float
) -> tuple[Program, IntArray, float]:
    """The program of `solve_apart` in units of `closest_m`, its survivors and the top speed."""
    nodes, index = np.unique(np.concatenate([links, apart.pairs]), return_inverse=True)
    index = index.reshape(-1, 2)
    speeds = problem.speeds[nodes]
    top = max(float(speeds.max()), 1e-300)
    delta = problem.start[links[:, 0]] - problem.start[links[:, 1]]
    program = Program(index[: len(links)], speeds / top, delta / closest_m)
    offset = problem.start[apart.pairs[:, 0]] - problem.start[apart.pairs[:, 1]]
    room = ((apart.normals * offset).sum(axis=1) - apart.gap_m) / closest_m
    program.keep_apart(index[len(links) :], apart.normals, room)
    return program, nodes, top


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
    limit_s: float,
    is_over: Callable[[], bool],
) -> Solution:
    dim = delta.shape[1]
    top = float(speeds.max())
    if top == 0.0:
        top = 1.0
    cone = Program(index, speeds / top, delta / problem.range_m)
    result = cone.least_time(limit_s * top / problem.range_m, is_over)
    z = np.asarray(result.z).reshape(-1, dim + 1)
    forces = -z[len(cone.movers) :, 1:]
    status = str(result.status)
    if status not in _USABLE:
        proved_s = dual_time_s(problem, pairs, forces)
        if "Callback" in status:
            if proved_s < limit_s and not is_over():
                return _solve(problem, pairs, nodes, index, speeds, delta, np.inf, is_over)
            nowhere = np.zeros((len(nodes), dim))
            time_s = proved_s if proved_s >= limit_s else np.inf
            return Solution(time_s, proved_s, nodes, nowhere, forces, is_whole=False)
        impossible = "PrimalInfeasible" in status
        return Solution(
            np.inf, proved_s if impossible else 0.0, nodes, np.zeros((len(nodes), dim)), forces
        )
    x = np.asarray(result.x)
    shift = np.zeros((len(nodes), dim))
    shift[cone.movers] = x[:-1].reshape(-1, dim) * problem.range_m
    time_s = float(x[-1]) * problem.range_m / top
    return Solution(time_s, dual_time_s(problem, pairs, forces), nodes, shift, forces)
