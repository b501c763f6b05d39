"""MBDA against its dense definition, and what is true of mDAGs."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import reknit
from reknit.algorithms.learned.ml_dagl.attention import (
    DamageHops,
    bipartite_kernel,
    choose_hops,
    is_connected,
    mdag_blocks,
    ordinary_kernel,
)
from reknit.algorithms.learned.ml_dagl.propagation import convolve
from tests.algorithms.learned.ml_dagl import literal


def _case(seed: int, dim: int = 2) -> reknit.Scenario:
    return reknit.generate(uavs=30, destroyed=12, seed=seed, split=True, dim=dim)


@pytest.mark.parametrize(("seed", "dim"), [(1, 2), (2, 2), (3, 3)])
def test_blocks_are_the_mdags_of_the_paper(seed: int, dim: int) -> None:
    """Each block is the upper right part of the dense A_dag^k, whose diagonal parts are zero."""
    scenario = _case(seed, dim)
    hops = DamageHops.of(scenario)
    chosen = choose_hops(hops, None)
    survivors = len(scenario.survivors)
    for block, k in zip(mdag_blocks(hops, chosen), chosen, strict=True):
        dense = literal.mdag(scenario, k)
        np.testing.assert_array_equal(block, dense[:survivors, survivors:])
        assert not dense[:survivors, :survivors].any()
        assert not dense[survivors:, survivors:].any()


@pytest.mark.parametrize("seed", range(4))
def test_branch_count_follows_the_rule(seed: int) -> None:
    """K is floor((H_max + 1) / 2) with H_max the hop diameter before the damage."""
    scenario = _case(seed)
    largest = literal.hop_counts(literal.input_adjacency(scenario)).max()
    hops = DamageHops.of(scenario)
    assert hops.branch_count == int((largest + 1) // 2)
    assert choose_hops(hops, None) == tuple(range(1, hops.branch_count + 1))
    assert choose_hops(hops, (2, 9)) == (2, 9)


def test_a_swarm_split_before_the_damage_has_no_links_across() -> None:
    """Where there is no path there is no mDAG link, however large k is."""
    points = [[0.0, 0.0], [50.0, 0.0], [5000.0, 0.0], [5050.0, 0.0]]
    scenario = reknit.Scenario(points, destroyed=[1, 3])
    blocks = mdag_blocks(DamageHops.of(scenario), (1, 100))
    np.testing.assert_array_equal(blocks[1], [[True, False], [False, True]])


@pytest.mark.parametrize("epsilon", ["uavs", "norm", 0.01])
def test_bipartite_kernel_is_identity_less_eps_laplacian(epsilon: str | float) -> None:
    """The block form of the B-GCO gives (I - eps L_dag^k) X for every branch."""
    scenario = _case(5)
    hops = DamageHops.of(scenario)
    chosen = (1, 2, 4)
    kernel = bipartite_kernel(mdag_blocks(hops, chosen), epsilon, 0.7)
    features = torch.randn(3, 30, 7, generator=torch.Generator().manual_seed(0))
    result = convolve(features, kernel)
    for row, k in enumerate(chosen):
        dense = literal.mdag(scenario, k)
        rule = {"uavs": 1.0 / 30, "norm": 0.7 / dense.sum(axis=1).max()}
        eps = rule[epsilon] if isinstance(epsilon, str) else epsilon
        expected = (np.eye(30) - eps * literal.laplacian(dense)) @ features[row].numpy()
        np.testing.assert_allclose(result[row].numpy(), expected, atol=1e-5)


def test_ordinary_kernel_is_the_symmetric_normalisation() -> None:
    """The ablation's GCO is D~^(-1/2) (A + I) D~^(-1/2)."""
    scenario = _case(6)
    kernel = ordinary_kernel(mdag_blocks(DamageHops.of(scenario), (2,)))
    features = torch.randn(1, 30, 3, generator=torch.Generator().manual_seed(0))
    loops = literal.mdag(scenario, 2) + np.eye(30)
    root = np.diag(loops.sum(axis=1) ** -0.5)
    expected = root @ loops @ root @ features[0].numpy()
    np.testing.assert_allclose(convolve(features, kernel)[0].numpy(), expected, atol=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_once_connected_an_mdag_stays_connected(seed: int) -> None:
    """If the k-hop mDAG is connected, so is every one with a larger k (Section IV-D)."""
    hops = DamageHops.of(_case(seed))
    found = [is_connected(block) for block in mdag_blocks(hops, range(1, hops.diameter + 1))]
    assert found == sorted(found)
    assert found[-1]


def test_the_largest_branch_need_not_be_connected() -> None:
    """A survivor more than K hops from the only loss is outside the K-th mDAG."""
    line = [[100.0 * i, 0.0] for i in range(9)]
    hops = DamageHops.of(reknit.Scenario(line, destroyed=[1]))
    assert hops.branch_count == 4
    assert not is_connected(mdag_blocks(hops, (4,))[0])
    assert is_connected(mdag_blocks(hops, (7,))[0])
