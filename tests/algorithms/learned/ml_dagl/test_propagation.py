"""The written-out passes against dense kernels and automatic differentiation."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from reknit.algorithms.learned.ml_dagl.dgcn import Dgcn, Shape
from reknit.algorithms.learned.ml_dagl.kernel import Kernel, SparseRows, _branch
from reknit.algorithms.learned.ml_dagl.propagation import (
    Gco,
    Pass,
    Weights,
    Wiring,
    convolve,
)

SURVIVORS, LOST, HIDDEN = 30, 20, 40
NODES = SURVIVORS + LOST


def _kernel(share: float, branches: int = 2, virtual: bool = False) -> Kernel:
    """Branches of 30 + 20 nodes with about this share of their links, and a virtual node."""
    generator = torch.Generator().manual_seed(1)
    coupling = torch.rand(branches, SURVIVORS, LOST, generator=generator, dtype=torch.float64)
    linked = torch.rand(branches, SURVIVORS, LOST, generator=generator) < share
    nodes = NODES + virtual
    own = torch.rand(branches, nodes, 1, generator=generator, dtype=torch.float64) / 2.0
    rows = []
    for diagonal, block in zip(own[:, :, 0], coupling * linked / 4.0, strict=True):
        row, column = block.nonzero(as_tuple=True)
        rows.append(_branch(diagonal, row, column, block[row, column], (SURVIVORS, LOST)))
    weight = torch.rand(branches, 1, 1, generator=generator, dtype=torch.float64) / 8.0
    return Kernel(own, tuple(rows), SURVIVORS, weight if virtual else None)


def _dense(kernel: Kernel) -> Tensor:
    """(K, N, N) every S, written out whole."""
    dense = torch.diag_embed(kernel.own[:, :, 0])
    for whole, branch in zip(dense, kernel.branches, strict=True):
        if isinstance(branch, SparseRows):
            for row in range(len(whole)):
                for entry in range(int(branch.first[row]), int(branch.first[row + 1])):
                    whole[row, branch.column[entry]] = branch.value[entry]
        else:
            whole[:SURVIVORS, SURVIVORS:NODES] = branch
            whole[SURVIVORS:NODES, :SURVIVORS] = branch.t()
    if kernel.virtual is not None:
        dense[:, :NODES, NODES:] = kernel.virtual
        dense[:, NODES:, :NODES] = kernel.virtual
    return dense


def _net(residual: bool, bias: bool, asleep: int) -> Dgcn:
    """A small net; in each layer of the blocks so many units answer to nothing."""
    generator = torch.Generator().manual_seed(2)
    shape = Shape(hidden=HIDDEN, blocks=2, bias=bias)
    net = Dgcn(shape, residual=residual, generator=generator).double()
    for layer in net.linear_layers[1:-1]:
        which = torch.randperm(HIDDEN, generator=generator)[:asleep]
        with torch.no_grad():
            # Features are at least zero, so weights below zero never wake a unit.
            layer.weight[which] = -layer.weight[which].abs()
            if layer.bias is not None:
                layer.bias[which] = -0.1
    return net


def _positions(nodes: int = NODES) -> Tensor:
    generator = torch.Generator().manual_seed(3)
    return torch.rand(nodes, 2, generator=generator, dtype=torch.float64) - 0.5


def _plain(
    net: Dgcn, kernel: Kernel, masks: Sequence[Tensor | None], first_mask: Tensor | None = None
) -> Tensor:
    """The net from its equations, left to automatic differentiation."""
    dense = _dense(kernel)
    first, *inner, last = net.linear_layers
    skip = torch.relu(first(dense @ _positions(dense.shape[1])))
    skip = skip if first_mask is None else skip * first_mask
    features = skip
    for number, (mask, units) in enumerate(zip(masks, net.units, strict=True)):
        features = features if mask is None else features * mask
        features = torch.relu(inner[2 * number](dense @ features))
        features = torch.relu(inner[2 * number + 1](dense @ features))
        if units is not None:
            features = torch.zeros_like(skip).index_copy(2, units, features)
        features = features + skip if net.residual else features
    return torch.tanh(last(dense @ features))[:, :SURVIVORS]


@pytest.mark.parametrize("share", [0.05, 0.8])
@pytest.mark.parametrize("branches", [1, 2])
@pytest.mark.parametrize("virtual", [False, True])
def test_a_convolution_is_the_product_with_the_whole_kernel(
    share: float, branches: int, virtual: bool
) -> None:
    """By sparse rows or by dense blocks, with a virtual node or none, the product is S X."""
    kernel = _kernel(share, branches, virtual)
    assert all(isinstance(one, SparseRows) == (share < 0.1) for one in kernel.branches)
    features = torch.rand(branches, NODES + virtual, 5, dtype=torch.float64)
    torch.testing.assert_close(convolve(features, kernel), _dense(kernel) @ features)


def test_sparse_and_dense_branches_may_stand_side_by_side() -> None:
    """A batch may hold a branch with few links and one with many."""
    few, many = _kernel(0.05, 1), _kernel(0.8, 1)
    both = Kernel(torch.cat([few.own, many.own]), (*few.branches, *many.branches), few.survivors)
    assert [isinstance(one, SparseRows) for one in both.branches] == [True, False]
    features = torch.rand(2, NODES, 5, dtype=torch.float64)
    torch.testing.assert_close(convolve(features, both), _dense(both) @ features)


@pytest.mark.parametrize("share", [0.05, 0.8])
@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("left_out", [None, 20, HIDDEN])
@pytest.mark.parametrize("dropout", [False, True])
def test_output_and_gradients_are_those_of_automatic_differentiation(
    share: float, residual: bool, bias: bool, left_out: int | None, dropout: bool
) -> None:
    """With units left out or none, dropout or none, every weight gets its gradient."""
    kernel, net = _kernel(share), _net(residual, bias, left_out or 0)
    if left_out is not None:
        net.leave_out_asleep(_positions(), kernel)
    mask = torch.rand(2, NODES, HIDDEN, dtype=torch.float64).round() * 2.0 if dropout else None
    masks = [None, mask]
    tensors = [one for pair in net.weights for one in pair]
    wiring = Wiring(kernel, masks, net.units, residual)
    found: Tensor = Pass.apply(_positions(), wiring, *tensors)  # type: ignore[no-untyped-call]
    expected = _plain(net, kernel, masks)
    torch.testing.assert_close(found, expected)
    direction = torch.randn(found.shape, dtype=torch.float64)
    weights = list(net.parameters())
    own = torch.autograd.grad(found, weights, direction)
    automatic = torch.autograd.grad(expected, weights, direction)
    for one, other in zip(own, automatic, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("share", [0.03, 0.8])
@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("skip", [True, False])
def test_gradients_with_a_virtual_node_and_dropout_after_the_first_layer(
    share: float, residual: bool, skip: bool
) -> None:
    """They are those of automatic differentiation too, with zero rows left out or not."""
    kernel, net = _kernel(share, virtual=True), _net(residual, True, 0)
    shape = 2, 2, NODES + 1, HIDDEN
    first, later = torch.rand(shape, dtype=torch.float64).round() * 2.0
    tensors = [one for pair in net.weights for one in pair]
    wiring = Wiring(kernel, [None, later], net.units, residual, skip, first)
    found: Tensor = Pass.apply(_positions(NODES + 1), wiring, *tensors)  # type: ignore[no-untyped-call]
    expected = _plain(net, kernel, [None, later], first)
    torch.testing.assert_close(found, expected)
    own, automatic = (
        torch.autograd.grad(output[0, 3].sum() + output[1, 7].sum(), list(net.parameters()))
        for output in (found, expected)
    )
    for one, other in zip(own, automatic, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("left_out", [None, 20])
def test_rows_that_the_loss_does_not_reach_may_be_left_out(
    residual: bool, left_out: int | None
) -> None:
    """Where one survivor of each branch has a gradient, skipping zero rows changes no gradient."""
    kernel, net = _kernel(0.03), _net(residual, True, left_out or 0)
    if left_out is not None:
        net.leave_out_asleep(_positions(), kernel)
    mask = torch.rand(2, NODES, HIDDEN, dtype=torch.float64).round() * 2.0
    tensors = [one for pair in net.weights for one in pair]
    rows: list[int] = []

    def gradients(skip: bool) -> Sequence[Tensor]:
        wiring = Wiring(kernel, [None, mask], net.units, residual, skip)
        output: Tensor = Pass.apply(_positions(), wiring, *tensors)  # type: ignore[no-untyped-call]
        return torch.autograd.grad(output[0, 3].sum() + output[1, 7].sum(), list(net.parameters()))

    counted = Gco.weight_gradients

    def count(layer: Gco, gradient: Tensor, live: Tensor | None = None) -> Weights:
        rows.append(len(gradient))
        return counted(layer, gradient, live)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Gco, "weight_gradients", count)
        found = gradients(skip=True)
    assert rows[0] < NODES < rows[-1] == 2 * NODES
    for one, other in zip(found, gradients(skip=False), strict=True):
        torch.testing.assert_close(one, other)


def test_a_layer_masks_the_gradient_it_is_given() -> None:
    """What goes back through a layer is zero wherever its ReLU was."""
    net, kernel = _net(residual=True, bias=True, asleep=0), _kernel(0.8)
    with torch.no_grad():
        layer = Gco.of(_positions().expand(2, NODES, 2), net.weights[0], kernel)
        gradient = torch.ones_like(layer.out)
        layer.weight_gradients(gradient)
    assert torch.equal(gradient, (layer.out > 0).double())
    assert 0 < gradient.mean() < 1


def test_changed_weights_are_noticed_before_the_backward_pass() -> None:
    """A gradient for weights that are no longer those of the forward pass is refused."""
    net, kernel = _net(residual=True, bias=True, asleep=0), _kernel(0.8)
    output = net(_positions(), kernel)
    with torch.no_grad():
        net.linear_layers[2].weight.mul_(2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        output.sum().backward()
