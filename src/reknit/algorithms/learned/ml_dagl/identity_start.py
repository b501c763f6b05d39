"""Weights to begin pre-training from: a net whose output is its input.

Nobody should move without need, so training starts from ``tanh(GCO(...)) = X_norm``. The first
layer is given random directions and offsets, whose ReLUs are hinges all over the area; each
residual block starts small beside its skip connection; and the last layer is fitted by least
squares so that the whole, without damage, maps every position to itself.
"""

from __future__ import annotations

import math

import torch

from reknit.algorithms.learned.ml_dagl.dgcn import Dgcn

_POINTS = 4_000
_REACH = 0.8
"""Coordinates of a square swarm stay below 0.71 after normalisation; tanh bends beyond."""

_RIDGE = 4e-4


@torch.no_grad()
def start_as_identity(net: Dgcn, generator: torch.Generator, liveliness: float = 1.0) -> None:
    """Set all weights.

    Parameters
    ----------
    liveliness
        How large the second layer of each block starts, 1 being the usual variance.
    """
    first, *inner, last = net.linear_layers
    hidden = net.shape.hidden
    direction = torch.randn(first.weight.shape, generator=generator)
    first.weight.copy_(direction / direction.norm(dim=1, keepdim=True))
    first.bias.copy_(2.0 * torch.rand(hidden, generator=generator) - 1.0)
    for number, layer in enumerate(inner):
        spread = math.sqrt(2.0 / hidden) * (liveliness if number % 2 else 1.0)
        layer.weight.copy_(torch.randn(layer.weight.shape, generator=generator) * spread)
        layer.bias.zero_()
    point = (2.0 * torch.rand((_POINTS, net.shape.dim), generator=generator) - 1.0) * _REACH
    features = net.features_alone(point)
    rows = torch.cat([features, torch.ones(_POINTS, 1)], dim=1).double()
    ridge = _RIDGE * torch.eye(rows.shape[1], dtype=torch.float64)
    fitted = torch.linalg.solve(rows.T @ rows + ridge, rows.T @ torch.atanh(point).double())
    last.weight.copy_(fitted[:-1].T)
    last.bias.copy_(fitted[-1])
