"""The forward and backward passes of DGCN, written out, on all branches at once.

Features are (K, N, d), survivors before destroyed UAVs. Automatic differentiation would give the
same numbers; here every product that is known to be zero is left out, sums are made in place,
and one record stands for the whole net instead of one for each of its sixty operations.
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

_WORTH_SKIPPING = 0.7
"""Share of the rows above which all of them are multiplied: quicker than to copy some."""

Weights = tuple[Tensor, Tensor | None]
"""W^T (d_out, d_in) and b of one layer."""


def convolve(features: Tensor, kernel: Kernel) -> Tensor:
    """S X for every branch, without forming S: (K, N, d) to (K, N, d)."""
    first = kernel.branches[0]
    if len(features) == 1 and isinstance(first, SparseRows):
        return _with_virtual((first @ features[0])[None], features, kernel)
    survivors = kernel.survivors
    out = features * kernel.own
    for mixed, unmixed, branch in zip(out, features, kernel.branches, strict=True):
        if isinstance(branch, SparseRows):
            mixed.copy_(branch @ unmixed)
        elif branch.shape[1]:
            lost = slice(survivors, survivors + branch.shape[1])
            mixed[:survivors].addmm_(branch, unmixed[lost])
            mixed[lost].addmm_(branch.t(), unmixed[:survivors])
    return _with_virtual(out, features, kernel)


def _with_virtual(out: Tensor, features: Tensor, kernel: Kernel) -> Tensor:
    """The product with what the links of the virtual node, the last one, add to it; in place."""
    if kernel.virtual is not None:
        out[:, :-1] += kernel.virtual * features[:, -1:]
        out[:, -1:] += kernel.virtual * features[:, :-1].sum(dim=1, keepdim=True)
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

    def weight_gradients(self, gradient: Tensor, live: Tensor | None = None) -> Weights:
        """Those of W^T and b for that of the output, (K N, d_out), which is masked in place.

        With G = dL/d(S X W + b), they are ``G^T S X`` and the column sums of G.

        Parameters
        ----------
        gradient
            Its rows, all of them or those that are `live`.
        live
            Which rows are given; the others are zero. None: all are given.
        """
        out, rows = self.out, self.rows
        if live is not None:
            out, rows = out.index_select(0, live), rows.index_select(0, live)
        torch.ops.aten.threshold_backward.grad_input(gradient, out, 0.0, grad_input=gradient)
        return gradient.t() @ rows, gradient.sum(dim=0)

    def feature_gradient(self, gradient: Tensor, live: Tensor | None = None) -> Tensor:
        """That of X, ``S G W^T`` since S is symmetric, for G as `weight_gradients` left it."""
        product = gradient @ self.weight
        if live is not None:
            whole = product.new_zeros(len(self.rows), product.shape[1])
            product = whole.index_copy_(0, live, product)
        return convolve(_by_branch(product, self.kernel), self.kernel).flatten(0, 1)


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
    first_mask
        What dropout multiplies the output of layer 1 with, before the first block and in every
        skip connection; None: no dropout there.
    skip_zero_rows
        Leave the nodes out of the backward pass that the loss does not reach yet. Sums are then
        made in another order, so the last bits of gradients differ.
    """

    kernel: Kernel
    masks: Sequence[Tensor | None]
    units: Sequence[Tensor | None]
    residual: bool = True
    skip_zero_rows: bool = False
    first_mask: Tensor | None = None


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
        skip = first.out
        if wiring.first_mask is not None:
            skip = skip * wiring.first_mask.flatten(0, 1)
        rows = skip
        blocks = []
        for mask, units, of_inner, of_outer in zip(
            wiring.masks, wiring.units, layers[1:-1:2], layers[2:-1:2], strict=True
        ):
            features = _by_branch(rows, kernel)
            inner = Gco.of(features if mask is None else features * mask, of_inner, kernel)
            outer = Gco.of(inner.features, of_outer, kernel)
            rows = _joined(outer.out, units, skip, wiring.residual)
            blocks.append((inner, outer))
        return Trunk(wiring, first, tuple(blocks), rows)

    def gradients(self, gradient: Tensor, reached: Tensor) -> list[Weights]:
        """Those of the layers, in order, for that of X_block^L, which is changed in place.

        Parameters
        ----------
        gradient
            (K N, d_s) that of X_block^L.
        reached
            (K, N, 1) one for the nodes that have one, else zero. The largest displacement is that
            of one UAV in each branch, and every layer passes it on by one link of the mDAG.
        """
        by_layer: list[Weights] = []
        of_skip = torch.zeros_like(gradient) if self.wiring.residual else None
        parts = zip(self.wiring.masks, self.wiring.units, self.blocks, strict=True)
        for mask, units, (inner, outer) in reversed(list(parts)):
            if of_skip is not None:
                of_skip += gradient
            if units is not None:
                gradient = gradient.index_select(1, units)
            for layer in (outer, inner):
                live = _few(reached) if self.wiring.skip_zero_rows else None
                if live is not None:
                    gradient = gradient.index_select(0, live)
                    further = convolve(reached, layer.kernel) != 0
                    reached = further.logical_or(reached).to(reached)
                by_layer.append(layer.weight_gradients(gradient, live))
                gradient = layer.feature_gradient(gradient, live)
            if mask is not None:
                gradient *= mask.flatten(0, 1)
        if of_skip is not None:
            gradient += of_skip
        if self.wiring.first_mask is not None:
            gradient *= self.wiring.first_mask.flatten(0, 1)
        by_layer.append(self.first.weight_gradients(gradient))
        return by_layer[::-1]


def _few(reached: Tensor) -> Tensor | None:
    """The rows that are one, if leaving the others out is worth its copies."""
    live = reached.flatten().nonzero()[:, 0]
    return live if len(live) < _WORTH_SKIPPING * reached.numel() else None


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
        reached = (narrow != 0).any(dim=1).to(narrow.dtype)
        slopes = trunk.gradients(narrow @ weight, reached.view(*whole.shape[:2], 1))
        layers = [*slopes, last]
        flat = [tensor for pair in layers for tensor in (pair if ctx.bias else (pair[0], None))]
        return None, None, *flat


def _pairs(tensors: Sequence[Tensor | None]) -> list[Weights]:
    return list(zip(tensors[::2], tensors[1::2], strict=True))  # type: ignore[arg-type]
