"""The bound for a demanded separation by packing: crowds that must spread out (docs/bounds.md)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.spatial import ConvexHull, QhullError, cKDTree

from reknit.base.types import FloatArray
from reknit.exact.model.problem import Problem
from reknit.plans.certificate import Certificate

_CENTRES = 100
_LARGEST = 200
_GROWTH = 1.3
_SAFE = 1e-8
"""Relative margin under a stated bound; the checker measures hulls in another way."""


def crowd_certificate(
    problem: Problem, gap_m: float, is_over: Callable[[], bool]
) -> Certificate | None:
    """The best bound by the survivors nearest to one of them, for many of these.

    Parameters
    ----------
    problem
        All survivors; in the plane, or nothing is said.
    gap_m
        The demanded separation s, metres.
    is_over
        Asked between centres; what is found by then is used.

    Returns
    -------
    Certificate or None
        None where no crowd lacks room.
    """
    if problem.start.shape[1] != 2 or problem.count < 3 or problem.top_speed == 0.0:
        return None
    most = min(problem.count, _LARGEST)
    tree = cKDTree(problem.start)
    near = min(8, problem.count)
    crowded = np.asarray(tree.query(problem.start, k=near)[0])[:, -1]
    best_s, best_rows = 0.0, None
    for centre in np.argsort(crowded, kind="stable")[:_CENTRES].tolist():
        if is_over():
            break
        nearest = np.asarray(tree.query(problem.start[centre], k=most)[1])
        size = 3.0
        while size <= most:
            rows = nearest[: int(size)]
            speed_mps = float(problem.speeds[rows].max())
            if speed_mps > 0.0:
                time_s = _spread_m(problem.start[rows], gap_m) / speed_mps
                if time_s > best_s:
                    best_s, best_rows = time_s, rows
            size = max(size * _GROWTH, size + 1.0)
    extent_m = float(np.ptp(problem.start, axis=0).max())
    bound_s = best_s * (1.0 - _SAFE) - _SAFE * (gap_m + extent_m) / problem.top_speed
    if best_rows is None or bound_s <= 0.0:
        return None
    rows = np.sort(best_rows).astype(np.int64)
    return Certificate(bound_s, 0.0, np.empty((0, 2), dtype=np.int64), crowd=rows)


def _spread_m(points: FloatArray, gap_m: float) -> float:
    """How far points have to fly at least until so many have room in the hull that they reach."""
    try:
        hull = ConvexHull(points)
        area, perimeter = float(hull.volume), float(hull.area)
    except QhullError:  # on a line
        area, perimeter = 0.0, 2.0 * float(np.sqrt((np.ptp(points, axis=0) ** 2).sum()))
    dense = 2.0 / (math.sqrt(3.0) * gap_m * gap_m)
    square, linear = dense * math.pi, dense * perimeter + math.pi / gap_m
    lacking = len(points) - 1.0 - dense * area - perimeter / (2.0 * gap_m)
    if lacking <= 0.0:
        return 0.0
    return 2.0 * lacking / (linear + math.sqrt(linear * linear + 4.0 * square * lacking))
