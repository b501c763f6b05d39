"""Geometry that more than one part needs."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from reknit.base.types import FloatArray


def enclosing_ball_centre(points: FloatArray) -> FloatArray:
    """Centre of the smallest ball that holds all points.

    An active-set method: the smallest ball of a few support points grows by the point that is
    farthest outside, until none is. The support never needs more than dim + 1 points.
    """
    support = points[[int(np.argmax(_distance(points, points.mean(axis=0))))]]
    centre, radius = support[0], 0.0
    for _ in range(1_000):
        distance = _distance(points, centre)
        far = int(np.argmax(distance))
        if distance[far] <= radius * (1 + 1e-12) + 1e-300:
            break
        centre, grown, support = _small_ball(np.vstack([support, points[far]]))
        if grown <= radius:
            break  # rounding: the ball cannot grow any more
        radius = grown
    return np.asarray(centre)


def _small_ball(points: FloatArray) -> tuple[FloatArray, float, FloatArray]:
    """Smallest ball of at most dim + 2 points, by trying every support."""
    best = points[0], float("inf"), points[:1]
    for size in range(1, min(len(points), points.shape[1] + 1) + 1):
        for chosen in combinations(range(len(points)), size):
            support = points[list(chosen)]
            centre = _circumcentre(support)
            if centre is not None:
                radius = float(_distance(points, centre).max())
                if radius < best[1]:
                    best = centre, radius, support
    return best


def _circumcentre(support: FloatArray) -> FloatArray | None:
    """The point of the support's affine hull at equal distance from all of it.

    ``c = s_0 + E^T w`` with ``E E^T w = diag(E E^T) / 2``, E the rows ``s_k - s_0``.
    """
    edges = support[1:] - support[0]
    if len(edges) == 0:
        return np.asarray(support[0])
    gram = edges @ edges.T
    try:
        weights = np.linalg.solve(gram, np.diag(gram) / 2.0)
    except np.linalg.LinAlgError:
        return None
    return np.asarray(support[0] + weights @ edges)


def _distance(points: FloatArray, centre: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(((points - centre) ** 2).sum(axis=1)))
