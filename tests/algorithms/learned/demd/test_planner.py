"""DEMD: kernels by hand, its loss from the definition, and how it trains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import reknit
from reknit.algorithms.learned.common.scaled import ScaledScenario
from reknit.algorithms.learned.demd.loss import Balanced
from reknit.algorithms.learned.demd.net import DemdNet, embedding_kernel, hop_kernels
from reknit.algorithms.learned.demd.planner import Demd
from reknit.base.context import Context
from reknit.base.errors import InvalidParameter

CHAIN = reknit.Scenario([[100.0 * k, 0.0] for k in range(4)], [1], 120.0)
"""UAVs 0-1-2-3 in a row; 1 is destroyed."""

SMALL: dict[str, Any] = {"layers": 3, "hidden": 16, "hops": (1, 2)}


def test_the_embedding_by_hand() -> None:
    """The chain has ||A||_inf = 2, so eps = 0.495. Rows are the survivors 0, 2, 3; columns the
    survivors 0, 2, 3, then the destroyed 1.
    """
    by_hand = [
        [0.505, 0.000, 0.000, 0.495],
        [0.000, 0.010, 0.495, 0.495],
        [0.000, 0.495, 0.505, 0.000],
    ]
    np.testing.assert_allclose(embedding_kernel(CHAIN).toarray(), by_hand, atol=1e-12)


def test_the_hop_graphs_by_hand() -> None:
    """Within one hop only 2-3 are linked; within two 0-2 too (through the destroyed 1), which
    makes 2 a hub with eps = 0.495.
    """
    one, two = (kernel.toarray() for kernel in hop_kernels(CHAIN, (1, 2)))
    np.testing.assert_allclose(
        one, [[1.0, 0.0, 0.0], [0.0, 0.01, 0.99], [0.0, 0.99, 0.01]], atol=1e-12
    )
    by_hand = [[0.505, 0.495, 0.0], [0.495, 0.01, 0.495], [0.0, 0.495, 0.505]]
    np.testing.assert_allclose(two, by_hand, atol=1e-12)


def test_the_loss_by_hand() -> None:
    """Outputs at 0, 100 and 400 m: one sub-net too many; 0 and 100 have degree 1 and 400 none,
    so the weighted centroid is 50; the survivors' box 0 to 300 has its middle at 150.

    Displacements are 0, 100 and 100 m. Before any update both weights are one:
    100 + |50 - 150| + 1000.
    """
    scaled = ScaledScenario.of(CHAIN)
    targets = np.array([[0.0, 0.0], [100.0, 0.0], [400.0, 0.0]])
    planner = Demd(layers=2, hidden=4, hops=(1,))
    net = DemdNet.make(planner, 2, torch.Generator().manual_seed(0))
    with torch.no_grad():
        judged = Balanced(planner, [net], scaled)(scaled.scale.to_unit(targets)[None], scaled, [0])
    assert judged.subnets.tolist() == [2]
    assert float(judged.loss[0]) == pytest.approx(100.0 + 100.0 + 1000.0, rel=1e-5)


def test_the_embedding_is_felt() -> None:
    """Two survivors with the same links left are told apart by where their lost neighbour was."""
    near = reknit.Scenario([[0.0, 0.0], [100.0, 0.0], [200.0, 0.0]], [1], 120.0)
    bent = reknit.Scenario([[0.0, 0.0], [100.0, 40.0], [200.0, 0.0]], [1], 120.0)
    plans = [Demd(iterations=0, **SMALL).propose(one, Context()) for one in (near, bent)]
    assert not np.allclose(plans[0].targets, plans[1].targets)


def test_every_reach_is_tried() -> None:
    """The plan names the k that it comes from, one of those asked for; fewer may go on."""
    scenario = reknit.generate(20, 10, seed=3, split=True)
    plan = reknit.plan(scenario, "demd", iterations=3, **SMALL)
    assert plan.details["branches"] == [1, 2]
    assert plan.details["best_branch"] in (1, 2)
    fewer = reknit.plan(scenario, "demd", iterations=3, keep=((1, 1),), **SMALL)
    assert fewer.details["iterations"] == 3


def test_the_work_is_limited_and_repeatable() -> None:
    """Iterations and budget are kept to; the same seed gives the same targets to the bit."""
    scenario = reknit.generate(20, 10, seed=3, split=True)
    first, again = (reknit.plan(scenario, "demd", iterations=3, **SMALL) for _ in range(2))
    assert first.details["iterations"] == 3
    assert first.targets.tobytes() == again.targets.tobytes()
    other = reknit.plan(scenario, "demd", iterations=3, seed=1, **SMALL)
    assert first.targets.tobytes() != other.targets.tobytes()
    assert reknit.plan(scenario, "demd", budget_s=0.0, **SMALL).details["iterations"] == 0


@pytest.mark.parametrize(
    ("name", "value"), [("hops", ()), ("hops", (4, 4)), ("hops", (0,)), ("gradnorm_alpha", -1.0)]
)
def test_parameters_are_checked(name: str, value: object) -> None:
    """Values that make no sense are refused on creation."""
    with pytest.raises(InvalidParameter, match=name):
        Demd(**{name: value})  # type: ignore[arg-type]
