"""`plan` and `recover`, end to end."""

from __future__ import annotations

import pytest

import reknit


@pytest.mark.parametrize("planner", ["center-fly", "sidr", "contraction"])
def test_a_split_swarm_is_whole_again(planner: str) -> None:
    """Each of these planners reconnects an ordinary split swarm within the allowed time."""
    scenario = reknit.generate(uavs=50, destroyed=25, seed=3, split=True)
    run = reknit.recover(scenario, planner)
    assert run.flight.subnets[0] > 1
    assert run.flight.subnets[-1] == 1
    assert run.metrics.converged
