"""Plans that need no search, for when there is no time or nothing else is found.

Without separation and with at most one anchor: each UAV in turn, outwards along the EMST, flies
just into range of the one before it. Slack in the links on the way takes up the displacement, so
this is near twice the optimum where gaps are few. Where that is slower, or a 2-connected result
is asked: the contraction (about the only anchor, if there is one). With several anchors that are
linked to one another: everybody else flies into range of the nearest.
With a separation: a lattice, or a ring.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np
from scipy.sparse.csgraph import breadth_first_order
from scipy.spatial import cKDTree

from reknit.base.context import never
from reknit.base.geometry import enclosing_ball_centre
from reknit.base.types import FloatArray
from reknit.exact.demands.contraction import contract
from reknit.exact.demands.lattice import lattice_targets
from reknit.exact.demands.redundant_links import redundant_range_m
from reknit.exact.model.problem import Problem, is_spanning
from reknit.network.links import adjacency, lengths
from reknit.swarm.demands import meets_demands
from reknit.swarm.objective import planned_time_s
from reknit.swarm.scenario import Scenario

_HAIR = 1.0 - 1e-12

_MANY, _MANY_IN_HASTE = 5_000, 200
"""With more survivors than this there is no time for a second kind of plan; the latter holds once
the time is over."""


def fallback_targets(scenario: Scenario, is_over: Callable[[], bool] = never) -> FloatArray | None:
    """Targets that meet the demands, the first kind that does; None if none does.

    Parameters
    ----------
    is_over
        Once the time is over, a large swarm gets the first kind of plan that connects, and
        instead of the least contraction to a k-connected result one that is known to do.
    """
    start = scenario.survivor_positions
    anchored = np.flatnonzero(scenario.survivor_speeds_mps == 0.0)
    if scenario.connectivity == 1 and scenario.min_separation_m == 0.0 and len(anchored) < 2:
        pulled = _pulled(scenario)
        if pulled is not None and len(start) > (_MANY_IN_HASTE if is_over() else _MANY):
            return pulled
        contracted = _contracted(scenario, start)
        if pulled is not None and planned_time_s(scenario, pulled) <= planned_time_s(
            scenario, contracted
        ):
            return pulled
    contracted_in_time = partial(_contracted, is_over=is_over)
    kinds = (contracted_in_time, _lattice, _ring) if len(anchored) < 2 else (_gathered,)
    is_sure = scenario.min_separation_m == 0.0 and len(anchored) < 2
    for kind in kinds:
        targets = kind(scenario, start)
        if is_sure and is_over():  # there is no time to see what a theorem says
            return targets
        if meets_demands(scenario, targets, is_over) or (is_sure and is_over()):
            return targets
    return None


def _pulled(scenario: Scenario) -> FloatArray | None:
    """Outwards along the EMST, everybody flies just into range of the one before; the anchor, or
    the one nearest to the middle, stays. None if rounding breaks a link.

    ``x_c = x_b + min(1, d / |p_c - x_b|) (p_c - x_b)`` for the one before, b, and the next, c.
    """
    problem = Problem.of(scenario)
    start, tree = problem.start, problem.first_tree
    if not is_spanning(tree, len(start)):
        return None
    fixed = np.flatnonzero(problem.speeds == 0.0)
    middle = ((start - start.mean(axis=0)) ** 2).sum(axis=1)
    root = int(fixed[0]) if len(fixed) else int(middle.argmin())
    order, before = breadth_first_order(adjacency(tree, len(start)), root, directed=False)
    rank = np.empty(len(start), dtype=np.int64)
    rank[order] = np.arange(len(order))
    # In this order those before come in order, too: each ring ends where they leave the last one.
    before_rank = rank[before[order[1:]]]
    ends = [1]
    while ends[-1] < len(order):
        ends.append(1 + int(np.searchsorted(before_rank, ends[-1])))
    reach_m = problem.range_m * _HAIR
    targets = start.copy()
    for first, last in pairwise(ends):
        nodes = order[first:last]
        held = targets[before[nodes]]
        apart = start[nodes] - held
        length_m = np.sqrt((apart**2).sum(axis=1))
        factor = reach_m / np.maximum(length_m, reach_m)
        pulled = held + factor[:, None] * apart
        targets[nodes] = np.where((length_m > problem.range_m)[:, None], pulled, start[nodes])
    return targets if (lengths(targets, tree) <= problem.range_m).all() else None


def _contracted(
    scenario: Scenario, start: FloatArray, is_over: Callable[[], bool] = never
) -> FloatArray:
    """Everybody moves towards one point by the same factor.

    When the time is over a k-connected result is had from the k-th power of the EMST, which is
    k-connected as the k-th power of every connected graph is: its links are at most k EMST edges
    long.
    """
    anchored = np.flatnonzero(scenario.survivor_speeds_mps == 0.0)
    if scenario.connectivity == 1 and len(anchored) == 0:
        return contract(scenario, start)
    reach_m = Problem.of(scenario).longest_edge_m
    if scenario.connectivity > 1 and len(start) > 2:
        if is_over():
            reach_m *= scenario.connectivity
        else:
            reach_m = redundant_range_m(start, scenario.connectivity, is_over)
    factor = min(1.0, scenario.planning_range_m / max(reach_m, 1e-300)) * _HAIR
    centre = start[anchored[0]] if len(anchored) else enclosing_ball_centre(start)
    return np.asarray(centre + factor * (start - centre))


def _gathered(scenario: Scenario, start: FloatArray) -> FloatArray:
    """Everybody else flies straight into range of the nearest anchor."""
    anchored = scenario.survivor_speeds_mps == 0.0
    distance, index = cKDTree(start[anchored]).query(start, k=1)
    anchor = start[anchored][index]
    reach_m = scenario.planning_range_m * _HAIR
    factor = np.minimum(1.0, reach_m / np.maximum(distance, 1e-300))
    targets = anchor + factor[:, None] * (start - anchor)
    targets[anchored | (distance <= reach_m)] = start[anchored | (distance <= reach_m)]
    return np.asarray(targets)


def _lattice(scenario: Scenario, start: FloatArray) -> FloatArray:
    """One placement of a lattice; where it stays where it is, no lattice meets the demands."""
    targets = lattice_targets(
        Problem.of(scenario), scenario.min_separation_m, scenario.connectivity, lambda: True
    )
    return start if targets is None else targets


def _ring(scenario: Scenario, start: FloatArray) -> FloatArray:
    """A ring in the plane of the first two axes, which is 2-connected."""
    count = len(start)
    centre = start.mean(axis=0)
    flat = np.tile(centre, (count, 1))
    pitch_m = 0.5 * (scenario.min_separation_m + scenario.planning_range_m)
    radius_m = pitch_m / (2.0 * math.sin(math.pi / count)) if count > 2 else pitch_m / 2.0
    offset = start - centre
    order = np.argsort(np.arctan2(offset[:, 1], offset[:, 0]), kind="stable")
    angle = 2.0 * math.pi * np.arange(count) / count
    flat[order, :2] = centre[:2] + radius_m * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    anchored = np.flatnonzero(scenario.survivor_speeds_mps == 0.0)
    if len(anchored):  # one anchor: the whole ring is moved to it
        flat += start[anchored[0]] - flat[anchored[0]]
        flat[anchored[0]] = start[anchored[0]]
    return flat
