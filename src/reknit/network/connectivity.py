"""Whether a network stays connected when any few of its nodes are lost."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from reknit.base.types import IntArray
from reknit.network.cuts import cut_nodes_and_bridges
from reknit.network.links import components


def is_k_connected(pairs: IntArray, nodes: int, order: int) -> bool:
    """Whether the links keep all nodes connected after the loss of any ``order - 1`` of them."""
    return separating_nodes(pairs, nodes, order) is None


def separating_nodes(pairs: IntArray, nodes: int, order: int) -> list[int] | None:
    """Fewer than `order` nodes whose loss splits the network, or None if there are none.

    A network of at most `order` nodes must be complete: the nodes other than a pair without a
    link are then the ones returned. The empty list means that it is split as it is.

    Even's method (1975): the first `order` nodes are pairwise joined by `order` disjoint paths,
    and so is every later node with a node linked to all before it. Paths are counted by a
    maximum flow on the network with every node split into an entry and an exit of capacity 1.
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
    linked = set(map(tuple, np.sort(pairs, axis=1).tolist()))
    for second in range(1, order):
        for first in range(second):
            if (first, second) not in linked:
                lost = _cut_between(pairs, nodes, [first], second, order)
                if lost is not None:
                    return lost
    for node in range(order, nodes):
        lost = _cut_between(pairs, nodes, list(range(node)), node, order)
        if lost is not None:
            return lost
    return None


def _unlinked_rest(pairs: IntArray, nodes: int) -> list[int] | None:
    """Of a few nodes: all but a pair that has no link; None if all are linked."""
    linked = set(map(tuple, np.sort(pairs, axis=1).tolist()))
    for second in range(1, nodes):
        for first in range(second):
            if (first, second) not in linked:
                return [node for node in range(nodes) if node not in (first, second)]
    return None


def _cut_between(
    pairs: IntArray, nodes: int, sources: list[int], sink: int, order: int
) -> list[int] | None:
    """Fewer than `order` nodes that part a virtual node linked to `sources` from `sink`.

    Entry of node i is i, its exit i + nodes; the virtual source is 2 nodes. A source may itself
    be cut, unless it is the only one.
    """
    source = 2 * nodes
    left, right = pairs[:, 0], pairs[:, 1]
    inner = np.arange(nodes)
    start = np.asarray(sources)
    tails = np.concatenate([inner, left + nodes, right + nodes, np.full(len(start), source)])
    heads = np.concatenate([inner + nodes, right, left, start])
    capacity = np.full(len(tails), order, dtype=np.int32)
    capacity[:nodes] = 1
    capacity[sink] = order
    if len(start) == 1:
        capacity[start[0]] = order
    size = 2 * nodes + 1
    graph = csr_array((capacity, (tails, heads)), shape=(size, size))
    flow = maximum_flow(graph, source, sink)
    if flow.flow_value >= order:
        return None
    left = csr_array(graph - flow.flow)
    left.data = np.maximum(left.data, 0)
    left.eliminate_zeros()
    reached = np.zeros(size, dtype=bool)
    reached[breadth_first_order(left, source, return_predecessors=False)] = True
    return [int(node) for node in inner if reached[node] and not reached[node + nodes]]
