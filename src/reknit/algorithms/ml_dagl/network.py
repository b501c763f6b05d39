"""DGCN, the dilated graph convolution network (Section IV-C), on all branches at once.

    X^1 = ReLU(GCO(X_norm))
    X_block^l = ReLU(GCO(ReLU(GCO(X_block^(l-1))))) + X^1,  l = 1..L,  X_block^0 = X^1
    X^Q = tanh(GCO(X_block^L))
    GCO(X) = S X W + b  with the kernel S of each branch, I - eps L_dag^k for the B-GCO

What it is made of is here; how it is computed is in `passes`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from reknit.algorithms.learning.layers import dropout_mask
from reknit.algorithms.ml_dagl.attention import Kernel
from reknit.algorithms.ml_dagl.passes import Pass, Trunk, Weights
from reknit.errors import InvalidParameter


@dataclass(frozen=True)
class Shape:
    """What decides the names and shapes of the weights.

    dim     coordinates per UAV, 2 or 3.
    hidden  d_s.
    blocks  L residual blocks; there are Q = 2L + 2 layers.
    bias    with biases there are 1,578,498 parameters at the paper's sizes (6.02 MiB).
    """

    dim: int = 2
    hidden: int = 512
    blocks: int = 3
    bias: bool = True

    def __post_init__(self) -> None:
        if self.dim not in (2, 3):
            raise InvalidParameter("dim", self.dim, "2 or 3")
        for name in ("hidden", "blocks"):
            if getattr(self, name) < 1:
                raise InvalidParameter(name, getattr(self, name), "a whole number of at least 1")

    @property
    def layer_sizes(self) -> tuple[tuple[int, int], ...]:
        """(d_in, d_out) of each of the Q layers."""
        inner = ((self.hidden, self.hidden),) * (2 * self.blocks)
        return ((self.dim, self.hidden), *inner, (self.hidden, self.dim))

    @property
    def parameters(self) -> int:
        """Number of trainable numbers."""
        return sum(i * o + (o if self.bias else 0) for i, o in self.layer_sizes)


class Dgcn(nn.Module):
    """The backbone: normalised positions in, normalised targets of the survivors out."""

    def __init__(
        self,
        shape: Shape,
        *,
        residual: bool = True,
        dropout: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.shape = shape
        self.residual = residual
        self.dropout = dropout
        self.layers = nn.ModuleList(_bare_linear(i, o, shape.bias) for i, o in shape.layer_sizes)
        for layer in self.linear_layers:
            limit = 1.0 / math.sqrt(layer.in_features)
            with torch.no_grad():
                layer.weight.uniform_(-limit, limit, generator=generator)
                if layer.bias is not None:
                    layer.bias.uniform_(-limit, limit, generator=generator)

    @property
    def linear_layers(self) -> list[nn.Linear]:
        """W^1 to W^Q with their biases."""
        return [layer for layer in self.layers if isinstance(layer, nn.Linear)]

    @property
    def weights(self) -> list[Weights]:
        """W and b of each layer."""
        return [(layer.weight, layer.bias) for layer in self.linear_layers]

    def forward(
        self, positions: Tensor, kernel: Kernel, generator: torch.Generator | None = None
    ) -> Tensor:
        """(N, dim) normalised positions, survivors first, to (K, N_R, dim) in (-1, 1).

        generator   draws the dropout; without one there is no dropout.
        """
        shape = len(kernel.own), len(positions), self.shape.hidden
        masks: list[Tensor | None] = [None] * self.shape.blocks
        if generator is not None and self.dropout > 0:
            masks[1:] = [dropout_mask(shape, self.dropout, generator) for _ in masks[1:]]
        tensors = [one for pair in self.weights for one in pair]
        output: Tensor = Pass.apply(positions, kernel, masks, self.residual, *tensors)  # type: ignore[no-untyped-call]
        return output

    @torch.no_grad()
    def features_alone(self, positions: Tensor) -> Tensor:
        """X_block^L of nodes without any link, (n, dim) to (n, d_s)."""
        return self._alone(positions).rows

    @torch.no_grad()
    def sort_units(self, points: Tensor) -> None:
        """Number the units within each block anew: those that the points excite most come first.

        What the network computes does not change. Units that answer to no position in the
        area come last, where the passes leave them out.
        """
        layers = self.linear_layers
        for number, (inner, _) in enumerate(self._alone(points).blocks):
            one, two = layers[2 * number + 1 : 2 * number + 3]
            order = one(inner.rows).amax(dim=0).argsort(descending=True, stable=True)
            one.weight.copy_(one.weight[order])
            if one.bias is not None:
                one.bias.copy_(one.bias[order])
            two.weight.copy_(two.weight[:, order])

    def _alone(self, positions: Tensor) -> Trunk:
        kernel = Kernel(torch.ones(1, len(positions), 1), torch.zeros(1, len(positions), 0))
        masks = [None] * self.shape.blocks
        return Trunk.of(positions[None], self.weights, kernel, masks, self.residual)


def _bare_linear(wide_in: int, wide_out: int, bias: bool) -> nn.Linear:
    """A layer whose weights nobody has drawn yet: torch would take them from its global state."""
    layer: nn.Linear = nn.utils.skip_init(nn.Linear, wide_in, wide_out, bias=bias)  # type: ignore[no-untyped-call]
    return layer
