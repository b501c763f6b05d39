"""DGCN against the dense KN x KN version of the paper."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

import reknit
from reknit.algorithms.learned.common.scaled import ScaledScenario
from reknit.algorithms.learned.ml_dagl.attention import DamageHops
from reknit.algorithms.learned.ml_dagl.dgcn import Dgcn, Shape
from reknit.algorithms.learned.ml_dagl.identity_start import start_as_identity
from reknit.algorithms.learned.ml_dagl.kernel import (
    Kernel,
    SparseRows,
    bipartite_kernel,
    ordinary_kernel,
)
from tests.algorithms.learned.ml_dagl import literal

HOPS = (1, 2, 4)


def _bipartite(scenario: reknit.Scenario, epsilon: str, chosen: tuple[int, ...] = HOPS) -> Kernel:
    return bipartite_kernel(DamageHops.of(scenario, chosen), chosen, epsilon)


def _double(kernel: Kernel) -> Kernel:
    branches = tuple(
        replace(one, value=one.value.double()) if isinstance(one, SparseRows) else one.double()
        for one in kernel.branches
    )
    return Kernel(kernel.own.double(), branches, kernel.survivors)


def _dense_kernels(scenario: reknit.Scenario, gco: str) -> list[np.ndarray]:
    kernels = []
    for k in HOPS:
        adjacency = literal.mdag(scenario, k)
        if gco == "bipartite":
            kernels.append(np.eye(len(adjacency)) - literal.laplacian(adjacency) / len(adjacency))
        else:
            root = np.diag((adjacency.sum(axis=1) + 1.0) ** -0.5)
            kernels.append(root @ (adjacency + np.eye(len(adjacency))) @ root)
    return kernels


@pytest.mark.parametrize("gco", ["bipartite", "ordinary"])
@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("dim", [2, 3])
def test_output_is_that_of_the_literal_network(gco: str, residual: bool, dim: int) -> None:
    """The block form on all branches at once equals the dense network, in metres."""
    scenario = reknit.generate(uavs=24, destroyed=10, seed=1, split=True, dim=dim)
    generator = torch.Generator().manual_seed(3)
    net = Dgcn(Shape(dim, hidden=16, blocks=2), residual=residual, generator=generator)
    hops = DamageHops.of(scenario, HOPS)
    bipartite = gco == "bipartite"
    kernel = bipartite_kernel(hops, HOPS) if bipartite else ordinary_kernel(hops, HOPS)
    scaled = ScaledScenario.of(scenario)
    found = scaled.targets(net(scaled.unit, kernel))
    expected = literal.dgcn(
        literal.input_positions(scenario),
        _dense_kernels(scenario, gco),
        [layer.weight.detach().double().numpy().T for layer in net.linear_layers],
        [layer.bias.detach().double().numpy() for layer in net.linear_layers],
        residual,
    )
    for row, whole in enumerate(expected):
        np.testing.assert_allclose(found[row], whole[: len(scenario.survivors)], atol=0.01)


def test_branches_do_not_mix() -> None:
    """A branch computed alone gives what it gives beside others."""
    scenario = reknit.generate(uavs=30, destroyed=15, seed=2, split=True)
    net = Dgcn(Shape(hidden=16), generator=torch.Generator().manual_seed(0))
    kernel = _bipartite(scenario, "norm")
    scaled = ScaledScenario.of(scenario)
    together = net(scaled.unit, kernel)
    alone = net(scaled.unit, kernel.of_branches([1]))
    torch.testing.assert_close(together[1:2], alone)


def test_survivors_order_does_not_matter() -> None:
    """Numbering the UAVs differently permutes the output and changes nothing else."""
    scenario = reknit.generate(uavs=30, destroyed=15, seed=2, split=True)
    order = np.random.default_rng(0).permutation(30)
    place = np.argsort(order)
    other = reknit.Scenario(scenario.positions[order], place[scenario.destroyed].tolist())
    net = Dgcn(Shape(hidden=16), generator=torch.Generator().manual_seed(0))
    results = []
    for one in (scenario, other):
        scaled = ScaledScenario.of(one)
        kernel = _bipartite(one, "uavs")
        targets = np.empty((30, 2))
        targets[one.survivors] = scaled.targets(net(scaled.unit, kernel))[1]
        results.append(targets)
    np.testing.assert_allclose(
        results[1][place[scenario.survivors]], results[0][scenario.survivors], atol=1e-3
    )


def test_moving_the_swarm_moves_the_output() -> None:
    """The normalisation makes the output follow a translation of all positions."""
    scenario = reknit.generate(uavs=30, destroyed=15, seed=2, split=True)
    shift = np.array([4000.0, -1500.0])
    other = reknit.Scenario(scenario.positions + shift, scenario.destroyed.tolist())
    net = Dgcn(Shape(hidden=16), generator=torch.Generator().manual_seed(0))
    found = []
    for one in (scenario, other):
        scaled = ScaledScenario.of(one)
        kernel = _bipartite(one, "uavs")
        found.append(scaled.targets(net(scaled.unit, kernel)))
    np.testing.assert_allclose(found[1], found[0] + shift, atol=1e-2)


def test_dropout_needs_a_generator_and_repeats_with_it() -> None:
    """Without a generator there is no dropout; the same one gives the same output."""
    scenario = reknit.generate(uavs=30, destroyed=15, seed=2, split=True)
    net = Dgcn(Shape(hidden=64), dropout=0.5, generator=torch.Generator().manual_seed(0))
    kernel = _bipartite(scenario, "uavs")
    unit = ScaledScenario.of(scenario).unit

    def run(seed: int | None) -> torch.Tensor:
        drop = None if seed is None else torch.Generator().manual_seed(seed)
        output: torch.Tensor = net(unit, kernel, drop)
        return output

    assert torch.equal(run(None), run(None))
    assert torch.equal(run(5), run(5))
    assert not torch.allclose(run(5), run(None))
    assert not torch.allclose(run(5), run(6))


@pytest.mark.parametrize("dim", [2, 3])
def test_identity_start_returns_the_positions(dim: int) -> None:
    """Before any training a network without links maps positions to themselves."""
    generator = torch.Generator().manual_seed(0)
    net = Dgcn(Shape(dim), generator=generator)
    start_as_identity(net, generator)
    points = (torch.rand(300, dim, generator=generator) - 0.5) * 1.4
    alone = Kernel.without_links(300)
    with torch.no_grad():
        output = net(points, alone)[0]
    torch.testing.assert_close(output, points, atol=0.02, rtol=0)


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("branches", [1, 3])
def test_units_asleep_are_left_out_and_nothing_changes(residual: bool, branches: int) -> None:
    """The output stays, those kept have the gradient they had, and the others had none."""
    generator = torch.Generator().manual_seed(0)
    whole = Dgcn(Shape(hidden=128), residual=residual, generator=generator).double()
    scenario = reknit.generate(uavs=30, destroyed=15, seed=2, split=True)
    kernel = _double(_bipartite(scenario, "norm", HOPS[:branches]))
    unit = ScaledScenario.of(scenario).unit.double()
    slim = copy.deepcopy(whole)
    slim.leave_out_asleep(unit, kernel)
    outputs = whole(unit, kernel), slim(unit, kernel)
    torch.testing.assert_close(outputs[1], outputs[0])
    for output in outputs:
        output.square().sum().backward()
    for number in (1, 3, 5):
        for layer in (number, number + 1):
            one, other = whole.linear_layers[layer], slim.linear_layers[layer]
            assert other.out_features < one.out_features
            assert other.out_features % 16 == 0
            for name in ("weight", "bias"):
                had, has = (getattr(of, name).grad for of in (one, other))
                assert has.count_nonzero() == had.count_nonzero()
                torch.testing.assert_close(has[has != 0], had[had != 0])


def test_units_can_be_left_out_again() -> None:
    """A network that was made smaller can be made smaller for other positions."""
    generator = torch.Generator().manual_seed(0)
    net = Dgcn(Shape(hidden=128, blocks=2), generator=generator)
    alone = Kernel.without_links(20)
    few = torch.rand(20, 2, generator=generator) * 0.2 + 0.5
    many = torch.cat([few[:10], -few[10:]])
    with torch.no_grad():
        expected = net(few, alone)
        sizes = [net.linear_layers[2].out_features]
        for points in (many, few):
            net.leave_out_asleep(points, alone)
            torch.testing.assert_close(net(few, alone), expected)
            sizes.append(net.linear_layers[2].out_features)
    assert sizes[0] > sizes[1] > sizes[2] > 0
    assert net.units[0] is not None
    assert len(net.units[0]) == net.linear_layers[2].out_features
