"""Whether a network stays connected when any few of its nodes are lost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reknit.base.context import never
from reknit.base.types import IntArray
from reknit.network.cuts import cut_nodes_and_bridges
from reknit.network.links import components


def is_k_connected(
    pairs: IntArray, nodes: int, order: int, is_over: Callable[[], bool] = never
) -> bool:
    """Whether the links keep all nodes connected after the loss of any ``order - 1`` of them;
    False too if `is_over` before that is known.
    """
    return separating_nodes(pairs, nodes, order, is_over) is None


def without_needless(
    pairs: IntArray, nodes: int, order: int, is_over: Callable[[], bool] = never
) -> IntArray:
    """The links of a k-connected network, less those that it can do without, tried in turn.

    Without one link it is still k-connected if and only if the ends of that link are joined by k
    other disjoint paths: fewer than k nodes that split the rest would part the two ends.

    Parameters
    ----------
    pairs
        (m, 2) links of a k-connected network; the first ones are dropped first.
    nodes
        Number of nodes.
    order
        k.
    is_over
        Asked between links; once it says so, all that are left are kept.

    Returns
    -------
    The links kept, in the same order; each of them that was tried is needed.
    """
    linked = _linked(pairs, nodes)
    kept: list[int] = []
    for row, (i, j) in enumerate(zip(*pairs.T.tolist(), strict=True)):
        if is_over():
            return np.asarray(pairs[[*kept, *range(row, len(pairs))]])
        enough = len(linked[i]) > order and len(linked[j]) > order
        linked[i].discard(j)
        linked[j].discard(i)
        if not enough or _cut_between(linked, i, {j}, order) is not None:
            linked[i].add(j)
            linked[j].add(i)
            kept.append(row)
    return np.asarray(pairs[kept])


def separating_nodes(
    pairs: IntArray, nodes: int, order: int, is_over: Callable[[], bool] = never
) -> list[int] | None:
    """Fewer than `order` nodes whose loss splits the network, or None if there are none.

    Once `is_over`, which is asked now and then, the answer is the empty list.

    A network of at most `order` nodes must be complete: the nodes other than a pair without a
    link are then the ones returned. The empty list means that it is split as it is.

    Even's method (1975): with the nodes in any order, the first k = `order` are pairwise joined by
    k disjoint paths, and so is every later node with a node linked to all before it. The order is
    chosen so that nearly every node has k links to nodes before it, which are k such paths; for
    the others paths are counted one by one.
    """
    if nodes < 2:
        return None
    if components(pairs, nodes).max() > 0:
        return []
    if order == 1:
        return None
    if nodes <= order:
        return _unlinked_rest(pairs, nodes)
    if order == 2:
        cut = cut_nodes_and_bridges(pairs, nodes)[0]
        return [int(cut[0])] if len(cut) else None
    degree = np.bincount(pairs.ravel(), minlength=nodes)
    if degree.min() < order:
        poorest = int(degree.argmin())
        touching = pairs[(pairs == poorest).any(axis=1)]
        return sorted(int(node) for node in np.setdiff1d(touching, [poorest]))
    linked = _linked(pairs, nodes)
    before, earlier = _most_linked_first(linked)
    first = before[:order]
    for second in range(1, order):
        for other in first[:second]:
            if other not in linked[first[second]]:
                cut_nodes = _cut_between(linked, other, {first[second]}, order)
                if cut_nodes is not None:
                    return cut_nodes
    for rank in range(order, nodes):
        if earlier[rank] < order:
            if is_over():
                return []
            cut_nodes = _cut_between(linked, before[rank], set(before[:rank]), order)
            if cut_nodes is not None:
                return cut_nodes
    return None


def _linked(pairs: IntArray, nodes: int) -> list[set[int]]:
    """The nodes that each node is linked with."""
    linked: list[set[int]] = [set() for _ in range(nodes)]
    # Not a list for every pair: so many would set off the garbage collector, which takes long.
    for i, j in zip(*pairs.T.tolist(), strict=True):
        linked[i].add(j)
        linked[j].add(i)
    return linked


def _most_linked_first(linked: list[set[int]]) -> tuple[list[int], list[int]]:
    """The nodes in an order in which each has as many links to earlier ones as any that is left
    (a maximum adjacency order), and those numbers.
    """
    nodes = len(linked)
    count = [0] * nodes
    waiting: list[set[int]] = [set(range(nodes))]  # by their number of earlier neighbours
    order: list[int] = []
    numbers: list[int] = []
    top = 0
    for _ in range(nodes):
        while not waiting[top]:
            top -= 1
        node = min(waiting[top]) if top == 0 else waiting[top].pop()
        waiting[top].discard(node)
        order.append(node)
        numbers.append(top)
        count[node] = -1
        for other in linked[node]:
            held = count[other]
            if held >= 0:
                waiting[held].discard(other)
                count[other] = held + 1
                if held + 1 == len(waiting):
                    waiting.append(set())
                waiting[held + 1].add(other)
                top = max(top, held + 1)
    return order, numbers


def _unlinked_rest(pairs: IntArray, nodes: int) -> list[int] | None:
    """Of a few nodes: all but a pair that has no link; None if all are linked."""
    linked = set(map(tuple, np.sort(pairs, axis=1).tolist()))
    for second in range(1, nodes):
        for first in range(second):
            if (first, second) not in linked:
                return [node for node in range(nodes) if node not in (first, second)]
    return None


def _cut_between(
    linked: list[set[int]], start: int, ends: set[int], order: int
) -> list[int] | None:
    """Fewer than `order` nodes that part a node from another, or from all of several others.

    Augmenting paths on the network with every node split into an entry, 2 i, and an exit, 2 i + 1,
    with one path at most from the one to the other. One of several ends may itself be cut, so a
    path has to come out of it; a single one has only to be reached. The search begins where paths
    are short: several ends are nearly all nodes.
    """
    past = 1 if len(ends) > 1 else 0
    # Links in use by paths, with their direction; those straight to an end need no search.
    direct = [end for end in linked[start] if end in ends][:order] if past else []
    flow = {(start, end) for end in direct}
    for _ in range(order - len(direct)):
        through = {head: tail for tail, head in flow if past or head not in ends}
        came_from, state = _search(linked, start, ends, past, flow, through)
        if state < 0:
            return sorted(
                node for node in range(len(linked))
                if 2 * node in came_from and 2 * node + 1 not in came_from
            )  # fmt: skip
        while came_from[state] >= 0:
            previous = came_from[state]
            if state // 2 != previous // 2:
                if previous % 2 == 1:
                    flow.add((previous // 2, state // 2))
                else:
                    flow.discard((state // 2, previous // 2))
            state = previous
    return None


def _search(
    linked: list[set[int]],
    start: int,
    ends: set[int],
    past: int,
    flow: set[tuple[int, int]],
    through: dict[int, int],
) -> tuple[dict[int, int], int]:
    """Breadth-first search for one more path: the states reached, and from where (-1: the start);
    then the entry (past = 0) or exit (1) of the end that was reached, -1 if none was.

    `through` has the node before each node that a path runs through.
    """
    queue = [2 * start + 1]
    came_from = {2 * start: -1, queue[0]: -1}
    for state in queue:
        node = state // 2
        steps: list[int] = []
        if state % 2 == past and node in ends:
            return came_from, state
        if state % 2 == 1:
            steps += [2 * other for other in linked[node] if (node, other) not in flow]
            if node in through:
                steps.append(2 * node)
        elif node not in through:
            steps.append(2 * node + 1)
        else:
            steps.append(2 * through[node] + 1)
        for step in steps:
            if step not in came_from:
                came_from[step] = state
                queue.append(step)
    return came_from, -1
