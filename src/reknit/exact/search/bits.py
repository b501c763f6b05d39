"""Small graphs with sets as Python integers: bit k stands for node or link k."""

from __future__ import annotations

import numpy as np

from reknit.base.types import BoolArray, IntArray


def grow(
    at: list[int], ends: list[list[int]], links: int, start: int = 0
) -> tuple[list[int], list[int], int]:
    """Nodes that links reach from one of them, the parent of each, and the links of the whole
    graph that leave them.

    `at` has the links at every node. Those with exactly one end among some nodes are the exclusive
    or of theirs, so that one more node takes one operation.
    """
    parent = [-1] * len(at)
    order, inside, across = [start], 1 << start, at[start]
    while across & links:
        first, second = ends[lowest(across & links)]
        if inside >> first & 1:
            first, second = second, first
        parent[first] = second
        order.append(first)
        inside |= 1 << first
        across ^= at[first]
    return order, parent, across


def parts(at: list[int], ends: list[list[int]], links: int) -> list[list[int]]:
    """The nodes of every component."""
    found: list[list[int]] = []
    left = set(range(len(at)))
    while left:
        nodes = grow(at, ends, links, min(left))[0]
        left.difference_update(nodes)
        found.append(nodes)
    return found


def _find(root: list[int], node: int) -> int:
    """The root of a node's component, with its path shortened."""
    while root[node] != node:
        root[node] = root[root[node]]
        node = root[node]
    return node


def tree_cuts(
    ends: list[list[int]], at: list[int], label: list[int], links: list[int]
) -> list[int]:
    """The cuts (links across) of a Kruskal tree of sorted links, and of every single component,
    given the component of every node.
    """
    count = max(label) + 1
    root = list(range(count))
    across = [0] * count
    for node, component in enumerate(label):
        across[component] ^= at[node]
    cuts = dict.fromkeys(across)

    for link in links:
        one, two = ends[link]
        a, b = _find(root, label[one]), _find(root, label[two])
        if a != b:
            root[b] = a
            across[a] ^= across[b]
            cuts[across[a]] = None
            count -= 1
            if count == 1:
                break
    cuts.pop(0, None)
    return list(cuts)


def as_rows(sets: list[int], width: int) -> BoolArray:
    """(sets, width) which numbers are in each set."""
    size = width // 8 + 1
    packed = np.frombuffer(b"".join(item.to_bytes(size, "little") for item in sets), dtype=np.uint8)
    rows = np.unpackbits(packed.reshape(-1, size), axis=1, count=width, bitorder="little")
    return rows.astype(bool)


def labels(ends: list[list[int]], links: list[int], size: int) -> IntArray:
    """Component of every node, numbered from 0."""
    root = list(range(size))

    for link in links:
        a, b = _find(root, ends[link][0]), _find(root, ends[link][1])
        if a != b:
            root[max(a, b)] = min(a, b)
    roots = [_find(root, node) for node in range(size)]
    number = {value: k for k, value in enumerate(sorted(set(roots)))}
    return np.asarray([number[value] for value in roots])


def tree_sides(ends: IntArray, count: int) -> BoolArray:
    """Sides of the cuts of a Kruskal tree of sorted links, and of every single component."""
    root = list(range(count))
    inside = [1 << k for k in range(count)]
    masks = set(inside)

    for a, b in ends.tolist():
        a, b = _find(root, a), _find(root, b)
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
