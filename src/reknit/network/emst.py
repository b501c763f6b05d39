"""The Euclidean minimum spanning tree (EMST) of a set of points, in any dimension.

``N_s - 1`` is the number of EMST edges longer than d_tr, and the longest one decides how far
from connected a swarm is, so this tree stands behind the sub-net count, the bounds, the
contraction and the training loss.

In the plane the EMST is a subgraph of the Delaunay triangulation. Where Qhull has no answer
(collinear or coincident points) and in 3-D, where triangulations grow faster than the swarm,
Boruvka's method on a k-d tree finds it: in every round each tree of the forest takes the
shortest edge that leaves it. Most points see a point of another tree among their nearest few
neighbours, or see far enough to rule out that they have the shortest edge; only the rest look
further.

In a large swarm of even density all pairs up to a small distance are few and join nearly all
points: the edges of their minimum spanning forest are those of the EMST up to that distance, by
Kruskal's argument, and Boruvka's method adds the few that are longer. That takes a quarter of the
triangulation's time.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import Delaunay, QhullError, cKDTree

from reknit.base.types import BoolArray, FloatArray, IntArray
from reknit.network.links import components, lengths

_SLACK = 1.0 + 1e-9
"""The tree's own rounding must not lose a pair at exactly the distance."""

_SMALL = 24
"""Up to here all pairs are as quick as a triangulation."""

_NEAREST = 8
_WIDEST = 64

_LARGE = 3_000
_SAMPLED = 256
_RANK = 7
"""From so many points on: pairs up to the distance at which the 7th neighbour usually is."""

_MOST_NEAR, _FEWEST_JOINED = 16.0, 0.75
"""Up to so many near neighbours on average, and if so large a part is joined by near pairs."""


def emst(positions: FloatArray) -> IntArray:
    """Edges of the EMST, shape (n - 1, 2), each ``i < j``, in lexicographic order."""
    nodes = len(positions)
    if nodes <= _SMALL:
        return _forest(positions, np.stack(np.triu_indices(nodes, k=1), axis=1))
    if nodes >= _LARGE:
        edges = _from_near_pairs(positions)
        if edges is not None:
            return edges
    candidates = delaunay_edges(positions) if positions.shape[1] == 2 else None
    return _by_places(positions) if candidates is None else _forest(positions, candidates)


def _by_places(positions: FloatArray) -> IntArray:
    """The EMST where a triangulation has no answer: UAVs at one place are joined first, each with
    the first one there; searches for neighbours elsewhere would find nobody but each other.
    """
    nodes = len(positions)
    if (np.diff(np.sort(positions[:, 0])) > 0.0).all():
        return _boruvka(positions)
    _, first, place = np.unique(positions, axis=0, return_index=True, return_inverse=True)
    if len(first) == nodes:
        return _boruvka(positions)
    owner = first[place.reshape(-1)]
    others = np.flatnonzero(owner != np.arange(nodes))
    places = np.sort(first)
    between = places[emst(positions[places])]
    edges = np.concatenate([np.stack([owner[others], others], axis=1), between])
    return np.asarray(edges[np.lexsort((edges[:, 1], edges[:, 0]))])


def longest_edge_m(positions: FloatArray) -> float:
    """Length l of the longest EMST edge: the smallest range at which the points are connected."""
    return float(lengths(positions, emst(positions)).max(initial=0.0))


def _from_near_pairs(positions: FloatArray) -> IntArray | None:
    """The EMST from all pairs up to a small distance; None where the density is too uneven."""
    nodes = len(positions)
    tree = cKDTree(positions)
    sample = positions[:: max(1, nodes // _SAMPLED)]
    near_m = float(np.median(tree.query(sample, k=_RANK + 1)[0][:, -1]))
    around = tree.query_ball_point(sample, near_m * _SLACK, return_length=True)
    if around.mean() > _MOST_NEAR:
        return None
    pairs = tree.query_pairs(near_m * _SLACK, output_type="ndarray").astype(np.int64)
    edges = _forest(positions, pairs[lengths(positions, pairs) <= near_m])
    label = components(edges, nodes)
    search = _NearestForeign(positions, tree)
    parts = [edges]
    while label.max() > 0:
        if np.bincount(label).max() < _FEWEST_JOINED * nodes:
            return None
        joining, label = _joined(positions, search.shortest_leaving(label), label)
        parts.append(joining)
    edges = np.concatenate(parts)
    return np.asarray(edges[np.lexsort((edges[:, 1], edges[:, 0]))])


def _joined(positions: FloatArray, pairs: IntArray, label: IntArray) -> tuple[IntArray, IntArray]:
    """Kruskal's method between the trees of a forest: the pairs taken, and the trees then."""
    pairs = np.sort(pairs, axis=1)
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0], lengths(positions, pairs)))]
    root = list(range(int(label.max()) + 1))

    def tree_of(name: int) -> int:
        while root[name] != name:
            root[name] = root[root[name]]
            name = root[name]
        return name

    taken = []
    for row, (first, second) in enumerate(label[pairs].tolist()):
        tree, other = tree_of(first), tree_of(second)
        if tree != other:
            root[tree] = other
            taken.append(row)
    names = np.asarray([tree_of(name) for name in range(len(root))])
    return np.asarray(pairs[taken]), np.unique(names, return_inverse=True)[1][label]


def delaunay_edges(positions: FloatArray) -> IntArray | None:
    """Edges of the Delaunay triangulation (some twice), or None where it leaves points out."""
    try:
        triangulation = Delaunay(positions)
    except QhullError:
        return None
    if len(triangulation.coplanar):
        return None
    corners = triangulation.simplices.astype(np.int64)
    return np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]])


def _boruvka(positions: FloatArray) -> IntArray:
    nodes = len(positions)
    edges = np.empty((0, 2), dtype=np.int64)
    search = _NearestForeign(positions, cKDTree(positions))
    label = np.arange(nodes)
    while len(edges) < nodes - 1:
        edges = _forest(positions, np.concatenate([edges, search.shortest_leaving(label)]))
        label = components(edges, nodes)
    return edges


class _NearestForeign:
    """Finds, for a forest over fixed points, the shortest edge that leaves each of its trees."""

    def __init__(self, positions: FloatArray, tree: cKDTree) -> None:
        self._positions, self._tree = positions, tree
        self._near = min(_NEAREST, len(positions) - 1) + 1
        self._neighbour = np.empty((len(positions), self._near), dtype=np.int64)
        self._sight_m = np.full(len(positions), -1.0)  # nobody has looked yet

    def shortest_leaving(self, label: IntArray) -> IntArray:
        """One edge for every tree but the largest."""
        asked = label != np.argmax(np.bincount(label))
        new = np.flatnonzero(asked & (self._sight_m < 0.0))
        distance, self._neighbour[new] = self._tree.query(self._positions[new], k=self._near)
        self._sight_m[new] = distance[:, -1]
        pairs = self._foreign(np.flatnonzero(asked), self._neighbour[asked], label)
        blind = self._blind(asked, pairs, label, self._sight_m)
        near = self._near
        while blind.any() and near < min(_WIDEST, len(label)):
            near = min(2 * near, len(label))
            which = np.flatnonzero(blind)
            distance, neighbour = self._tree.query(self._positions[which], k=near)
            pairs = np.concatenate([pairs, self._foreign(which, neighbour, label)])
            sight_m = np.full(len(label), np.inf)
            sight_m[which] = distance[:, -1] if near < len(label) else np.inf
            blind = self._blind(blind, pairs, label, sight_m)
        for tree in np.unique(label[blind]):
            which = np.flatnonzero(blind & (label == tree))
            others = np.flatnonzero(label != tree)
            _, index = cKDTree(self._positions[others]).query(self._positions[which], k=1)
            pairs = np.concatenate([pairs, np.stack([which, others[index]], axis=1)])
        return self._shortest_of_each(pairs, label)[1]

    def _foreign(self, which: IntArray, neighbour: IntArray, label: IntArray) -> IntArray:
        """Each listed point paired with the nearest neighbour of another tree, if it saw one."""
        foreign = label[neighbour] != label[which][:, None]
        sees = foreign.any(axis=1)
        nearest = neighbour[np.arange(len(which)), foreign.argmax(axis=1)]
        return np.stack([which[sees], nearest[sees]], axis=1)

    def _blind(
        self, asked: BoolArray, pairs: IntArray, label: IntArray, sight_m: FloatArray
    ) -> BoolArray:
        """Points that saw no other tree and no farther than their tree's best edge so far."""
        best_m = np.full(len(label), np.inf)
        owner, best = self._shortest_of_each(pairs, label)
        best_m[owner] = lengths(self._positions, best)
        blind = asked & (sight_m < best_m[label])
        blind[pairs[:, 0]] = False
        return blind

    def _shortest_of_each(self, pairs: IntArray, label: IntArray) -> tuple[IntArray, IntArray]:
        """Trees that have a leaving pair, and the shortest of each."""
        low, high = pairs.min(axis=1), pairs.max(axis=1)
        owner = label[pairs[:, 0]]
        order = np.lexsort((high, low, lengths(self._positions, pairs), owner))
        first = order[np.flatnonzero(np.diff(owner[order], prepend=-1))]
        return owner[first], pairs[first]


def _forest(positions: FloatArray, pairs: IntArray) -> IntArray:
    """Minimum spanning forest of the given pairs, sorted."""
    nodes = len(positions)
    key = np.sort(
        np.minimum(pairs[:, 0], pairs[:, 1]) * nodes + np.maximum(pairs[:, 0], pairs[:, 1])
    )
    key = key[np.diff(key, prepend=-1) > 0]
    pairs = np.stack([key // nodes, key % nodes], axis=1)
    return lightest_tree(pairs, lengths(positions, pairs), nodes)


def lightest_tree(pairs: IntArray, weight: FloatArray, nodes: int) -> IntArray:
    """Minimum spanning forest of different pairs ``i < j`` in lexicographic order, in that order.

    Edges of equal weight go by their order. scipy drops edges of weight zero, and coincident
    UAVs have them, so it is given ranks, by which its edges are found again.
    """
    order = np.argsort(weight, kind="stable")
    rank = np.empty(len(pairs))
    rank[order] = np.arange(1, len(pairs) + 1)
    row_ends = np.zeros(nodes + 1, dtype=np.int32)
    np.cumsum(np.bincount(pairs[:, 0], minlength=nodes), out=row_ends[1:])
    graph = csr_array((rank, pairs[:, 1].astype(np.int32), row_ends), shape=(nodes, nodes))
    kept = minimum_spanning_tree(graph).data.astype(np.int64) - 1
    return np.asarray(pairs[np.sort(order[kept])])
