"""Bounds for swarms around an empty hole, a ring above all.

Seen from the centre of the hole the tree has to break the ring somewhere, and from one side of the
break to the other it goes all the way around with n - 1 links that each span only so large an
angle (docs/bounds.md).
"""

from __future__ import annotations

import math

import numpy as np

from reknit.base.types import FloatArray
from reknit.exact.model.problem import Problem
from reknit.plans.certificate import Certificate

_BISECTIONS = 50
_SAFE = 1e-6


def hole_certificate(problem: Problem, floor_s: float) -> Certificate | None:
    """The bound by a hole about the middle of the survivors, if it is better than what is known.

    Parameters
    ----------
    problem
        All survivors, in the plane.
    floor_s
        The bound that is known, seconds.

    Returns
    -------
    Certificate or None
        None where there is no hole, or where it proves no more than `floor_s`.
    """
    if problem.start.shape[1] != 2 or problem.count < 3 or problem.top_speed == 0.0:
        return None
    centre = problem.start.mean(axis=0)
    offset = problem.start - centre
    distance = np.sqrt((offset * offset).sum(axis=1))
    if distance.min() <= problem.range_m:
        return None
    low_s, high_s = 0.0, float(distance.max()) / problem.top_speed
    for _ in range(_BISECTIONS):
        trial_s = 0.5 * (low_s + high_s)
        if _is_open(problem, offset, distance, trial_s):
            low_s = trial_s
        else:
            high_s = trial_s
    trial_s = low_s * (1.0 - _SAFE)
    if trial_s <= floor_s:
        return None
    cases = np.empty((0, 2), dtype=np.int64)
    return Certificate(trial_s, trial_s, cases, hole=centre)


def _is_open(problem: Problem, offset: FloatArray, distance: FloatArray, time_s: float) -> bool:
    """Whether no chain of all survivors reaches around the hole within a time."""
    flight = problem.speeds * time_s
    nearest = float((distance - flight).min())
    if nearest <= 0.0 or problem.range_m >= 2.0 * nearest:
        return False
    angle = np.arctan2(offset[:, 1], offset[:, 0])
    order = np.argsort(angle)
    turn = np.arcsin(flight / distance)[order]
    apart = np.diff(angle[order], append=angle[order[0]] + 2.0 * math.pi) + turn + np.roll(turn, -1)
    around = (problem.count - 1) * 2.0 * math.asin(problem.range_m / (2.0 * nearest))
    return bool(around + float(apart.max()) < 2.0 * math.pi)
