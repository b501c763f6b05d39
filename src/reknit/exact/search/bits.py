"""Small graphs with sets as Python integers: bit k stands for node or link k."""

from __future__ import annotations

import numpy as np

from reknit.base.types import BoolArray, IntArray


def walk(adjacent: list[int]) -> tuple[list[int], list[int]]:
    """Nodes reached from node 0, breadth first, and the parent of each."""
    parent = [-1] * len(adjacent)
    order = [0]
    seen = 1
    for node in order:
        new = adjacent[node] & ~seen
        seen |= new
        for other in members(new):
            parent[other] = node
            order.append(other)
    return order, parent


def labels(ends: list[list[int]], links: list[int], size: int) -> IntArray:
    """Component of every node, numbered from 0."""
    root = list(range(size))

    def find(node: int) -> int:
        while root[node] != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    for link in links:
        a, b = find(ends[link][0]), find(ends[link][1])
        if a != b:
            root[max(a, b)] = min(a, b)
    roots = [find(node) for node in range(size)]
    number = {value: k for k, value in enumerate(sorted(set(roots)))}
    return np.asarray([number[value] for value in roots])


def tree_sides(ends: IntArray, count: int) -> BoolArray:
    """Sides of the cuts of a Kruskal tree of sorted links, and of every single component."""
    root = list(range(count))
    inside = [1 << k for k in range(count)]
    masks = set(inside)

    def find(node: int) -> int:
        while root[node] != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    for a, b in ends.tolist():
        a, b = find(a), find(b)
        if a != b:
            root[b] = a
            inside[a] |= inside[b]
            masks.add(inside[a])
    masks.discard((1 << count) - 1)
    rows = [[mask >> k & 1 for k in range(count)] for mask in sorted(masks)]
    return np.asarray(rows, dtype=bool)


def members(bits: int) -> list[int]:
    """The numbers in a set, ascending."""
    numbers = []
    while bits:
        low = bits & -bits
        numbers.append(low.bit_length() - 1)
        bits ^= low
    return numbers


def lowest(bits: int) -> int:
    """The smallest number in a set that is not empty."""
    return (bits & -bits).bit_length() - 1


def bits(index: IntArray) -> int:
    """The set of the given numbers."""
    total = 0
    for k in index.tolist():
        total |= 1 << k
    return total
