"""What forces on the survivors prove about every tree at once.

Let z_i be forces on the survivors whose sum is zero. In any tree F of links a force y_e runs
through each link e, the sum of the forces on one side S_e of it, and (1) of docs/bounds.md becomes

    t >= (sum_i z_i . p_i - d sum_e |z(S_e)|) / sum_i v_i |z_i|.

A tree of n nodes has at most n - 2 k + 1 links with at least k nodes on both sides, as a path has.
So the sum over its links is at most ``sum_{k=1}^{n-1} g(min(k, n - k))`` with g(k) the largest
|z(S)| of any set of at most k nodes, and that needs no tree.

g(k) is bounded in three ways: by the sum of the k largest projections on each of many directions,
none farther than an angle w from any vector, divided by cos w; by the k largest |z_i|; and by half
of the sum of all |z_i|.
"""

from __future__ import annotations

import math

import numpy as np

from reknit.base.errors import InvalidProof
from reknit.base.types import FloatArray
from reknit.plans.checker.rounding import RELATIVE
from reknit.plans.checker.survivors import Survivors, finite_numbers

_EPSILON = 2.0**-52
_MOST_SURVIVORS = 20_000
_DIRECTIONS = 720
_STEPS = 16
"""Directions in the plane; in space, parts of the edge of a cube that is seen from its centre."""

_NUMBERS_AT_ONCE = 2_000_000


def pull_time_s(swarm: Survivors, pulls: object) -> float:
    """The time, seconds, that forces on all survivors prove; 0 where they prove nothing.

    Parameters
    ----------
    swarm
        Everybody; a loss may not be supposed.
    pulls
        (n, dim) forces z_i. What their sum lacks of zero counts as one more force on the last.
    """
    forces = finite_numbers("pulls", pulls, swarm.start.shape)
    count = swarm.count
    if not 2 <= count <= _MOST_SURVIVORS:
        raise InvalidProof(f"the certificate pulls at {count} survivors; allowed: 2 to 20000")
    if not forces.any():
        return 0.0
    # An exact scaling by a power of two; sums of n terms are then off by n roundings at most.
    forces = np.ldexp(forces, -int(np.frexp(np.abs(forces).max())[1]))
    error = (2.0 * count + 64.0) * _EPSILON
    size = _norm(forces)
    total = float(size.sum())
    rest = float(np.sqrt((forces.sum(axis=0) ** 2).sum())) + error * total
    centred = swarm.start - swarm.start.mean(axis=0)
    distance = _norm(centred)
    along = float((forces * centred).sum())
    along -= error * float((size * distance).sum()) + rest * float(distance.max()) * (1.0 + error)
    through = _through_links(forces, size, error * total) + count * rest
    pull = along - swarm.range_m * (1.0 + RELATIVE) * through * (1.0 + error)
    give = float((swarm.speeds * size).sum()) * (1.0 + error) + float(swarm.speeds.max()) * rest
    give *= 1.0 + RELATIVE
    if not (pull > 0.0 and give > 0.0 and math.isfinite(give)):
        return 0.0
    return pull / give * (1.0 - 8.0 * _EPSILON)


def _through_links(forces: FloatArray, size: FloatArray, error: float) -> float:
    """``sum_{k=1}^{n-1} g(min(k, n - k))``, rounded up."""
    count = len(forces)
    shares = np.arange(1, count)
    largest = np.full(count - 1, -np.inf)
    directions, cosine = _directions(forces.shape[1])
    at_once = max(1, _NUMBERS_AT_ONCE // count)
    for first in range(0, len(directions), at_once):
        along = -np.sort(-(forces @ directions[first : first + at_once].T), axis=0)
        np.maximum(largest, np.cumsum(along, axis=0)[:-1].max(axis=1), out=largest)
    largest = largest / cosine * (1.0 + 1e-13) + error
    largest = np.minimum(largest, largest[::-1])  # a set and the others have opposite sums
    by_size = np.cumsum(-np.sort(-size))[:-1] + error
    largest = np.minimum(largest, np.minimum(by_size, float(size.sum()) / 2.0 + error))
    up_to = np.maximum.accumulate(largest[: count // 2]) if count > 2 else largest
    return float(up_to[np.minimum(shares, count - shares) - 1].sum()) * (1.0 + 1e-13)


def _directions(dim: int) -> tuple[FloatArray, float]:
    """Unit vectors, and the cosine of an angle that is nowhere exceeded to the nearest of them."""
    if dim == 2:
        angle = 2.0 * math.pi * np.arange(_DIRECTIONS) / _DIRECTIONS
        return np.stack([np.cos(angle), np.sin(angle)], axis=1), math.cos(math.pi / _DIRECTIONS)
    edge = np.linspace(-1.0, 1.0, _STEPS + 1)
    a, b = (grid.ravel() for grid in np.meshgrid(edge, edge))
    ones = np.ones_like(a)
    faces = []
    for sign in (-1.0, 1.0):
        faces += [(sign * ones, a, b), (a, sign * ones, b), (a, b, sign * ones)]
    vectors = np.concatenate([np.stack(face, axis=1) for face in faces])
    # The nearest point of a face's grid is at most half a step away along both of its edges.
    sine = math.sqrt(2.0) / _STEPS
    return vectors / _norm(vectors)[:, None], math.sqrt(1.0 - sine * sine)


def _norm(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=1)))
