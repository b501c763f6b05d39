"""Who goes to which place: one survivor to each, so that no flight is longer than need be."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import linear_sum_assignment

from reknit.base.context import never
from reknit.base.types import FloatArray, IntArray
from reknit.exact.model.problem import Problem

_POWER = 16
_MOST_MATCHED = 1_500
"""With more survivors than this there is no time for the best assignment."""

_MOST_TRIED = 400
"""With more survivors than this no trial times are searched."""


def assign(
    problem: Problem, sites: FloatArray, is_over: Callable[[], bool] = never
) -> tuple[float, IntArray]:
    """Which survivor goes to which site so that the last arrives as soon as can be.

    An assignment of least total cost where the cost is a high power of the time, and in smaller
    swarms a binary search below its time: can all be served within a trial time?

    Parameters
    ----------
    problem
        Survivors and speeds; with an anchor one site must be its place.
    sites
        (n, dim) metres.
    is_over
        Asked between matchings: without time there is none at all, later none further.

    Returns
    -------
    The time in seconds, and for every survivor the row of its site.
    """
    if problem.count > _MOST_MATCHED or is_over():
        return _by_strips(problem, sites)
    times_s = _flights_s(problem.start, problem.speeds, sites, problem.range_m)
    choice = _by_power(times_s)
    best_s = float(times_s[np.arange(problem.count), choice].max())
    if problem.count > _MOST_TRIED:
        return best_s, choice
    least_s = max(float(times_s.min(axis=0).max()), float(times_s.min(axis=1).max()))
    steps = np.unique(times_s[(times_s >= least_s) & (times_s < best_s)])
    low, high = 0, len(steps)
    while low < high and not is_over():
        middle = (low + high) // 2
        too_late = times_s > steps[middle]
        match = linear_sum_assignment(too_late)[1]
        if too_late[np.arange(problem.count), match].any():
            low = middle + 1
        else:
            high, best_s, choice = middle, float(steps[middle]), match
    return best_s, choice


def assign_some(problem: Problem, rows: IntArray, sites: FloatArray) -> IntArray:
    """Which of some survivors goes to which site: the least total of a high power of the times.

    Unlike in `assign` not only the last arrival counts: all flights that are long get shorter.

    Parameters
    ----------
    problem
        Survivors and speeds.
    rows
        (m,) the survivors; an anchor among them needs a site that is its place.
    sites
        (m, dim) metres.

    Returns
    -------
    (m,) for each of them the row of its site.
    """
    start, speeds = problem.start[rows], problem.speeds[rows]
    return _by_power(_flights_s(start, speeds, sites, problem.range_m))


def _by_power(times_s: FloatArray) -> IntArray:
    longest_s = float(times_s[np.isfinite(times_s)].max())
    # A high power makes the longest flight outweigh all others, or nearly so.
    part = np.minimum(times_s / max(longest_s, 1e-300), 2.0)
    return np.asarray(linear_sum_assignment(part**_POWER)[1])


def _by_strips(problem: Problem, sites: FloatArray) -> tuple[float, IntArray]:
    """Survivors and sites in strips by their first coordinate, along each strip by the second."""
    choice = np.empty(problem.count, dtype=np.int64)
    choice[_strip_order(problem.start)] = _strip_order(sites)
    fixed = np.flatnonzero(problem.speeds == 0.0)
    if len(fixed):
        own = int(((sites - problem.start[fixed[0]]) ** 2).sum(axis=1).argmin())
        choice[np.flatnonzero(choice == own)] = choice[fixed[0]]
        choice[fixed[0]] = own
    flown_m = np.sqrt(((sites[choice] - problem.start) ** 2).sum(axis=1))
    speeds = np.where(problem.speeds > 0.0, problem.speeds, np.inf)
    return float((flown_m / speeds).max()), choice


def _strip_order(points: FloatArray) -> IntArray:
    strips = max(1, round(len(points) ** 0.5))
    rank = np.empty(len(points), dtype=np.int64)
    rank[np.lexsort(points.T[::-1])] = np.arange(len(points))
    return np.lexsort((points[:, 1], rank * strips // len(points)))


def _flights_s(
    start: FloatArray, speeds: FloatArray, sites: FloatArray, range_m: float
) -> FloatArray:
    """(n, n) times in which each survivor reaches each site; an anchor reaches its own place."""
    delta = start[:, None, :] - sites[None, :, :]
    distance_m = np.sqrt((delta * delta).sum(axis=2))
    still = np.where(distance_m > 1e-9 * range_m, np.inf, 0.0)
    return np.asarray(
        np.divide(distance_m, speeds[:, None], out=still, where=speeds[:, None] > 0.0)
    )
