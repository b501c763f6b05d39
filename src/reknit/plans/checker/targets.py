"""What a plan's targets have to show: links, losses they survive, separation, anchors.

Nothing here is shared with the planners' own test of the demands, and there is no tolerance: a
link of one rounding error more than the allowed length is no link.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import fields
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, maximum_flow
from scipy.spatial import cKDTree

from reknit.base.errors import InvalidPlan
from reknit.base.types import FloatArray, IntArray
from reknit.plans.checker.pieces import LinkRule, links_of, pieces
from reknit.plans.checker.survivors import link_limit_m, survivor_rows

if TYPE_CHECKING:
    from reknit.swarm.scenario import Scenario


_MOST_NAMES = 5
"""Of the UAVs that a fault is about."""

_KNOWN = frozenset(
    (
        *("positions", "destroyed", "radio_range_m", "max_speed_mps", "radio", "names"),
        *("allowed_time_s", "link_margin", "link_reliability", "position_sigma_m"),
        *("min_separation_m", "anchors", "connectivity", "_memo"),
    )
)
"""Fields of a scenario: the swarm, then what may be asked and is tested here. A demand that is not
among them would pass unseen. The allowed time is asked of a flight, not of targets."""

_NEAR, _NEAR_MANY = 6, 12
"""How many neighbours are looked at first in a crowd: so many for each of a few losses, or two
for each of many and so many more."""
_SAMPLE = 64
"""Of so many nodes at least it is seen whether they are in a crowd."""


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
        One sentence per demand that is not met, in plain words and with the UAVs that it is about;
        empty if all are.
    """
    unknown = {item.name for item in fields(scenario)} - _KNOWN
    if unknown:
        raise InvalidPlan(f"the checker has no test of {', '.join(sorted(unknown))}")
    faults = []
    limit_m = link_limit_m(scenario)
    label = pieces(LinkRule(targets, limit_m), np.arange(len(targets)))
    sizes = np.bincount(label)
    if len(sizes) > 1:
        apart = np.flatnonzero(label != sizes.argmax())
        faults.append(
            f"the targets form {len(sizes)} sub-nets at a range of {limit_m:g} m; not in the "
            f"largest: {_named(scenario, apart)}"
        )
    elif scenario.connectivity > 1:
        losses = scenario.connectivity - 1
        weak = weak_targets(targets, limit_m, losses)
        if weak is not None:
            words = "a single UAV" if losses == 1 else f"{losses} UAVs"
            where = "it is a cut node" if len(weak) == 1 else "too few paths between them"
            faults.append(
                f"the loss of {words} would split the targets; {where}: {_named(scenario, weak)}"
            )
    if scenario.min_separation_m > 0.0:
        pair, closest_m = _closest(targets)
        if closest_m < scenario.min_separation_m:
            faults.append(
                f"two targets are {closest_m:g} m apart; allowed: at least "
                f"{scenario.min_separation_m:g} m; closest: {_named(scenario, pair)}"
            )
    survivors = survivor_rows(scenario)
    anchored = np.isin(survivors, scenario.anchors)
    moved = (targets != np.asarray(scenario.positions)[survivors]).any(axis=1)
    if (anchored & moved).any():
        faults.append(f"anchors move: {_named(scenario, np.flatnonzero(anchored & moved))}")
    return faults


def _named(scenario: Scenario, rows: IntArray) -> str:
    """What the survivors in some rows are called; of many the first few."""
    uavs = survivor_rows(scenario)[rows[:_MOST_NAMES]].tolist()
    names = [str(uav) if scenario.names is None else scenario.names[uav] for uav in uavs]
    more = f" and {len(rows) - len(uavs)} more" if len(rows) > len(uavs) else ""
    return ("UAV " if len(rows) == 1 else "UAVs ") + ", ".join(names) + more


def weak_targets(points: FloatArray, limit_m: float, losses: int) -> IntArray | None:
    """`weak_nodes` of the network of connected points.

    More links never make it weaker. So in a crowd, which has as many links as pairs, it is enough
    if those with the nearest few do; only if they do not, all are looked at.
    """
    near = min(_NEAR * (losses + 1), _NEAR_MANY + 2 * (losses + 1))
    rule, tree = LinkRule(points, limit_m), cKDTree(points)
    some = points[:: max(1, len(points) // _SAMPLE)]
    around = tree.query_ball_point(some, limit_m, return_length=True)
    if float(np.mean(around)) > 2.0 * near:
        index = tree.query(points, k=near + 1)[1]
        left, right = np.repeat(np.arange(len(points)), near + 1), index.ravel()
        keep = (left != right) & rule.holds(left, right)
        low, high = np.minimum(left[keep], right[keep]), np.maximum(left[keep], right[keep])
        # One number for a pair sorts many times faster than two.
        low, high = np.divmod(np.unique(low * len(points) + high), len(points))
        graph = coo_array((np.ones(len(low)), (low, high)), shape=(len(points), len(points)))
        both_ways = np.stack([np.append(low, high), np.append(high, low)], axis=1)
        is_connected = connected_components(graph, directed=False)[0] == 1
        if is_connected and weak_nodes(_lists(both_ways, len(points)), losses) is None:
            return None
    return weak_nodes(neighbour_lists(points, limit_m), losses)


def neighbour_lists(points: FloatArray, limit_m: float) -> list[list[int]]:
    """For every point the points it is linked with."""
    everyone = np.arange(len(points))
    blocks = links_of(LinkRule(points, limit_m), cKDTree(points), everyone, everyone)
    return _lists(np.concatenate([np.stack(block, axis=1) for block in blocks]), len(points))


def _lists(pairs: IntArray, count: int) -> list[list[int]]:
    """For every first end the second ends of its pairs."""
    ends = np.cumsum(np.bincount(pairs[:, 0], minlength=count)).tolist()
    others = pairs[np.argsort(pairs[:, 0], kind="stable"), 1].tolist()
    return [others[first:last] for first, last in pairwise([0, *ends])]


def weak_nodes(neighbours: list[list[int]], losses: int) -> IntArray | None:
    """Why a connected graph does not stay connected when any so many nodes are lost: a cut node,
    or two nodes with too few paths between them. None if it does stay connected.

    One loss is about cut nodes. For more, `_survives` tells; where it does not, the two nodes are
    looked for (Esfahanian and Hakimi 1984). Take a node with the fewest neighbours. A cut without
    it parts it from some node that is no neighbour; a smallest cut with it parts two of its
    neighbours. So it is enough to count disjoint paths between these.
    """
    count = len(neighbours)
    if count <= 2:
        return None
    if losses == 1:
        cut = cut_node(neighbours)
        return None if cut is None else np.array([cut])
    poorest = min(range(count), key=lambda node: len(neighbours[node]))
    around = neighbours[poorest]
    far = sorted(set(range(count)) - set(around) - {poorest})
    if far and (count <= losses + 1 or len(around) <= losses):
        return np.array([poorest, far[0]])
    if _survives(neighbours, losses):
        return None
    questions = [(poorest, node) for node in far]
    questions += [(i, j) for i, j in combinations(sorted(around), 2) if j not in neighbours[i]]
    graph = _split_graph(neighbours)
    for source, sink in questions:
        if maximum_flow(graph, source + count, sink).flow_value <= losses:
            return np.array([source, sink])
    return None


def _survives(neighbours: list[list[int]], losses: int) -> bool:
    """Whether a graph of more than losses + 1 nodes stays connected when any so many are lost.

    Even (1975): put the nodes in any order. A cut of at most so many nodes parts two of the first
    losses + 1, or else, v being the first node that it parts from those before, it parts v from
    all of them that are left. The nodes come in an order in which nearly all have losses + 1
    neighbours before them, who cannot all be lost; for the others disjoint paths are counted.
    """
    order, before = _linked_first(neighbours, losses + 1)
    first = order[: losses + 1]
    if any(
        j not in neighbours[i] and not _has_paths(neighbours, i, j, losses + 1)
        for i, j in combinations(first, 2)
    ):
        return False
    rank_of = [0] * len(order)
    for rank, node in enumerate(order):
        rank_of[node] = rank
    return all(
        before[rank] > losses or _leads_back(neighbours, order[rank], rank_of, losses + 1)
        for rank in range(losses + 1, len(order))
    )


def _linked_first(neighbours: list[list[int]], enough: int) -> tuple[list[int], list[int]]:
    """Nodes in an order in which each has as many neighbours before it as any that is left, and
    how many it has; more than enough are not counted.
    """
    count = len(neighbours)
    before = [0] * count
    is_taken = [False] * count
    # What a node lacks, times their number, plus the node: a pair for each would keep the garbage
    # collector busy.
    waiting = list(range(enough * count, (enough + 1) * count))
    order = []
    while waiting:
        lacks, node = divmod(heapq.heappop(waiting), count)
        if is_taken[node] or enough - lacks != before[node]:
            continue
        is_taken[node] = True
        order.append(node)
        for other in neighbours[node]:
            if not is_taken[other] and before[other] < enough:
                before[other] += 1
                heapq.heappush(waiting, (enough - before[other]) * count + other)
    return order, [before[node] for node in order]


def _has_paths(neighbours: list[list[int]], start: int, end: int, paths: int) -> bool:
    """Whether so many paths lead from one node to another that share no node in between."""
    graph = _split_graph(neighbours)
    return bool(maximum_flow(graph, start + len(neighbours), end).flow_value >= paths)


def _split_graph(neighbours: list[list[int]]) -> csr_array:
    """Node i has its entry at i and its exit at n + i, and one path may lead through it."""
    count = len(neighbours)
    inner = np.arange(count)
    exits = np.repeat(inner, [len(others) for others in neighbours]) + count
    entries = np.concatenate([np.asarray(others, dtype=np.int64) for others in neighbours])
    ends = (np.concatenate([inner, exits]), np.concatenate([inner + count, entries]))
    capacity = np.ones(count + len(exits), dtype=np.int32)
    return csr_array((capacity, ends), shape=(2 * count, 2 * count))


def _leads_back(neighbours: list[list[int]], start: int, rank_of: list[int], paths: int) -> bool:
    """Whether so many paths lead from a node to nodes placed before it that share only the start.

    Paths are added one by one (Ford and Fulkerson): a new one may take over a node from an
    earlier path, which is then led elsewhere from the node before. A path ends at the first node
    that is placed before the start; those are many, so it is short. Neighbours that are placed
    before are paths of a single step, which need no search.
    """
    here = rank_of[start]
    direct = [other for other in neighbours[start] if rank_of[other] < here][:paths]
    previous = dict.fromkeys(direct, start)  # of each node on a path
    first = 2 * start + 1
    for _ in range(paths - len(direct)):
        # A state is 2 i where node i is being entered, 2 i + 1 where it is being left.
        came_from = {2 * start: first, first: first}
        queue = [first]
        for state in queue:
            node = state >> 1
            if state & 1:
                steps = [2 * other for other in neighbours[node] if previous.get(other) != node]
                if node in previous:  # the path need not come this way any more
                    steps.append(2 * node)
            elif node in previous:
                steps = [2 * previous[node] + 1]
            elif rank_of[node] < here:
                break
            else:
                steps = [2 * node + 1]
            for step in steps:
                if step not in came_from:
                    came_from[step] = state
                    queue.append(step)
        else:
            return False
        while state != first:
            came = came_from[state]
            if not state & 1:
                if came >> 1 != state >> 1:
                    previous[state >> 1] = came >> 1
                else:
                    del previous[state >> 1]
            state = came
    return True


def cut_node(neighbours: list[list[int]]) -> int | None:
    """A node whose loss splits a connected graph of at least three, or None if there is none.

    By Schmidt's chain decomposition: walk a depth-first tree; from each node, in the order found,
    follow every back edge and then the tree upwards until something seen before. The graph is
    2-connected when every edge lies on a chain and only the first chain is a cycle. A later cycle
    begins at a cut node, and an edge on no chain is a bridge.
    """
    order, parent = _depth_first(neighbours)
    rank = {node: k for k, node in enumerate(order)}
    seen: set[int] = set()
    covered: set[int] = set()  # nodes whose edge to their parent lies on a chain
    has_cycle = False
    for node in order:
        for other in neighbours[node]:
            if rank[other] > rank[node] and parent[other] != node:
                seen.add(node)
                walker = other
                while walker not in seen:
                    seen.add(walker)
                    covered.add(walker)
                    walker = parent[walker]
                if walker == node:
                    if has_cycle:
                        return node
                    has_cycle = True
    for node in order[1:]:
        if node not in covered:
            return parent[node] if len(neighbours[parent[node]]) > 1 else node
    return None


def _depth_first(neighbours: list[list[int]]) -> tuple[list[int], list[int]]:
    parent = [-1] * len(neighbours)
    order: list[int] = []
    visited = [False] * len(neighbours)
    stack, above = [0], [-1]
    while stack:
        node, before = stack.pop(), above.pop()
        if visited[node]:
            continue
        visited[node] = True
        parent[node] = before
        order.append(node)
        ahead = [other for other in neighbours[node] if not visited[other]]
        stack += ahead
        above += [node] * len(ahead)
    return order, parent


def _closest(points: FloatArray) -> tuple[IntArray, float]:
    """Two points and the distance between them, which is the smallest; infinite for one point."""
    if len(points) < 2:
        return np.zeros(0, dtype=np.int64), math.inf
    _, index = cKDTree(points).query(points, k=2)
    rows = np.arange(len(points))
    other = np.where(index[:, 0] == rows, index[:, 1], index[:, 0])
    apart_m = LinkRule(points, 0.0).distance_m(rows, other)
    row = int(apart_m.argmin())
    return np.sort([row, int(other[row])]), float(apart_m[row])
