"""From a solved tree to targets that pass the checker: least total movement, exact links.

Among the plans on the tree that are as fast as can be, the one with the least total movement:
``sum_i |u_i|`` is minimised with every flight at most the best time. Survivors that have no part
in the recovery then stay exactly where they are.

Rounding: the cone solver is told a range shorter by one part in 10^9 and a time longer by one in
10^7, and what comes back is tested link by link with the comparison that defines a link. A piece
that fails is solved again with ten times the margin.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reknit.base.context import never
from reknit.base.types import FloatArray, IntArray
from reknit.exact.model.cone import least_movement, solve
from reknit.exact.model.problem import Problem
from reknit.exact.search.tree_program import TreeSolution
from reknit.network.links import lengths

_MARGINS = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5)
_FINE_MARGINS = (1e-15, 1e-13, 1e-11)
"""A single link has a formula, and so next to no rounding."""

_DECIDING = 1e-3
"""A piece whose least time is this near to the plan's decides it."""

_FEW, _BATCH = 40, 300
"""From so many pieces on they are solved in batches of so many links."""

_LONGER = 1e-7
_STILL = 1e-6
"""Displacements below this fraction of the range are rounding of zero, if the links agree."""


def exact_targets(
    problem: Problem, tree: TreeSolution, is_over: Callable[[], bool]
) -> FloatArray | None:
    """Targets on a solved tree whose links hold exactly; None where rounding prevents that.

    Once the time is over, the positions of least time are taken as they are.
    """
    if is_over():
        hasty = _hasty_targets(problem, tree)
        if hasty is not None:
            return hasty
    speeds = np.where(tree.movable, problem.speeds, 0.0)
    local = Problem(problem.start, speeds, problem.range_m)
    targets = problem.start.copy()
    moving = [row for row, solution in enumerate(tree.solutions) if solution.time_s > 0.0]
    shifts = _batched_shifts(local, tree, moving, is_over)
    for row in moving:
        pairs, solution = tree.pieces[row], tree.solutions[row]
        shift = shifts.get(row)
        if shift is None:
            shift = _piece_targets(local, pairs, solution.time_s, tree.time_s, is_over)
        if shift is None and is_over():
            hasty = _hasty_targets(problem, tree)
            if hasty is not None:
                return hasty
            shift = _quickest_targets(local, pairs, never)
        if shift is None:
            return None
        targets[solution.nodes] += shift
    return targets


def _batched_shifts(
    problem: Problem, tree: TreeSolution, rows: list[int], is_over: Callable[[], bool]
) -> dict[int, FloatArray]:
    """Displacements of least total movement of pieces with time to spare, many in one program;
    those of pieces where rounding breaks a link are left out.
    """
    easy = [row for row in rows if tree.solutions[row].time_s < tree.time_s * (1.0 - _DECIDING)]
    shifts: dict[int, FloatArray] = {}
    if len(easy) < _FEW:
        return shifts
    sizes = np.cumsum([len(tree.pieces[row]) for row in easy])
    for batch in np.split(np.asarray(easy), np.flatnonzero(np.diff(sizes // _BATCH)) + 1):
        if is_over():
            break
        pairs = np.concatenate([tree.pieces[row] for row in batch.tolist()])
        closest_m = problem.range_m * (1.0 - _MARGINS[0])
        nodes, shift = least_movement(problem, pairs, tree.time_s, closest_m, is_over)
        for row in batch.tolist():
            own = tree.solutions[row].nodes
            part = shift[np.searchsorted(nodes, own)]
            exact = _exact(problem, tree.pieces[row], own, part)
            if exact is not None:
                shifts[row] = exact
    return shifts


def _hasty_targets(problem: Problem, tree: TreeSolution) -> FloatArray | None:
    """The positions of least time, shrunk by a hair so that rounding breaks no link, about the
    anchor if there is one; None where several anchors forbid that or the links do not all hold.
    """
    anchored = np.flatnonzero(problem.speeds == 0.0)
    if len(anchored) > 1:
        return None
    moved = tree.moved(problem)
    centre = moved[anchored[0]] if len(anchored) else moved.mean(axis=0)
    for margin in _MARGINS:
        targets = np.asarray(centre + (1.0 - margin) * (moved - centre))
        if (lengths(targets, tree.links) <= problem.range_m).all():
            return targets
    return None


def _piece_targets(
    problem: Problem,
    pairs: IntArray,
    least_s: float,
    time_s: float,
    is_over: Callable[[], bool],
) -> FloatArray | None:
    """Displacements of one piece with exact links, of least total movement if that can be had;
    None where rounding or the time prevents it.
    """
    nodes = np.unique(pairs)
    if len(pairs) > 1:
        for margin in _MARGINS[:3]:
            if is_over():
                return None
            closest_m = problem.range_m * (1.0 - margin)
            if least_s > time_s * (1.0 - _DECIDING):  # this piece decides the time: leave it room
                tight = Problem(problem.start, problem.speeds, closest_m)
                least_s = solve(tight, pairs, is_over=is_over).time_s
            limit_s = max(time_s, least_s) * (1.0 + _LONGER)
            if limit_s > time_s * (1.0 + 5.0 * _LONGER):
                break  # the margin would cost more time than the movement saved is worth
            shift = least_movement(problem, pairs, limit_s, closest_m, is_over)[1]
            exact = _exact(problem, pairs, nodes, shift)
            if exact is not None:
                return exact
    return _quickest_targets(problem, pairs, is_over)


def _quickest_targets(
    problem: Problem, pairs: IntArray, is_over: Callable[[], bool]
) -> FloatArray | None:
    """Displacements of one piece of least time with exact links; None as above."""
    nodes = np.unique(pairs)
    for margin in _MARGINS if len(pairs) > 1 else _FINE_MARGINS + _MARGINS:
        if is_over():
            return None
        tight = Problem(problem.start, problem.speeds, problem.range_m * (1.0 - margin))
        exact = _exact(problem, pairs, nodes, solve(tight, pairs, is_over=is_over).shift)
        if exact is not None:
            return exact
    return None


def _exact(
    problem: Problem, pairs: IntArray, nodes: IntArray, shift: FloatArray
) -> FloatArray | None:
    """The displacements if every link holds, with rounding of zero set to zero where it can be."""
    if not np.isfinite(shift).all():
        return None
    size = np.sqrt((shift**2).sum(axis=1))
    moves = size > _STILL * problem.range_m
    index = np.searchsorted(nodes, pairs)
    start = problem.start[nodes]
    while True:
        kept = np.where(moves[:, None], shift, 0.0)
        broken = lengths(start + kept, index) > problem.range_m
        if not broken.any():
            return np.asarray(kept)
        woken = np.unique(index[broken])
        if moves[woken].all():
            return None
        moves[woken] = True
