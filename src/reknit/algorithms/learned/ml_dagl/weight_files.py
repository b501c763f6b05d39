"""The shipped weights, and networks made of them."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor

from reknit.algorithms.learned.common.weights import file_stamp, load_weights
from reknit.algorithms.learned.ml_dagl.dgcn import Dgcn, Shape

WEIGHTS = Path(__file__).parent / "weights"


def weight_file(preset: str, dim: int) -> Path:
    """Where the weights of a preset for 2-D or 3-D swarms are shipped."""
    return WEIGHTS / f"{preset}-{dim}d.safetensors"


def tensor_shapes(shape: Shape) -> dict[str, tuple[int, ...]]:
    """Name and shape of every weight, as they must stand in a weight file."""
    shapes: dict[str, tuple[int, ...]] = {}
    for number, (wide_in, wide_out) in enumerate(shape.layer_sizes):
        shapes[f"layers.{number}.weight"] = (wide_out, wide_in)
        if shape.bias:
            shapes[f"layers.{number}.bias"] = (wide_out,)
    return shapes


def load_network(path: Path, shape: Shape, *, residual: bool, dropout: float) -> Dgcn:
    """A network of its own with the weights of a file; the file is read once."""
    network = Dgcn(shape, residual=residual, dropout=dropout)
    network.load_state_dict(_read(path.resolve(), shape, file_stamp(path)))
    return network


def random_network(shape: Shape, seed: int, *, residual: bool, dropout: float) -> Dgcn:
    """A network with random weights, for the ablation without pre-training."""
    generator = torch.Generator().manual_seed(seed)
    return Dgcn(shape, residual=residual, dropout=dropout, generator=generator)


@lru_cache(maxsize=4)
def _read(path: Path, shape: Shape, stamp: tuple[int, int]) -> dict[str, Tensor]:
    return load_weights(path, tensor_shapes(shape))
