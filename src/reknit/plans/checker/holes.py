"""What an empty hole in the swarm proves about every tree at once (in the plane).

Seen from a centre c, survivor i starts at the angle a_i and the distance r_i. Before a time T it
stays within ``v_i T`` of there, so at least ``rho = min_i (r_i - v_i T)`` away from c. Go once
around the centre from each survivor to the next, along the tree. The signed angles of links add
up to zero, since a closed walk in a tree uses every link as often in one direction as in the
other; the survivors' own angles add up to 2 pi. So for some neighbours the path through the tree
goes around the other way, from one side of their gap to the other.

How far along that way a place is, its *measure*, may be defined as one likes (`Winding`). The
middle of a link is within d / 2 of both of its ends. So the measures of the places within d / 2 of
each UAV of the path overlap from one to the next, and between them cover the way from the first
UAV to the last. If they cannot, wherever within reach everybody is, no plan is faster than T.
"""

from __future__ import annotations

import math

import numpy as np

from reknit.base.errors import InvalidProof
from reknit.base.types import FloatArray
from reknit.plans.certificate import Winding
from reknit.plans.checker.measures import DOUBT, Measure, Places
from reknit.plans.checker.survivors import Survivors, finite_numbers

_MOST_SURVIVORS = 200
_MOST_WEIGHTS = 4_096
_HEAVIEST = 2**30

_ROUNDS = 24
"""How often the places of a survivor are halved; twice as often as is needed."""

_MOST_CELLS = 400_000


def check_hole(swarm: Survivors, centre: object, windings: object, trial_s: float) -> None:
    """Refuse a hole that does not prove that no plan is faster than a trial time.

    Parameters
    ----------
    swarm
        Everybody; a loss may not be supposed.
    centre
        (2,) the point c, metres.
    windings
        How ways around it are measured.
    trial_s
        The time T, seconds.
    """
    if swarm.start.shape[1] != 2 or not 3 <= swarm.count <= _MOST_SURVIVORS:
        raise InvalidProof("the certificate has a hole where there can be none")
    offset = swarm.start - finite_numbers("hole", centre, (2,))
    surroundings = _Surroundings(swarm, offset, trial_s)
    for winding in _checked(windings, swarm.count):
        for gap in winding.gaps.tolist():
            surroundings.check(gap, winding)


def _checked(windings: object, count: int) -> tuple[Winding, ...]:
    """The windings, every gap in one of them; without any, all angles count alike."""
    everybody = np.arange(count)
    if windings == ():
        return (Winding(everybody, 0.0, np.ones(1, dtype=np.int64)),)
    if not isinstance(windings, tuple) or not all(isinstance(w, Winding) for w in windings):
        raise InvalidProof("the certificate's windings are not a tuple of windings")
    for winding in windings:
        straight = winding.straight_rad
        if not isinstance(straight, float) or not 0.0 <= straight <= math.pi:
            raise InvalidProof(f"a winding is straight for {straight!r} rad; allowed: 0 to pi")
        for part in (winding.gaps, winding.weights):
            if type(part) is not np.ndarray or part.dtype != np.int64 or part.ndim != 1:
                raise InvalidProof("a winding of the certificate is not made of int64 numbers")
        weights = winding.weights
        if not 1 <= len(weights) <= _MOST_WEIGHTS or weights.min() < 0 or not weights.any():
            raise InvalidProof("a winding's weights are not whole numbers, some of them above 0")
        if weights.max() > _HEAVIEST:
            raise InvalidProof(f"a winding weighs {weights.max()}; allowed: up to {_HEAVIEST}")
    gaps = np.concatenate([winding.gaps for winding in windings])
    if not np.array_equal(np.sort(gaps), everybody):
        raise InvalidProof("the certificate's windings do not have every gap once")
    return windings


class _Surroundings:
    """The survivors as they stand around a hole, and where each can be before a trial time."""

    def __init__(self, swarm: Survivors, offset: FloatArray, trial_s: float) -> None:
        distance = np.sqrt((offset * offset).sum(axis=1))
        reach = (swarm.speeds * trial_s + distance * DOUBT) * (1.0 + DOUBT)
        self._nearest_m = float((distance - reach).min())
        self._range_m = swarm.range_m * (1.0 + DOUBT)
        if not (self._nearest_m > 0.0 and self._range_m < 2.0 * self._nearest_m):
            raise InvalidProof("the certificate's hole may be crossed before its trial time")
        self._distance, self._reach = distance, reach
        self._angle = np.arctan2(offset[:, 1], offset[:, 0])
        order = np.argsort(self._angle, kind="stable")
        self._before = np.empty_like(order)
        self._before[order] = np.roll(order, 1)

    def check(self, first: int, winding: Winding) -> None:
        """Refuse if the way from one side of a gap around to the other could be covered."""
        last = int(self._before[first])
        around = np.mod(self._angle - self._angle[first], 2.0 * math.pi)
        around[first] = 0.0
        length = float(around[last])
        measure = Measure.of(winding, length, self._range_m, self._nearest_m)
        others = np.setdiff1d(np.arange(len(around)), (first, last))
        # A survivor is on the way once, but on which turn around the hole is not known.
        turns = 2.0 * math.pi * np.array([-1.0, 0.0, 1.0])
        # The path may also lead the short way and then all around: the last two ends.
        rows = np.concatenate([np.repeat(others, len(turns)), [first, last, last, first]])
        ends = np.array([0.0, length, length - 2.0 * math.pi, 2.0 * math.pi])
        places = Places(
            measure,
            group=np.append(
                np.repeat(np.arange(len(others)), len(turns)), len(others) + np.arange(4)
            ),
            angle=np.append((around[others, None] + turns).ravel(), ends),
            distance=self._distance[rows],
            reach=self._reach[rows],
            # The first covers from its far end on, the last from its near end.
            gain=_marked(len(rows), (-4, -2)),
            loss=_marked(len(rows), (-3, -1)),
        )
        for _ in range(_ROUNDS):
            needed = DOUBT * measure.whole * len(rows)
            if _covered(places.most) < -needed:
                return
            if _covered(places.least) >= -needed or places.cells > _MOST_CELLS:
                break
            places.halve()
        raise InvalidProof("the certificate's hole can be surrounded before its trial time")


def _marked(count: int, ends: tuple[int, int]) -> FloatArray:
    """1 for all but the ends of ways, and of these for two."""
    marks = np.ones(count)
    marks[-4:] = 0.0
    marks[list(ends)] = 1.0
    return marks


def _covered(lengths: FloatArray) -> float:
    """What all cover together, less the way: the four last are the ends of two ways."""
    return float(lengths[:-4].sum() + max(lengths[-4:-2].sum(), lengths[-2:].sum()))
