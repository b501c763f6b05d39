"""Kernels and stacks of convolutions against numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from reknit.algorithms.learned.common import layers
from reknit.algorithms.learned.common.layers import (
    ConvolutionStack,
    as_tensor,
    contracting_kernel,
    convolve,
    drop,
    fill,
    layer_sizes,
    without_values,
)

STAR = np.array([[0, 1], [0, 2], [0, 3]])
"""Node 0 linked with 1, 2 and 3."""


def test_the_contracting_kernel_by_hand() -> None:
    """The star has ||A||_inf = 3, so eps = 0.33: the hub keeps 1 - 3 eps = 0.01 of itself, a
    leaf 0.67, and every link has the weight 0.33.
    """
    by_hand = [
        [0.01, 0.33, 0.33, 0.33],
        [0.33, 0.67, 0.00, 0.00],
        [0.33, 0.00, 0.67, 0.00],
        [0.33, 0.00, 0.00, 0.67],
    ]
    np.testing.assert_allclose(contracting_kernel(STAR, 4).toarray(), by_hand, atol=1e-12)


def test_no_links_leave_everyone_alone() -> None:
    """Without links the kernel is the identity, also for a single node."""
    nobody = np.empty((0, 2), dtype=np.int64)
    assert contracting_kernel(nobody, 3).toarray().tolist() == np.eye(3).tolist()
    assert contracting_kernel(nobody, 1).toarray().tolist() == [[1.0]]


def test_sparse_and_dense_kernels_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel kept sparse gives the same product and the same gradient as the dense one."""
    features = torch.arange(8.0).reshape(4, 2).requires_grad_()
    kernel = contracting_kernel(STAR, 4)
    results = []
    for limit in (1_000, 1):
        monkeypatch.setattr(layers, "_SPARSE_FROM", limit)
        monkeypatch.setattr(layers, "_SPARSE_BELOW", 1.0)
        product = as_tensor(kernel) @ features
        (gradient,) = torch.autograd.grad(product.square().sum(), features)
        results.append((as_tensor(kernel).is_sparse, product.detach(), gradient))
    assert [one[0] for one in results] == [False, True]
    torch.testing.assert_close(results[0][1], results[1][1])
    torch.testing.assert_close(results[0][2], results[1][2])


@pytest.mark.parametrize(("wide_in", "wide_out"), [(2, 5), (5, 2)])
def test_the_order_of_the_products_does_not_matter(wide_in: int, wide_out: int) -> None:
    """S X W + b, whichever side of W the product with S is taken on."""
    generator = torch.Generator().manual_seed(0)
    layer = nn.Linear(wide_in, wide_out)
    features = torch.randn(4, wide_in, generator=generator)
    kernel = as_tensor(contracting_kernel(STAR, 4))
    expected = kernel @ features @ layer.weight.T + layer.bias
    torch.testing.assert_close(convolve(features, kernel, layer), expected)


def test_the_stack_by_hand() -> None:
    """Hub at 3, leaves at 0: the first product is 0.03 and 0.99 for the leaves; weight -1 and
    bias 0.5 leave ReLU(0.47) and 0, and the second product feeds tanh.
    """
    stack = ConvolutionStack([(1, 1), (1, 1)])
    with torch.no_grad():
        for layer, weight, bias in zip(stack.linear_layers, (-1.0, 1.0), (0.5, 0.0), strict=True):
            layer.weight.fill_(weight)
            layer.bias.fill_(bias)
    start = torch.tensor([[3.0], [0.0], [0.0], [0.0]])
    output = stack(start, as_tensor(contracting_kernel(STAR, 4))).detach().numpy()[:, 0]
    np.testing.assert_allclose(
        output, np.tanh(0.47 * np.array([0.01, 0.33, 0.33, 0.33])), atol=1e-6
    )


def test_dropout_keeps_the_mean_and_its_generator() -> None:
    """A share is zeroed, the rest scaled up; without a generator nothing happens."""
    ones = torch.ones(200, 50)
    dropped = drop(ones, 0.1, torch.Generator().manual_seed(0))
    kept = dropped[dropped != 0]
    torch.testing.assert_close(kept, torch.full_like(kept, 1 / 0.9))
    assert float((dropped == 0).float().mean()) == pytest.approx(0.1, abs=0.02)
    assert drop(ones, 0.1, None) is ones
    assert torch.equal(dropped, drop(ones, 0.1, torch.Generator().manual_seed(0)))


def test_first_weights_come_from_the_generator_alone() -> None:
    """Glorot limits, zero biases, gains of one; building draws nothing from torch's own."""
    before = torch.random.get_rng_state()
    net = without_values(lambda: nn.Sequential(nn.Linear(30, 70), nn.LayerNorm(70)))
    fill(net, torch.Generator().manual_seed(0))
    assert torch.equal(before, torch.random.get_rng_state())
    weights = {name: one.detach() for name, one in net.named_parameters()}
    limit = np.sqrt(6.0 / 100.0)
    assert 0.95 * limit < float(weights["0.weight"].abs().max()) <= limit
    assert weights["0.bias"].eq(0).all()
    assert weights["1.weight"].eq(1).all()
    assert weights["1.bias"].eq(0).all()


def test_layer_sizes() -> None:
    """From positions through hidden features to positions."""
    assert layer_sizes(2, 4, 5) == ((2, 5), (5, 5), (5, 5), (5, 2))
