"""MBDA against its dense definition, and what is true of mDAGs."""

from __future__ import annotations

import numpy as np
import pytest

import reknit
from reknit.algorithms.learned.ml_dagl import attention
from reknit.algorithms.learned.ml_dagl.attention import DamageHops, branch_count
from tests.algorithms.learned.ml_dagl import literal


def _scaled(seed: int, dim: int = 2) -> reknit.Scenario:
    return reknit.generate(uavs=30, destroyed=12, seed=seed, split=True, dim=dim)


def _block(hops: DamageHops, k: int) -> np.ndarray:
    """B_k, dense."""
    block = np.zeros((hops.survivors, hops.lost))
    block[hops.pairs(k)] = 1.0
    return block


@pytest.mark.parametrize(("seed", "dim"), [(1, 2), (2, 2), (3, 3)])
def test_pairs_are_the_mdags_of_the_paper(seed: int, dim: int) -> None:
    """Each block is the upper right part of the dense A_dag^k, whose diagonal parts are zero."""
    scenario = _scaled(seed, dim)
    hops = DamageHops.of(scenario)
    survivors = len(scenario.survivors)
    for k in hops.chosen:
        dense = literal.mdag(scenario, k)
        np.testing.assert_array_equal(_block(hops, k), dense[:survivors, survivors:])
        assert not dense[:survivors, :survivors].any()
        assert not dense[survivors:, survivors:].any()


@pytest.mark.parametrize("seed", range(4))
def test_branch_count_follows_the_rule(seed: int) -> None:
    """K is floor((H_max + 1) / 2) with H_max the hop diameter before the damage."""
    scenario = _scaled(seed)
    largest = int(literal.hop_counts(literal.input_adjacency(scenario)).max())
    assert DamageHops.of(scenario).chosen == tuple(range(1, (largest + 1) // 2 + 1))
    assert branch_count(largest) == (largest + 1) // 2
    assert DamageHops.of(scenario, (2, 9)).chosen == (2, 9)


def test_a_swarm_split_before_the_damage_has_no_links_across() -> None:
    """Where there is no path there is no mDAG link, however large k is."""
    points = [[0.0, 0.0], [50.0, 0.0], [5000.0, 0.0], [5050.0, 0.0]]
    scenario = reknit.Scenario(points, destroyed=[1, 3])
    hops = DamageHops.of(scenario, (1, 100))
    np.testing.assert_array_equal(_block(hops, 100), [[1.0, 0.0], [0.0, 1.0]])


@pytest.mark.parametrize("seed", range(6))
def test_once_connected_an_mdag_stays_connected(seed: int) -> None:
    """If the k-hop mDAG is connected, so is every one with a larger k (Section IV-D)."""
    hops = DamageHops.of(_scaled(seed), range(1, 30))
    connected = [hops.is_connected(k) for k in hops.chosen]
    assert connected == sorted(connected)
    assert connected[-1]


def test_the_largest_branch_need_not_be_connected() -> None:
    """A survivor more than K hops from the only loss is outside the K-th mDAG."""
    line = [[100.0 * i, 0.0] for i in range(9)]
    scenario = reknit.Scenario(line, destroyed=[1])
    assert DamageHops.of(scenario).chosen[-1] == 4
    hops = DamageHops.of(scenario, (4, 7))
    assert not hops.is_connected(4)
    assert hops.is_connected(7)


def test_a_large_swarm_gets_few_branches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the size for eq. (K), k^2 times the links of branch 1 stay below the limit."""
    scenario = reknit.generate(uavs=120, destroyed=60, seed=3, split=True)
    rule = DamageHops.of(scenario)
    across = len(rule.pairs(1)[0])
    monkeypatch.setattr(attention, "RULE_UP_TO", 100)
    monkeypatch.setattr(attention, "MOST_LINKS", 9 * across)
    assert len(rule.chosen) > 3
    assert DamageHops.of(scenario, few=True).chosen == (1, 2, 3)
    assert DamageHops.of(scenario, few=False).chosen == rule.chosen
    monkeypatch.setattr(attention, "MOST_LINKS", 10**9)
    assert DamageHops.of(scenario, few=True).chosen == rule.chosen
