"""Hop distances H_ij, counted by breadth-first search from 64 UAVs at a time.

Each UAV holds one bit per source: set once the source's flood has reached it. One hop of all
floods is one OR over the links.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array

from reknit.base.types import BoolArray

_WORDS_AT_ONCE = 16


def hops_within(adjacency: csr_array, max_hops: int) -> csr_array:
    """H_ij + 1 for the pairs at most `max_hops` apart, sparse (so that 0 hops can be stored)."""
    nodes = adjacency.shape[0]
    rows, columns, values = [], [], []
    for first, last in _source_blocks(nodes):
        for depth, new in _flood(adjacency, first, last, max_hops):
            row, column = np.nonzero(new)
            rows.append(row)
            columns.append(column + first)
            values.append(np.full(len(row), depth + 1, dtype=np.int16))
    index = (np.concatenate(rows), np.concatenate(columns)) if rows else ([], [])
    data = np.concatenate(values) if values else np.empty(0, dtype=np.int16)
    return csr_array((data, index), shape=(nodes, nodes))


def hop_diameter(adjacency: csr_array) -> int:
    """H_max: the largest hop count among pairs that have a path."""
    largest = 0
    for first, last in _source_blocks(adjacency.shape[0]):
        for depth, _ in _flood(adjacency, first, last, None):
            largest = max(largest, depth)
    return largest


def _source_blocks(nodes: int) -> list[tuple[int, int]]:
    step = 64 * _WORDS_AT_ONCE
    return [(first, min(first + step, nodes)) for first in range(0, nodes, step)]


def _flood(
    adjacency: csr_array, first: int, last: int, max_hops: int | None
) -> Iterator[tuple[int, BoolArray]]:
    """Yield (depth, which (node, source) were first reached at that depth)."""
    nodes, sources = adjacency.shape[0], last - first
    indptr, indices = adjacency.indptr, adjacency.indices
    linked = np.flatnonzero(np.diff(indptr))
    reached = np.zeros((nodes, (sources + 63) // 64), dtype=np.uint64)
    source = np.arange(sources)
    reached[first + source, source // 64] = np.uint64(1) << (source % 64).astype(np.uint64)
    new = reached.copy()
    depth = 0
    while new.any():
        bits = np.unpackbits(new.view(np.uint8), axis=1, bitorder="little")
        yield depth, bits[:, :sources].astype(bool)
        if depth == max_hops or len(linked) == 0:
            return
        heard = np.zeros_like(reached)
        heard[linked] = np.bitwise_or.reduceat(reached[indices], indptr[linked], axis=0)
        new = heard & ~reached
        reached |= new
        depth += 1
