"""Bounds for sparse swarms: forces on the survivors that pull every possible tree apart.

For forces z_i on the survivors whose sum is zero, and whatever tree connects them,

    t >= (sum_i z_i . p_i - d G(z)) / sum_i v_i |z_i|,   G(z) = sum_{k=1}^{n-1} g(min(k, n - k)),

with g(k) the largest |z(S)| of at most k survivors (docs/bounds.md has the proof). Two opposite
forces on survivors D apart give the span bound ``(D - (n - 1) d) / (v_i + v_j)``. The right-hand
side is concave in z where its denominator is fixed, so subgradient steps climb it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from reknit.base.types import FloatArray
from reknit.exact.model.problem import Problem
from reknit.plans.certificate import Certificate

_MOST_SURVIVORS = 400
_STEPS = 300
_COARSE, _FINE = 48, 360
"""Directions in the plane while climbing, and for the bound that is stated."""

_SAFE = 1e-9
"""Relative margin under a stated bound; the checker looks along other directions."""


def pull_certificate(
    problem: Problem, floor_s: float, is_over: Callable[[], bool] = lambda: False
) -> Certificate | None:
    """The best certificate of this kind that is found, if it proves more than what is known.

    Parameters
    ----------
    problem
        All survivors.
    floor_s
        The bound that is known, seconds.
    is_over
        Asked between steps; what is found by then is used.

    Returns
    -------
    Certificate or None
        None where nothing better than `floor_s` is proved.
    """
    if not 2 <= problem.count <= _MOST_SURVIVORS or problem.top_speed == 0.0:
        return None
    centred = problem.start - problem.start.mean(axis=0)
    if 0.15 * problem.count * problem.range_m > float(_norm(centred).max()):
        return None  # so many survivors reach anywhere in this swarm
    climber = _Climber(problem, centred)
    climber.climb(_span(problem), _STEPS, is_over)
    climber.climb(_outward(centred), _STEPS, is_over)
    if climber.best is None:
        return None
    forces = climber.best - climber.best.mean(axis=0)
    bound_s = _stated_s(problem, centred, forces)
    if bound_s <= floor_s:
        return None
    cases = np.empty((0, 2), dtype=np.int64)
    return Certificate(bound_s, 0.0, cases, pulls=forces)


class _Climber:
    """Subgradient steps on the bound as a function of the forces."""

    def __init__(self, problem: Problem, centred: FloatArray) -> None:
        self.problem, self.centred = problem, centred
        self.best: FloatArray | None = None
        self.best_s = 0.0
        self._directions, self._cosine = _directions(problem.start.shape[1], _COARSE)
        count = problem.count
        self._share = np.minimum(np.arange(1, count), count - np.arange(1, count)) - 1

    def climb(self, forces: FloatArray, steps: int, is_over: Callable[[], bool]) -> None:
        """Go uphill from some forces; `best` keeps the best of all climbs."""
        speeds = self.problem.speeds
        for step in range(steps):
            if is_over():
                return
            forces = forces - forces.mean(axis=0)
            give = float((speeds * _norm(forces)).sum())
            if not give > 0.0:
                return
            forces = forces / give
            value_s, slope = self._value(forces)
            if value_s > self.best_s:
                self.best, self.best_s = forces, value_s
            steepness = float((slope * slope).sum())
            if steepness == 0.0:
                return
            # Towards a value a little above the best, and less far as time goes on.
            ahead_s = (0.3 / math.sqrt(step + 4.0)) * max(self.best_s, value_s, 0.0)
            ahead_s += 1e-3 * float(np.abs(self.centred).max()) / self.problem.top_speed
            forces = forces + 0.5 * (self.best_s - value_s + ahead_s) / steepness * slope

    def _value(self, forces: FloatArray) -> tuple[float, FloatArray]:
        """The bound for forces of unit give, and the direction in which it rises."""
        range_m = self.problem.range_m
        along = forces @ self._directions.T
        order = np.argsort(-along, axis=0, kind="stable")
        sums = np.cumsum(np.take_along_axis(along, order, axis=0), axis=0)[:-1]
        which = sums.argmax(axis=1)
        largest = sums[np.arange(len(sums)), which]
        half = largest[: len(forces) // 2] if len(forces) > 2 else largest
        top = np.maximum.accumulate(half)
        source = np.maximum.accumulate(np.where(half >= top, np.arange(len(half)), 0))
        through = float(top[self._share].sum()) / self._cosine
        times = np.bincount(source[self._share], minlength=len(half))
        slope = self.centred.copy()
        for share in np.flatnonzero(times):
            rows = order[: share + 1, which[share]]
            slope[rows] -= range_m * times[share] * self._directions[which[share]] / self._cosine
        value_s = float((forces * self.centred).sum()) - range_m * through
        size = np.maximum(_norm(forces), 1e-12)[:, None]
        slope -= max(value_s, 0.0) * self.problem.speeds[:, None] * forces / size
        return value_s, slope - slope.mean(axis=0)


def _span(problem: Problem) -> FloatArray:
    """Opposite forces on the two survivors that are farthest from linked, if all others served
    as a chain between them.
    """
    count, best_s, pair = problem.count, -np.inf, (0, 1)
    for row in range(count):
        delta = problem.start - problem.start[row]
        speed = np.maximum(problem.speeds + problem.speeds[row], 1e-300)
        time_s = (_norm(delta) - (count - 1) * problem.range_m) / speed
        time_s[row] = -np.inf
        other = int(np.argmax(time_s))
        if time_s[other] > best_s:
            best_s, pair = float(time_s[other]), (row, other)
    forces = np.zeros_like(problem.start)
    away = problem.start[pair[0]] - problem.start[pair[1]]
    forces[pair[0]], forces[pair[1]] = away, -away
    return forces


def _outward(centred: FloatArray) -> FloatArray:
    """Forces away from the middle, mostly on those far out."""
    distance = np.maximum(_norm(centred), 1e-300)[:, None]
    return np.asarray(centred / distance * (distance / distance.max()) ** 4)


def _stated_s(problem: Problem, centred: FloatArray, forces: FloatArray) -> float:
    """The bound that forces prove, evaluated on the safe side."""
    count, dim = forces.shape
    size = _norm(forces)
    directions, cosine = _directions(dim, _FINE)
    sums = np.cumsum(-np.sort(-(forces @ directions.T), axis=0), axis=0)[:-1]
    # The checker's directions are others: allow for the error that its own may have.
    largest = sums.max(axis=1) / cosine * (1.0 + 1e-5 if dim == 2 else 1.004)
    largest = np.minimum(largest, largest[::-1])
    by_size = np.cumsum(-np.sort(-size))[:-1]
    largest = np.minimum(largest, np.minimum(by_size, size.sum() / 2.0)) * (1.0 + 1e-12)
    top = np.maximum.accumulate(largest[: count // 2]) if count > 2 else largest
    share = np.minimum(np.arange(1, count), count - np.arange(1, count)) - 1
    through_m = problem.range_m * float(top[share].sum())
    along_m = float((forces * centred).sum())
    scale = through_m + float((size * _norm(centred)).sum())
    give = float((problem.speeds * size).sum())
    return (along_m - through_m - _SAFE * scale) / give * (1.0 - _SAFE)


def _directions(dim: int, number: int) -> tuple[FloatArray, float]:
    """Unit vectors, and the cosine of the largest angle to the nearest of them."""
    if dim == 2:
        angle = 2.0 * np.pi * np.arange(number) / number
        return np.stack([np.cos(angle), np.sin(angle)], axis=1), math.cos(math.pi / number)
    steps = 4 if number == _COARSE else 16
    edge = np.linspace(-1.0, 1.0, steps + 1)
    grid = np.stack(np.meshgrid(edge, edge, indexing="ij"), axis=-1).reshape(-1, 2)
    faces = [np.insert(grid, axis, sign, axis=1) for axis in range(3) for sign in (-1.0, 1.0)]
    vectors = np.concatenate(faces)
    return vectors / _norm(vectors)[:, None], math.sqrt(1.0 - 2.0 / steps**2)


def _norm(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=1)))
