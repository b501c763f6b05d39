"""How close two UAVs come during a leg, in continuous time."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from reknit.flight.motion import Leg
from reknit.network.links import lengths
from reknit.types import FloatArray


def closest_pair_m(positions: FloatArray) -> float:
    """Smallest distance between two UAVs at rest; infinite for a single one."""
    if len(positions) < 2:
        return float("inf")
    _, index = cKDTree(positions).query(positions, k=2)
    rows = np.arange(len(positions))
    other = np.where(index[:, 0] == rows, index[:, 1], index[:, 0])
    return float(lengths(positions, np.stack([rows, other], axis=1)).min())


def closest_approach_m(leg: Leg, best_m: float) -> float:
    """The smaller of `best_m` and the closest approach of any pair during the leg.

    Only pairs that start within `best_m` and the ways of both can come closer than it. The
    distance of a pair is smallest at ``t = -offset.velocity / |velocity|^2`` or at the end of a
    linear piece.
    """
    if best_m <= 0.0 or leg.is_still:
        return best_m
    reach_m = best_m + 2.0 * float(leg.path_lengths_m.max())
    pairs = cKDTree(leg.start).query_pairs(reach_m, output_type="ndarray")
    moves = np.asarray(leg.velocity.any(axis=1))
    pairs = pairs[moves[pairs[:, 0]] | moves[pairs[:, 1]]]
    if len(pairs) == 0:
        return best_m
    closest = best_m
    for piece in leg.pieces(pairs):
        square = (piece.velocity * piece.velocity).sum(axis=1)
        nearest = -(piece.offset * piece.velocity).sum(axis=1)
        time = np.divide(nearest, square, out=np.zeros_like(square), where=square > 0)
        time = np.clip(time, 0.0, piece.high_s - piece.low_s)
        apart = piece.offset + piece.velocity * time[:, None]
        closest = min(closest, float(np.sqrt((apart * apart).sum(axis=1)).min()))
    return closest
