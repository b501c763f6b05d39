"""The forward and backward passes of DGCN, written out, on all branches at once.

Features are (K, N, d), survivors before destroyed UAVs. Automatic differentiation would give the
same numbers; here every product that is known to be zero is left out, sums are made in place,
and one record stands for the whole network instead of one for each of its sixty operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from reknit.algorithms.ml_dagl.attention import Kernel

Weights = tuple[Tensor, Tensor | None]
"""W^T (d_out, d_in) and b of one layer."""


def convolve(features: Tensor, kernel: Kernel) -> Tensor:
    """S X for every branch, without forming S: (K, N, d) to (K, N, d)."""
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


@dataclass(frozen=True, eq=False)
class Gco:
    """One layer ``ReLU(S X W + b)``, and what its backward pass needs.

    rows    (K N, d_in) S X.
    out     (K N, d_out) its output; fewer columns where units at the end are left out.

    The features may be narrower than W: those missing are zero for every node.
    """

    kernel: Kernel
    weight: Tensor
    rows: Tensor
    out: Tensor

    @staticmethod
    def of(features: Tensor, weights: Weights, kernel: Kernel, *, trim: bool = False) -> Gco:
        """The forward pass.

        trim    leave out the units at the end that are zero for every node. Such a unit has no
                gradient and adds nothing to the next layer, so neither pass needs it.
        """
        weight, bias = weights
        rows = convolve(features, kernel).flatten(0, 1)
        out = functional.linear(rows, weight[:, : rows.shape[1]], bias).clamp_min_(0.0)
        return Gco(kernel, weight, rows, out[:, : _live_units(out)] if trim else out)

    @property
    def features(self) -> Tensor:
        """(K, N, d_out) the output."""
        return _by_branch(self.out, self.kernel)

    def weight_gradients(self, gradient: Tensor) -> Weights:
        """Those of W^T and b for that of the output, (K N, d_out), which is masked in place.

        With G = dL/d(S X W + b), they are ``G^T S X`` and the column sums of G.
        """
        torch.ops.aten.threshold_backward.grad_input(gradient, self.out, 0.0, grad_input=gradient)
        units, wide = gradient.shape[1], self.rows.shape[1]
        of_weight = torch.empty_like(self.weight)
        torch.mm(gradient.t(), self.rows, out=of_weight[:units, :wide])
        of_bias = gradient.sum(dim=0)
        if units < len(of_weight):
            of_weight[units:].zero_()
            of_bias = functional.pad(of_bias, (0, len(of_weight) - units))
        if wide < of_weight.shape[1]:
            of_weight[:, wide:].zero_()
        return of_weight, of_bias

    def feature_gradient(self, gradient: Tensor) -> Tensor:
        """That of X, ``S G W^T`` since S is symmetric, for G as `weight_gradients` left it."""
        weight = self.weight[: gradient.shape[1], : self.rows.shape[1]]
        return convolve(_by_branch(gradient @ weight, self.kernel), self.kernel).flatten(0, 1)


def _by_branch(rows: Tensor, kernel: Kernel) -> Tensor:
    """(K N, d) as (K, N, d)."""
    branches, nodes, _ = kernel.own.shape
    return rows.view(branches, nodes, rows.shape[1])


def _live_units(out: Tensor) -> int:
    """Number of columns up to the last that is not zero throughout; at least one."""
    live = out.amax(dim=0).nonzero()
    return int(live[-1]) + 1 if len(live) else 1


@dataclass(frozen=True, eq=False)
class Trunk:
    """X_block^L with everything on the way to it.

    first       layer 1, whose output is every block's skip connection.
    blocks      both layers of each residual block.
    masks       what dropout multiplied each block's input with; None where there was none.
    rows        (K N, d_s) X_block^L.
    """

    first: Gco
    blocks: tuple[tuple[Gco, Gco], ...]
    masks: tuple[Tensor | None, ...]
    rows: Tensor
    residual: bool

    @staticmethod
    def of(
        start: Tensor,
        layers: Sequence[Weights],
        kernel: Kernel,
        masks: Sequence[Tensor | None],
        residual: bool,
    ) -> Trunk:
        """The forward pass: (K, N, dim) through layer 1 and the blocks, all but the last layer."""
        first = Gco.of(start, layers[0], kernel)
        features = first.features
        blocks = []
        for mask, one, two in zip(masks, layers[1:-1:2], layers[2:-1:2], strict=True):
            inner = Gco.of(features if mask is None else features * mask, one, kernel, trim=True)
            outer = Gco.of(inner.features, two, kernel)
            features = outer.features + first.features if residual else outer.features
            blocks.append((inner, outer))
        return Trunk(first, tuple(blocks), tuple(masks), features.flatten(0, 1), residual)

    def gradients(self, gradient: Tensor) -> list[Weights]:
        """Those of the layers, in order, for that of X_block^L, which is changed in place."""
        found: list[Weights] = []
        of_skip = torch.zeros_like(gradient) if self.residual else None
        for mask, (inner, outer) in zip(reversed(self.masks), reversed(self.blocks), strict=True):
            if of_skip is not None:
                of_skip += gradient
            found.append(outer.weight_gradients(gradient))
            gradient = outer.feature_gradient(gradient)
            found.append(inner.weight_gradients(gradient))
            gradient = inner.feature_gradient(gradient)
            if mask is not None:
                gradient *= mask.flatten(0, 1)
        if of_skip is not None:
            gradient += of_skip
        found.append(self.first.weight_gradients(gradient))
        return found[::-1]


class Pass(torch.autograd.Function):
    """X_norm (N, dim) to the survivors' X^Q (K, N_R, dim)."""

    @staticmethod
    def forward(
        ctx: Any,
        positions: Tensor,
        kernel: Kernel,
        masks: Sequence[Tensor | None],
        residual: bool,
        *tensors: Tensor | None,
    ) -> Tensor:
        layers = _pairs(tensors)
        weight, bias = layers[-1]
        start = positions.expand(len(kernel.own), *positions.shape)
        trunk = Trunk.of(start, layers, kernel, masks, residual)
        # The last layer narrows to dim, so its weights go first; S (X W) = (S X) W.
        narrow = _by_branch(trunk.rows @ weight.t(), kernel)
        out = convolve(narrow, kernel)[:, : kernel.survivors]
        out = torch.tanh(out if bias is None else out + bias)
        # Of the rest nobody else knows, but these could be changed before the backward pass.
        ctx.save_for_backward(out, *tensors)
        ctx.trunk = trunk
        ctx.bias = bias is not None
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        out, *tensors = ctx.saved_tensors
        weight, _ = _pairs(tensors)[-1]
        trunk: Trunk = ctx.trunk
        kernel = trunk.first.kernel
        # tanh' = 1 - tanh^2; destroyed UAVs have no output, so no gradient.
        own = gradients[0] * (1.0 - out.square())
        whole = own.new_zeros(len(own), kernel.own.shape[1], own.shape[2])
        whole[:, : kernel.survivors] = own
        narrow = convolve(whole, kernel).flatten(0, 1)
        last = narrow.t() @ trunk.rows, own.sum(dim=(0, 1))
        layers = [*trunk.gradients(narrow @ weight), last]
        flat = [one for pair in layers for one in (pair if ctx.bias else (pair[0], None))]
        return None, None, None, None, *flat


def _pairs(tensors: Sequence[Tensor | None]) -> list[Weights]:
    return list(zip(tensors[::2], tensors[1::2], strict=True))  # type: ignore[arg-type]
