"""`rendezvous`: targets fixed in advance such that any two survivors end up in range.

With targets x_i of all N UAVs and one speed v:

    minimise T   subject to   |x_i - p_i| <= v T,   |x_i - x_j| <= r   for all i, j.

Only the corners of the convex hull of the positions matter: a UAV at ``p = sum_h w_h p_h`` (a
convex combination of corners) sent to ``x = sum_h w_h x_h`` flies ``|x - p| <= max_h |x_h - p_h|``,
and two such targets are no farther apart than two corners' targets. So the cone program is solved
for the corners alone. No choice of targets is faster than (diameter - r) / (2 v).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.spatial import ConvexHull, Delaunay, QhullError
from scipy.spatial.distance import pdist

from reknit.base.geometry import enclosing_ball_centre
from reknit.base.types import FloatArray, IntArray
from reknit.exact.model.cone import solve
from reknit.exact.model.problem import Problem
from reknit.knowledge.policies.protocols import Briefing, Orders, View

_SHRINK = 1.0 - 1e-6
"""Meeting UAVs are this much closer than the range, so that rounding parts nobody."""


@dataclass(frozen=True, eq=False)
class Meeting:
    """Where everybody meets.

    Attributes
    ----------
    targets
        (N, dim) metres; any two are at most the range apart.
    time_s
        Until the last has arrived; infinite where anchors make it impossible.
    is_sure
        Whether all are in range of one another then, whatever the navigation errors.
    """

    targets: FloatArray
    time_s: float
    is_sure: bool


def meeting_of(briefing: Briefing) -> Meeting:
    """The rendezvous of a briefing, relative to where the mission is at the alarm."""
    range_m = briefing.link_m - 2.0 * (briefing.error_bound_m + briefing.drift_m)
    if len(briefing.swarm.anchors):
        return _around_anchors(briefing, range_m * _SHRINK)
    speed = float(briefing.speeds_mps.min())
    key = briefing.snapshot.tobytes(), briefing.snapshot.shape
    return _meeting(*key, range_m, speed, briefing.drift_m)


@lru_cache(maxsize=16)
def _meeting(
    data: bytes,
    shape: tuple[int, int],
    range_m: float,
    speed_mps: float,
    drift_m: float,
) -> Meeting:
    points = np.frombuffer(data).reshape(shape)
    is_sure = range_m > 0.0
    if is_sure:
        targets = rendezvous_targets(points, range_m * _SHRINK, speed_mps)
    else:
        targets = np.tile(enclosing_ball_centre(points), (len(points), 1))
    away_m = float(np.sqrt(((targets - points) ** 2).sum(axis=1)).max())
    targets.setflags(write=False)
    return Meeting(targets, (away_m + 2.0 * drift_m) / speed_mps, is_sure)


def _around_anchors(briefing: Briefing, range_m: float) -> Meeting:
    """Anchors stay, the others come into a ball of diameter `range_m` around them.

    Two points of such a ball are at most its diameter apart. Anchors that do not fit into one
    allow no meeting.
    """
    points, anchors = briefing.snapshot, briefing.swarm.anchors
    centre = enclosing_ball_centre(points[anchors])
    way = centre - points
    distance = np.sqrt((way * way).sum(axis=1))
    is_sure = bool(distance[anchors].max() <= range_m / 2.0)
    away_m = np.maximum(distance - max(range_m, 0.0) / 2.0, 0.0)
    away_m[anchors] = 0.0
    targets = points + way * (away_m / np.maximum(distance, 1e-300))[:, None]
    targets.setflags(write=False)
    moves = briefing.speeds_mps > 0.0
    time_s = float((away_m[moves] / briefing.speeds_mps[moves]).max(initial=0.0))
    return Meeting(targets, time_s if is_sure else np.inf, is_sure)


def rendezvous_targets(points: FloatArray, range_m: float, speed_mps: float) -> FloatArray:
    """(N, dim) targets, pairwise at most `range_m` apart, of least largest flight."""
    corners, weights = _corners(points)
    start = points[corners]
    pairs = np.stack(np.triu_indices(len(corners), k=1), axis=1)
    apart = pdist(start)
    if len(apart) == 0 or apart.max() <= range_m:
        return points.copy()
    problem = Problem(start, np.full(len(start), speed_mps), range_m)
    chosen = apart >= 0.9 * apart.max()
    targets = start
    for _ in range(len(pairs)):
        solution = solve(problem, pairs[chosen])
        targets = start.copy()
        targets[solution.nodes] += solution.shift
        # A corner that no chosen pair holds yet comes to the middle of the others.
        free = np.setdiff1d(np.arange(len(start)), solution.nodes)
        middle = targets[solution.nodes].mean(axis=0)
        way = middle - start[free]
        length = np.maximum(np.sqrt((way * way).sum(axis=1)), 1e-300)
        share = np.minimum(solution.time_s * speed_mps / length, 1.0)
        targets[free] += way * share[:, None]
        wrong = (pdist(targets) > range_m * (1.0 + 1e-9)) & ~chosen
        if not wrong.any():
            break
        chosen = chosen | wrong
    # What the solver left over by rounding is taken off about the middle.
    widest = float(pdist(targets).max())
    if widest > range_m:
        middle = targets.mean(axis=0)
        targets = middle + (targets - middle) * (range_m / widest)
    return np.asarray(weights @ targets)


def _corners(points: FloatArray) -> tuple[IntArray, FloatArray]:
    """Corners of the convex hull, and (N, corners) weights: every point as their combination."""
    count = len(points)
    middle = points.mean(axis=0)
    _, size, axes = np.linalg.svd(points - middle, full_matrices=False)
    rank = int((size > 1e-9 * max(float(size.max(initial=0.0)), 1e-300)).sum())
    if count == 1 or size.max(initial=0.0) <= 1e-9:
        return np.array([0]), np.ones((count, 1))
    flat = (points - middle) @ axes[:rank].T
    if rank == 1:
        corners = np.array([int(flat.argmin()), int(flat.argmax())])
        low, high = flat[corners, 0]
        share = (flat[:, 0] - low) / (high - low)
        return corners, np.stack([1.0 - share, share], axis=1)
    try:
        corners = np.sort(ConvexHull(flat).vertices).astype(np.int64)
        mesh = Delaunay(flat[corners])
    except QhullError:
        return np.arange(count), np.eye(count)
    simplex = mesh.find_simplex(flat, tol=1e-7)
    inside = simplex >= 0
    if not inside.all():  # rounding at the rim: such points count as corners themselves
        corners = np.union1d(corners, np.flatnonzero(~inside))
    weights = np.zeros((count, len(corners)))
    corner_rows = np.searchsorted(corners, np.sort(np.asarray(ConvexHull(flat).vertices)))
    rows = np.flatnonzero(inside)
    transform = mesh.transform[simplex[rows]]
    offset = flat[rows] - transform[:, rank]
    part = np.einsum("nij,nj->ni", transform[:, :rank], offset)
    part = np.concatenate([part, 1.0 - part.sum(axis=1, keepdims=True)], axis=1)
    part = np.maximum(part, 0.0)
    part /= part.sum(axis=1, keepdims=True)
    np.add.at(weights, (rows[:, None], corner_rows[mesh.simplices[simplex[rows]]]), part)
    is_corner = np.isin(np.arange(count), corners)
    weights[is_corner] = 0.0
    weights[corners, np.arange(len(corners))] = 1.0
    return corners, weights


@dataclass(frozen=True)
class Rendezvous:
    """Everybody flies to its meeting place at once. No word is needed."""

    def brief(self, briefing: Briefing) -> _RendezvousPilot:
        return _RendezvousPilot(briefing, meeting_of(briefing))

    def promised_s(self, briefing: Briefing) -> float | None:
        meeting = meeting_of(briefing)
        if not meeting.is_sure:
            return None
        return briefing.alarm_delay_s + meeting.time_s + briefing.step_s


class _RendezvousPilot:
    def __init__(self, briefing: Briefing, meeting: Meeting) -> None:
        self._briefing, self._meeting = briefing, meeting
        self.replans = 0

    def act(self, view: View) -> Orders:
        offset = self._briefing.offset(view.belief.alarm_s)
        return Orders(self._meeting.targets[view.members] + offset)
