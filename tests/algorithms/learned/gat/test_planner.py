"""GAT: attention by hand, and how it trains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import reknit
from reknit.algorithms.learned.common.geometric import GATv2Conv, both_ways
from reknit.algorithms.learned.gat.net import GatNet
from reknit.algorithms.learned.gat.planner import Gat
from reknit.base.errors import InvalidParameter

SMALL: dict[str, Any] = {"layers": 3, "hidden": 8, "heads": 2}


def test_attention_by_hand() -> None:
    """On the path 0-1-2 with features 1, 2, 3 and all weights one, node i gives its neighbour j
    the share exp(x_i + x_j) / sum, so it takes the mean of x_j weighed by exp(x_j).
    """
    layer = GATv2Conv(1, 1, heads=1, share_weights=True, bias=False)
    with torch.no_grad():
        layer.lin_l.weight.fill_(1.0)
        layer.att.fill_(1.0)
    output = layer(torch.tensor([[1.0], [2.0], [3.0]]), both_ways(np.array([[0, 1], [1, 2]])))
    e = np.exp([1.0, 2.0, 3.0])
    by_hand = [
        (1 * e[0] + 2 * e[1]) / (e[0] + e[1]),
        (1 * e[0] + 2 * e[1] + 3 * e[2]) / e.sum(),
        (2 * e[1] + 3 * e[2]) / (e[1] + e[2]),
    ]
    np.testing.assert_allclose(output.detach().numpy()[:, 0], by_hand, atol=1e-6)


def test_attention_leaks_for_negative_sums() -> None:
    """Below zero the sum x_i + x_j counts a fifth: features -1 and -3 of a linked pair give
    node 0 the scores -2/5 and -4/5.
    """
    layer = GATv2Conv(1, 1, heads=1, share_weights=True, bias=False)
    with torch.no_grad():
        layer.lin_l.weight.fill_(1.0)
        layer.att.fill_(1.0)
    output = layer(torch.tensor([[-1.0], [-3.0]]), both_ways(np.array([[0, 1]])))
    own, other = np.exp(-0.4), np.exp(-0.8)
    expected = (-1.0 * own - 3.0 * other) / (own + other)
    assert float(output.detach()[0, 0]) == pytest.approx(expected, abs=1e-6)


def test_the_network_has_the_papers_shape() -> None:
    """Six layers, heads of 500 features concatenated, one normalisation after each but the
    last, and outputs in (-1, 1).
    """
    with torch.device("meta"):
        net = GatNet(Gat(), dim=2)
    layers: list[Any] = list(net.layers)
    sizes = [(layer.in_channels, layer.out_channels, layer.heads) for layer in layers]
    assert sizes == [(2, 500, 4)] + [(2000, 500, 4)] * 4
    assert (net.last.in_channels, net.last.out_channels) == (2000, 2)
    assert [norm.normalized_shape for norm in net.norms] == [(2000,)] * 5
    small = GatNet.make(Gat(layers=3, hidden=8, heads=2), dim=2, seed=0)
    output = small(torch.randn(4, 2), both_ways(np.array([[0, 1], [2, 3]])), None)
    assert output.shape == (4, 2)
    assert output.abs().max() < 1.0


def test_the_work_is_limited_and_repeatable() -> None:
    """Iterations and budget are kept to; the same seed gives the same targets to the bit."""
    scenario = reknit.generate(20, 10, seed=3, split=True)
    first, again = (reknit.plan(scenario, "gat", iterations=3, **SMALL) for _ in range(2))
    assert first.details["iterations"] == 3
    assert first.targets.tobytes() == again.targets.tobytes()
    other = reknit.plan(scenario, "gat", iterations=3, seed=1, **SMALL)
    assert first.targets.tobytes() != other.targets.tobytes()
    hurried = reknit.plan(scenario, "gat", budget_s=0.0, **SMALL)
    assert hurried.details["iterations"] == 0


@pytest.mark.parametrize(("name", "value"), [("heads", 0), ("layers", 1), ("dropout", -0.1)])
def test_parameters_are_checked(name: str, value: float) -> None:
    """Values that make no sense are refused on creation."""
    with pytest.raises(InvalidParameter, match=name):
        Gat(**{name: value})  # type: ignore[arg-type]
