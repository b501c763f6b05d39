"""Unit-disk links and the sub-nets they form.

A link is ``sqrt(dx*dx + dy*dy [+ dz*dz]) <= range`` in float64. The k-d tree only proposes
pairs, a hair beyond the range; the comparison itself is always made here.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from reknit.base.types import BoolArray, FloatArray, IntArray

_SLACK = 1.0 + 1e-9
"""The tree's own rounding must not lose a pair at exactly the range."""

_SAMPLED = 32
_CROWD = 40
"""Mean number of UAVs in range, over a sample, from which a swarm counts as a crowd."""

_NEAREST = 6
"""Neighbours looked at first in a crowd."""

_PAIRS_AT_ONCE = 4_000_000


def lengths(positions: FloatArray, pairs: IntArray) -> FloatArray:
    """Distance of each pair, by the formula that defines a link."""
    delta = positions[pairs[:, 0]] - positions[pairs[:, 1]]
    total = delta[:, 0] * delta[:, 0]
    for axis in range(1, delta.shape[1]):
        total = total + delta[:, axis] * delta[:, axis]
    return np.asarray(np.sqrt(total))


def links(positions: FloatArray, range_m: float) -> IntArray:
    """All links as index pairs ``i < j`` in lexicographic order, shape (links, 2)."""
    if len(positions) < 2:
        return np.empty((0, 2), dtype=np.int64)
    pairs = cKDTree(positions).query_pairs(range_m * _SLACK, output_type="ndarray")
    pairs = pairs[lengths(positions, pairs) <= range_m].astype(np.int64, copy=False)
    return np.asarray(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])


def adjacency(pairs: IntArray, nodes: int) -> csr_array:
    """Symmetric 0-1 adjacency matrix A of the given links."""
    rows = np.concatenate([pairs[:, 0], pairs[:, 1]])
    columns = np.concatenate([pairs[:, 1], pairs[:, 0]])
    values = np.ones(len(rows), dtype=np.int8)
    return csr_array(coo_array((values, (rows, columns)), shape=(nodes, nodes)))


def components(pairs: IntArray, nodes: int) -> IntArray:
    """Component of every node, numbered from 0 in the order of each one's first node."""
    order = np.argsort(pairs[:, 0], kind="stable")
    counts = np.bincount(pairs[:, 0], minlength=nodes)
    return _label(counts, pairs[order, 1], nodes)


def _label(counts: IntArray, columns: IntArray, nodes: int) -> IntArray:
    """Components of a graph given by rows: how many entries each has, and their columns."""
    indptr = np.zeros(nodes + 1, dtype=np.int32)
    np.cumsum(counts, out=indptr[1:])
    data = np.ones(len(columns), dtype=np.float64)
    graph = csr_array((data, columns.astype(np.int32, copy=False), indptr), shape=(nodes, nodes))
    raw = connected_components(graph, directed=False)[1].astype(np.int64)
    first = np.full(int(raw.max(initial=-1)) + 1, nodes, dtype=np.int64)
    np.minimum.at(first, raw, np.arange(nodes))
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[raw])


def subnets(positions: FloatArray, range_m: float) -> IntArray:
    """Sub-net of every UAV, numbered from 0; their number is the paper's N_s."""
    nodes = len(positions)
    if nodes < 2:
        return np.zeros(nodes, dtype=np.int64)
    tree = cKDTree(positions)
    sample = positions[:: max(1, nodes // _SAMPLED)]
    neighbours = tree.query_ball_point(sample, range_m * _SLACK, return_length=True)
    if neighbours.mean() > _CROWD:
        return _crowd_subnets(tree, positions, range_m)
    pairs = tree.query_pairs(range_m * _SLACK, output_type="ndarray")
    return components(pairs[lengths(positions, pairs) <= range_m], nodes)


def _crowd_subnets(tree: cKDTree, positions: FloatArray, range_m: float) -> IntArray:
    """Sub-nets of a swarm so dense that its links are too many to list.

    Links to the nearest few neighbours usually settle it. What they can miss is a link between
    two UAVs that each have more neighbours in range than were looked at, so only the smaller
    sub-nets of such UAVs are searched in full.
    """
    nodes = len(positions)
    near = min(_NEAREST, nodes - 1)
    reach_m = range_m * _SLACK
    distance, neighbour = tree.query(positions, k=near + 1, distance_upper_bound=reach_m)
    pairs = _rows_to_pairs(neighbour, nodes)
    linked = pairs[lengths(positions, pairs) <= range_m]
    label = components(linked, nodes)
    saturated = distance[:, -1] <= reach_m
    open_labels = np.unique(label[saturated])
    if near == nodes - 1 or len(open_labels) < 2:
        return label
    sizes = np.bincount(label)
    largest = open_labels[np.argmax(sizes[open_labels])]
    search = np.flatnonzero(saturated & (label != largest))
    more = _links_of(tree, positions, search, range_m)
    return components(np.concatenate([linked, more]), nodes)


def count_subnets(positions: FloatArray, range_m: float) -> int:
    """N_s, the number of sub-nets."""
    return int(subnets(positions, range_m).max(initial=-1)) + 1


def degrees(positions: FloatArray, range_m: float) -> IntArray:
    """Number of links of every UAV, in memory that does not grow with their total."""
    nodes = len(positions)
    if nodes == 0:
        return np.zeros(0, dtype=np.int64)
    tree = cKDTree(positions)
    degree = np.zeros(nodes, dtype=np.int64)
    for block in _blocks(tree, positions, np.arange(nodes), range_m):
        pairs = _ball_pairs(tree, positions, block, range_m)
        pairs = pairs[lengths(positions, pairs) <= range_m]
        degree += np.bincount(pairs[:, 0], minlength=nodes)
    return degree


def in_range_of(points: FloatArray, others: FloatArray, range_m: float) -> BoolArray:
    """Which points have one of the others within range."""
    distance, _ = cKDTree(others).query(points, k=1, distance_upper_bound=range_m * _SLACK)
    return np.asarray(distance <= range_m)


def closest_pair(positions: FloatArray) -> IntArray | None:
    """Rows of the two UAVs that are closest to each other; None for a single one."""
    if len(positions) < 2:
        return None
    _, index = cKDTree(positions).query(positions, k=2)
    rows = np.arange(len(positions))
    other = np.where(index[:, 0] == rows, index[:, 1], index[:, 0])
    pairs = np.stack([rows, other], axis=1)
    return np.asarray(pairs[int(np.argmin(lengths(positions, pairs)))])


def _rows_to_pairs(neighbour: IntArray, nodes: int) -> IntArray:
    """Rows of neighbour ids (`nodes` where there is none) to pairs without self-pairs."""
    rows = np.repeat(np.arange(nodes), neighbour.shape[1])
    columns = neighbour.ravel()
    keep = (columns < nodes) & (columns != rows)
    return np.stack([rows[keep], columns[keep]], axis=1)


def _blocks(
    tree: cKDTree, positions: FloatArray, which: IntArray, range_m: float
) -> list[IntArray]:
    """Split `which` so that no block has more than about `_PAIRS_AT_ONCE` neighbours."""
    counts = tree.query_ball_point(positions[which], range_m * _SLACK, return_length=True)
    block = np.cumsum(counts) // _PAIRS_AT_ONCE
    return np.split(which, np.flatnonzero(np.diff(block)) + 1)


def _ball_pairs(tree: cKDTree, positions: FloatArray, which: IntArray, range_m: float) -> IntArray:
    """Ordered pairs (i in which, any other j) that may be linked."""
    balls = tree.query_ball_point(positions[which], range_m * _SLACK)
    sizes = np.fromiter((len(ball) for ball in balls), dtype=np.int64, count=len(which))
    rows = np.repeat(which, sizes)
    columns = np.concatenate([np.asarray(ball, dtype=np.int64) for ball in balls])
    keep = rows != columns
    return np.stack([rows[keep], columns[keep]], axis=1)


def _links_of(tree: cKDTree, positions: FloatArray, which: IntArray, range_m: float) -> IntArray:
    """All links with an end in `which`; blocks of links are reduced to a forest as they come."""
    forest = np.empty((0, 2), dtype=np.int64)
    for block in _blocks(tree, positions, which, range_m):
        pairs = _ball_pairs(tree, positions, block, range_m)
        pairs = pairs[lengths(positions, pairs) <= range_m]
        label = components(np.concatenate([forest, pairs]), len(positions))
        first = np.unique(label, return_index=True)[1]
        forest = np.stack([np.arange(len(positions)), first[label]], axis=1)
        forest = forest[forest[:, 0] != forest[:, 1]]
    return forest
