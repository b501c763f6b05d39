"""The exact first instant of a leg at which the swarm is connected.

Within a leg every pair's distance is piecewise quadratic in time, so the times at which a pair
is in range are intervals with known ends. A swarm becomes connected only at the beginning of
such an interval: those instants are looked at in order. Where a separation is demanded too, the
times at which a pair is too close are intervals as well, and the end of one is a further instant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from reknit.base.types import BoolArray, FloatArray, IntArray
from reknit.flight.motion import Leg
from reknit.flight.separation import closest_at_rest
from reknit.network.connectivity import is_k_connected
from reknit.network.links import components, count_subnets, links

_TOLERANCE_S = 1e-9
"""Interval ends are roots in float64; an instant is moved by up to this much until the positions
themselves are connected by the exact link comparison."""


def first_connected_s(
    leg: Leg, range_m: float, order: int = 1, separation_m: float = 0.0
) -> float | None:
    """First time within the leg (from its beginning) at which the swarm is connected.

    Parameters
    ----------
    leg
        Piecewise linear motion of every UAV.
    range_m
        The length a link may have, metres.
    order
        k: the network must survive the loss of any k - 1 UAVs.
    separation_m
        The distance that any two UAVs must have by then, metres.
    """
    nodes = len(leg.start)
    if nodes == 1:
        return 0.0
    crowding = _Crowding.of(leg, separation_m)
    if crowding.lasts(leg.duration_s):
        return None
    pairs = _possible_pairs(leg, range_m)
    if components(pairs, nodes).max() > 0:
        return None
    row, begin_s, end_s = _intervals(leg, pairs, range_m)
    if order > 1:
        return _first_k_connected_s(leg, range_m, order, pairs[row], begin_s, end_s, crowding)
    body, bodies = _lasting_bodies(leg, pairs, row, begin_s, end_s)
    ends = body[pairs[row]]
    between = ends[:, 0] != ends[:, 1]
    ends, begin_s, end_s = ends[between], begin_s[between], end_s[between]
    if components(ends, bodies).max() > 0:
        return None
    instants = np.unique(np.concatenate([begin_s, crowding.end_s, [0.0]]))

    def may_connect(begun: BoolArray) -> bool:
        return bool(components(ends[begun], bodies).max() == 0)

    def is_whole(positions: FloatArray) -> bool:
        return count_subnets(positions, range_m) == 1 and crowding.is_over(positions)

    for instant_s in instants[_first_possible(instants, begin_s, may_connect) :].tolist():
        active = (begin_s <= instant_s + _TOLERANCE_S) & (end_s >= instant_s - _TOLERANCE_S)
        if crowding.may_be_over(instant_s) and components(ends[active], bodies).max() == 0:
            settled_s = _settle(leg, instant_s, is_whole)
            if settled_s is not None:
                return settled_s
    return None


@dataclass(frozen=True, eq=False)
class _Crowding:
    """When any two UAVs are closer than demanded, as intervals from `begin_s` to `end_s`."""

    separation_m: float
    begin_s: FloatArray
    end_s: FloatArray

    @staticmethod
    def of(leg: Leg, separation_m: float) -> _Crowding:
        if separation_m == 0.0:
            return _Crowding(0.0, np.empty(0), np.empty(0))
        pairs = _possible_pairs(leg, separation_m)
        _, begin_s, end_s = _intervals(leg, pairs, separation_m)
        return _Crowding(separation_m, begin_s, end_s)

    def lasts(self, duration_s: float) -> bool:
        """Whether some two are too close throughout, but perhaps at the very end."""
        return bool(((self.begin_s <= 0.0) & (self.end_s >= duration_s)).any())

    def may_be_over(self, time_s: float) -> bool:
        """Whether no two are too close at an instant, but for rounding errors."""
        inside = (self.begin_s < time_s - _TOLERANCE_S) & (self.end_s > time_s + _TOLERANCE_S)
        return not inside.any()

    def is_over(self, positions: FloatArray) -> bool:
        """Whether no two are too close at these positions."""
        return (
            self.separation_m == 0.0 or closest_at_rest(positions).distance_m >= self.separation_m
        )


def _first_k_connected_s(
    leg: Leg,
    range_m: float,
    order: int,
    pairs: IntArray,
    begin_s: FloatArray,
    end_s: FloatArray,
    crowding: _Crowding,
) -> float | None:
    """The same for a k-connected network, which also begins only when a link does."""
    nodes = len(leg.start)

    def is_whole(positions: FloatArray) -> bool:
        whole = is_k_connected(links(positions, range_m), nodes, order)
        return whole and crowding.is_over(positions)

    def is_connected_by(rows: BoolArray) -> bool:
        return is_k_connected(np.unique(np.sort(pairs[rows], axis=1), axis=0), nodes, order)

    instants = np.unique(np.concatenate([begin_s, crowding.end_s, [0.0]]))
    for instant_s in instants[_first_possible(instants, begin_s, is_connected_by) :].tolist():
        active = (begin_s <= instant_s + _TOLERANCE_S) & (end_s >= instant_s - _TOLERANCE_S)
        if crowding.may_be_over(instant_s) and is_connected_by(active):
            settled_s = _settle(leg, instant_s, is_whole)
            if settled_s is not None:
                return settled_s
    return None


def _first_possible(
    instants: FloatArray, begin_s: FloatArray, is_enough: Callable[[BoolArray], bool]
) -> int:
    """The first instant by which the links that have ever been there are enough.

    None of the earlier ones needs a look. Links only add up here, so halving finds it.
    """
    low, high = 0, len(instants) - 1
    while low < high:
        middle = (low + high) // 2
        if is_enough(begin_s <= instants[middle] + _TOLERANCE_S):
            high = middle
        else:
            low = middle + 1
    return low


def _lasting_bodies(
    leg: Leg, pairs: IntArray, row: IntArray, begin_s: FloatArray, end_s: FloatArray
) -> tuple[IntArray, int]:
    """Groups of UAVs whose links hold through the whole leg, and their number.

    Nothing that happens inside a group matters, and in a crowd that is nearly everything.
    """
    lasting = row[(begin_s <= 0.0) & (end_s >= leg.duration_s)]
    body = components(pairs[lasting], len(leg.start))
    return body, int(body.max()) + 1


def _possible_pairs(leg: Leg, range_m: float) -> IntArray:
    """Pairs that might be in range at some time of the leg.

    Nobody is farther from its middle than half of its way, so the middles of a pair in range
    are at most the range and the longest way apart.
    """
    middle = (leg.start + leg.end) / 2.0
    longest_m = float(leg.path_lengths_m.max())
    reach_m = (range_m + longest_m) * (1 + 1e-9)
    return np.asarray(cKDTree(middle).query_pairs(reach_m, output_type="ndarray"))


def _intervals(
    leg: Leg, pairs: IntArray, range_m: float
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Times at which pairs are in range: rows (number of the pair, begin, end)."""
    rows, begins, ends = [], [], []
    for piece in leg.pieces(pairs):
        begin, end = _within(piece.offset, piece.velocity, range_m)
        begin = piece.low_s + np.maximum(begin, 0.0)
        end = piece.low_s + np.minimum(end, piece.high_s - piece.low_s)
        keep = np.flatnonzero(begin <= end)
        rows.append(keep)
        begins.append(begin[keep])
        ends.append(end[keep])
    return np.concatenate(rows), np.concatenate(begins), np.concatenate(ends)


def _within(
    offset: FloatArray, velocity: FloatArray, range_m: float
) -> tuple[FloatArray, FloatArray]:
    """Roots of ``|offset + velocity t| = range``: the times between them are in range."""
    a = (velocity * velocity).sum(axis=1)
    b = (offset * velocity).sum(axis=1)
    c = (offset * offset).sum(axis=1) - range_m * range_m
    moving = a > 0
    # At rest relative to each other; a rounding error too far is left to the exact comparison.
    begin = np.where(c <= 1e-12 * range_m * range_m, -np.inf, np.inf)
    end = -begin
    discriminant = b * b - a * c
    # A pair that only touches the range may have a discriminant a rounding error below zero.
    real = moving & (discriminant >= -1e-12 * (b * b + np.abs(a * c)))
    root = np.sqrt(np.maximum(discriminant[real], 0.0))
    begin[moving], end[moving] = np.inf, -np.inf
    begin[real] = (-b[real] - root) / a[real]
    end[real] = (-b[real] + root) / a[real]
    return begin, end


def _settle(leg: Leg, instant_s: float, is_whole: Callable[[FloatArray], bool]) -> float | None:
    """The instant, moved by rounding errors until the positions are exactly connected."""
    for nudge_s in (0.0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, _TOLERANCE_S):
        time_s = min(instant_s + nudge_s, leg.duration_s)
        if is_whole(leg.at(time_s)):
            return time_s
    return None
