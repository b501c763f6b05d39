"""The kernels of every branch against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import reknit
from reknit.algorithms.learned.ml_dagl.attention import DamageHops
from reknit.algorithms.learned.ml_dagl.kernel import (
    SparseRows,
    bipartite_kernel,
    ordinary_kernel,
)
from reknit.algorithms.learned.ml_dagl.propagation import convolve
from tests.algorithms.learned.ml_dagl import literal

CHOSEN = (1, 2, 4)


def _scaled(seed: int) -> reknit.Scenario:
    return reknit.generate(uavs=30, destroyed=12, seed=seed, split=True)


@pytest.mark.parametrize("epsilon", ["uavs", "norm", 0.01])
def test_bipartite_kernel_is_identity_less_eps_laplacian(epsilon: str | float) -> None:
    """Sparse or dense, the B-GCO gives (I - eps L_dag^k) X for every branch."""
    scenario = _scaled(5)
    kernel = bipartite_kernel(DamageHops.of(scenario, CHOSEN), CHOSEN, epsilon, 0.7)
    assert {type(one) for one in kernel.branches} == {SparseRows, torch.Tensor}
    features = torch.randn(3, 30, 7, generator=torch.Generator().manual_seed(0))
    result = convolve(features, kernel)
    for row, k in enumerate(CHOSEN):
        dense = literal.mdag(scenario, k)
        rule = {"uavs": 1.0 / 30, "norm": 0.7 / dense.sum(axis=1).max()}
        eps = rule[epsilon] if isinstance(epsilon, str) else epsilon
        expected = (np.eye(30) - eps * literal.laplacian(dense)) @ features[row].numpy()
        np.testing.assert_allclose(result[row].numpy(), expected, atol=1e-5)


def test_a_virtual_node_is_linked_to_every_uav() -> None:
    """It is one more node of every mDAG, whose N links decide ||A||_inf."""
    scenario = _scaled(5)
    hops = DamageHops.of(scenario, CHOSEN)
    kernel = bipartite_kernel(hops, CHOSEN, "norm", 0.5, virtual_node=True)
    features = torch.randn(3, 31, 7, generator=torch.Generator().manual_seed(0))
    result = convolve(features, kernel)
    for row, k in enumerate(CHOSEN):
        dense = np.ones((31, 31))
        dense[:30, :30] = literal.mdag(scenario, k)
        dense[30, 30] = 0.0
        kernel_k = np.eye(31) - 0.5 / 30 * literal.laplacian(dense)
        np.testing.assert_allclose(result[row].numpy(), kernel_k @ features[row].numpy(), atol=1e-5)
        part = convolve(features[row : row + 1], kernel.of_branches([row]))
        torch.testing.assert_close(part[0], result[row])


@pytest.mark.parametrize("k", CHOSEN)
def test_ordinary_kernel_is_the_symmetric_normalisation(k: int) -> None:
    """The ablation's GCO is D~^(-1/2) (A + I) D~^(-1/2)."""
    scenario = _scaled(6)
    kernel = ordinary_kernel(DamageHops.of(scenario, (k,)), (k,))
    features = torch.randn(1, 30, 3, generator=torch.Generator().manual_seed(0))
    loops = literal.mdag(scenario, k) + np.eye(30)
    root = np.diag(loops.sum(axis=1) ** -0.5)
    expected = root @ loops @ root @ features[0].numpy()
    np.testing.assert_allclose(convolve(features, kernel)[0].numpy(), expected, atol=1e-5)
