"""Bounds for a separation: no direction in which close survivors part leaves them enough room.

For a trial time T the search asks whether some survivors can be at least s apart after flights of
less than T. It solves a relaxation, takes the pair that comes out closest and parts the directions
that the pair can have into two arcs, each a case of its own. Knowing that ``x_i - x_j`` points
into an arc from a to b, it lies in a convex set: left of a, right of b and beyond the chord. A case
ends when what is known takes at least T, with the dual vectors as the reason (docs/bounds.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from reknit.base.types import FloatArray, IntArray
from reknit.exact.model.problem import Problem
from reknit.exact.model.program import Program
from reknit.exact.search.proof_tree import Work
from reknit.plans.certificate import Certificate, Clash, Parting

_GRID = float(1 << 20)
"""Cuts are vectors of whole numbers up to this."""

_SAFE = 1e-9
"""Relative margin under every stated time and inside every arc."""

_FAVOUR = 1.0 / 3.0
"""In parts of the separation: how much closer a pair counts for each end with a known arc."""

_HALF_TURN = 1e-3
"""The sum of the two ends of an arc is smaller than this only for half a turn, which says nothing
convex about a pair."""

_NEVER = 1e6

_CLOSE = 1e-4
"""Pairs closer than the separation by more than this part of it are too close."""

_CARRIES = 1e-7
"""Vectors smaller than this part of the largest are left out."""

_USABLE = ("Solved", "AlmostSolved")

_MOST_ROWS = 3_000
_DEEPEST = 250

Pair = tuple[int, int]
Vector = tuple[int, int]
Arcs = dict[Pair, tuple[Vector, Vector]]


@dataclass(frozen=True, eq=False)
class Answer:
    """A part of a proof: a question with the proofs of both answers, or an end.

    Parameters
    ----------
    pair, cut
        What is asked; at an end both are empty.
    parts
        The proofs of the two answers; none at an end.
    clash
        What ends the case.
    relies_on
        Pairs whose direction the proof relies on.
    rows, time_s
        How long it is, and the least time that its ends prove.
    """

    pair: Pair | None
    cut: Vector
    parts: tuple[Answer, ...]
    clash: Clash | None
    relies_on: frozenset[Pair]
    rows: int
    time_s: float


class PartingSearch:
    """Proves that survivors about one of them cannot be apart before a trial time.

    Parameters
    ----------
    problem
        All survivors, in the plane.
    gap_m
        s, the demanded separation.
    rows
        Survivors that are looked at, ascending.
    time_s
        The trial time T.
    work
        What may be done.

    Attributes
    ----------
    places
        Where the survivors that are looked at can be at least s apart before the trial time, if
        the search came upon such places; None otherwise.
    """

    def __init__(
        self, problem: Problem, gap_m: float, rows: IntArray, time_s: float, work: Work
    ) -> None:
        self._start, self._rows = problem.start[rows], rows
        self._speeds, self._gap_m = problem.speeds[rows], gap_m
        self._time_s, self._work = time_s, work
        self._top = max(float(self._speeds.max()), 1e-300)
        self._left, self._right = np.triu_indices(len(rows), k=1)
        self.places: FloatArray | None = None
        self._solved = 0

    def run(self) -> Answer | None:
        """The proof; None if the survivors can be apart, or if the work is done before."""
        return self._case({}, 0)

    def _case(self, arcs: Arcs, depth: int) -> Answer | None:
        """The proof of a case in which arcs are known."""
        if self._work.is_done or self._solved > _MOST_ROWS or depth > _DEEPEST:
            return None
        places = self._start
        if arcs:
            solved = self._relaxed(arcs)
            if solved is None or isinstance(solved, Answer):
                return solved
            places = solved
        delta = places[self._left] - places[self._right]
        distance_m = np.sqrt((delta * delta).sum(axis=1))
        is_close = distance_m < self._gap_m * (1.0 - _CLOSE)
        if not is_close.any():
            self.places = places
            return None
        # Pairs of survivors who are known to part from somebody are asked about first: a chain of
        # them ends a case sooner than pairs here and there.
        known_ends = np.zeros(len(places), dtype=np.int64)
        known_ends[[row for held in arcs for row in held]] = 1
        favour_m = _FAVOUR * self._gap_m * (known_ends[self._left] + known_ends[self._right])
        closest = int(np.where(is_close, distance_m - favour_m, np.inf).argmin())
        pair = int(self._left[closest]), int(self._right[closest])
        cut = self._cut(pair, arcs.get(pair))
        # First the arc in which the pair is now: if the others can be apart, then rather there.
        halves = _parted(arcs.get(pair), cut)
        turn = cut[0] * delta[closest, 1] - cut[1] * delta[closest, 0]
        order = (1, 0) if (turn > 0.0) == (arcs.get(pair) is not None) else (0, 1)
        parts: dict[int, Answer] = {}
        for half in order:
            part = self._case({**arcs, pair: halves[half]}, depth + 1)
            if part is None or pair not in part.relies_on:
                return part
            parts[half] = part
        first, second = parts[0], parts[1]
        time_s = min(first.time_s, second.time_s)
        relies_on = first.relies_on | second.relies_on
        rows = 1 + first.rows + second.rows
        return Answer(pair, cut, (first, second), None, relies_on, rows, time_s)

    def _cut(self, pair: Pair, arc: tuple[Vector, Vector] | None) -> Vector:
        """The circle is cut across the direction that the pair has now, an arc in its middle."""
        if arc is None:
            x, y = self._start[pair[0]] - self._start[pair[1]]
            size = float(np.hypot(x, y))
            if size == 0.0:
                return (int(_GRID), 0)
            return _whole(y / size, -x / size)
        (a, b), (c, d) = _unit(arc[0]), _unit(arc[1])
        x, y = a + c, b + d
        size = float(np.hypot(x, y))
        if size < _HALF_TURN:
            return _whole(-b, a)
        return _whole(x / size, y / size)

    def _relaxed(self, arcs: Arcs) -> Answer | FloatArray | None:
        """The end of a case, or places that are possible for all that is known in it; None where
        the solver has no answer.
        """
        pairs, normals, least_m = _constraints(arcs, self._gap_m)
        if len(pairs) == 0:
            return self._start
        nodes, index = np.unique(pairs, return_inverse=True)
        none = np.empty((0, 2))
        program = Program(none.astype(np.int64), self._speeds[nodes] / self._top, none)
        delta = self._start[pairs[:, 0]] - self._start[pairs[:, 1]]
        room = (normals * delta).sum(axis=1) - least_m
        program.keep_apart(index.reshape(-1, 2), normals, room / self._gap_m)
        for limit in (self._time_s * self._top / self._gap_m, np.inf):
            self._work.add(0.2 + 0.02 * len(pairs))
            self._solved += 1
            result = program.least_time(limit, self._work.is_over)
            weight = np.maximum(np.asarray(result.z)[-len(pairs) :], 0.0)
            end = self._end(arcs, pairs, weight[:, None] * normals)
            if end is not None:
                return end
            if str(result.status) in _USABLE:
                break
        else:
            return None
        places = self._start.copy()
        moved = np.asarray(result.x)[: len(program.movers) * 2].reshape(-1, 2) * self._gap_m
        places[nodes[program.movers]] += moved
        return places

    def _end(self, arcs: Arcs, pairs: IntArray, vectors: FloatArray) -> Answer | None:
        """The end that dual vectors make, if they prove the trial time."""
        links = np.asarray(list(arcs), dtype=np.int64)
        number = {pair: row for row, pair in enumerate(arcs)}
        forces = np.zeros((len(links), 2))
        np.add.at(forces, [number[i, j] for i, j in pairs.tolist()], vectors)
        size = np.sqrt((forces**2).sum(axis=1))
        if not (np.isfinite(size).all() and size.max() > 0.0):
            return None
        heavy = size > _CARRIES * size.max()
        links, forces = links[heavy], forces[heavy] / size.max()
        held = [arcs[int(i), int(j)] for i, j in links]
        ends = np.asarray([[_unit(a), _unit(b)] for a, b in held])
        middle = ends.sum(axis=1)
        forces = forces + _SAFE * middle / np.sqrt((middle**2).sum(axis=1))[:, None]
        along = (ends * forces[:, None, :]).sum(axis=2).min(axis=1)
        if (along < 0.0).any():
            return None
        balance = np.zeros_like(self._start)
        np.add.at(balance, links[:, 0], forces)
        np.subtract.at(balance, links[:, 1], forces)
        delta = self._start[links[:, 0]] - self._start[links[:, 1]]
        lacking_m = self._gap_m * float(along.sum()) - float((forces * delta).sum())
        scale_m = self._gap_m + float(np.abs(delta).max())
        give = float((self._speeds * np.sqrt((balance**2).sum(axis=1))).sum())
        lacking_m -= 1e-13 * len(links) * scale_m
        if not lacking_m > self._time_s * give * (1.0 + 1e-13):
            return None
        # Where the directions contradict one another nobody's flight helps: no limit at all.
        time_s = min(lacking_m / max(give, 1e-300) * (1.0 - 1e-13), _NEVER * self._time_s)
        relies_on = frozenset((int(i), int(j)) for i, j in links)
        return Answer(None, (0, 0), (), Clash(links, forces), relies_on, 1, time_s)

    def certificate(self, proof: Answer) -> Certificate:
        """The certificate of a proof, with rows of all survivors."""
        cases: list[Pair] = []
        cuts: list[Vector] = []
        clashes: list[Clash] = []
        stack = [proof]
        while stack:
            case = stack.pop()
            cuts.append(case.cut)
            if case.pair is not None:
                cases.append((int(self._rows[case.pair[0]]), int(self._rows[case.pair[1]])))
                stack += case.parts[::-1]
            elif case.clash is not None:
                cases.append((-1, len(clashes)))
                clashes.append(Clash(self._rows[case.clash.links], case.clash.forces))
        nothing = np.empty((0, 2), dtype=np.int64)
        parting = Parting(np.asarray(cases), np.asarray(cuts), tuple(clashes))
        return Certificate(proof.time_s, 0.0, nothing, parting=parting)


def _parted(
    arc: tuple[Vector, Vector] | None, cut: Vector
) -> tuple[tuple[Vector, Vector], tuple[Vector, Vector]]:
    if arc is None:
        opposite = (-cut[0], -cut[1])
        return (cut, opposite), (opposite, cut)
    return (arc[0], cut), (cut, arc[1])


def _constraints(arcs: Arcs, gap_m: float) -> tuple[IntArray, FloatArray, FloatArray]:
    """Pairs, unit vectors n and lengths with ``n . (x_i - x_j) >= length`` from known arcs."""
    pairs: list[Pair] = []
    normals: list[tuple[float, float]] = []
    least_m: list[float] = []
    for pair, arc in arcs.items():
        (a, b), (c, d) = _unit(arc[0]), _unit(arc[1])
        x, y = a + c, b + d
        size = math.hypot(x, y)
        if size < _HALF_TURN:
            continue
        pairs += [pair, pair, pair]
        # Left of the first end, right of the second, beyond the chord between them.
        normals += [(-b, a), (d, -c), (x / size, y / size)]
        least_m += [0.0, 0.0, gap_m * size / 2.0]
    rows = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    return rows, np.asarray(normals).reshape(-1, 2), np.asarray(least_m)


@lru_cache(maxsize=4096)
def _unit(vector: Vector) -> tuple[float, float]:
    size = math.hypot(*vector)
    return vector[0] / size, vector[1] / size


def _whole(x: float, y: float) -> Vector:
    return round(x * _GRID), round(y * _GRID)
