"""What a crowd proves that has too little room for the demanded separation (in the plane).

Oler (1961): a compact convex set of area A and perimeter P has at most

    2 A / (sqrt(3) s^2) + P / (2 s) + 1

points that are pairwise at least s apart. Survivors that start in a convex set of area A and
perimeter P are, after flights of at most r, in a convex set of area ``A + P r + pi r^2`` and
perimeter ``P + 2 pi r``. So as many as there are need an r at which that is enough.
"""

from __future__ import annotations

import math

import numpy as np

from reknit.base.errors import InvalidProof
from reknit.base.types import FloatArray
from reknit.plans.checker.survivors import Survivors

_DOUBT = 1e-9
"""Relative to all lengths, far more than rounding adds to the few operations here."""


def crowd_time_s(swarm: Survivors, rows: object, gap_m: float) -> float:
    """The time before which a crowd cannot have parted, seconds; 0 if it has room.

    Parameters
    ----------
    swarm
        Everybody.
    rows
        (k,) int64, ascending: who is in the crowd.
    gap_m
        s, the demanded separation, metres.
    """
    if type(rows) is not np.ndarray or rows.dtype != np.int64 or rows.ndim != 1 or len(rows) < 2:
        raise InvalidProof("the certificate's crowd is no list of int64 rows")
    if rows[0] < 0 or rows[-1] >= swarm.count or (np.diff(rows) <= 0).any():
        raise InvalidProof("the certificate's crowd does not name survivors once each")
    if swarm.start.shape[1] != 2 or not gap_m > 0.0:
        raise InvalidProof("the certificate has a crowd where none can be")
    speed_mps = float(swarm.speeds[rows].max())
    if speed_mps == 0.0:
        return 0.0
    centred = swarm.start[rows] - swarm.start[rows].mean(axis=0)
    hair_m = _DOUBT * (float(np.abs(centred).max()) + gap_m)
    s = gap_m * (1.0 - _DOUBT)
    if s * s == 0.0:  # below the smallest number: there is room for everybody
        return 0.0
    area, perimeter = _measures(centred)
    # A hair around the hull takes in what rounding left outside.
    area += perimeter * hair_m + 4.0 * hair_m * hair_m
    perimeter = (perimeter + 7.0 * hair_m) * (1.0 + _DOUBT)
    area *= 1.0 + _DOUBT
    dense = 2.0 / (math.sqrt(3.0) * s * s)
    square, linear = dense * math.pi, dense * perimeter + math.pi / s
    lacking = len(rows) - 1.0 - dense * area - perimeter / (2.0 * s)
    if not lacking > _DOUBT * len(rows):
        return 0.0
    # square r^2 + linear r = lacking, by the form of the root that does not cancel.
    r = 2.0 * lacking / (linear + math.sqrt(linear * linear + 4.0 * square * lacking))
    return max(0.0, r - hair_m) / speed_mps * (1.0 - _DOUBT)


def _measures(points: FloatArray) -> tuple[float, float]:
    """Area and perimeter of the convex hull (twice its length, for points on a line)."""
    ordered = sorted({(float(x), float(y)) for x, y in points})
    if len(ordered) == 1:
        return 0.0, 0.0
    hull: list[tuple[float, float]] = []
    for chain in (ordered, ordered[::-1]):
        part: list[tuple[float, float]] = []
        for point in chain:
            while len(part) > 1 and _turn(part[-2], part[-1], point) <= 0.0:
                part.pop()
            part.append(point)
        hull += part[:-1]
    area = perimeter = 0.0
    for (x, y), (to_x, to_y) in zip(hull, hull[1:] + hull[:1], strict=True):
        area += 0.5 * (x * to_y - to_x * y)
        perimeter += math.hypot(to_x - x, to_y - y)
    return max(area, 0.0), perimeter


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    """Positive where the way from a over b to c turns left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
