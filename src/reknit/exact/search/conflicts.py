"""Pairs of links that share a UAV and cannot both hold in time: three discs without a common point.

Links ij and ik can both hold within t when UAV i finds a place within ``v_i t`` of p_i that j and
k can get in range of: when the balls about p_i, p_j and p_k with radii ``v_i t``, ``d + v_j t``
and ``d + v_k t`` meet. Balls that meet do so in the plane of their centres, so the same test
serves in 3-D.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reknit.base.context import never
from reknit.base.types import BoolArray, FloatArray, IntArray
from reknit.exact.model.problem import Problem

_MARGIN = 1e-7
"""Only conflicts that a dual vector will surely prove are used."""


_TWOS_AT_ONCE = 40_000
"""Twos of links that are looked at between two questions whether to stop: a few milliseconds."""


def clashing_pairs(
    problem: Problem, pairs: IntArray, time_s: float, is_over: Callable[[], bool] = never
) -> tuple[IntArray, IntArray]:
    """Index pairs (e, f) of the given links that share a UAV and cannot both hold in time.

    Parameters
    ----------
    problem
        Where the survivors are, and how fast.
    pairs
        (m, 2) the links.
    time_s
        The time within which both would have to hold.
    is_over
        Asked now and then; once it is true those known by then are returned.
    """
    count = len(pairs)
    ends = np.concatenate([pairs[:, 0], pairs[:, 1]])
    far = np.concatenate([pairs[:, 1], pairs[:, 0]])
    link = np.concatenate([np.arange(count), np.arange(count)])
    order = np.argsort(ends, kind="stable")
    ends, far, link = ends[order], far[order], link[order]
    starts = np.flatnonzero(np.diff(ends, prepend=-1))
    degree = np.diff(np.append(starts, len(ends)))
    none = np.empty(0, dtype=np.int64)
    clashing = [(none, none)]
    twos = np.cumsum(degree * (degree - 1) // 2)
    cuts = np.flatnonzero(np.diff(twos // _TWOS_AT_ONCE)) + 1
    for hubs in np.split(np.arange(len(degree)), cuts):
        if is_over():
            break
        first, second = _pairs_within(starts[hubs], degree[hubs])
        hub, left, right = ends[first], far[first], far[second]
        clash = ~_balls_meet(problem, hub, left, right, time_s * (1.0 + _MARGIN))
        clashing.append((link[first[clash]], link[second[clash]]))
    first, second = (np.concatenate(parts) for parts in zip(*clashing, strict=True))
    return first, second


def _pairs_within(starts: IntArray, degree: IntArray) -> tuple[IntArray, IntArray]:
    """All ordered-once pairs of positions inside each run."""
    total = int(degree.sum())
    run = np.repeat(np.arange(len(degree)), degree)
    row = np.repeat(starts - np.cumsum(degree) + degree, degree) + np.arange(total)
    after = degree[run] - 1 - (row - starts[run])
    first = np.repeat(row, after)
    offset = np.arange(len(first)) - np.repeat(np.cumsum(after) - after, after)
    return first, first + 1 + offset


def _balls_meet(
    problem: Problem, hub: IntArray, left: IntArray, right: IntArray, time_s: float
) -> BoolArray:
    """Whether three balls have a common point, given that each end's ball meets the hub's."""
    start, speeds = problem.start, problem.speeds
    radius = (
        speeds[hub] * time_s,
        problem.range_m + speeds[left] * time_s,
        problem.range_m + speeds[right] * time_s,
    )
    a, b = start[left] - start[hub], start[right] - start[hub]
    length_a, length_b = _norm(a), _norm(b)
    # The plane of the centres: the hub at the origin, `left` on the first axis.
    safe = np.where(length_a > 0.0, length_a, 1.0)
    along = (a * b).sum(axis=1) / safe
    across = np.sqrt(np.maximum(0.0, length_b**2 - along**2))
    zero = np.zeros_like(along)
    centres = (
        np.stack([zero, zero], axis=1),
        np.stack([length_a, zero], axis=1),
        np.stack([along, across], axis=1),
    )
    apart = _norm(centres[1] - centres[2]) > radius[1] + radius[2]
    meet = np.zeros(len(hub), dtype=bool)
    for i, j, k in ((0, 1, 2), (0, 2, 1), (1, 2, 0)):
        distance = _norm(centres[i] - centres[j])
        meet |= distance <= np.abs(radius[i] - radius[j])  # one inside the other: two balls left
        for point in _crossings(centres[i], radius[i], centres[j], radius[j]):
            meet |= _norm(point - centres[k]) <= radius[k]
    return np.asarray(meet & ~apart)


def _crossings(
    a: FloatArray, radius_a: FloatArray, b: FloatArray, radius_b: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The two points where circles cross; infinite where they do not."""
    delta = b - a
    distance = _norm(delta)
    same = distance == 0.0
    distance = np.where(same, 1.0, distance)
    along = (distance**2 + radius_a**2 - radius_b**2) / (2.0 * distance)
    height = np.sqrt(np.maximum(0.0, radius_a**2 - along**2))
    unit = delta / distance[:, None]
    normal = np.stack([-unit[:, 1], unit[:, 0]], axis=1)
    foot = a + along[:, None] * unit
    # Circles that do not cross get a point that lies in no ball.
    foot = np.where((~same & (np.abs(along) <= radius_a))[:, None], foot, np.inf)
    return foot + height[:, None] * normal, foot - height[:, None] * normal


def _norm(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt((vectors**2).sum(axis=1)))
