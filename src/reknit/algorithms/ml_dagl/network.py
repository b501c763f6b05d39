"""DGCN, the dilated graph convolution network (Section IV-C), on all branches at once.

    X^1 = ReLU(GCO(X_norm))
    X_block^l = ReLU(GCO(ReLU(GCO(X_block^(l-1))))) + X^1,  l = 1..L,  X_block^0 = X^1
    X^Q = tanh(GCO(X_block^L))
    GCO(X) = S X W + b  with the kernel S of each branch, I - eps L_dag^k for the B-GCO

Features are kept as (K, N, d), survivors before destroyed UAVs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from reknit.algorithms.ml_dagl.attention import Kernel
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


def _mix(features: Tensor, kernel: Kernel) -> Tensor:
    """S X of every branch, without a record for gradients."""
    if len(features) == 1 and kernel.sparse[0] is not None:
        return (kernel.sparse[0] @ features[0])[None]
    survivors = kernel.survivors
    out = features * kernel.own
    for mixed, one, block, sparse in zip(
        out, features, kernel.coupling, kernel.sparse, strict=True
    ):
        if sparse is not None:
            mixed.copy_(sparse @ one)
        elif block.shape[1]:
            mixed[:survivors].addmm_(block, one[survivors:])
            mixed[survivors:].addmm_(block.t(), one[:survivors])
    return out


class _Convolve(torch.autograd.Function):
    """S X without forming S. S is symmetric, so the gradient is the same operation."""

    @staticmethod
    def forward(ctx: Any, features: Tensor, kernel: Kernel) -> Tensor:
        ctx.kernel = kernel
        return _mix(features, kernel)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return _mix(gradients[0], ctx.kernel), None


def convolve(features: Tensor, kernel: Kernel) -> Tensor:
    """S X for every branch: (K, N, d) to (K, N, d)."""
    result: Tensor = _Convolve.apply(features, kernel)  # type: ignore[no-untyped-call]
    return result


class _Gco(torch.autograd.Function):
    """``ReLU(S X W + b)`` with its gradients written out, which saves a third of the passes.

    With G the gradient of S X W + b, that of W is ``(S X)^T G``, that of b the column sums of G,
    and that of X is ``S G W^T``, since S is symmetric.
    """

    @staticmethod
    def forward(
        ctx: Any, features: Tensor, weight: Tensor, bias: Tensor | None, kernel: Kernel
    ) -> Tensor:
        mixed = _mix(features, kernel)
        rows = mixed.flatten(0, 1)
        out = functional.linear(rows, weight, bias).clamp_min_(0.0)
        ctx.save_for_backward(rows, weight, out)
        ctx.kernel = kernel
        return out.view(*mixed.shape[:2], -1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor, Tensor | None, None]:
        rows, weight, out = ctx.saved_tensors
        own = torch.ops.aten.threshold_backward(gradients[0].flatten(0, 1), out, 0.0)
        features = None
        if ctx.needs_input_grad[0]:
            features = _mix((own @ weight).view(*gradients[0].shape[:2], -1), ctx.kernel)
        return features, own.t() @ rows, own.sum(dim=0) if ctx.needs_input_grad[2] else None, None


def gco(features: Tensor, layer: nn.Linear, kernel: Kernel) -> Tensor:
    """One layer of the backbone, ``ReLU(S X W + b)`` for every branch."""
    result: Tensor = _Gco.apply(features, layer.weight, layer.bias, kernel)  # type: ignore[no-untyped-call]
    return result


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

    def forward(
        self, positions: Tensor, kernel: Kernel, generator: torch.Generator | None = None
    ) -> Tensor:
        """(N, dim) normalised positions, survivors first, to (K, N_R, dim) in (-1, 1).

        generator   draws the dropout; without one there is no dropout.
        """
        last = self.linear_layers[-1]
        start = positions.expand(kernel.own.shape[0], *positions.shape)
        features = self._features(start, kernel, generator)
        # The last layer narrows to dim, so its weights go first; S (X W) = (S X) W.
        narrow = functional.linear(features, last.weight)
        out = convolve(narrow, kernel)[:, : kernel.survivors]
        return torch.tanh(out if last.bias is None else out + last.bias)

    def _features(self, start: Tensor, kernel: Kernel, generator: torch.Generator | None) -> Tensor:
        """X_block^L."""
        first, *inner, _ = self.linear_layers
        skip = gco(start, first, kernel)
        features = skip
        for number in range(self.shape.blocks):
            if number and generator is not None and self.dropout > 0:
                features = _drop(features, self.dropout, generator)
            features = gco(features, inner[2 * number], kernel)
            features = gco(features, inner[2 * number + 1], kernel)
            if self.residual:
                features = features + skip
        return features

    def features_alone(self, positions: Tensor) -> Tensor:
        """X_block^L of nodes without any link, (n, dim) to (n, d_s)."""
        kernel = Kernel(torch.ones(1, len(positions), 1), torch.zeros(1, len(positions), 0))
        return self._features(positions[None], kernel, None)[0]


def _bare_linear(wide_in: int, wide_out: int, bias: bool) -> nn.Linear:
    """A layer whose weights nobody has drawn yet: torch would take them from its global state."""
    layer: nn.Linear = nn.utils.skip_init(nn.Linear, wide_in, wide_out, bias=bias)  # type: ignore[no-untyped-call]
    return layer


def _drop(features: Tensor, rate: float, generator: torch.Generator) -> Tensor:
    keep = torch.empty_like(features).bernoulli_(1.0 - rate, generator=generator)
    return features * keep.div_(1.0 - rate)
