"""Bounds for swarms around an empty hole, a ring above all.

Seen from the centre of the hole the tree has to break the ring somewhere, and from one side of the
break to the other it goes all the way around, covering it with what lies within half a link of
each survivor (docs/bounds.md). Where angles count alike this is a formula; where they do not, a
linear program finds what they count best (`windings`).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from reknit.base.types import FloatArray
from reknit.exact.model.problem import Problem
from reknit.exact.proof.windings import Ring, Way
from reknit.plans.certificate import Certificate, Winding
from reknit.plans.status import OPTIMALITY_GAP

_BISECTIONS = 50
_SAFE = 1e-6

_MOST_SURVIVORS = 100
"""With more, to find and to check the measures of all ways takes longer than a caller waits."""

_GOAL = 1.0 + 0.95 * OPTIMALITY_GAP
"""A plan's time over the bound that is tried first: it makes the plan optimal."""

_FEW, _MANY = 30, 60
"""Knots of the weights while the straight ends are sought, and then."""

_NARROWINGS = 6
"""Golden sections of the range of straight ends, which leave it within a twentieth."""

_FINE_RAD = 0.025
"""How far beside what was found then another look is taken."""

_SECANTS = 4
_SLACK = 2e-5
"""Of a way, what is left uncovered at the samples so that nothing covers it between them."""

_HEAVIEST = 2**24
"""What the heaviest part of a way is counted as, in whole numbers."""


def hole_certificate(
    problem: Problem,
    floor_s: float,
    best_s: float = math.inf,
    is_over: Callable[[], bool] = lambda: False,
) -> Certificate | None:
    """The bound by a hole about the middle of the survivors, if it is better than what is known.

    Parameters
    ----------
    problem
        All survivors, in the plane.
    floor_s
        The bound that is known, seconds.
    best_s
        The time of a plan; if it is finite, a better bound than the formula's is sought below it.
    is_over
        Whether to stop with what is there.

    Returns
    -------
    Certificate or None
        None where there is no hole, or where it proves no more than `floor_s`.
    """
    if problem.start.shape[1] != 2 or problem.count < 3 or problem.top_speed == 0.0:
        return None
    centre = problem.start.mean(axis=0)
    ring = Ring.of(problem, centre)
    if ring.distance.min() <= problem.range_m:
        return None
    low_s, high_s = 0.0, float(ring.distance.max()) / problem.top_speed
    for _ in range(_BISECTIONS):
        trial_s = 0.5 * (low_s + high_s)
        if _is_open(ring, trial_s):
            low_s = trial_s
        else:
            high_s = trial_s
    trial_s = low_s * (1.0 - _SAFE)
    windings: tuple[Winding, ...] = ()
    if trial_s > 0.0 and _GOAL * trial_s < best_s < math.inf and problem.count <= _MOST_SURVIVORS:
        trial_s, windings = _measured(ring, trial_s, best_s / _GOAL, is_over)
    if trial_s <= floor_s:
        return None
    cases = np.empty((0, 2), dtype=np.int64)
    return Certificate(trial_s, trial_s, cases, hole=centre, windings=windings)


def _is_open(ring: Ring, time_s: float) -> bool:
    """Whether no chain of all survivors reaches around the hole within a time."""
    nearest = ring.nearest_m(time_s)
    if nearest <= ring.range_m:
        return False
    order = np.argsort(ring.angle)
    turn = np.arcsin(ring.speeds * time_s / ring.distance)[order]
    apart = np.diff(ring.angle[order], append=ring.angle[order[0]] + 2.0 * math.pi)
    apart = apart + turn + np.roll(turn, -1)
    around = (len(order) - 1) * 2.0 * math.asin(ring.range_m / (2.0 * nearest))
    return bool(around + float(apart.max()) < 2.0 * math.pi)


def _measured(
    ring: Ring, low_s: float, goal_s: float, is_over: Callable[[], bool]
) -> tuple[float, tuple[Winding, ...]]:
    """The longest time up to a goal that is proved by measures of the ways, and these; the time
    that is known and none, where they prove no more.
    """
    # The way beside the widest gap is the shortest, so as a rule the hardest not to cover.
    gaps = [ring.gap(row) for row in range(len(ring.angle))]
    widest = int(np.argmax(gaps))
    straight = _straight_rad(ring, widest, goal_s, is_over)
    short_s, lack_low, long_s, trial_s = low_s, math.nan, math.inf, goal_s
    best: tuple[float, tuple[Winding, ...]] = (low_s, ())
    for _ in range(_SECANTS):
        if is_over():
            break
        way = Way(ring, widest, trial_s, straight)
        weights, lack = way.best(_MANY, is_over) if way.can_be else (np.zeros(0), -1.0)
        windings = None
        if lack > _SLACK:
            windings = _all_ways(ring, trial_s, straight, weights, is_over)
        if windings is not None:
            best, short_s, lack_low = (trial_s, windings), trial_s, lack
        else:
            long_s, lack_high = trial_s, min(lack, 0.0)
        if long_s == math.inf:
            break
        share = 0.5
        if not math.isnan(lack_low) and lack_high < 0.0:
            share = 0.9 * lack_low / (lack_low - lack_high)
        trial_s = short_s + min(max(share, 0.1), 0.9) * (long_s - short_s)
        if trial_s < short_s * _GOAL:
            break
    return best


def _straight_rad(ring: Ring, first: int, time_s: float, is_over: Callable[[], bool]) -> float:
    """Where the ends of a way are best straight: by golden sections."""
    knots, golden = _FEW, 0.5 * (math.sqrt(5.0) - 1.0)
    lacks: dict[float, float] = {}

    def lack(straight: float) -> float:
        if straight not in lacks:
            way = Way(ring, first, time_s, straight)
            lacks[straight] = way.best(knots, is_over)[1] if way.can_be else -straight
        return lacks[straight]

    low, high = 0.0, 1.2 * max(0.0, 1.0 - ring.range_m / ring.nearest_m(time_s))
    for _ in range(_NARROWINGS):
        if is_over():
            break
        left, right = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, right) if lack(left) >= lack(right) else (left, high)
    found = max(lacks, key=lambda straight: lacks[straight], default=0.0)
    lacks.clear()
    knots = _MANY
    return max((found, found - _FINE_RAD, found + _FINE_RAD), key=lack)


def _all_ways(
    ring: Ring,
    time_s: float,
    straight: float,
    weights: FloatArray,
    is_over: Callable[[], bool],
) -> tuple[Winding, ...] | None:
    """Windings for every gap: those of one for as many others as they prove the time for."""
    waiting = list(range(len(ring.angle)))
    windings = []
    while waiting:
        ways = {row: Way(ring, row, time_s, straight) for row in waiting}
        gaps = [row for row, way in ways.items() if way.can_be and way.lack(weights) > _SLACK]
        if gaps:
            counts = np.round(weights * (_HEAVIEST / weights.max())).astype(np.int64)
            windings.append(Winding(np.asarray(gaps, dtype=np.int64), straight, counts))
            waiting = [row for row in waiting if row not in gaps]
        elif is_over() or not ways[waiting[0]].can_be:
            return None
        if waiting:
            weights, lack = Way(ring, waiting[0], time_s, straight).best(_MANY, is_over)
            if lack <= _SLACK:
                return None
    return tuple(windings)
