"""What a plan's targets have to show: links, losses they survive, separation, anchors.

Nothing here is shared with the planners' own test of the demands, and there is no tolerance: a
link of one rounding error more than the allowed length is no link.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow
from scipy.spatial import cKDTree

from reknit.base.types import FloatArray
from reknit.plans.checker.pieces import LinkRule, links_of, pieces
from reknit.plans.checker.survivors import survivor_rows

if TYPE_CHECKING:
    from reknit.swarm.scenario import Scenario


def demand_faults(scenario: Scenario, targets: FloatArray) -> list[str]:
    """What targets lack of what a scenario demands.

    Parameters
    ----------
    scenario
        Whose demands they are.
    targets
        (N_R, dim) metres, in the order of the survivors' ids.

    Returns
    -------
    list of str
        One sentence per demand that is not met, in plain words; empty if all are.
    """
    faults = []
    limit_m = scenario.planning_range_m
    subnets = count_pieces(targets, limit_m)
    if subnets > 1:
        faults.append(f"the targets form {subnets} sub-nets at a range of {limit_m:g} m")
    elif scenario.connectivity > 1 and not _survives_losses(
        neighbour_lists(targets, limit_m), scenario.connectivity - 1
    ):
        losses = scenario.connectivity - 1
        words = "a single UAV" if losses == 1 else f"{losses} UAVs"
        faults.append(f"the loss of {words} would split the targets")
    if scenario.min_separation_m > 0.0:
        closest_m = _closest_m(targets)
        if closest_m < scenario.min_separation_m:
            faults.append(
                f"two targets are {closest_m:g} m apart; allowed: at least "
                f"{scenario.min_separation_m:g} m"
            )
    survivors = survivor_rows(scenario)
    anchored = np.isin(survivors, scenario.anchors)
    moved = (targets != np.asarray(scenario.positions)[survivors]).any(axis=1)
    if (anchored & moved).any():
        faults.append(f"anchor {int(survivors[anchored & moved][0])} moves")
    return faults


def count_pieces(points: FloatArray, limit_m: float) -> int:
    """Number of sub-nets of points whose links are at most `limit_m` long."""
    label = pieces(LinkRule(points, limit_m), np.arange(len(points)))
    return int(label.max(initial=-1)) + 1


def neighbour_lists(points: FloatArray, limit_m: float) -> list[list[int]]:
    """For every point the points it is linked with."""
    lists: list[list[int]] = [[] for _ in points]
    everyone = np.arange(len(points))
    for left, right in links_of(LinkRule(points, limit_m), cKDTree(points), everyone, everyone):
        for i, j in zip(left.tolist(), right.tolist(), strict=True):
            lists[i].append(j)
    return lists


def _survives_losses(neighbours: list[list[int]], losses: int) -> bool:
    """Whether a connected graph stays connected when any so many nodes are lost.

    One loss is about cut nodes. For more (Esfahanian and Hakimi 1984) take a node with the fewest
    neighbours. A cut without it parts it from some node that is no neighbour; a smallest cut with
    it parts two of its neighbours. So it is enough to count disjoint paths between these.
    """
    count = len(neighbours)
    if count <= 2:
        return True
    if count <= losses + 1:
        return all(len(others) == count - 1 for others in neighbours)
    if losses == 1:
        return is_biconnected(neighbours)
    poorest = min(range(count), key=lambda node: len(neighbours[node]))
    around = neighbours[poorest]
    if len(around) <= losses:
        return False
    far = set(range(count)) - set(around) - {poorest}
    questions = [(poorest, node) for node in sorted(far)]
    questions += [(i, j) for i, j in combinations(sorted(around), 2) if j not in neighbours[i]]
    graph = _split_graph(neighbours)
    return all(
        maximum_flow(graph, source + count, sink).flow_value > losses for source, sink in questions
    )


def _split_graph(neighbours: list[list[int]]) -> csr_array:
    """Node i has its entry at i and its exit at n + i, and one path may lead through it."""
    count = len(neighbours)
    inner = np.arange(count)
    exits = np.repeat(inner, [len(others) for others in neighbours]) + count
    entries = np.concatenate([np.asarray(others, dtype=np.int64) for others in neighbours])
    ends = (np.concatenate([inner, exits]), np.concatenate([inner + count, entries]))
    capacity = np.ones(count + len(exits), dtype=np.int32)
    return csr_array((capacity, ends), shape=(2 * count, 2 * count))


def is_biconnected(neighbours: list[list[int]]) -> bool:
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
    return float(LinkRule(points, 0.0).distance_m(rows, other).min())
