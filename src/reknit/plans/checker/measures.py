"""How far along a way around a hole places are, and what a UAV covers of it at most.

Between two rays from the hole, of angles A and B, the angle tells how far a place is. Before the
first of them it is the distance x from its line, as ``A - x / rho``, with rho the least distance
from the hole that anybody keeps; beyond the second likewise. What the places within d / 2 of a
UAV count follows from the farthest and the nearest of them; it is a sum of the weights between.

A UAV that is as far along, but farther from the hole, covers less: of places on a ray those within
d / 2 span a smaller angle, and on a parallel to a line they keep their distances from it and span
a smaller angle beyond. So only the place nearest to the hole matters of each ray and parallel, and
what is left is one number for each UAV. Where both ends of what it covers are distances, what it
covers is linear between those distances at which an end meets the edge of a weight. Elsewhere the
range of the number is halved again and again.
"""

from __future__ import annotations

import math

import numpy as np

from reknit.base.errors import InvalidProof
from reknit.base.types import BoolArray, FloatArray, IntArray
from reknit.plans.certificate import Winding

DOUBT = 1e-9
"""Radians and relative lengths, far more than rounding adds to the few operations here."""

_FIRST_PARTS = 8
"""Parts of each range to begin with."""


class Measure:
    """How far along the way around a hole a place is, and what that counts.

    Attributes
    ----------
    low, high
        The angles A and B of the two rays, radians from the first UAV on.
    edges, counts
        Where weights begin and end, and what all before counts.
    half_m, unit_m
        ``d / 2`` and rho, metres.
    """

    def __init__(
        self, rays: tuple[float, float], weights: IntArray, half_m: float, unit_m: float
    ) -> None:
        self.low, self.high = rays
        # Nobody's places count that are a quarter of a turn or more before A or beyond B: there
        # the distance from the line is at least rho - d.
        margin = 1.0 - 2.0 * half_m / unit_m
        self._weights = weights
        width = (self.high - self.low + 2.0 * margin) / len(weights)
        self._steepness = np.concatenate([[0.0], weights / width, [0.0]])
        self.edges = np.linspace(self.low - margin, self.high + margin, len(weights) + 1)
        self.counts = np.append(0.0, np.cumsum(weights.astype(np.float64)))
        self.half_m, self.unit_m = half_m, unit_m

    @classmethod
    def of(cls, winding: Winding, length: float, range_m: float, nearest_m: float) -> Measure:
        """The measure of a way that ends at an angle, seen from where it begins."""
        low, high = winding.straight_rad, length - winding.straight_rad
        half_m = 0.5 * range_m
        spans = 2.0 * math.asin(half_m / nearest_m)
        if not (high - low > spans and range_m < nearest_m):
            raise InvalidProof("a winding of the certificate is straight where the way has ended")
        return cls((low, high), winding.weights, half_m, nearest_m)

    def mirrored(self) -> Measure:
        """The same way from its other end."""
        return Measure((self.low, self.high), self._weights[::-1], self.half_m, self.unit_m)

    @property
    def whole(self) -> float:
        """What all of the way counts."""
        return float(self.counts[-1])

    def count(self, far: FloatArray) -> FloatArray:
        """What all before counts."""
        return np.asarray(np.interp(far, self.edges, self.counts))

    def covered(
        self, near: FloatArray, far: FloatArray, gain: FloatArray, loss: FloatArray
    ) -> FloatArray:
        """What lies between two places, or before the far or beyond the near one of them."""
        return gain * self.count(far + DOUBT) - loss * self.count(near - DOUBT)

    def drift(self, low: FloatArray, high: FloatArray, half: FloatArray) -> FloatArray:
        """How much more may lie within an angle on both sides of a ray up to `high` than of one at
        `low`: the ray's way times the difference of the weights at both ends, where each end
        meets two weights at most.
        """
        first, last = self._bin(low + half), self._bin(high + half)
        gained = np.maximum(self._steepness[first], self._steepness[last])
        left, right = self._bin(low - half), self._bin(high - half)
        lost = np.minimum(self._steepness[left], self._steepness[right])
        is_known = (last - first <= 1) & (right - left <= 1)
        is_known &= (low - half >= self.low) & (high + half <= self.high)
        return np.where(is_known, (high - low) * np.maximum(0.0, gained - lost), np.inf)

    def _bin(self, far: FloatArray) -> IntArray:
        """Number of the weight that is met, between the two for what lies beyond the ends."""
        width = self.edges[1] - self.edges[0]
        number = np.floor((far - self.edges[0]) / width).astype(np.int64)
        return np.asarray(np.clip(number, -1, len(self._weights)) + 1, dtype=np.int64)


class _Seen:
    """UAVs as they are seen along a way, or along the same way from its other end."""

    def __init__(
        self,
        measure: Measure,
        angle: FloatArray,
        distance: FloatArray,
        reach: FloatArray,
        gain: FloatArray,
        loss: FloatArray,
    ) -> None:
        self.measure, self.gain, self.loss = measure, gain, loss
        self.reach = reach
        turn = np.arcsin(np.minimum(1.0, reach / distance))
        before = measure.low - angle
        # Behind a quarter of a turn nothing counts.
        self.is_near = (before > -turn) & (before < 0.5 * math.pi + turn)
        self.aside = distance * np.sin(before)
        self.along = distance * np.cos(before)

    def parallels(self) -> FloatArray:
        """The most that is covered at distances from the line A at which no angle tells."""
        measure = self.measure
        lowest = np.maximum(self.aside - self.reach, measure.half_m)
        highest = self.aside + self.reach
        bends = (measure.low - measure.edges) * measure.unit_m
        bends = np.concatenate([bends - measure.half_m, bends + measure.half_m])
        at = np.clip(bends, lowest[:, None], np.maximum(lowest, highest)[:, None])
        at = np.concatenate([at, lowest[:, None], np.maximum(lowest, highest)[:, None]], axis=1)
        near = measure.low - (at + measure.half_m) / measure.unit_m
        far = measure.low - (at - measure.half_m) / measure.unit_m
        covered = measure.covered(near, far, self.gain[:, None], self.loss[:, None]).max(axis=1)
        return np.where(self.is_near & (highest > measure.half_m), covered, -np.inf)

    def strip(self) -> tuple[FloatArray, FloatArray, BoolArray]:
        """The distances before the line A at which the farthest place is beyond it."""
        lowest = np.maximum(self.aside - self.reach, 0.0)
        highest = np.minimum(self.aside + self.reach, self.measure.half_m)
        return lowest, highest, self.is_near & (lowest <= highest)

    def in_strip(self, rows: IntArray, low: FloatArray, high: FloatArray) -> FloatArray:
        """The most that is covered at distances from `low` to `high` before the line A."""
        measure, reach = self.measure, self.reach[rows]
        # Where the distances come closest to the start, the UAV comes closest to the hole.
        off = np.clip(self.aside[rows], low, high) - self.aside[rows]
        nearest = self.along[rows] - np.sqrt(np.maximum(0.0, reach * reach - off * off))
        distance = np.sqrt(nearest * nearest + low * low)
        far = measure.low + np.arcsin(measure.half_m / distance) - np.arcsin(low / distance)
        near = measure.low - (high + measure.half_m) / measure.unit_m
        return measure.covered(near, far, self.gain[rows], self.loss[rows])


class Places:
    """What groups of UAVs, each a survivor on several turns, cover of a way at most.

    Parameters
    ----------
    measure
        Of the way.
    group
        (k,) the group of each UAV.
    angle, distance, reach
        Where it starts, seen from the hole, and how far it can fly.
    gain, loss
        Whether what lies before the farthest place within d / 2 of it counts, and whether what
        lies before the nearest one is taken off.

    Attributes
    ----------
    most, least
        (g,) what each group covers is at most, and at least, as far as is known.
    """

    def __init__(
        self,
        measure: Measure,
        *,
        group: IntArray,
        angle: FloatArray,
        distance: FloatArray,
        reach: FloatArray,
        gain: FloatArray,
        loss: FloatArray,
    ) -> None:
        self._measure, self._group = measure, group
        self._angle, self._distance, self._reach = angle, distance, reach
        self._gain, self._loss = gain, loss
        mirror = measure.low + measure.high
        # A way seen from its other end: what lay before a place lies beyond it.
        self._seen = (
            _Seen(measure, angle, distance, reach, gain, loss),
            _Seen(measure.mirrored(), mirror - angle, distance, reach, loss, gain),
        )
        self._shift = (gain - loss) * measure.whole
        groups = int(group.max()) + 1
        self.least = np.full(groups, -np.inf)
        np.maximum.at(self.least, group, self._seen[0].parallels())
        np.maximum.at(self.least, group, self._seen[1].parallels() + self._shift)
        turn = np.arcsin(np.minimum(1.0, reach / distance))
        low = np.maximum(angle - turn, measure.low)
        high = np.minimum(angle + turn, measure.high)
        ranges = ((low, high, low <= high), self._seen[0].strip(), self._seen[1].strip())
        kinds, rows, lows, highs = [], [], [], []
        part = np.arange(_FIRST_PARTS + 1) / _FIRST_PARTS
        for kind, (low, high, is_there) in enumerate(ranges):
            row = np.flatnonzero(is_there)
            limits = low[row, None] + (high - low)[row, None] * part
            rows.append(np.repeat(row, _FIRST_PARTS))
            kinds.append(np.full(len(rows[-1]), kind))
            lows.append(limits[:, :-1].ravel())
            highs.append(limits[:, 1:].ravel())
        self._kind, self._row = np.concatenate(kinds), np.concatenate(rows)
        self._low, self._high = np.concatenate(lows), np.concatenate(highs)
        self._bound()

    @property
    def cells(self) -> int:
        """How many parts of ranges are still looked at."""
        return len(self._row)

    def halve(self) -> None:
        """Look closer at the parts that matter."""
        middle = 0.5 * (self._low + self._high)
        self._kind, self._row = np.tile(self._kind, 2), np.tile(self._row, 2)
        self._low, self._high = np.append(self._low, middle), np.append(middle, self._high)
        self._bound()

    def _bound(self) -> None:
        middle = 0.5 * (self._low + self._high)
        group = self._group[self._row]
        np.maximum.at(self.least, group, self._covered(middle, middle))
        most = self._covered(self._low, self._high)
        self.most = self.least.copy()
        np.maximum.at(self.most, group, most)
        keep = most > self.least[group]
        self._kind, self._row = self._kind[keep], self._row[keep]
        self._low, self._high = self._low[keep], self._high[keep]

    def _covered(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """The most that is covered within each part, as if the best of all its places met."""
        covered = np.empty(len(low))
        for kind in range(3):
            at = np.flatnonzero(self._kind == kind)
            rows = self._row[at]
            if kind == 0:
                covered[at] = self._on_rays(rows, low[at], high[at])
            else:
                covered[at] = self._seen[kind - 1].in_strip(rows, low[at], high[at])
            if kind == 2:
                covered[at] += self._shift[rows]
        return covered

    def _on_rays(self, rows: IntArray, low: FloatArray, high: FloatArray) -> FloatArray:
        """The most that is covered at angles from `low` to `high` between A and B."""
        measure, start, reach = self._measure, self._distance[rows], self._reach[rows]
        off = np.clip(self._angle[rows], low, high) - self._angle[rows]
        sine = start * np.sin(off)
        distance = start * np.cos(off) - np.sqrt(np.maximum(0.0, reach * reach - sine * sine))
        half = np.arcsin(measure.half_m / distance)
        beyond = (distance * np.sin(high - measure.high) + measure.half_m) / measure.unit_m
        far = np.where(high + half > measure.high, measure.high + beyond, high + half)
        before = (distance * np.sin(measure.low - low) + measure.half_m) / measure.unit_m
        near = np.where(low - half < measure.low, measure.low - before, low - half)
        gain, loss = self._gain[rows], self._loss[rows]
        covered = measure.covered(near, far, gain, loss)
        at_low = measure.covered(low - half, low + half, gain, loss)
        drifted = at_low + measure.drift(low, high, half)
        return np.where((gain > 0.0) & (loss > 0.0), np.minimum(covered, drifted), covered)
