"""Links for a k-connected result: no k - 1 further losses split the swarm."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial import cKDTree

from reknit.base.context import never
from reknit.base.types import BoolArray, FloatArray, IntArray
from reknit.network.connectivity import is_k_connected, without_needless
from reknit.network.cuts import cut_nodes_and_bridges, thinned
from reknit.network.emst import emst, lightest_tree, longest_edge_m
from reknit.network.links import components, lengths

Rule = Callable[[IntArray], BoolArray]
"""Which of (m, 2) pairs may be linked at all."""


def any_pair(pairs: IntArray) -> BoolArray:
    """The rule of a swarm in which every two UAVs can meet."""
    return np.ones(len(pairs), dtype=bool)


def redundant_range_m(
    positions: FloatArray, order: int, is_over: Callable[[], bool] = never
) -> float:
    """The smallest range at which the positions form a k-connected network, k the order; a larger
    one that does if `is_over` ends the search.
    """
    links = _shortest_links(positions, order, is_over, any_pair)
    return float(lengths(positions, links).max())


def sparse_links(
    positions: FloatArray,
    order: int,
    is_over: Callable[[], bool] = never,
    may_link: Rule = any_pair,
) -> IntArray:
    """Links of a k-connected network that is as short as can be in its longest link, less the
    links that it can do without, longest first. Once `is_over`, k-connected links that are known
    by then; if the pairs that may be linked are not k-connected, all of them.
    """
    kept = _shortest_links(positions, order, is_over, may_link)
    nodes = len(positions)
    if is_over() or nodes <= order or not is_k_connected(kept, nodes, order, is_over):
        return kept
    return without_needless(kept[::-1], nodes, order, is_over)


def _shortest_links(
    positions: FloatArray, order: int, is_over: Callable[[], bool], may_link: Rule
) -> IntArray:
    """The fewest of the pairs, from the shortest up, that are k-connected."""
    nodes = len(positions)
    pairs = _sorted_pairs(positions, order, is_over, may_link)
    low, high = nodes - 1, len(pairs)
    while low < high and not is_over():
        middle = (low + high) // 2
        if is_k_connected(pairs[:middle], nodes, order, is_over):
            high = middle
        else:
            low = middle + 1
    return np.asarray(pairs[:high])


def patched_links(
    positions: FloatArray,
    range_m: float,
    is_over: Callable[[], bool] = never,
    may_link: Rule = any_pair,
) -> IntArray:
    """Links of a 2-connected network for large swarms: what holds at the range, thinned out, and
    for every UAV whose loss would split it the shortest links around that UAV. Once `is_over`, or
    if no more pairs may be linked, the links known by then, which a single loss may still split.
    """
    nodes = len(positions)
    every = nodes * (nodes - 1) // 2
    reach_m = 2.0 * max(range_m, longest_edge_m(positions))
    pairs, seen = _sorted_within(positions, reach_m, may_link)
    while (tree := _tree(positions, pairs, may_link)) is None and seen < every:
        reach_m *= 1.5
        pairs, seen = _sorted_within(positions, reach_m, may_link)
    if tree is None:
        return pairs
    near = pairs[lengths(positions, pairs) <= range_m]
    held = np.unique(np.concatenate([near, tree]), axis=0)
    added = np.empty((0, 2), dtype=np.int64)
    for lost in cut_nodes_and_bridges(held, nodes)[0].tolist():
        while not is_over():
            links = np.concatenate([held, added])
            label = components(links[(links != lost).all(axis=1)], nodes)
            label[lost] = -1
            if len(np.unique(label)) == 2:
                break
            useful = (pairs != lost).all(axis=1) & (label[pairs[:, 0]] != label[pairs[:, 1]])
            if useful.any():
                added = np.concatenate([added, pairs[[int(useful.argmax())]]])
            elif seen == every:
                break
            else:
                reach_m *= 1.5
                pairs, seen = _sorted_within(positions, reach_m, may_link)
    links = np.unique(np.concatenate([thinned(held, nodes), added]), axis=0)
    longest_first = np.argsort(-lengths(positions, links), kind="stable")
    return without_needless(links[longest_first], nodes, 2, is_over)


def _tree(positions: FloatArray, pairs: IntArray, may_link: Rule) -> IntArray | None:
    """The EMST; where that has links that may not be, the shortest tree of the given pairs, if
    they connect.
    """
    tree = emst(positions)
    if may_link(tree).all():
        return tree
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    tree = lightest_tree(pairs, lengths(positions, pairs), len(positions))
    return tree if len(tree) == len(positions) - 1 else None


def _sorted_within(positions: FloatArray, reach_m: float, may_link: Rule) -> tuple[IntArray, int]:
    """Pairs up to so far apart that may be linked, the shortest first; and how many are so near."""
    near = np.sort(cKDTree(positions).query_pairs(reach_m, output_type="ndarray"), axis=1)
    pairs = near.astype(np.int64)
    pairs = pairs[may_link(pairs)]
    order = np.lexsort((pairs[:, 1], pairs[:, 0], lengths(positions, pairs)))
    return np.asarray(pairs[order]), len(near)


def _sorted_pairs(
    positions: FloatArray, order: int, is_over: Callable[[], bool], may_link: Rule
) -> IntArray:
    """Pairs that may be linked, from the shortest up, enough of them to be k-connected.

    Within k of the longest EMST edges there are enough, if all may be linked: the k-th power of a
    connected graph is k-connected.
    """
    nodes = len(positions)
    tree = cKDTree(positions)
    edge_m = max(longest_edge_m(positions), 1e-9)
    reach_m = edge_m
    while True:
        reach_m *= 1.25
        in_haste = is_over()
        if in_haste:
            reach_m = max(reach_m, order * edge_m * (1.0 + 1e-9))
        pairs = tree.query_pairs(reach_m, output_type="ndarray").astype(np.int64)
        everything = len(pairs) == nodes * (nodes - 1) // 2
        pairs = pairs[may_link(pairs)]
        if everything or in_haste or is_k_connected(pairs, nodes, order, is_over):
            shortest_first = np.lexsort((pairs[:, 1], pairs[:, 0], lengths(positions, pairs)))
            return np.asarray(pairs[shortest_first])
