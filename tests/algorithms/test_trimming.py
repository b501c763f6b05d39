"""Ending a plan where it reconnects the swarm."""

from __future__ import annotations

import numpy as np
import pytest

import reknit
from reknit.algorithms.learned.common.scaled import ScaledScenario
from reknit.algorithms.trimming import trim
from reknit.exact.demands.contraction import contract
from reknit.network.links import count_subnets


def test_two_uavs_stop_once_in_range() -> None:
    """Two UAVs 200 m apart sent to one point are in range after 4 s, 40 m from their start."""
    scenario = reknit.Scenario([[0.0, 0.0], [200.0, 0.0]])
    targets, time_s = trim(scenario, np.array([[100.0, 0.0], [100.0, 0.0]]), 10.0)
    assert time_s == pytest.approx(4.0)
    np.testing.assert_allclose(targets, [[40.0, 0.0], [160.0, 0.0]], atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_trimmed_plan_is_connected_and_its_time_was_flown(seed: int) -> None:
    """The shorter plan is connected, and its planned time is the flown time of the longer one."""
    scenario = reknit.generate(uavs=60, destroyed=30, seed=seed, split=True)
    longer = contract(scenario, scenario.survivor_positions)
    scaled = ScaledScenario.of(scenario)
    targets, time_s = trim(scenario, longer, scaled.time_s(longer))
    flown = reknit.recover(scenario, "contraction").flight.reconnected_at_s
    assert count_subnets(targets, 120.0) == 1
    assert time_s == pytest.approx(flown)
    assert scaled.time_s(targets) == pytest.approx(time_s)
