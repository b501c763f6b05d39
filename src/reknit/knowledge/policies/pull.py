"""The cone program of `hedge`: move a sub-net so that silent places come into range.

For crew members at c_i with displacements u_i, links E that must hold, and places g_j, each with
the nearest crew member a(j), how near it is to come, r_j, and a weight w_j:

    minimise    sum_j w_j s_j + e sum_i m_i
    subject to  |c_a(j) + u_a(j) - g_j| <= r_j + s_j,   s_j >= 0,
                |u_i| <= m_i,
                |c_i + u_i - c_k - u_k| <= r    for ik in E.

Weighted distances make the solution hedge between places in different directions, as a geometric
median does, and the links make it move a whole sub-net where one member alone could not go.
"""

from __future__ import annotations

from dataclasses import dataclass

import clarabel
import numpy as np
from scipy.sparse import csc_matrix

from reknit.base.types import BoolArray, FloatArray, IntArray

_STILL = 1e-4
"""Displacements below this share of the range are the solver's, not the plan's."""

_USABLE = ("Solved", "AlmostSolved")


class _Rows:
    """Second-order cones ``(head, tail) in K`` gathered as sparse rows, ``b - A x in K``."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.height = 0
        self.rows: list[IntArray] = []
        self.columns: list[IntArray] = []
        self.values: list[FloatArray] = []
        self.right: list[FloatArray] = []

    def cones(self, head: FloatArray, tail: FloatArray, terms: list[_Term]) -> None:
        """One cone a row of `tail`, with the constants and these variables in it."""
        count, wide = len(tail), self.dim + 1
        first = self.height + np.arange(count) * wide
        for columns, sign, is_head in terms:
            if is_head:
                self._add(first, columns, -sign)
            else:
                for axis in range(self.dim):
                    self._add(first + 1 + axis, columns * self.dim + axis, -sign)
        self.right.append(np.column_stack([head, tail]).ravel())
        self.height += count * wide

    def non_negative(self, columns: IntArray, sign: float = 1.0) -> None:
        """These variables times the sign are at least 0."""
        self._add(self.height + np.arange(len(columns)), columns, -sign)
        self.right.append(np.zeros(len(columns)))
        self.height += len(columns)

    def _add(self, rows: IntArray, columns: IntArray, value: float) -> None:
        self.rows.append(rows)
        self.columns.append(columns)
        self.values.append(np.full(len(rows), value))


_Term = tuple[IntArray, float, bool]


@dataclass(frozen=True, eq=False)
class Places:
    """Places that a crew is to bring into sight.

    Attributes
    ----------
    positions, sight_m
        (k, dim) and (k,): where, and how near somebody is to come, metres.
    nearest
        (k,) the crew member that goes.
    weights
        (k,) what each is worth.
    """

    positions: FloatArray
    sight_m: FloatArray
    nearest: IntArray
    weights: FloatArray

    def joined(self, other: Places) -> Places:
        """These and others."""
        return Places(
            np.concatenate([self.positions, other.positions]),
            np.concatenate([self.sight_m, other.sight_m]),
            np.concatenate([self.nearest, other.nearest]),
            np.concatenate([self.weights, other.weights]),
        )


def pulled(
    crew: FloatArray,
    links: IntArray,
    places: Places,
    range_m: float,
    effort: float,
    moves: BoolArray,
) -> FloatArray:
    """(n, dim) where the crew should fly.

    Parameters
    ----------
    crew
        (n, dim) positions, metres.
    links
        (m, 2) pairs of crew members that must stay in range; one that is out of range already
        must not get longer.
    places
        What to bring into sight.
    range_m
        r.
    effort
        e, what a metre flown costs against a metre nearer to a place of weight one.
    moves
        (n,) who may fly; m_i is 0 for the others.
    """
    count, dim = crew.shape
    sought = len(places.weights)
    shift = np.arange(count)
    length = count * dim + np.arange(count)
    excess = count * (dim + 1) + np.arange(sought)
    width = count * (dim + 1) + sought
    program = _Rows(dim)
    still = np.zeros_like(crew)
    program.cones(np.zeros(count), still, [(length, 1.0, True), (shift, 1.0, False)])
    apart = (crew[links[:, 0]] - crew[links[:, 1]]) / range_m
    limit = np.maximum(1.0, np.sqrt((apart * apart).sum(axis=1)))
    program.cones(limit, apart, [(links[:, 0], 1.0, False), (links[:, 1], -1.0, False)])
    away = (crew[places.nearest] - places.positions) / range_m
    sight = places.sight_m / range_m
    program.cones(sight, away, [(excess, 1.0, True), (places.nearest, 1.0, False)])
    program.non_negative(excess)
    fixed = length[~moves]
    program.non_negative(fixed, -1.0)
    cost = np.zeros(width)
    cost[length], cost[excess] = effort, places.weights
    entries = np.concatenate(program.values)
    index = np.concatenate(program.rows), np.concatenate(program.columns)
    matrix = csc_matrix((entries, index), shape=(program.height, width))
    kinds = [clarabel.SecondOrderConeT(dim + 1)] * (count + len(links) + sought)
    kinds.append(clarabel.NonnegativeConeT(sought + len(fixed)))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    nothing = csc_matrix((width, width))
    right = np.concatenate(program.right)
    result = clarabel.DefaultSolver(nothing, cost, matrix, right, kinds, settings).solve()
    shifts = np.asarray(result.x)[: count * dim].reshape(count, dim)
    if str(result.status) not in _USABLE or not np.isfinite(shifts).all():
        return crew.copy()
    size = np.sqrt((shifts * shifts).sum(axis=1))
    shifts = np.where(((size > _STILL) & moves)[:, None], shifts, 0.0)
    return np.asarray(crew + shifts * range_m)
