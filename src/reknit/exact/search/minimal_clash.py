"""Clashes with as few links as will do.

The cone program that ends a case often exceeds the trial time by far, and then a part of its links
exceeds it too. A clash of fewer links ends more cases: links at the ends of the clash are left
out, those with the smallest forces first, while the rest still takes the trial time.
"""

from __future__ import annotations

import numpy as np

from reknit.base.types import FloatArray, IntArray
from reknit.exact.model.cone import Cones, Solution, dual_time_s
from reknit.exact.search.proof_tree import Work
from reknit.plans.certificate import Clash

_FLOORS = (0.1, 0.03, 0.01, 1e-3, 1e-5, 1e-7)
"""Parts of the largest force below which a force may be left out."""

_MOST_LINKS = 40
"""With more links than this a clash is kept as it is: trying would take too long."""


def minimal_clash(
    cones: Cones, pairs: IntArray, solution: Solution, time_s: float, work: Work
) -> tuple[Clash, float]:
    """A clash among the links of a cone program that takes at least a time.

    Parameters
    ----------
    cones
        Solves the programs on fewer links.
    pairs, solution
        The links and what is known of them.
    time_s
        The time that the clash is to prove, seconds.
    work
        Counts the programs; when it is done the clash is kept as it is by then.

    Returns
    -------
    The clash, and the time in seconds that its forces prove.
    """
    links, forces = _heavy(cones, pairs, solution.forces, time_s)
    kept: set[tuple[int, int]] = set()
    while 2 < len(links) <= _MOST_LINKS and not work.is_done:
        row = _lightest_end(links, forces, kept)
        if row < 0:
            break
        fewer = np.delete(links, row, axis=0)
        solved, is_new = cones.solve(fewer, limit_s=time_s)
        if is_new:
            work.add_program(len(fewer))
        if solved.proved_s >= time_s:
            links, forces = _heavy(cones, fewer, solved.forces, time_s)
        else:
            kept.add((int(links[row, 0]), int(links[row, 1])))
    return Clash(links, forces), dual_time_s(cones.problem, links, forces)


def _heavy(
    cones: Cones, links: IntArray, forces: FloatArray, time_s: float
) -> tuple[IntArray, FloatArray]:
    """The links whose forces are needed to prove the time, as far as their size tells; all of
    them where not even that is proved.
    """
    size = np.sqrt((forces**2).sum(axis=1))
    for floor in _FLOORS:
        heavy = size > floor * size.max()
        if dual_time_s(cones.problem, links[heavy], forces[heavy]) >= time_s:
            return links[heavy], forces[heavy]
    return links, forces


def _lightest_end(links: IntArray, forces: FloatArray, kept: set[tuple[int, int]]) -> int:
    """The link with the smallest force of those with an end that no other link shares, but for
    those known to be needed; -1 if there is none.
    """
    degree = np.bincount(links.ravel())
    is_end = (degree[links] == 1).any(axis=1)
    size = (forces**2).sum(axis=1)
    for row in np.argsort(size, kind="stable").tolist():
        if is_end[row] and (int(links[row, 0]), int(links[row, 1])) not in kept:
            return int(row)
    return -1
