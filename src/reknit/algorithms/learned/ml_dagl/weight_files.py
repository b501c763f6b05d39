"""The shipped weights, and nets made of them."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor

from reknit.algorithms.learned.common.weights import file_stamp, load_weights
from reknit.algorithms.learned.ml_dagl.dgcn import Dgcn, Shape
from reknit.algorithms.learned.ml_dagl.identity_start import start_as_identity
from reknit.algorithms.learned.ml_dagl.pull.net import PullShape, pull_weight_name

WEIGHTS = Path(__file__).parent / "weights"

SHIPPED_SIZES = {"paper": (20, 50, 100, 200, 500, 1000), "published": (100, 200)}
"""N for which weights are shipped, of the presets that have one model per size."""


def weight_file(preset: str, dim: int, uavs: int | None = None) -> Path:
    """Where the weights of a preset are shipped.

    Parameters
    ----------
    preset : str
        "default", "relaxed", "paper" or "published".
    dim : int
        2 or 3, for swarms in the plane or in space; the weights of "default" serve both.
    uavs : int, optional
        N. The presets "paper" and "published" have one model per size; the one trained for the
        size nearest to N, by ratio, is taken.

    Returns
    -------
    Path
        The file, which need not exist.
    """
    if preset == "default":
        return WEIGHTS / pull_weight_name(PullShape())
    if preset not in SHIPPED_SIZES:
        return WEIGHTS / weight_name(preset, dim)
    size = min(SHIPPED_SIZES[preset], key=lambda size: abs(math.log(size / (uavs or size))))
    return WEIGHTS / weight_name(preset, dim, size)


def weight_name(preset: str, dim: int, uavs: int | None = None, without: str = "") -> str:
    """Name of a weight file.

    Parameters
    ----------
    uavs
        N, for weights that were trained for one size alone.
    without
        What the net that they were trained for lacks, see `lacking`.
    """
    size = "" if uavs is None else f"-{uavs}"
    return f"{preset}-{dim}d{size}{without}.safetensors"


def lacking(gco: str, residual: bool) -> str:
    """The part of a weight file's name for a net without some of its parts; usually empty."""
    return ("" if gco == "bipartite" else f"-{gco}") + ("" if residual else "-plain")


def tensor_shapes(shape: Shape) -> dict[str, tuple[int, ...]]:
    """Name and shape of every weight, as they must stand in a weight file."""
    shapes: dict[str, tuple[int, ...]] = {}
    for number, (wide_in, wide_out) in enumerate(shape.layer_sizes):
        shapes[f"layers.{number}.weight"] = (wide_out, wide_in)
        if shape.bias:
            shapes[f"layers.{number}.bias"] = (wide_out,)
    return shapes


def load_net(
    path: Path, shape: Shape, *, residual: bool, dropout: float, first_dropout: bool = False
) -> Dgcn:
    """A net of its own with the weights of a file; the file is read once."""
    net = Dgcn(shape, residual=residual, dropout=dropout, first_dropout=first_dropout)
    net.load_state_dict(_read(path.resolve(), shape, file_stamp(path)))
    return net


def untrained_net(
    shape: Shape,
    seed: int,
    *,
    residual: bool,
    dropout: float,
    identity: bool,
    first_dropout: bool = False,
    fan_out: bool = False,
) -> Dgcn:
    """A net with random weights, for the ablations without pre-training.

    Parameters
    ----------
    shape : Shape
        Of the weights.
    seed : int
        Decides the weights.
    residual, dropout, first_dropout, fan_out
        As in `Dgcn`.
    identity : bool
        Whether the weights are such that without links the output is the input.

    Returns
    -------
    Dgcn
        The net.
    """
    generator = torch.Generator().manual_seed(seed)
    net = Dgcn(
        shape,
        residual=residual,
        dropout=dropout,
        first_dropout=first_dropout,
        fan_out=fan_out,
        generator=generator,
    )
    if identity:
        start_as_identity(net, generator)
    return net


@lru_cache(maxsize=4)
def _read(path: Path, shape: Shape, stamp: tuple[int, int]) -> dict[str, Tensor]:
    return load_weights(path, tensor_shapes(shape))
