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

from reknit.algorithms.learned.ml_dagl.kernel import Kernel, SparseRows

Weights = tuple[Tensor, Tensor | None]
"""W^T (d_out, d_in) and b of one layer."""


def convolve(features: Tensor, kernel: Kernel) -> Tensor:
    """S X for every branch, without forming S: (K, N, d) to (K, N, d)."""
    first = kernel.branches[0]
    if len(features) == 1 and isinstance(first, SparseRows):
        return (first @ features[0])[None]
    survivors = kernel.survivors
    out = features * kernel.own
    for mixed, unmixed, branch in zip(out, features, kernel.branches, strict=True):
        if isinstance(branch, SparseRows):
            mixed.copy_(branch @ unmixed)
        elif branch.shape[1]:
            mixed[:survivors].addmm_(branch, unmixed[survivors:])
            mixed[survivors:].addmm_(branch.t(), unmixed[:survivors])
    return out


@dataclass(frozen=True, eq=False)
class Gco:
    """One layer ``ReLU(S X W + b)``, and what its backward pass needs.

    Parameters
    ----------
    rows
        (K N, d_in) S X.
    out
        (K N, d_out) its output.
    """

    kernel: Kernel
    weight: Tensor
    rows: Tensor
    out: Tensor

    @staticmethod
    def of(features: Tensor, weights: Weights, kernel: Kernel) -> Gco:
        """The forward pass."""
        weight, bias = weights
        rows = convolve(features, kernel).flatten(0, 1)
        return Gco(kernel, weight, rows, functional.linear(rows, weight, bias).clamp_min_(0.0))

    @property
    def features(self) -> Tensor:
        """(K, N, d_out) the output."""
        return _by_branch(self.out, self.kernel)

    def weight_gradients(self, gradient: Tensor) -> Weights:
        """Those of W^T and b for that of the output, (K N, d_out), which is masked in place.

        With G = dL/d(S X W + b), they are ``G^T S X`` and the column sums of G.
        """
        torch.ops.aten.threshold_backward.grad_input(gradient, self.out, 0.0, grad_input=gradient)
        return gradient.t() @ self.rows, gradient.sum(dim=0)

    def feature_gradient(self, gradient: Tensor) -> Tensor:
        """That of X, ``S G W^T`` since S is symmetric, for G as `weight_gradients` left it."""
        return convolve(_by_branch(gradient @ self.weight, self.kernel), self.kernel).flatten(0, 1)


def _by_branch(rows: Tensor, kernel: Kernel) -> Tensor:
    """(K N, d) as (K, N, d)."""
    branches, nodes, _ = kernel.own.shape
    return rows.view(branches, nodes, rows.shape[1])


@dataclass(frozen=True, eq=False)
class Wiring:
    """What decides the passes beside weights and positions.

    Parameters
    ----------
    kernel
        S of every branch.
    masks
        For each block what dropout multiplies its input with; None: no dropout.
    units
        For each block which of the d_s features its second layer computes, the others being zero;
        None: all of them.
    residual
        Whether blocks have their skip connection.
    """

    kernel: Kernel
    masks: Sequence[Tensor | None]
    units: Sequence[Tensor | None]
    residual: bool = True


@dataclass(frozen=True, eq=False)
class Trunk:
    """X_block^L with everything on the way to it.

    Parameters
    ----------
    first
        Layer 1, whose output is every block's skip connection.
    blocks
        Both layers of each residual block.
    rows
        (K N, d_s) X_block^L.
    """

    wiring: Wiring
    first: Gco
    blocks: tuple[tuple[Gco, Gco], ...]
    rows: Tensor

    @staticmethod
    def of(positions: Tensor, layers: Sequence[Weights], wiring: Wiring) -> Trunk:
        """The forward pass: (N, dim) through layer 1 and the blocks, all but the last layer."""
        kernel = wiring.kernel
        first = Gco.of(positions.expand(len(kernel.own), *positions.shape), layers[0], kernel)
        rows = first.out
        blocks = []
        for mask, units, of_inner, of_outer in zip(
            wiring.masks, wiring.units, layers[1:-1:2], layers[2:-1:2], strict=True
        ):
            features = _by_branch(rows, kernel)
            inner = Gco.of(features if mask is None else features * mask, of_inner, kernel)
            outer = Gco.of(inner.features, of_outer, kernel)
            rows = _joined(outer.out, units, first.out, wiring.residual)
            blocks.append((inner, outer))
        return Trunk(wiring, first, tuple(blocks), rows)

    def gradients(self, gradient: Tensor) -> list[Weights]:
        """Those of the layers, in order, for that of X_block^L, which is changed in place."""
        by_layer: list[Weights] = []
        of_skip = torch.zeros_like(gradient) if self.wiring.residual else None
        parts = zip(self.wiring.masks, self.wiring.units, self.blocks, strict=True)
        for mask, units, (inner, outer) in reversed(list(parts)):
            if of_skip is not None:
                of_skip += gradient
            if units is not None:
                gradient = gradient.index_select(1, units)
            by_layer.append(outer.weight_gradients(gradient))
            gradient = outer.feature_gradient(gradient)
            by_layer.append(inner.weight_gradients(gradient))
            gradient = inner.feature_gradient(gradient)
            if mask is not None:
                gradient *= mask.flatten(0, 1)
        if of_skip is not None:
            gradient += of_skip
        by_layer.append(self.first.weight_gradients(gradient))
        return by_layer[::-1]


def _joined(out: Tensor, units: Tensor | None, skip: Tensor, residual: bool) -> Tensor:
    """The output of a block: of its second layer, and of its skip connection if it has one."""
    if units is None:
        return out + skip if residual else out
    whole = skip.clone() if residual else torch.zeros_like(skip)
    return whole.index_add_(1, units, out)


class Pass(torch.autograd.Function):
    """X_norm (N, dim) to the survivors' X^Q (K, N_R, dim)."""

    @staticmethod
    def forward(ctx: Any, positions: Tensor, wiring: Wiring, *tensors: Tensor | None) -> Tensor:
        kernel = wiring.kernel
        layers = _pairs(tensors)
        weight, bias = layers[-1]
        trunk = Trunk.of(positions, layers, wiring)
        # The last layer narrows to dim, so its weights go first; S (X W) = (S X) W.
        narrow = _by_branch(trunk.rows @ weight.t(), kernel)
        out = convolve(narrow, kernel)[:, : kernel.survivors]
        out = torch.tanh(out if bias is None else out + bias)
        # Saved through autograd, which notices if the caller changes them before the backward pass.
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
        kernel = trunk.wiring.kernel
        # tanh' = 1 - tanh^2; destroyed UAVs have no output, so no gradient.
        own = gradients[0] * (1.0 - out.square())
        whole = own.new_zeros(len(own), kernel.own.shape[1], own.shape[2])
        whole[:, : kernel.survivors] = own
        narrow = convolve(whole, kernel).flatten(0, 1)
        last = narrow.t() @ trunk.rows, own.sum(dim=(0, 1))
        layers = [*trunk.gradients(narrow @ weight), last]
        flat = [tensor for pair in layers for tensor in (pair if ctx.bias else (pair[0], None))]
        return None, None, *flat


def _pairs(tensors: Sequence[Tensor | None]) -> list[Weights]:
    return list(zip(tensors[::2], tensors[1::2], strict=True))  # type: ignore[arg-type]
