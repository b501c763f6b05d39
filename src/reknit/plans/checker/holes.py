"""What an empty hole in the swarm proves about every tree at once (in the plane).

Seen from a centre c, survivor i starts at the angle a_i and the distance r_i. Before a time T it
stays at least ``r_i - v_i T`` away and within ``w_i = asin(v_i T / r_i)`` of its angle. A link of
length d between points at least rho away spans an angle of at most ``psi = 2 asin(d / (2 rho))``.

Go once around the centre from each survivor to the next, along the tree. The signed angles of
links add up to zero, since a closed walk in a tree uses every link as often in one direction as
in the other; the survivors' own angles add up to 2 pi. So for some neighbours i and j, b apart,
the path through the tree goes around the other way, over at least ``2 pi - b - w_i - w_j`` and with
at most n - 1 links. If ``(n - 1) psi + b + w_i + w_j < 2 pi`` for all neighbours, no plan is faster
than T.
"""

from __future__ import annotations

import math

import numpy as np

from reknit.base.errors import InvalidProof
from reknit.plans.checker.survivors import Survivors, finite_numbers

_DOUBT = 1e-9
"""Radians and relative lengths, far more than rounding adds to the few operations here."""


def check_hole(swarm: Survivors, centre: object, trial_s: float) -> None:
    """Refuse a hole that does not prove that no plan is faster than a trial time.

    Parameters
    ----------
    swarm
        Everybody; a loss may not be supposed.
    centre
        (2,) the point c, metres.
    trial_s
        The time T, seconds.
    """
    if swarm.start.shape[1] != 2 or swarm.count < 3:
        raise InvalidProof("the certificate has a hole where there can be none")
    offset = swarm.start - finite_numbers("hole", centre, (2,))
    distance = np.sqrt((offset * offset).sum(axis=1))
    flight = swarm.speeds * trial_s * (1.0 + _DOUBT)
    nearest = float((distance * (1.0 - _DOUBT) - flight).min())
    range_m = swarm.range_m * (1.0 + _DOUBT)
    if not (nearest > 0.0 and range_m < 2.0 * nearest):
        raise InvalidProof("the certificate's hole may be crossed before its trial time")
    turn = np.arcsin(np.minimum(1.0, flight / distance))
    angle = np.arctan2(offset[:, 1], offset[:, 0])
    order = np.argsort(angle, kind="stable")
    apart = np.diff(angle[order], append=angle[order[0]] + 2.0 * math.pi)
    apart = apart + turn[order] + np.roll(turn[order], -1)
    around = (swarm.count - 1) * 2.0 * math.asin(range_m / (2.0 * nearest)) * (1.0 + _DOUBT)
    if not around + float(apart.max()) + _DOUBT < 2.0 * math.pi:
        raise InvalidProof("the certificate's hole can be surrounded before its trial time")
