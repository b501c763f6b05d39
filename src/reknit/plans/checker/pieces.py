"""Connected pieces of many points in near-linear time.

Every link that is used was tested by the rule that defines it; the k-d tree only proposes pairs, a
hair beyond the reach. Where points have few neighbours all links are listed. In a crowd: first
links within small cells and to the nearest few neighbours. What those can miss is a link between
two points that both have more neighbours within reach than were looked at; such points are
searched further, until no two pieces can be joined.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from reknit.base.errors import InvalidProof
from reknit.base.types import BoolArray, FloatArray, IntArray

_SLACK = 1.0 + 1e-9
"""Beyond the reach, against the tree's own rounding."""

_NEAREST = 6
_PAIRS_AT_ONCE, _ROWS_AT_ONCE = 4_000_000, 4_096
_SAMPLED = 64
_MANY_SAMPLED, _FEW_NEIGHBOURS = 512, 30.0
"""Sample of the points, and the mean number within reach up to which all links are listed."""

_FEW_PAIRS = 20_000_000
"""With fewer pairs than this (by a sample) the search is done in full at once."""


@dataclass(frozen=True, eq=False)
class LinkRule:
    """Which points are linked: ``|p_i - p_j| <= (range + (v_i + v_j) t) (1 + hair)`` in float64.

    Attributes
    ----------
    points
        (n, dim) metres.
    range_m
        The length of a link without any movement.
    speeds, time_s, hair
        Metres per second, seconds; with the defaults the plain rule ``|p_i - p_j| <= range_m``.
    """

    points: FloatArray
    range_m: float
    speeds: FloatArray | None = None
    time_s: float = 0.0
    hair: float = 0.0

    def distance_m(self, left: IntArray, right: IntArray) -> FloatArray:
        """``sqrt(dx*dx + dy*dy [+ dz*dz])`` of pairs, in float64."""
        a, b = self.points[left], self.points[right]
        square = (a[:, 0] - b[:, 0]) * (a[:, 0] - b[:, 0])
        for axis in range(1, a.shape[1]):
            square = square + (a[:, axis] - b[:, axis]) * (a[:, axis] - b[:, axis])
        return np.asarray(np.sqrt(square))

    def holds(self, left: IntArray, right: IntArray) -> BoolArray:
        """Which of the pairs are linked."""
        if self.speeds is None:
            return np.asarray(self.distance_m(left, right) <= self.range_m)
        limit_m = self.range_m + (self.speeds[left] + self.speeds[right]) * self.time_s
        return np.asarray(self.distance_m(left, right) <= limit_m * (1.0 + self.hair))

    def reach_m(self, rows: IntArray) -> FloatArray:
        """No link of these points is longer than this."""
        if self.speeds is None:
            return np.full(len(rows), self.range_m * _SLACK)
        fastest = float(self.speeds.max(initial=0.0))
        limit_m = self.range_m + (self.speeds[rows] + fastest) * self.time_s
        return np.asarray(np.minimum(limit_m * _SLACK, np.finfo(np.float64).max))


def links_of(
    rule: LinkRule, tree: cKDTree, names: IntArray, rows: IntArray, most: int | None = None
) -> Iterator[tuple[IntArray, IntArray]]:
    """All links from `rows` to the points in a tree, whose names are given, in blocks that are
    made one at a time; `InvalidProof` once more than `most` pairs are near enough, if given.
    """
    seen = 0
    for batch in np.split(rows, np.arange(_ROWS_AT_ONCE, len(rows), _ROWS_AT_ONCE)):
        reach_m = rule.reach_m(batch)
        sizes = tree.query_ball_point(rule.points[batch], reach_m, return_length=True)
        seen += int(sizes.sum())
        if most is not None and seen > most:
            raise InvalidProof(f"the certificate asks about more than {most} candidate links")
        parts = np.flatnonzero(np.diff(np.cumsum(sizes) // _PAIRS_AT_ONCE)) + 1
        for part in np.split(np.arange(len(batch)), parts):
            balls = tree.query_ball_point(rule.points[batch[part]], reach_m[part])
            near = [np.asarray(ball, dtype=np.int64) for ball in balls]
            left = np.repeat(batch[part], [len(ball) for ball in near])
            right = names[np.concatenate([np.empty(0, dtype=np.int64), *near])]
            keep = left != right
            left, right = left[keep], right[keep]
            keep = rule.holds(left, right)
            yield left[keep], right[keep]


def merge(label: IntArray, left: IntArray, right: IntArray) -> IntArray:
    """The labels when these links are added, numbered from 0."""
    names, label = np.unique(label, return_inverse=True)
    label = label.reshape(-1)
    count = len(names)
    ends = (label[left], label[right])
    graph = coo_array((np.ones(len(left), dtype=np.int8), ends), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1].astype(np.int64)[label])


def pieces(rule: LinkRule, rows: IntArray) -> IntArray:
    """The connected piece of every one of `rows`, numbered from 0, by links among them alone.

    Parameters
    ----------
    rule
        Says which points are linked.
    rows
        Indices of the points that count.

    Returns
    -------
    IntArray
        (len(rows),) numbers of pieces.
    """
    if len(rows) < 2:
        return np.zeros(len(rows), dtype=np.int64)
    local, group = _distinct(_chosen(rule, rows))
    label = _pieces(local)
    return label if group is None else label[group]


def _distinct(rule: LinkRule) -> tuple[LinkRule, IntArray | None]:
    """Points at the same place as one point, as fast as the fastest of them: they are linked with
    one another, and with others if that one is. The second result is the point of each.
    """
    order = np.lexsort(rule.points.T)
    points = rule.points[order]
    fresh = np.ones(len(points), dtype=bool)
    fresh[1:] = (points[1:] != points[:-1]).any(axis=1)
    if fresh.all():
        return rule, None
    group = np.empty(len(points), dtype=np.int64)
    group[order] = np.cumsum(fresh) - 1
    speeds = None
    if rule.speeds is not None:
        speeds = np.zeros(int(fresh.sum()))
        np.maximum.at(speeds, group, rule.speeds)
    return LinkRule(points[fresh], rule.range_m, speeds, rule.time_s, rule.hair), group


def _pieces(rule: LinkRule) -> IntArray:
    count = len(rule.points)
    if count < 2:
        return np.zeros(count, dtype=np.int64)
    cell = _cells(rule)
    order = np.argsort(cell, kind="stable")  # neighbours come to lie near one another in memory
    local = _chosen(rule, order)
    fresh = np.ones(count, dtype=bool)
    fresh[1:] = np.diff(cell[order]) != 0
    first = np.flatnonzero(fresh)[np.cumsum(fresh) - 1]  # of the same cell
    everyone = np.arange(count)
    result = np.empty(count, dtype=np.int64)
    tree = cKDTree(local.points)
    if _has_few_links(local, tree):
        pairs = tree.query_pairs(float(local.reach_m(everyone).max()), output_type="ndarray")
        left, right = pairs[:, 0], pairs[:, 1]
        keep = local.holds(left, right)
        result[order] = merge(everyone, left[keep], right[keep])
        return result
    near = min(_NEAREST, count - 1)
    distance_m, neighbour = tree.query(local.points, k=near + 1)
    left = np.concatenate([everyone, np.repeat(everyone, near + 1)])
    right = np.concatenate([first, neighbour.ravel()])
    keep = local.holds(left, right)
    label = merge(everyone, left[keep], right[keep])
    is_open = distance_m[:, -1] <= local.reach_m(everyone)
    if near == count - 1:
        is_open[:] = False
    result[order] = _joined(local, label, is_open)
    return result


def _has_few_links(rule: LinkRule, tree: cKDTree) -> bool:
    """Whether the points have so few neighbours, by a sample, that all links can be listed."""
    count = len(rule.points)
    sample = np.arange(0, count, max(1, count // _MANY_SAMPLED))
    reach_m = float(rule.reach_m(np.arange(count)).max())
    balls = tree.query_ball_point(rule.points[sample], reach_m, return_length=True)
    return float(np.mean(balls)) <= _FEW_NEIGHBOURS


def _chosen(rule: LinkRule, rows: IntArray) -> LinkRule:
    speeds = None if rule.speeds is None else rule.speeds[rows]
    return LinkRule(rule.points[rows], rule.range_m, speeds, rule.time_s, rule.hair)


def _cells(rule: LinkRule) -> IntArray:
    """The cell of every point; cells are so small that points in one are linked, as a rule."""
    side_m = rule.range_m / np.sqrt(rule.points.shape[1]) * (1.0 - 1e-9)
    offset = (rule.points - rule.points.min(axis=0)) / side_m
    if not offset.max() < 2.0**40:
        return np.arange(len(rule.points))
    cell = np.floor(offset).astype(np.int64)
    key = cell[:, 0]
    for axis in range(1, cell.shape[1]):
        if float(key.max() + 1) * float(cell[:, axis].max() + 1) >= 2.0**62:
            return np.arange(len(rule.points))
        key = key * (cell[:, axis].max() + 1) + cell[:, axis]
    return np.asarray(key)


def _joined(rule: LinkRule, label: IntArray, is_open: BoolArray) -> IntArray:
    """Join pieces of open points. The largest is compared with all others; when nothing joins it
    any more it is closed, since then it has all its links.
    """
    is_open = is_open.copy()
    rows = np.flatnonzero(is_open)
    names, sizes = np.unique(label[rows], return_counts=True)
    if len(names) > 2:
        others = rows[label[rows] != names[np.argmax(sizes)]]
        tree = cKDTree(rule.points[rows])
        sample = others[:: max(1, len(others) // _SAMPLED)]
        balls = tree.query_ball_point(rule.points[sample], rule.reach_m(sample), return_length=True)
        if float(balls.mean()) * len(others) < _FEW_PAIRS:
            for left, right in links_of(rule, tree, rows, others):
                label = merge(label, left, right)
            return label
    while True:
        rows = np.flatnonzero(is_open)
        names, sizes = np.unique(label[rows], return_counts=True)
        if len(names) < 2:
            return label
        inside = label[rows] == names[np.argmax(sizes)]
        largest, others = rows[inside], rows[~inside]
        tree = cKDTree(rule.points[largest])
        distance_m, index = tree.query(rule.points[others])
        within = distance_m <= rule.reach_m(others)
        left, right = others[within], largest[index[within]]
        keep = rule.holds(left, right)
        if not keep.any() and len(left):
            # The nearest is not linked, but with different speeds another may be.
            is_closed = True
            for far_left, far_right in links_of(rule, tree, largest, left):
                label = merge(label, far_left, far_right)
                is_closed &= len(far_left) == 0
            is_open[largest] &= not is_closed
        elif keep.any():
            label = merge(label, left[keep], right[keep])
        else:
            is_open[largest] = False
