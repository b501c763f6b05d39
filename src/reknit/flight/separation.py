"""How close two UAVs come during a leg, in continuous time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from reknit.base.types import FloatArray, IntArray
from reknit.flight.motion import Leg
from reknit.network.links import closest_pair, lengths

COLLISION_M = 0.01
"""Two UAVs this close have collided; how much closer they came is not searched for."""


@dataclass(frozen=True)
class Approach:
    """How close two UAVs come, metres, and the rows of the two; a single one meets nobody."""

    distance_m: float = float("inf")
    rows: tuple[int, int] | None = None


def closest_at_rest(positions: FloatArray) -> Approach:
    """The two UAVs that are closest to each other while nobody moves."""
    pair = closest_pair(positions)
    return Approach() if pair is None else _closest(pair[None], lengths(positions, pair[None]))


def _closest(pairs: IntArray, distances_m: FloatArray) -> Approach:
    least = int(distances_m.argmin())
    low, high = sorted(pairs[least].tolist())
    return Approach(float(distances_m[least]), (low, high))


def closest_approach(leg: Leg, best: Approach) -> Approach:
    """The closer of `best` and the closest approach of any pair during the leg.

    Only pairs that start within its distance and the ways of both can come closer. The
    distance of a pair is smallest at ``t = -offset.velocity / |velocity|^2`` or at the end of a
    linear piece.
    """
    if best.distance_m <= COLLISION_M or leg.is_still:
        return best
    pairs = _pairs_with_a_mover(leg, best.distance_m)
    if len(pairs) == 0:
        return best
    closest = best
    for piece in leg.pieces(pairs):
        square = (piece.velocity * piece.velocity).sum(axis=1)
        nearest = -(piece.offset * piece.velocity).sum(axis=1)
        time = np.divide(nearest, square, out=np.zeros_like(square), where=square > 0)
        time = np.clip(time, 0.0, piece.high_s - piece.low_s)
        apart = piece.offset + piece.velocity * time[:, None]
        here = _closest(pairs, np.sqrt((apart * apart).sum(axis=1)))
        closest = min(closest, here, key=lambda approach: approach.distance_m)
    return closest


def _pairs_with_a_mover(leg: Leg, best_m: float) -> IntArray:
    """Pairs, at least one of them moving, that may come closer than `best_m`.

    A swarm that has arrived is a crowd of UAVs at rest, so nobody looks for pairs among those.
    """
    movers = np.flatnonzero(leg.velocity.any(axis=1))
    resting = np.flatnonzero(~leg.velocity.any(axis=1))
    way_m = float(leg.path_lengths_m.max())
    moving_tree = cKDTree(leg.start[movers])
    among = movers[moving_tree.query_pairs(best_m + 2.0 * way_m, output_type="ndarray")]
    if len(resting) == 0:
        return np.asarray(among)
    balls = cKDTree(leg.start[resting]).query_ball_point(leg.start[movers], best_m + way_m)
    sizes = [len(ball) for ball in balls]
    others = np.concatenate([np.asarray(ball, dtype=np.int64) for ball in balls])
    across = np.stack([np.repeat(movers, sizes), resting[others]], axis=1)
    return np.concatenate([among, across])
