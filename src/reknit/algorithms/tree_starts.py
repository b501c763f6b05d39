"""Several spanning trees pulled together at once, for a better start than the EMST gives.

Descent pulls on the edges of the EMST, and at heavy damage that is often the wrong tree: another
choice of which sub-nets to link needs less movement. A tree is cheap to try, since all trees can
be descended in one array and a fixed tree need not be found anew.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial import cKDTree

from reknit.base.context import never
from reknit.base.types import BoolArray, FloatArray, IntArray
from reknit.network.emst import delaunay_edges, emst, lightest_tree
from reknit.network.links import lengths

Losses = Callable[[FloatArray, IntArray], tuple[FloatArray, FloatArray]]
"""(B, n, dim) targets and (B, n - 1, 2) trees to (B,) losses in metres and their gradients."""

_NEAREST = 6
"""Neighbours of a UAV that may be linked with it, where there is no triangulation."""

_MOST_NOISE = 50.0
"""Gumbel noise in float64 is below 37 times its scale."""

_BETAS = (0.8, 0.99)
_EPS = 1e-8
_FINAL_SHARE = 0.3
"""The step falls linearly to this share of the first one."""


class Adam:
    """Adam's steps for one array (Kingma and Ba, 2015).

    Parameters
    ----------
    shape
        Of the array.
    first_step_m
        Size of a first step at share 1, in metres.
    """

    def __init__(self, shape: tuple[int, ...], first_step_m: float) -> None:
        self._mean = np.zeros(shape)
        self._square = np.zeros(shape)
        self._steps = 0
        self._first_step_m = first_step_m

    def step(self, gradient: FloatArray, done: float) -> FloatArray:
        """How far to move against the gradient, in metres, when this share of all is done."""
        mean_decay, square_decay = _BETAS
        self._steps += 1
        self._mean = mean_decay * self._mean + (1.0 - mean_decay) * gradient
        self._square = square_decay * self._square + (1.0 - square_decay) * gradient * gradient
        mean = self._mean / (1.0 - mean_decay**self._steps)
        spread = np.sqrt(self._square / (1.0 - square_decay**self._steps)) + _EPS
        size_m = self._first_step_m * (1.0 - min(1.0, done) * (1.0 - _FINAL_SHARE))
        return np.asarray(size_m * mean / spread)


def candidate_links(positions: FloatArray) -> IntArray:
    """Pairs of UAVs that a tree may link: the edges of the Delaunay triangulation.

    Where there is none (few, collinear or coincident points, or swarms in space, where it would
    be large), each with its nearest few, and the EMST.

    Parameters
    ----------
    positions
        (n, dim) metres.

    Returns
    -------
    array
        (pairs, 2) with ``i < j`` in lexicographic order; they connect all n.
    """
    nodes, dim = positions.shape
    pairs = delaunay_edges(positions) if dim == 2 and nodes > dim + 1 else None
    if pairs is None:
        near = min(_NEAREST + 1, nodes)
        neighbour = cKDTree(positions).query(positions, k=near)[1].reshape(nodes, near)
        own = np.repeat(np.arange(nodes), near)
        pairs = np.concatenate([np.stack([own, neighbour.ravel()], axis=1), emst(positions)])
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    key = np.unique(pairs.min(axis=1) * nodes + pairs.max(axis=1))
    return np.stack([key // nodes, key % nodes], axis=1)


def drawn_trees(
    positions: FloatArray,
    limit_m: float,
    noise_m: float,
    count: int,
    rng: np.random.Generator,
    is_over: Callable[[], bool] = never,
) -> IntArray:
    """The EMST, and trees drawn at random near it.

    Links that are there already come first; between sub-nets a pair counts as shorter than it
    is by Gumbel noise of the scale `noise_m`, which now and then is several times that.

    Parameters
    ----------
    positions
        (n, dim) metres.
    limit_m
        Up to this length a link is there.
    noise_m
        Metres of noise.
    count
        Number of trees.
    rng
        What draws the noise.
    is_over
        Asked before every tree whether to end here.

    Returns
    -------
    array
        (count, n - 1, 2), fewer if ended; the first is the EMST.
    """
    pairs = candidate_links(positions)
    lengths_m = lengths(positions, pairs)
    missing = lengths_m > limit_m
    lengths_m[~missing] -= _MOST_NOISE * noise_m
    trees = [emst(positions)]
    for _ in range(count - 1):
        if is_over():
            break
        weight = lengths_m.copy()
        weight[missing] -= noise_m * rng.gumbel(size=int(missing.sum()))
        trees.append(lightest_tree(pairs, weight, len(positions)))
    return np.stack(trees)


def descend_trees(
    positions: FloatArray,
    fixed: BoolArray,
    trees: IntArray,
    losses: Losses,
    steps: int,
    first_step_m: float,
    is_over: Callable[[], bool] = never,
) -> tuple[FloatArray, FloatArray]:
    """Pull every tree together from where the UAVs are, all in one array.

    Parameters
    ----------
    positions
        (n, dim) metres.
    fixed
        (n,) who may not move.
    trees
        (B, n - 1, 2).
    losses
        What is lowered.
    steps
        Of Adam.
    first_step_m
        Size of the first one.
    is_over
        Asked before every step whether to end here.

    Returns
    -------
    tuple of array
        (B, n, dim) targets, and (B,) their losses.
    """
    targets = np.repeat(positions[None], len(trees), axis=0)
    adam = Adam(targets.shape, first_step_m)
    for step in range(steps):
        if is_over():
            break
        _, gradient = losses(targets, trees)
        gradient[:, fixed] = 0.0
        targets = targets - adam.step(gradient, step / steps)
    return targets, losses(targets, trees)[0]
