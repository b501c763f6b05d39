"""The independent checker.

Everything a plan claims is computed again from the scenario's raw positions. Nothing here is
shared with the planners, the network module or the simulator, and there is no tolerance: a link
of one rounding error more than the allowed length is no link.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from reknit.base.errors import InvalidPlan, InvalidProof
from reknit.base.types import FloatArray, IntArray
from reknit.plans.checker.proof import certified_bound_s
from reknit.plans.status import OPTIMALITY_GAP, Status

if TYPE_CHECKING:
    from reknit.plans.plan import Plan
    from reknit.swarm.scenario import Scenario

_ROWS_AT_ONCE = 512


def check_plan(plan: Plan, scenario: Scenario) -> None:
    """Raise `InvalidPlan` naming the first claim of the plan that does not hold."""
    start = np.asarray(scenario.positions)[_survivors(scenario)]
    targets = np.asarray(plan.targets)
    if targets.shape != start.shape:
        raise InvalidPlan(f"targets have shape {targets.shape}; the survivors {start.shape}")
    if targets.dtype != np.float64 or not np.isfinite(targets).all():
        raise InvalidPlan("targets are not all finite float64 numbers")
    _check_time(plan, scenario, start, targets)
    faults = demand_faults(scenario, targets)
    if plan.status.is_connected and faults:
        raise InvalidPlan(f"status is {plan.status.value!r}, but {faults[0]}")
    if plan.status is Status.NOT_CONNECTED and not faults:
        raise InvalidPlan("status is 'not connected', but the targets meet every demand")
    _check_bound(plan, scenario, start)


def demand_faults(scenario: Scenario, targets: FloatArray) -> list[str]:
    """What the targets lack of what the scenario demands, in plain words; empty if nothing."""
    faults = []
    limit_m = scenario.planning_range_m
    pieces = _count_pieces(targets, limit_m)
    if pieces > 1:
        faults.append(f"the targets form {pieces} sub-nets at a range of {limit_m:g} m")
    elif scenario.connectivity > 1 and not _survives_losses(
        _neighbours(targets, limit_m), scenario.connectivity - 1
    ):
        losses = scenario.connectivity - 1
        words = "a single UAV" if losses == 1 else f"{losses} UAVs"
        faults.append(f"the loss of {words} would split the targets")
    closest_m = _closest_m(targets)
    if closest_m < scenario.min_separation_m:
        faults.append(
            f"two targets are {closest_m:g} m apart; allowed: at least "
            f"{scenario.min_separation_m:g} m"
        )
    survivors = _survivors(scenario)
    anchored = np.isin(survivors, scenario.anchors)
    moved = (targets != np.asarray(scenario.positions)[survivors]).any(axis=1)
    if (anchored & moved).any():
        faults.append(f"anchor {int(survivors[anchored & moved][0])} moves")
    return faults


def _survivors(scenario: Scenario) -> IntArray:
    return np.setdiff1d(np.arange(len(scenario.positions)), np.asarray(scenario.destroyed))


def _distance_m(a: FloatArray, b: FloatArray) -> FloatArray:
    """``sqrt(dx*dx + dy*dy [+ dz*dz])`` of rows, in float64."""
    square = (a[:, 0] - b[:, 0]) * (a[:, 0] - b[:, 0])
    for axis in range(1, a.shape[1]):
        square = square + (a[:, axis] - b[:, axis]) * (a[:, axis] - b[:, axis])
    return np.asarray(np.sqrt(square))


def _check_time(plan: Plan, scenario: Scenario, start: FloatArray, targets: FloatArray) -> None:
    speeds = np.asarray(scenario.max_speed_mps)[_survivors(scenario)]
    time_s = float((_distance_m(start, targets) / speeds).max())
    if plan.recovery_time_s != time_s:
        raise InvalidPlan(
            f"recovery_time_s is {plan.recovery_time_s!r}; the farthest flight takes {time_s!r}"
        )


def _check_bound(plan: Plan, scenario: Scenario, start: FloatArray) -> None:
    claimed = plan.lower_bound_s
    if not (math.isfinite(claimed) and claimed >= 0):
        raise InvalidProof(f"lower_bound_s is {claimed!r}; allowed: finite, at least 0")
    proved = certified_bound_s(plan.certificate, scenario)
    if claimed > proved:
        raise InvalidProof(f"lower_bound_s is {claimed!r}; its certificate proves {proved!r}")
    if plan.status is Status.INFEASIBLE and claimed <= _horizon_s(scenario, start):
        raise InvalidPlan(
            f"status is {plan.status.value!r}, but a bound of {claimed!r} s leaves room for a plan"
        )
    if plan.status is Status.OPTIMAL and plan.recovery_time_s > claimed * (1 + OPTIMALITY_GAP):
        raise InvalidPlan(
            f"status is 'optimal', but {plan.recovery_time_s!r} s is more than "
            f"{OPTIMALITY_GAP:.1%} above the bound of {claimed!r} s"
        )


def _horizon_s(scenario: Scenario, start: FloatArray) -> float:
    """If any plan meets the demands on links and anchors, one takes no longer than this.

    A connected network of n UAVs lies within n d of each of its members, an anchor say, and no
    survivor starts farther from that anchor than the swarm is wide.
    """
    movers = np.setdiff1d(_survivors(scenario), np.asarray(scenario.anchors))
    slowest = float(np.asarray(scenario.max_speed_mps)[movers].min(initial=np.inf))
    across_m = float(np.sqrt((np.ptp(start, axis=0) ** 2).sum()))
    return (across_m + len(start) * scenario.planning_range_m) / slowest


def _link_blocks(points: FloatArray, limit_m: float) -> Iterator[tuple[IntArray, IntArray]]:
    """All links, each from both ends, a block of UAVs at a time: a crowd has too many at once."""
    tree = cKDTree(points)
    for first in range(0, len(points), _ROWS_AT_ONCE):
        block = np.arange(first, min(first + _ROWS_AT_ONCE, len(points)))
        balls = tree.query_ball_point(points[block], limit_m * (1 + 1e-9))
        one = np.repeat(block, [len(ball) for ball in balls])
        other = np.concatenate([np.asarray(ball, dtype=np.int64) for ball in balls])
        linked = (one != other) & (_distance_m(points[one], points[other]) <= limit_m)
        yield one[linked], other[linked]


def _count_pieces(points: FloatArray, limit_m: float) -> int:
    """Number of sub-nets: the nodes of each block of links are merged into what came before."""
    count = len(points)
    piece = np.arange(count)
    for one, other in _link_blocks(points, limit_m):
        graph = coo_array((np.ones(len(one)), (piece[one], piece[other])), shape=(count, count))
        piece = connected_components(graph, directed=False)[1][piece]
    return len(np.unique(piece))


def _neighbours(points: FloatArray, limit_m: float) -> list[list[int]]:
    lists: list[list[int]] = [[] for _ in points]
    for one, other in _link_blocks(points, limit_m):
        for i, j in zip(one.tolist(), other.tolist(), strict=True):
            lists[i].append(j)
    return lists


def _survives_losses(neighbours: list[list[int]], losses: int) -> bool:
    """Whether a connected graph stays connected when any so many nodes are lost: by the
    definition, one loss after the other, down to the last, which is about cut nodes.
    """
    count = len(neighbours)
    if count <= 2:
        return True
    if count <= losses + 1:
        return all(len(others) == count - 1 for others in neighbours)
    if losses == 1:
        return _is_biconnected(neighbours)
    for lost in range(count):
        rest = [
            [other - (other > lost) for other in others if other != lost]
            for node, others in enumerate(neighbours)
            if node != lost
        ]
        if len(_depth_first(rest)[0]) < count - 1 or not _survives_losses(rest, losses - 1):
            return False
    return True


def _is_biconnected(neighbours: list[list[int]]) -> bool:
    """Whether a connected graph has no cut node, by Schmidt's chain decomposition.

    Walk a depth-first tree; from each node, in the order found, follow every back edge and then
    the tree upwards until something seen before. The graph is 2-connected when every edge lies
    on a chain and only the first chain is a cycle.
    """
    order, parent = _depth_first(neighbours)
    rank = {node: k for k, node in enumerate(order)}
    seen: set[int] = set()
    covered: set[int] = set()  # nodes whose edge to their parent lies on a chain
    cycles = 0
    for node in order:
        for other in neighbours[node]:
            if rank[other] > rank[node] and parent[other] != node:
                seen.add(node)
                walker = other
                while walker not in seen:
                    seen.add(walker)
                    covered.add(walker)
                    walker = parent[walker]
                cycles += walker == node
    return cycles == 1 and len(covered) == len(neighbours) - 1


def _depth_first(neighbours: list[list[int]]) -> tuple[list[int], list[int]]:
    parent = [-1] * len(neighbours)
    order: list[int] = []
    visited = [False] * len(neighbours)
    stack = [(0, -1)]
    while stack:
        node, above = stack.pop()
        if visited[node]:
            continue
        visited[node] = True
        parent[node] = above
        order.append(node)
        stack.extend((other, node) for other in neighbours[node] if not visited[other])
    return order, parent


def _closest_m(points: FloatArray) -> float:
    """Smallest distance between two points; infinite for one point."""
    if len(points) < 2:
        return math.inf
    _, index = cKDTree(points).query(points, k=2)
    rows = np.arange(len(points))
    other = np.where(index[:, 0] == rows, index[:, 1], index[:, 0])
    return float(_distance_m(points, points[other]).min())
