"""What cases of directions prove about survivors that are too close, in whole numbers.

In a plan with a separation s every two targets have some direction ``x_i - x_j``. A question
parts the directions that a pair can have by then into two arcs; so the cases that follow leave
out no plan. At an end there are, for some pairs e = (i, j), arcs from a_e to b_e of less than half
a turn and vectors y_e with ``y_e . a_e >= 0`` and ``y_e . b_e >= 0``. Along an arc the product of
y_e with a unit vector is least at one of its ends, and ``|x_i - x_j| >= s``, so

    s sum_e min(y_e . a_e, y_e . b_e) <= sum_e y_e . (x_i - x_j)
                                      <= sum_e y_e . (p_i - p_j) + t sum_i v_i |z_i|

with z_i the signed sum of the y_e at survivor i. No plan is faster than the least t of all ends.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from reknit.base.errors import InvalidProof
from reknit.base.types import FloatArray, IntArray
from reknit.plans.certificate import Parting
from reknit.plans.checker.rounding import (
    ABSOLUTE_M,
    RELATIVE_BITS,
    quotient_down,
    root_up,
    whole,
)
from reknit.plans.checker.survivors import Survivors, finite_numbers, whole_numbers

_MOST_ROWS = 4_000
_MOST_VECTORS = 20_000
"""In all ends together; more would take longer than a second."""

_LARGEST_CUT = 1 << 30
_FINE = 64
"""Bits behind the point of a unit vector's length."""

_Arc = tuple[tuple[int, int], tuple[int, int]]


def parting_time_s(swarm: Survivors, parting: Parting, gap_m: float, claim_s: float) -> float:
    """The time before which the survivors cannot have parted, seconds.

    Parameters
    ----------
    swarm
        Everybody.
    parting
        The cases.
    gap_m
        s, the demanded separation, metres.
    claim_s
        Once an end proves less than this, the others are not looked at.

    Raises
    ------
    InvalidProof
        The cases leave something out, or an end relies on what is not known in its case.
    """
    if swarm.start.shape[1] != 2 or not gap_m > 0.0:
        raise InvalidProof("the certificate has a parting where none can be")
    cases = whole_numbers("cases of a parting", parting.cases, 2)
    cuts = whole_numbers("cuts of a parting", parting.cuts, 2)
    if not 0 < len(cases) <= _MOST_ROWS or len(cuts) != len(cases):
        raise InvalidProof(f"a parting has {len(cases)} cases; allowed: 1 to {_MOST_ROWS}")
    if (np.abs(cuts) > _LARGEST_CUT).any():
        raise InvalidProof(f"a cut of a parting has a number beyond {_LARGEST_CUT}")
    ends = _ends(swarm, parting)
    time_s, vectors = np.inf, 0
    used: set[int] = set()
    todo: list[dict[tuple[int, int], _Arc]] = [{}]
    for (i, j), (x, y) in zip(cases.tolist(), cuts.tolist(), strict=True):
        if not todo:
            raise InvalidProof("a parting goes on after its last case")
        known = todo.pop()
        if i >= 0:
            swarm.check_links(np.asarray([[i, j]]))
            first, second = _parted(known.get((i, j)), (x, y))
            todo += [{**known, (i, j): second}, {**known, (i, j): first}]
            continue
        if not 0 <= j < len(ends):
            raise InvalidProof(f"a parting ends by clash {j}, which it does not have")
        if (x, y) != (0, 0):
            raise InvalidProof(
                "an end of a parting has a cut; allowed: 0 and 0, as it parts nothing"
            )
        used.add(j)
        links, forces = ends[j]
        vectors += len(links)
        if vectors > _MOST_VECTORS:
            raise InvalidProof(f"a parting has more than {_MOST_VECTORS} vectors in its ends")
        time_s = min(time_s, _end_time_s(swarm, links, forces, known, gap_m))
        if time_s < claim_s:
            return time_s
    if todo:
        raise InvalidProof("a parting does not go through all its cases")
    if len(used) < len(ends):
        raise InvalidProof("a clash of a parting is not used")
    return time_s


def _ends(swarm: Survivors, parting: Parting) -> list[tuple[IntArray, FloatArray]]:
    """Pairs and vectors of the clashes, their form checked."""
    ends = []
    for clash in parting.clashes:
        links = whole_numbers("pairs of a parting", clash.links, 2)
        swarm.check_links(links)
        forces = finite_numbers("vectors of a parting", clash.forces, (len(links), 2))
        ends.append((links, forces))
    return ends


def _parted(arc: _Arc | None, cut: tuple[int, int]) -> tuple[_Arc, _Arc]:
    """The two parts of an arc, or of the circle, that a vector makes."""
    opposite = (-cut[0], -cut[1])
    if arc is None:
        if cut == (0, 0):
            raise InvalidProof("a cut of a parting has no direction")
        return (cut, opposite), (opposite, cut)
    # From a to b is at most half a turn: what is left of a and right of b lies between them.
    corners = (arc[0], cut, arc[1])
    if any(_turn(first, second) <= 0 for first, second in pairwise(corners)):
        raise InvalidProof("a cut of a parting lies outside of the arc that it should part")
    return (arc[0], cut), (cut, arc[1])


def _turn(first: tuple[int, int], second: tuple[int, int]) -> int:
    """Above 0 where the second vector is less than half a turn counterclockwise of the first."""
    return first[0] * second[1] - first[1] * second[0]


def _end_time_s(
    swarm: Survivors,
    links: IntArray,
    forces: FloatArray,
    known: dict[tuple[int, int], _Arc],
    gap_m: float,
) -> float:
    """The time that one end proves; all in units of 2^-1074 or their squares."""
    places = {row: [whole(x) for x in swarm.start[row]] for row in np.unique(links).tolist()}
    balance = {row: [0, 0] for row in places}
    lacking = reach = 0
    for (i, j), force in zip(links.tolist(), forces.tolist(), strict=True):
        arc = known.get((i, j))
        if arc is None or _turn(*arc) <= 0:
            raise InvalidProof(f"an end of a parting knows too little of {i} and {j}")
        y = [whole(x) for x in force]
        reach += min(_along(y, end) for end in arc)
        for axis in range(2):
            lacking -= y[axis] * (places[i][axis] - places[j][axis])
            balance[i][axis] += y[axis]
            balance[j][axis] -= y[axis]
    # Two targets may be closer by rounding, and each flight longer.
    gap = whole(gap_m)
    gap -= (gap >> RELATIVE_BITS) + 1 + 3 * ABSOLUTE_M
    lacking += max(gap, 0) * reach
    give = 0
    for row, z in balance.items():
        size = root_up(z[0] * z[0] + z[1] * z[1])
        give += whole(swarm.speeds[row]) * size
        lacking -= ABSOLUTE_M * size
    return quotient_down(lacking, give + (give >> RELATIVE_BITS) + (give > 0))


def _along(y: list[int], end: tuple[int, int]) -> int:
    """The product of a vector with a unit vector, rounded down; it must not be negative."""
    product = y[0] * end[0] + y[1] * end[1]
    if product < 0:
        raise InvalidProof("a vector of a parting points away from its arc")
    length = root_up((end[0] * end[0] + end[1] * end[1]) << (2 * _FINE))
    return (product << _FINE) // length
