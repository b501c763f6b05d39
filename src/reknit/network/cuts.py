"""UAVs and links whose loss splits the network."""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import breadth_first_order

from reknit.base.types import BoolArray, IntArray
from reknit.network.links import adjacency, components

_DENSE = 3
"""Links per node from which thinning them out first pays."""


def cut_nodes_and_bridges(pairs: IntArray, nodes: int) -> tuple[IntArray, IntArray]:
    """Articulation points (sorted ids) and bridges (pairs ``i < j``, sorted) of the links.

    Tarjan's depth-first search with an explicit stack: a tree edge (u, v) is a bridge when
    nothing below v reaches u or above; u is an articulation point when nothing below some
    child reaches above u. Of a dense network it visits only `thinned` links.
    """
    if len(pairs) > _DENSE * nodes:
        pairs = thinned(pairs, nodes)
    neighbours: list[list[int]] = [[] for _ in range(nodes)]
    for i, j in zip(*pairs.T.tolist(), strict=True):
        neighbours[i].append(j)
        neighbours[j].append(i)
    order = [-1] * nodes
    low = [0] * nodes
    next_neighbour = [0] * nodes
    cut: set[int] = set()
    bridges: list[tuple[int, int]] = []
    counter = 0
    for root in range(nodes):
        if order[root] != -1:
            continue
        order[root] = low[root] = counter
        counter += 1
        parent = {root: -1}
        root_children = 0
        stack = [root]
        while stack:
            node = stack[-1]
            if next_neighbour[node] < len(neighbours[node]):
                other = neighbours[node][next_neighbour[node]]
                next_neighbour[node] += 1
                if order[other] == -1:
                    parent[other] = node
                    order[other] = low[other] = counter
                    counter += 1
                    root_children += node == root
                    stack.append(other)
                elif other != parent[node]:
                    low[node] = min(low[node], order[other])
                continue
            stack.pop()
            above = parent[node]
            if above == -1:
                continue
            low[above] = min(low[above], low[node])
            if low[node] > order[above]:
                bridges.append((min(above, node), max(above, node)))
            if above != root and low[node] >= order[above]:
                cut.add(above)
        if root_children > 1:
            cut.add(root)
    bridge_array = np.asarray(sorted(bridges), dtype=np.int64).reshape(-1, 2)
    return np.asarray(sorted(cut), dtype=np.int64), bridge_array


def thinned(pairs: IntArray, nodes: int) -> IntArray:
    """Fewer than two links per node with the same articulation points and bridges.

    A breadth-first forest of the network, and one of what is left of it (Cheriyan, Kao and
    Thurimella 1993): the loss of any one node leaves the same nodes connected.
    """
    first = _breadth_first(pairs, nodes)
    return np.asarray(pairs[first | _breadth_first(pairs, nodes, without=first)])


def _breadth_first(pairs: IntArray, nodes: int, without: BoolArray | None = None) -> BoolArray:
    """Which of the links are in a breadth-first forest of those that are not left out."""
    usable = np.ones(len(pairs), bool) if without is None else ~without
    roots = np.unique(components(pairs[usable], nodes), return_index=True)[1]
    # One search reaches all trees: from a node beyond the others, linked to every root.
    beyond = np.stack([roots, np.full(len(roots), nodes)], axis=1)
    graph = adjacency(np.concatenate([pairs[usable], beyond]), nodes + 1)
    before = breadth_first_order(graph, nodes, directed=False)[1][:nodes]
    left, right = pairs[:, 0], pairs[:, 1]
    return np.asarray(usable & ((before[left] == right) | (before[right] == left)))
