"""DGCN, the dilated graph convolution network (Section IV-C), on all branches at once.

    X^1 = ReLU(GCO(X_norm))
    X_block^l = ReLU(GCO(ReLU(GCO(X_block^(l-1))))) + X^1,  l = 1..L,  X_block^0 = X^1
    X^Q = tanh(GCO(X_block^L))
    GCO(X) = S X W + b  with the kernel S of each branch, I - eps L_dag^k for the B-GCO

What it is made of is here; how it is computed is in `propagation`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from reknit.algorithms.learned.common.layers import BareLinear, dropout_mask
from reknit.algorithms.learned.ml_dagl.kernel import Kernel
from reknit.algorithms.learned.ml_dagl.propagation import Pass, Trunk, Weights, Wiring
from reknit.base.errors import InvalidParameter


@dataclass(frozen=True)
class Shape:
    """What decides the names and shapes of the weights.

    Parameters
    ----------
    dim
        Coordinates per UAV, 2 or 3.
    hidden
        d_s.
    blocks
        L residual blocks; there are Q = 2L + 2 layers.
    bias
        With biases there are 1,578,498 parameters at the paper's sizes (6.02 MiB).
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


_ROUND = 16
"""Matrix products are quicker by a tenth where the sizes are multiples of this."""


class Dgcn(nn.Module):
    """The backbone: normalised positions in, normalised targets of the survivors out.

    Parameters
    ----------
    residual
        Whether blocks have their skip connection.
    dropout
        Between blocks.
    first_dropout
        Dropout after layer 1 too.
    fan_out
        Draw first weights and biases within 1 / sqrt(d_out) instead of 1 / sqrt(d_in).
    generator
        Draws them.

    Attributes
    ----------
    units
        For each block which of the d_s features its second layer computes; None: all.
    skip_zero_rows
        See `Wiring`. Pre-training leaves it off: shipped weights are made again bit for bit.
    """

    def __init__(
        self,
        shape: Shape,
        *,
        residual: bool = True,
        dropout: float = 0.0,
        first_dropout: bool = False,
        fan_out: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.shape = shape
        self.residual = residual
        self.dropout = dropout
        self.first_dropout = first_dropout
        self.skip_zero_rows = False
        self.units: list[Tensor | None] = [None] * shape.blocks
        self.layers = nn.ModuleList(BareLinear(i, o, shape.bias) for i, o in shape.layer_sizes)
        for layer in self.linear_layers:
            limit = 1.0 / math.sqrt(layer.out_features if fan_out else layer.in_features)
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

        Parameters
        ----------
        generator
            Draws the dropout; without one there is no dropout.
        """
        shape = len(kernel.own), len(positions), self.shape.hidden
        masks: list[Tensor | None] = [None] * self.shape.blocks
        first_mask = None
        if generator is not None and self.dropout > 0:
            if self.first_dropout:
                first_mask = dropout_mask(shape, self.dropout, generator)
            masks[1:] = [dropout_mask(shape, self.dropout, generator) for _ in masks[1:]]
        tensors = [tensor for pair in self.weights for tensor in pair]
        wiring = self._wiring(kernel, masks, first_mask)
        output: Tensor = Pass.apply(positions, wiring, *tensors)  # type: ignore[no-untyped-call]
        return output

    @torch.no_grad()
    def features_alone(self, positions: Tensor) -> Tensor:
        """X_block^L of nodes without any link, (n, dim) to (n, d_s)."""
        return self._trunk(positions, Kernel.without_links(len(positions))).rows

    @torch.no_grad()
    def leave_out_asleep(self, positions: Tensor, kernel: Kernel) -> None:
        """Take those units out of the blocks that are zero for every node of every branch.

        A unit asleep adds nothing to the output and has no gradient. The output is what it was;
        training goes on without those that it would have woken later.
        """
        layers = self.linear_layers
        for number, (inner, outer) in enumerate(self._trunk(positions, kernel).blocks):
            first_layer, second_layer = layers[2 * number + 1 : 2 * number + 3]
            within, beyond = _awake(first_layer, inner.rows), _awake(second_layer, outer.rows)
            _narrow(first_layer, within, torch.arange(first_layer.in_features))
            _narrow(second_layer, beyond, within)
            known = self.units[number]
            self.units[number] = beyond if known is None else known[beyond]

    def _trunk(self, positions: Tensor, kernel: Kernel) -> Trunk:
        wiring = self._wiring(kernel, [None] * self.shape.blocks)
        return Trunk.of(positions, self.weights, wiring)

    def _wiring(
        self, kernel: Kernel, masks: Sequence[Tensor | None], first_mask: Tensor | None = None
    ) -> Wiring:
        return Wiring(kernel, masks, self.units, self.residual, self.skip_zero_rows, first_mask)


def _awake(layer: nn.Linear, rows: Tensor) -> Tensor:
    """Which units are above zero for some row, and those next to it up to a round number."""
    most: Tensor = layer(rows).amax(dim=0)
    count = -(-int((most > 0).sum()) // _ROUND) * _ROUND
    return most.topk(min(count, len(most))).indices.sort().values


def _narrow(layer: nn.Linear, units: Tensor, features: Tensor) -> None:
    """Leave the layer some of its units, on some of its features."""
    layer.weight = nn.Parameter(layer.weight[units][:, features])
    layer.out_features, layer.in_features = layer.weight.shape
    if layer.bias is not None:
        layer.bias = nn.Parameter(layer.bias[units])
