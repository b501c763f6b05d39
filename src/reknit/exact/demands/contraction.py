"""Contraction: a connected plan can always be had (without anchors and separation).

Shrink all survivors about one point by ``f = min(1, d / l)``, l the longest EMST edge: every
EMST edge becomes at most d, the length a planned link may have.
"""

from __future__ import annotations

import numpy as np

from reknit.base.geometry import enclosing_ball_centre
from reknit.base.types import FloatArray
from reknit.exact.model.problem import Problem
from reknit.network.emst import longest_edge_m
from reknit.network.links import count_subnets
from reknit.swarm.scenario import Scenario


def contract(scenario: Scenario, targets: FloatArray) -> FloatArray:
    """The targets if they are connected, else ``c + f (x - c)`` with f just small enough.

    The displacement of survivor i is then ``|(1 - f) c + f x_i - p_i|``, least in its maximum
    when c is the centre of the smallest ball around the points ``(p_i - f x_i) / (1 - f)``.
    """
    limit_m = scenario.planning_range_m
    if count_subnets(targets, limit_m) == 1:
        return targets
    start = scenario.survivor_positions
    if np.array_equal(targets, start):  # whose tree is known
        factor = limit_m / Problem.of(scenario).longest_edge_m
    else:
        factor = limit_m / longest_edge_m(targets)
    shrink = 1.0
    while True:
        f = factor * shrink
        centre = enclosing_ball_centre((start - f * targets) / (1.0 - f))
        contracted = centre + f * (targets - centre)
        if count_subnets(contracted, limit_m) == 1:
            return contracted
        # Rounding left a link a hair too long: shrink by as little as makes up for it.
        shrink = 1.0 - max(2e-16, 2.0 * (1.0 - shrink))
        if not np.isfinite(f) or shrink <= 0:
            return np.broadcast_to(centre, targets.shape).copy()
