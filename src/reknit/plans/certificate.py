"""What proves a lower bound on the recovery time, checkable without a solver."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reknit.base.types import FloatArray, IntArray
from reknit.base.values import is_finite

CUT = -1
"""Marks an end of a certificate's cases where the links that are left do not connect."""

BY_LEMMA = -2
"""Begins a row that ends a case by a lemma."""

RULED_OUT = -3
"""Begins a row that says which clash rules a link out."""

FOLLOWS = -4
"""Begins a row that says which lemma decides a link."""

CANDIDATE_HAIR = 1e-12
"""Candidates at a time T are the pairs with ``|p_i - p_j| <= (d + (v_i + v_j) T) (1 + this)``, in
float64 and in this order of operations. The hair covers the rounding of the distance, of targets
and of the planned time, so that no plan faster than T has a link that is no candidate. Whoever
makes a certificate and whoever checks it use this one rule."""


@dataclass(frozen=True, eq=False)
class Clash:
    """Links that cannot all hold in a short time, and the vectors that show it.

    Parameters
    ----------
    links
        (k, 2) pairs of survivors (row numbers, not ids), each ``i < j``.
    forces
        (k, dim) one vector y_e per link. If all the links hold after a time t, then ``t >= (sum_e
        y_e . (p_i - p_j) - d |y_e|) / sum_i v_i |z_i|``, with d the length a planned link may
        have and z_i the signed sum of the y_e at survivor i.
    """

    links: IntArray
    forces: FloatArray


@dataclass(frozen=True, eq=False)
class Lemma:
    """A part of a proof by cases that is used in several places (see `Certificate.cases`).

    Parameters
    ----------
    used, unused
        (k, 2) links that it supposes used and not used, each ``i < j``.
    cases
        (c, 2) the cases of all plans of this kind.
    """

    used: IntArray
    unused: IntArray
    cases: IntArray


@dataclass(frozen=True, eq=False)
class Bundle:
    """Links of which no tree can have all, with a weight (see `Certificate.bundles`).

    Parameters
    ----------
    weight
        A whole number of at least 1.
    nodes
        (k,) survivors (rows, ascending), for all links among them: a tree has at most k - 1. Empty
        where links are given.
    links
        (k, 2) pairs of survivors, each ``i < j``: a clash of the certificate, of which a tree has
        at most k - 1 links, or links every two of which are one, of which it has at most one.
    """

    weight: int
    nodes: IntArray
    links: IntArray


@dataclass(frozen=True, eq=False)
class Winding:
    """How the way around a hole is measured for some of its gaps (see `Certificate.hole`).

    Parameters
    ----------
    gaps
        (k,) survivors (rows, ascending), each the first one counterclockwise of a gap between
        two neighbours, as seen from the hole. The way leads from it around to the other one.
    straight_rad
        So far from both ends of the way the places that count as equally far along it are rays
        from the hole; nearer to an end, parallels to the last of these rays.
    weights
        (m,) whole numbers, what equal parts of the way count.
    """

    gaps: IntArray
    straight_rad: float
    weights: IntArray


@dataclass(frozen=True, eq=False)
class Parting:
    """Cases of the directions in which survivors that are too close can part, in the plane.

    Parameters
    ----------
    cases
        (c, 2) a binary tree in preorder. A row (i, j) with ``i >= 0`` asks in which of two arcs
        the direction of ``x_i - x_j`` lies; the cases of the first follow, then those of the
        second. A row (-1, k) ends a case by clash k.
    cuts
        (c, 2) for a question the whole numbers of a vector c that parts the arc; zeros at an end.
        The first question about a pair parts the circle into the arcs from c to -c and from -c
        to c, counterclockwise; a further one the arc from a to b, as known by then, into those
        from a to c and from c to b.
    clashes
        Pairs and a vector y_e for each. If the direction of ``x_i - x_j`` lies between the unit
        vectors a and b and both have a product with y_e of at least 0, then ``y_e . (x_i - x_j)
        >= s min(y_e . a, y_e . b)``; from the sum over all pairs follows a time (docs/bounds.md).
    """

    cases: IntArray
    cuts: IntArray
    clashes: tuple[Clash, ...]


@dataclass(frozen=True, eq=False)
class Certificate:
    """Proof that no plan for a scenario takes less than `bound_s`.

    The bound is the largest that one of these proves.

    Parameters
    ----------
    bound_s
        The time that is proved, seconds.
    trial_s
        A plan that takes less than this, in seconds, uses only links with ``|p_i - p_j| <= d +
        (v_i + v_j) trial_s``, the candidates (`CANDIDATE_HAIR`).
    cases
        (c, 2) a binary tree in preorder that goes through all such plans. A row (i, j) with ``i
        >= 0`` asks whether that link is used: the cases where it is follow, then the cases where
        it is not. A row (-1, k) ends a case: by clash k, all of whose links are used in it, or
        with ``k = CUT`` because the candidates not ruled out in it fail to connect the survivors,
        or with ``k = CUT - 1 - i`` because they fail to connect the others when survivor i is
        lost (for a scenario that demands a 2-connected result). A row (-2, k) ends a case by
        lemma k, whose suppositions are all met in it. A row (-3, k) ends nothing: all links of
        clash k but one are used, so that one is not in the cases that follow; it stands for a
        question about that link whose *yes* ends at once. A row (-4, k) ends nothing either: all
        that lemma k supposes is met but for one link, which is therefore used in the cases that
        follow where the lemma supposes it unused, and not used where it supposes it used.
        No rows: nothing is proved beyond 0.
    clashes
        What the ends refer to.
    lost
        For a scenario that demands a 2-connected result: the survivor (row) whose loss is
        supposed; the others must still be connected. None otherwise.
    apart
        For a scenario that demands a separation: two survivors (rows) that start closer and need
        ``(min_separation_m - |p_i - p_j|) / (v_i + v_j)`` to part. None otherwise.
    pulls
        (n, dim) forces z_i on the survivors that prove, for every tree at once, ``t >= (sum_i z_i
        . p_i - d G(z)) / sum_i v_i |z_i|`` (docs/bounds.md). None otherwise.
    crowd
        (k,) survivors (rows, ascending) that have too little room for the demanded separation
        before the time that Oler's inequality gives (docs/bounds.md). None otherwise.
    hole
        (2,) a point that no chain of all survivors can surround before `trial_s`, nor any of them
        or their links cross (docs/bounds.md). None otherwise.
    windings
        For a hole: how the ways around it are measured, every gap in one of them. None: along
        all of them angles count alike.
    bundles
        Bundles of links with weights, such that any candidate at `trial_s` weighs so much in all
        bundles it belongs to that a tree would weigh more than the bundles allow
        (docs/bounds.md). Empty otherwise.
    parting
        For a scenario that demands a separation: cases of directions, none of which leaves the
        survivors in it enough room before the bound. None otherwise.
    lemmas
        What rows (-2, k) and (-4, k) refer to; the cases of a lemma may refer to those before it.
    """

    bound_s: float
    trial_s: float
    cases: IntArray
    clashes: tuple[Clash, ...] = ()
    lost: int | None = None
    apart: tuple[int, int] | None = None
    pulls: FloatArray | None = None
    hole: FloatArray | None = None
    windings: tuple[Winding, ...] = ()
    crowd: IntArray | None = None
    bundles: tuple[Bundle, ...] = ()
    parting: Parting | None = None
    lemmas: tuple[Lemma, ...] = ()

    def __post_init__(self) -> None:
        for name in ("bound_s", "trial_s"):
            value = getattr(self, name)
            if is_finite(value):  # 0 is as good as 0.0; all that is no number the checker refuses
                object.__setattr__(self, name, float(value))

    @staticmethod
    def trivial() -> Certificate:
        """No plan takes less than no time."""
        return Certificate(0.0, 0.0, np.empty((0, 2), dtype=np.int64))
