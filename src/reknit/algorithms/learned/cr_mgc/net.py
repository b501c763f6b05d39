"""CR-MGC's kernel, its net, and the weights to begin from."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import torch
from scipy.sparse import csr_array
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.distance import pdist
from torch import Tensor
from torch.nn import functional

from reknit.algorithms.learned.common.layers import (
    ConvolutionStack,
    contracting_kernel,
    fill,
    layer_sizes,
    without_values,
)
from reknit.algorithms.learned.common.weights import file_stamp, load_weights
from reknit.base.types import FloatArray
from reknit.network.emst import longest_edge_m
from reknit.network.links import links

SHIPPED = Path(__file__).parent / "weights" / "meta.safetensors"
"""The meta-learned weights."""

LAYERS, HIDDEN = 8, 500
SPACE = 3
"""Coordinates that the net takes and gives; flat swarms have zeros in the last, so that one
set of weights serves two and three dimensions."""


def enlarged_distance_m(positions: FloatArray, share: float) -> float:
    """``d = d_min + share (d_max - d_min)``.

    d_min is the smallest range at which the positions are connected, the longest EMST edge;
    d_max their largest distance, which is one between corners of the convex hull.
    """
    if len(positions) < 2:
        return 0.0
    try:
        corners = positions[ConvexHull(positions).vertices]
    except (QhullError, ValueError):
        corners = positions  # on a line, or too few for a hull
    nearest = longest_edge_m(positions)
    return nearest + share * (float(pdist(corners).max()) - nearest)


def enlarged_kernel(positions: FloatArray, share: float) -> csr_array:
    """``I - (0.99 / ||A||_inf) L`` on the graph of pairs within the enlarged distance."""
    pairs = links(positions, enlarged_distance_m(positions, share))
    return contracting_kernel(pairs, len(positions))


def run_net(
    net: ConvolutionStack,
    start: Tensor,
    kernel: Tensor,
    generator: torch.Generator | None = None,
) -> Tensor:
    """(n, 2) or (n, 3) normalised positions to targets of the same shape in (-1, 1)."""
    dim = start.shape[1]
    output: Tensor = net(functional.pad(start, (0, SPACE - dim)), kernel, generator)
    return output[:, :dim]


def random_net(
    seed: int, layers: int = LAYERS, hidden: int = HIDDEN, dropout: float = 0.0
) -> ConvolutionStack:
    """A net with the first weights of a seed."""
    net = _blank(layers, hidden, dropout)
    fill(net, torch.Generator().manual_seed(seed))
    return net


def load_net(
    path: Path, layers: int = LAYERS, hidden: int = HIDDEN, dropout: float = 0.0
) -> ConvolutionStack:
    """A net of its own with the weights of a file; the file is read once."""
    net = _blank(layers, hidden, dropout)
    net.load_state_dict(_read(path.resolve(), layers, hidden, file_stamp(path)))
    return net


def tensor_shapes(layers: int, hidden: int) -> dict[str, tuple[int, ...]]:
    """Name and shape of every weight, as they must stand in a weight file."""
    shapes: dict[str, tuple[int, ...]] = {}
    for number, (wide_in, wide_out) in enumerate(layer_sizes(SPACE, layers, hidden)):
        shapes[f"layers.{number}.weight"] = (wide_out, wide_in)
        shapes[f"layers.{number}.bias"] = (wide_out,)
    return shapes


def _blank(layers: int, hidden: int, dropout: float) -> ConvolutionStack:
    sizes = layer_sizes(SPACE, layers, hidden)
    net = without_values(lambda: ConvolutionStack(sizes, dropout))
    assert isinstance(net, ConvolutionStack)
    return net


@lru_cache(maxsize=4)
def _read(path: Path, layers: int, hidden: int, stamp: tuple[int, int]) -> dict[str, Tensor]:
    return load_weights(path, tensor_shapes(layers, hidden))
