"""Cone programs as clarabel takes them: sparse columns, built with numpy."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import clarabel
import numpy as np
from scipy.sparse import csc_matrix

from reknit.base.context import never
from reknit.base.types import FloatArray, IntArray

_TOLERANCE = 1e-10
_SURELY = 1.0 + 1e-4
_NEARLY_DUAL = 1e-3
"""A program is stopped early when its dual is this far beyond the limit and this nearly exact."""


@lru_cache(maxsize=256)
def _nothing(width: int) -> csc_matrix:
    """No quadratic part."""
    return csc_matrix((width, width))


def _settings() -> clarabel.DefaultSettings:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _TOLERANCE
    return settings


class Program:
    """One cone program in units of the range and the top speed.

    Several that have nothing to do with one another are solved at once as blocks, each with its
    own t; `block` says for every node which one it belongs to.

    Variables: the displacement of every mover, then t (or one length per mover). Rows: a cone
    ``(v_i t, u_i)`` for every mover, then a cone ``(1, p_i - p_j + u_i - u_j)`` for every link.
    """

    def __init__(
        self,
        index: IntArray,
        speeds: FloatArray,
        delta: FloatArray,
        block: IntArray | None = None,
    ) -> None:
        self.movers = np.flatnonzero(speeds > 0.0)
        self.block = np.zeros_like(self.movers) if block is None else block[self.movers]
        self.speeds = speeds[self.movers]
        self.dim = delta.shape[1]
        self.links = len(delta)
        self._apart: tuple[IntArray, FloatArray, FloatArray] | None = None
        self._place = place = np.full(len(speeds), -1, dtype=np.int64)
        place[self.movers] = np.arange(len(self.movers))
        dim, wide, first = self.dim, self.dim + 1, len(self.movers) * (self.dim + 1)
        axis = np.arange(dim)
        moved = np.arange(len(self.movers))
        rows = [(moved[:, None] * wide + 1 + axis).ravel()]
        columns = [(moved[:, None] * dim + axis).ravel()]
        values = [np.full(len(moved) * dim, -1.0)]
        for end, sign in ((0, -1.0), (1, 1.0)):
            node = place[index[:, end]]
            which = np.flatnonzero(node >= 0)
            rows.append((first + which[:, None] * wide + 1 + axis).ravel())
            columns.append((node[which][:, None] * dim + axis).ravel())
            values.append(np.full(len(which) * dim, sign))
        self._rows, self._columns = np.concatenate(rows), np.concatenate(columns)
        self._values = np.concatenate(values)
        right = np.zeros((self.links, wide))
        right[:, 0], right[:, 1:] = 1.0, delta
        self.right = np.concatenate([np.zeros(first), right.ravel()])

    def keep_apart(self, index: IntArray, normals: FloatArray, room: FloatArray) -> None:
        """Demand ``n . (u_i - u_j) >= -room`` of pairs of nodes, one unit vector n for each."""
        self._apart = (index, normals, room)

    def least_time(
        self, enough: float = np.inf, is_over: Callable[[], bool] = never
    ) -> clarabel.DefaultSolution:
        """Minimise t, or the sum of the blocks'.

        Stops once the dual shows that it is more than `enough`, or when `is_over` says so.
        """
        count = len(self.movers)
        heads = np.arange(count) * (self.dim + 1)
        rows = np.concatenate([self._rows, heads])
        columns = np.concatenate([self._columns, count * self.dim + self.block])
        values = np.concatenate([self._values, -self.speeds])
        cost = np.zeros(count * self.dim + int(self.block.max(initial=0)) + 1)
        cost[count * self.dim :] = 1.0
        return self._run(rows, columns, values, self.right, cost, [], enough, is_over)

    def least_movement(
        self, limit: float, closest: float, is_over: Callable[[], bool] = never
    ) -> clarabel.DefaultSolution:
        """Minimise the sum of ``|u_i|`` with ``|u_i| <= v_i limit`` and links of at most `closest`.

        Variables: the displacements, then one length s_i per mover, ``|u_i| <= s_i <= v_i limit``.
        """
        count, wide = len(self.movers), self.dim + 1
        height, width = len(self.right), count * wide
        heads, lengths = np.arange(count) * wide, count * self.dim + np.arange(count)
        rows = np.concatenate([self._rows, heads, height + np.arange(count)])
        columns = np.concatenate([self._columns, lengths, lengths])
        values = np.concatenate([self._values, np.full(count, -1.0), np.ones(count)])
        right = np.concatenate([self.right, self.speeds * limit])
        right[count * wide : height : wide] = closest
        cost = np.zeros(width)
        cost[count * self.dim :] = 1.0
        limits = [clarabel.NonnegativeConeT(count)]
        return self._run(rows, columns, values, right, cost, limits, is_over=is_over)

    def _run(
        self,
        rows: IntArray,
        columns: IntArray,
        values: FloatArray,
        right: FloatArray,
        cost: FloatArray,
        more: list[object],
        enough: float = np.inf,
        is_over: Callable[[], bool] = never,
    ) -> clarabel.DefaultSolution:
        kinds = [clarabel.SecondOrderConeT(self.dim + 1)] * (len(self.movers) + self.links)
        kinds += more
        if self._apart is not None and len(self._apart[0]):
            index, normals, room = self._apart
            first = len(right) + np.arange(len(index))
            for end, sign in ((0, -1.0), (1, 1.0)):
                node = self._place[index[:, end]]
                which = np.flatnonzero(node >= 0)
                rows = np.concatenate([rows, np.repeat(first[which], self.dim)])
                at = node[which][:, None] * self.dim + np.arange(self.dim)
                columns = np.concatenate([columns, at.ravel()])
                values = np.concatenate([values, (sign * normals[which]).ravel()])
            right = np.concatenate([right, room])
            kinds.append(clarabel.NonnegativeConeT(len(index)))
        height, width = len(right), len(cost)
        order = np.argsort(columns * height + rows)
        starts = np.zeros(width + 1, dtype=np.int64)
        np.cumsum(np.bincount(columns, minlength=width), out=starts[1:])
        matrix = csc_matrix((values[order], rows[order], starts), shape=(height, width))
        solver = clarabel.DefaultSolver(_nothing(width), cost, matrix, right, kinds, _settings())
        solver.set_termination_callback(
            lambda info: (
                (info.cost_dual > enough * _SURELY and info.res_dual < _NEARLY_DUAL) or is_over()
            )
        )
        return solver.solve()
