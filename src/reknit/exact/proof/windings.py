"""How the way around a hole is best measured, by a linear program (docs/bounds.md).

The measure of a way gives weights to its equal parts. A survivor covers at most what lies within
half a link's length of it, wherever it is within reach; the places that are looked at are samples.
Wanted are the weights with which all survivors together fall shortest of covering the way. Of the
rows of this program, one for every sample, only those that matter are given to the solver.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from reknit.base.types import FloatArray, IntArray
from reknit.exact.model.problem import Problem

_PARTS = 240
"""Weights of a way; they are linear between fewer of them, which keeps them smooth: between the
samples then lie no places that cover much more.
"""

_ANGLES, _LINES = 129, 65
"""Samples of a survivor's places: angles, and distances from the line of a straight end."""

_ROUNDS = 40
_NEAR = 2e-5
"""Of the way, what the solver's rows may leave uncovered before more rows are of no use."""


@dataclass(frozen=True)
class Ring:
    """The survivors around a hole.

    Attributes
    ----------
    distance, angle
        (n,) where they start, seen from its centre.
    speeds
        (n,) v_i.
    range_m
        d.
    """

    distance: FloatArray
    angle: FloatArray
    speeds: FloatArray
    range_m: float

    @staticmethod
    def of(problem: Problem, centre: FloatArray) -> Ring:
        """The survivors of a problem about a centre."""
        offset = problem.start - centre
        distance = np.sqrt((offset * offset).sum(axis=1))
        angle = np.arctan2(offset[:, 1], offset[:, 0])
        return Ring(distance, angle, problem.speeds, problem.range_m)

    def nearest_m(self, time_s: float) -> float:
        """The least distance from the centre that anybody keeps within a time."""
        return float((self.distance - self.speeds * time_s).min())

    def gap(self, first: int) -> float:
        """The angle of the gap that ends, counterclockwise, at a survivor."""
        back = np.mod(self.angle[first] - self.angle, 2.0 * math.pi)
        back[first] = 2.0 * math.pi
        return float(back.min())


class Way:
    """The way around the hole from one side of a gap to the other, within a trial time.

    Parameters
    ----------
    ring
        The survivors.
    first
        The one at which the way begins.
    time_s
        The trial time.
    straight_rad
        The angle at either end within which distances from a line tell how far a place is.

    Attributes
    ----------
    can_be
        Whether a way can be measured so; nothing else is to be asked of one that can't.
    """

    def __init__(self, ring: Ring, first: int, time_s: float, straight_rad: float) -> None:
        self._ring = ring
        self._half_m, self._unit_m = 0.5 * ring.range_m, ring.nearest_m(time_s)
        self._length = 2.0 * math.pi - ring.gap(first)
        self._low, self._high = straight_rad, self._length - straight_rad
        self.can_be = self._unit_m > ring.range_m and self._high - self._low > self._widest_rad()
        if self.can_be:
            margin = 1.0 - ring.range_m / self._unit_m
            self._from, self._width = self._low - margin, self._high - self._low + 2.0 * margin
            self._sample(first, time_s)

    def _widest_rad(self) -> float:
        """The largest angle that a link can span."""
        return 2.0 * math.asin(self._half_m / self._unit_m)

    def _sample(self, first: int, time_s: float) -> None:
        ring = self._ring
        count = len(ring.angle)
        around = np.mod(ring.angle - ring.angle[first], 2.0 * math.pi)
        around[first] = 0.0
        last = int(np.argmax(around))
        others = np.setdiff1d(np.arange(count), (first, last))
        turns = 2.0 * math.pi * np.array([-1.0, 0.0, 1.0])
        rows = np.concatenate([np.repeat(others, 3), [first, last, last, first]])
        ends = np.array([0.0, self._length, self._length - 2.0 * math.pi, 2.0 * math.pi])
        places = np.append((around[others, None] + turns).ravel(), ends)
        group = np.append(np.repeat(np.arange(count - 2), 3), count - 2 + np.arange(4))
        gain, loss = np.ones(len(rows)), np.ones(len(rows))
        gain[[-3, -1]], loss[[-4, -2]] = 0.0, 0.0
        start, reach = ring.distance[rows, None], ring.speeds[rows, None] * time_s
        # On every ray the nearest place, and on every parallel to the line of a straight end.
        off = np.arcsin(np.minimum(1.0, reach / start)) * np.linspace(-1.0, 1.0, _ANGLES)
        sine = start * np.sin(off)
        away = start * np.cos(off) - np.sqrt(np.maximum(0.0, reach * reach - sine * sine))
        angles, distances = [places[:, None] + off], [away]
        for line in (self._low, self._high):
            turn = places[:, None] - line
            part = np.linspace(-1.0, 1.0, _LINES)
            aside = start * np.sin(turn) + reach * part
            along = start * np.cos(turn) - reach * np.sqrt(1.0 - part * part)
            is_there = (np.abs(turn) < 0.5 * math.pi) & (along > 0.0)
            angles.append(np.where(is_there, line + np.arctan2(aside, along), angles[0][:, :1]))
            distances.append(np.where(is_there, np.hypot(aside, along), away[:, :1]))
        angle, distance = np.concatenate(angles, axis=1), np.concatenate(distances, axis=1)
        far = self._farthest(angle, distance)
        mirrored = self._low + self._high
        near = mirrored - self._farthest(mirrored - angle, distance)
        per_row = angle.shape[1]
        self._group = np.repeat(group, per_row)
        self._begins = np.searchsorted(self._group, np.arange(count + 2))
        self._gain, self._loss = np.repeat(gain, per_row), np.repeat(loss, per_row)
        self._near, self._far = self._part(near.ravel()), self._part(far.ravel())

    def _part(self, far: FloatArray) -> FloatArray:
        """How far along, in parts of the way."""
        return (far - self._from) / self._width * _PARTS

    def _farthest(self, angle: FloatArray, distance: FloatArray) -> FloatArray:
        """How far the farthest place within half a link is."""
        quarter = 0.5 * math.pi
        tip = angle + np.arcsin(np.minimum(1.0, self._half_m / distance))
        before = distance * np.sin(np.clip(self._low - angle, -quarter, quarter))
        beyond = distance * np.sin(np.clip(angle - self._high, -quarter, quarter))
        far = np.where(tip > self._high, self._high + (beyond + self._half_m) / self._unit_m, tip)
        short = self._low - (before - self._half_m) / self._unit_m
        return np.where(tip < self._low, short, far)

    def lack(self, weights: FloatArray) -> float:
        """By how much the survivors fall short of covering the way, of its whole weight."""
        return self._lack(self._lengths(weights))

    def _lengths(self, weights: FloatArray) -> FloatArray:
        counts = np.append(0.0, np.cumsum(weights))
        parts = np.arange(len(counts))
        covered = self._gain * np.interp(self._far, parts, counts)
        return np.asarray(covered - self._loss * np.interp(self._near, parts, counts))

    def _lack(self, lengths: FloatArray) -> float:
        most = np.maximum.reduceat(lengths, self._begins)
        return -float(most[:-4].sum() + max(most[-4:-2].sum(), most[-2:].sum()))

    def best(self, knots: int, is_over: Callable[[], bool]) -> tuple[FloatArray, float]:
        """The weights with which the survivors fall shortest, and by how much.

        Parameters
        ----------
        knots
            Between so many the weights are linear.
        is_over
            Once it is true, the best weights so far are returned.
        """
        hats = _hats(knots)
        weights, lack = np.full(_PARTS, 1.0 / _PARTS), -np.inf
        groups = len(self._begins)
        rows = np.zeros(0, dtype=np.int64)
        for _ in range(_ROUNDS):
            lengths = self._lengths(weights)
            found = self._lack(lengths)
            if found > lack:
                lack, best = found, weights
            if is_over():
                break
            # The longest of each group, of all its turns and zones.
            tops = np.flatnonzero(
                lengths == np.maximum.reduceat(lengths, self._begins)[self._group]
            )
            tops = tops[np.unique(self._group[tops], return_index=True)[1]]
            grown = np.union1d(rows, tops)
            if len(grown) == len(rows):
                break
            rows = grown
            weights, limit = self._solve(rows, groups, hats)
            if limit - lack < _NEAR:
                break
        return best, lack

    def _solve(self, rows: IntArray, groups: int, hats: FloatArray) -> tuple[FloatArray, float]:
        """The program with some of its rows: its weights, and by how much all fall short there."""
        parts, knots = np.arange(_PARTS), hats.shape[1]
        table = np.zeros((len(rows) + 2, knots + groups + 1))
        far = np.clip(self._far[rows, None] - parts, 0.0, 1.0)
        near = np.clip(self._near[rows, None] - parts, 0.0, 1.0)
        table[:-2, :knots] = (self._gain[rows, None] * far - self._loss[rows, None] * near) @ hats
        table[np.arange(len(rows)), knots + self._group[rows]] = -1.0
        for k, ends in enumerate(((-5, -4), (-3, -2))):
            table[len(rows) + k, list(ends)] = 1.0
            table[len(rows) + k, -1] = -1.0
        price = np.zeros(table.shape[1])
        price[knots:-5] = 1.0
        price[-1] = 1.0
        whole = np.zeros((1, table.shape[1]))
        whole[0, :knots] = hats.sum(axis=0)
        bounds = [(0.0, None)] * (knots + groups - 4) + [(-1.0, 1.0)] * 4 + [(-2.0, 2.0)]
        solved = linprog(
            price, A_ub=table, b_ub=np.zeros(len(table)), A_eq=whole, b_eq=[1.0], bounds=bounds
        )
        return np.maximum(hats @ solved.x[:knots], 0.0), -float(solved.fun)


def _hats(knots: int) -> FloatArray:
    """(m, k) the weights of parts that are linear between knots, of which one is 1."""
    places = (np.arange(_PARTS) + 0.5) / _PARTS * (knots - 1)
    return np.asarray(np.maximum(0.0, 1.0 - np.abs(places[:, None] - np.arange(knots))))
