"""The cone program on a spanning tree, piece by piece.

A tree link that no flight of at most t can break, ``|p_i - p_j| <= d - (v_i + v_j) t``, never
binds, so the tree falls into pieces that can be solved apart. In a large swarm, where the gaps
are wide and few links are that short, only survivors within some hops of a gap are allowed to
move; the piece that decides the time is given more of them until that helps no more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from reknit.base.types import BoolArray, FloatArray, IntArray
from reknit.exact.model.cone import Cones, Solution
from reknit.exact.model.problem import Problem
from reknit.exact.search.proof_tree import Work
from reknit.network.links import components, lengths

_LARGE = 1_500
"""From here on only survivors near gaps move."""

_AHEAD = 1.15
"""How far above a time the next guess is, so that few guesses are needed; any guess that is not
exceeded gives the same optimum."""

_ROUNDING = 1.0 + 3e-6
"""A time may exceed a guess by this much and still count as the guess."""

_HOPS = 4
_MOST_HOPS = 64


@dataclass(frozen=True, eq=False)
class TreeSolution:
    """A spanning tree with the least time on it.

    Parameters
    ----------
    links
        (n - 1, 2) the tree.
    time_s
        Infinite if the tree's links cannot all hold.
    pieces
        The links of each piece; solutions theirs, in the same order.
    movable
        Who may move.
    """

    links: IntArray
    time_s: float
    pieces: list[IntArray]
    solutions: list[Solution]
    movable: BoolArray

    @property
    def is_whole(self) -> bool:
        """Whether every piece was solved to its end."""
        return all(solution.is_whole for solution in self.solutions)

    @property
    def worst(self) -> int:
        """The piece that decides the time."""
        return int(np.argmax([solution.time_s for solution in self.solutions]))

    def critical_rows(self) -> IntArray:
        """The survivors whose links bind the time."""
        pairs, forces = self.pieces[self.worst], self.solutions[self.worst].forces
        size = np.sqrt((forces**2).sum(axis=1))
        return np.unique(pairs[size > 1e-4 * size.max()])

    def moved(self, problem: Problem) -> FloatArray:
        """Where everybody is after the shortest flights."""
        positions = problem.start.copy()
        for solution in self.solutions:
            positions[solution.nodes] += solution.shift
        return positions


def solve_tree(cones: Cones, links: IntArray, floor_s: float) -> TreeSolution:
    """The cone program on a spanning tree; no time below `floor_s` is possible.

    When the time is over the best is returned that is solved, infinite if nothing is.
    """
    problem = cones.problem
    hops = np.full(len(links), _HOPS if problem.count > _LARGE else _MOST_HOPS)
    gaps = problem.closing_time_s(links) > 0.0
    guess_s = floor_s
    before = np.inf
    best: TreeSolution | None = None
    while True:
        movable = _movable(links, np.where(gaps, hops, -1), problem.count)
        solved = _solve_pieces(cones, links, guess_s, movable)
        if cones.is_over():
            if not solved.time_s <= guess_s * _ROUNDING:  # other links may break: not a plan yet
                unsure = [replace(solution, is_whole=False) for solution in solved.solutions]
                solved = replace(solved, time_s=np.inf, solutions=unsure)
            return solved if best is None or solved.time_s < best.time_s else best
        if solved.time_s > guess_s * _ROUNDING and np.isfinite(solved.time_s):
            guess_s = solved.time_s * _AHEAD
            continue
        if solved.time_s <= floor_s * (1.0 + 1e-9) or len(solved.pieces) == 0:
            return solved
        best = solved
        # Allow more survivors to move where the time is decided.
        mine = _same_piece(solved, links) & gaps & (hops < _MOST_HOPS)
        if not mine.any() or solved.time_s > before * (1.0 - 1e-9):
            return solved
        if (hops[mine] > _HOPS).any():
            before = solved.time_s
        hops[mine] = np.minimum(2 * hops[mine], _MOST_HOPS)


def solve_tree_within(
    cones: Cones, links: IntArray, limit_s: float, work: Work
) -> TreeSolution | tuple[IntArray, Solution]:
    """The cone program on a spanning tree if it takes less than a time; else a piece that takes
    as long, with its solution.
    """
    problem = cones.problem
    if problem.count > _LARGE:
        before = cones.solved
        solved = solve_tree(cones, links, limit_s)
        work.add_program(20 * (cones.solved - before))
        work.add(1e-3 * problem.count)
        if solved.time_s < limit_s:
            return solved
        return solved.pieces[solved.worst], solved.solutions[solved.worst]
    movable = np.ones(problem.count, dtype=bool)
    pieces = _contested_pieces(problem, links, limit_s, movable)
    solutions = []
    for piece in pieces:
        work.add_program(len(piece))
        solution = cones.solve(piece, limit_s=limit_s)[0]
        if solution.time_s >= limit_s:
            return piece, solution
        solutions.append(solution)
    time_s = max((solution.time_s for solution in solutions), default=0.0)
    return TreeSolution(links, time_s, pieces, solutions, movable)


def _solve_pieces(
    cones: Cones, links: IntArray, guess_s: float, movable: BoolArray
) -> TreeSolution:
    pieces = _contested_pieces(cones.problem, links, guess_s, movable)
    if cones.problem.count > _LARGE:
        solutions = cones.solve_all(pieces, movable)
    else:
        solutions = [cones.solve(piece, movable)[0] for piece in pieces]
    time_s = max((solution.time_s for solution in solutions), default=0.0)
    return TreeSolution(links, time_s, pieces, solutions, movable)


def _contested_pieces(
    problem: Problem, links: IntArray, guess_s: float, movable: BoolArray
) -> list[IntArray]:
    """The links that flights of so long can break, by piece."""
    speeds = np.where(movable, problem.speeds, 0.0)
    # More than the guess, which times and targets may exceed by rounding.
    give_m = (speeds[links[:, 0]] + speeds[links[:, 1]]) * guess_s * _ROUNDING**2
    contested = links[lengths(problem.start, links) > problem.range_m - give_m]
    return _split(contested, movable, problem.count)


def _movable(tree: IntArray, hops: IntArray, count: int) -> BoolArray:
    """Survivors within so many tree hops of the links given (-1: none)."""
    if (hops >= _MOST_HOPS).any() and count <= _LARGE:
        return np.ones(count, dtype=bool)
    left = np.full(count, -1, dtype=np.int64)
    for end in (0, 1):
        np.maximum.at(left, tree[:, end], hops)
    for _ in range(int(hops.max(initial=-1))):
        spread = left.copy()
        np.maximum.at(spread, tree[:, 0], left[tree[:, 1]] - 1)
        np.maximum.at(spread, tree[:, 1], left[tree[:, 0]] - 1)
        if (spread == left).all():
            break
        left = spread
    return np.asarray(left >= 0)


def _split(links: IntArray, movable: BoolArray, count: int) -> list[IntArray]:
    """Links by piece. Survivors that do not move part pieces; links between two such are left out
    unless they are too long, and then they stand alone.
    """
    both = movable[links].all(axis=1)
    label = components(links[both], count)
    owner = np.where(movable[links[:, 0]], links[:, 0], links[:, 1])
    piece = label[owner]
    order = np.argsort(piece, kind="stable")
    starts = np.flatnonzero(np.diff(piece[order], prepend=-1))
    return [links[part] for part in np.split(order, starts[1:])] if len(links) else []


def _same_piece(solved: TreeSolution, links: IntArray) -> BoolArray:
    """Which tree links lie in the piece that decides the time."""
    count = int(links.max()) + 1
    worst = solved.pieces[solved.worst]
    key = links[:, 0] * count + links[:, 1]
    return np.isin(key, worst[:, 0] * count + worst[:, 1])
