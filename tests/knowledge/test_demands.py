"""What a scenario demands is kept under partial knowledge too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reknit
from reknit.base.errors import InvalidParameter
from reknit.knowledge.simulator import operate
from reknit.network.connectivity import is_k_connected
from reknit.network.links import count_subnets, links


def _demanding(seed: int, **demands: Any) -> reknit.Scenario:
    values = reknit.generate(40, 20, seed=seed, split=True).values()
    if demands.get("anchors") == "one":
        demands["anchors"] = [int(np.setdiff1d(np.arange(40), values["destroyed"])[3])]
    return reknit.Scenario(**(values | demands))


@pytest.mark.parametrize("policy", ["hedge+deadline", "believe:certified+deadline"])
@pytest.mark.parametrize("channel", ["radio", "global"])
@pytest.mark.parametrize(
    "demands",
    [
        {"link_margin": 0.1},
        {"position_sigma_m": 3.0},
        {"radio": reknit.Radio(), "radio_range_m": None, "link_reliability": 0.95},
        {"connectivity": 2},
        {"anchors": "one"},
        {"max_speed_mps": np.linspace(5.0, 15.0, 40)},
    ],
    ids=["margin", "sigma", "reliability", "connectivity", "anchors", "speeds"],
)
def test_demands_are_kept(policy: str, channel: str, demands: dict[str, Any]) -> None:
    """At the instant of reconnection the network is what was asked for, in the promised time; a
    station that tells all leaves no price to pay.
    """
    scenario = _demanding(0, **demands)
    operation = operate(scenario, policy, channel)
    assert operation.kept_promise
    points = operation.positions[-1][scenario.survivors]
    link_m = scenario.planning_range_m
    assert count_subnets(points, link_m) == 1
    assert is_k_connected(links(points, link_m), len(points), scenario.connectivity)
    moved = (operation.positions != operation.positions[0]).any(axis=(0, 2))
    assert not moved[scenario.anchors].any()
    steps_m = np.linalg.norm(np.diff(operation.positions, axis=0), axis=2)
    limit_m = scenario.max_speed_mps * np.diff(operation.times_s)[:, None]
    assert (steps_m <= limit_m + 1e-9).all()
    if channel == "global":
        assert operation.price_of_ignorance == pytest.approx(1.0, abs=1e-6)


def test_anchors_too_far_apart_allow_no_promise() -> None:
    """Nobody can promise a meeting of those who do not move; the flight still goes on."""
    points = [[0.0, 0.0], [65.0, 0.0], [130.0, 0.0], [230.0, 0.0]]
    scenario = reknit.Scenario(points, [1], 120.0, anchors=[0, 3])
    operation = operate(scenario, end_s=5.0)
    assert operation.promised_s is None
    assert operation.reconnected_at_s == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize(
    ("demands", "words"),
    [({"min_separation_m": 2.0}, "min_separation_m is 2")],
)
def test_what_nobody_can_keep_is_refused(demands: dict[str, Any], words: str) -> None:
    """One typed error that names the demand and those that are kept."""
    with pytest.raises(InvalidParameter, match=words) as caught:
        operate(_demanding(0, **demands))
    assert "link length, anchors, connectivity" in str(caught.value)


def test_anchors_do_not_fly_a_mission() -> None:
    """A formation that moves cannot have anchors."""
    swarm = reknit.Scenario([[0.0, 0.0], [50.0, 0.0]], [], 120.0, anchors=[0])
    with pytest.raises(InvalidParameter, match="hovers"):
        reknit.Mission(swarm, velocity_mps=(1.0, 0.0))
