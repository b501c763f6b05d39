"""GCN: its kernel by hand, and how it trains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import reknit
from reknit.algorithms.learned.common.geometric import GCNConv, both_ways
from reknit.algorithms.learned.gcn.net import GcnNet
from reknit.algorithms.learned.gcn.planner import Gcn
from reknit.base.context import Context
from reknit.base.errors import InvalidParameter

SMALL: dict[str, Any] = {"layers": 3, "hidden": 16}


def test_the_kernel_by_hand() -> None:
    """On the path 0-1-2, A + I has row sums 2, 3, 2, so S has 1/2, 1/3, 1/2 on its diagonal and
    1/sqrt(6) for either link.
    """
    layer = GCNConv(1, 1, bias=False)
    with torch.no_grad():
        layer.lin.weight.fill_(1.0)
    columns = [layer(torch.eye(3)[:, [k]], both_ways(np.array([[0, 1], [1, 2]]))) for k in range(3)]
    root = 1.0 / np.sqrt(6.0)
    by_hand = [[1 / 2, root, 0.0], [root, 1 / 3, root], [0.0, root, 1 / 2]]
    np.testing.assert_allclose(torch.cat(columns, dim=1).detach().numpy(), by_hand, atol=1e-6)


def test_the_network_by_hand() -> None:
    """Two linked UAVs at 1 and 3 average to 2; the weights 1, 0.5 and a bias of 1 then give
    tanh(2 * 0.5 + 1) for both.
    """
    net = GcnNet(1, layers=2, hidden=1, dropout=0.0)
    layers: list[Any] = list(net.layers)
    with torch.no_grad():
        for layer, weight, bias in zip(layers, (1.0, 0.5), (0.0, 1.0), strict=True):
            layer.lin.weight.fill_(weight)
            layer.bias.fill_(bias)
    output = net(torch.tensor([[1.0], [3.0]]), both_ways(np.array([[0, 1]])), None)
    np.testing.assert_allclose(output.detach().numpy(), np.tanh([[2.0], [2.0]]), atol=1e-6)


def test_training_moves_everyone_less() -> None:
    """More iterations never give a slower plan, and some give a faster one."""
    scenario = reknit.generate(20, 10, seed=3, split=True)
    times = [
        reknit.plan(
            scenario, "gcn", iterations=count, hidden=64, learning_rate=1e-3, fastest="planned"
        )
        for count in (0, 10, 40)
    ]
    assert all(plan.status is reknit.Status.FEASIBLE for plan in times)
    seconds = [plan.recovery_time_s for plan in times]
    assert seconds[0] >= seconds[1] >= seconds[2]
    assert seconds[2] < seconds[0]


def test_the_work_is_limited() -> None:
    """The iterations made are at most those asked for, and a budget of nothing makes none."""
    scenario = reknit.generate(20, 10, seed=3, split=True)
    plan = reknit.plan(scenario, "gcn", iterations=4, **SMALL)
    assert plan.details["iterations"] == 4
    assert plan.details["stopped_by"] == "iterations"
    hurried = reknit.plan(scenario, "gcn", budget_s=0.0, **SMALL)
    assert hurried.details["iterations"] == 0
    assert hurried.details["stopped_by"] == "deadline"
    assert hurried.recovery_time_s == 0.0


def test_the_seed_decides() -> None:
    """The same seed gives the same targets to the bit whatever torch's global generator did;
    another seed gives others; and the global generator is left alone.
    """
    scenario = reknit.generate(20, 10, seed=3, split=True)
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    first = reknit.plan(scenario, "gcn", iterations=3, **SMALL)
    assert torch.equal(before, torch.random.get_rng_state())
    torch.manual_seed(2)
    again = reknit.plan(scenario, "gcn", iterations=3, **SMALL)
    other = reknit.plan(scenario, "gcn", seed=1, iterations=3, **SMALL)
    assert first.targets.tobytes() == again.targets.tobytes()
    assert first.targets.tobytes() != other.targets.tobytes()


def test_a_split_output_stays_split() -> None:
    """An output that is not connected is not repaired, and its status says so; with
    contraction after it, the plan connects.
    """
    scenario = reknit.Scenario([[0.0, 0.0], [3000.0, 0.0], [0.0, 3000.0]], [], 1.0)
    far: dict[str, Any] = {"iterations": 0, "hidden": 16, "layers": 2}
    assert reknit.plan(scenario, "gcn", **far).status is reknit.Status.NOT_CONNECTED
    assert not reknit.recover(scenario, "gcn", **far).metrics.converged
    assert reknit.plan(scenario, "gcn+contraction", **far).status.is_connected


def test_progress_is_told() -> None:
    """One report per iteration, rising to 1."""
    told: list[float] = []
    scenario = reknit.generate(20, 10, seed=3, split=True)
    context = Context(progress=lambda fraction, message: told.append(fraction))
    Gcn(iterations=4, layers=3, hidden=16).propose(scenario, context)
    assert told == [0.0, 0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("layers", 1),
        ("hidden", 0),
        ("dropout", 1.0),
        ("learning_rate", 0.0),
        ("iterations", -1),
        ("patience", 0),
        ("penalty", float("nan")),
    ],
)
def test_parameters_are_checked(name: str, value: float) -> None:
    """Values that make no sense are refused on creation."""
    with pytest.raises(InvalidParameter, match=rf"Gcn\.{name}"):
        Gcn(**{name: value})  # type: ignore[arg-type]


def test_an_unknown_disconnection_term_is_refused() -> None:
    """Only the count and its relaxation exist."""
    with pytest.raises(InvalidParameter, match=r"did you mean 'excess'"):
        Gcn(disconnection="excesses")  # type: ignore[arg-type]
