"""UAVs and links whose loss splits the network."""

from __future__ import annotations

import numpy as np

from reknit.base.types import IntArray


def cut_nodes_and_bridges(pairs: IntArray, nodes: int) -> tuple[IntArray, IntArray]:
    """Articulation points (sorted ids) and bridges (pairs ``i < j``, sorted) of the links.

    Tarjan's depth-first search with an explicit stack: a tree edge (u, v) is a bridge when
    nothing below v reaches u or above; u is an articulation point when nothing below some
    child reaches above u.
    """
    neighbours: list[list[int]] = [[] for _ in range(nodes)]
    for i, j in pairs.tolist():
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
