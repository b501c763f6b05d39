"""What the baselines share: which output is the fastest, planned or flown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import reknit
from reknit.algorithms.learned.common.baseline import Flown, flown_time_s
from reknit.algorithms.learned.common.loss import LossRule
from reknit.algorithms.learned.common.scaled import ScaledScenario
from reknit.algorithms.learned.gcn.planner import Gcn
from reknit.algorithms.registry import build, resolved
from reknit.base.context import Context
from reknit.base.errors import InvalidParameter, TooLarge

PAIR = reknit.Scenario([[0.0, 0.0], [240.0, 0.0]], [], 120.0, 10.0)
"""Two UAVs 240 m apart, 120 m too far."""

MEET = np.array([[130.0, 0.0], [130.0, 0.0]])
"""13 s for the first UAV, but they approach at 20 m/s and are in range after 6 s."""

ONE_COMES = np.array([[0.0, 0.0], [120.0, 0.0]])
"""12 s, and connected no earlier: only one of them moves."""


def test_flown_times_by_hand() -> None:
    """Half of the missing 120 m each at 10 m/s; the whole of it for one; never, within 5 s."""
    assert flown_time_s(PAIR, MEET, 13.0) == pytest.approx(6.0)
    assert flown_time_s(PAIR, ONE_COMES, 12.0) == pytest.approx(12.0)
    assert flown_time_s(PAIR, MEET, 5.0) == np.inf


def test_flown_times_stand_in_for_planned_ones() -> None:
    """The plan that takes longer connects earlier; loss and connectivity stay what they were,
    and an output that is not faster than the best before is not timed.
    """
    scaled = ScaledScenario.of(PAIR)
    rule = LossRule("count", 1000.0)
    apart = PAIR.survivor_positions
    outputs = torch.stack([scaled.scale.to_unit(one) for one in (ONE_COMES, MEET, apart)])
    planned = rule(outputs, scaled)
    np.testing.assert_allclose(planned.times_s, [12.0, 13.0, 0.0], atol=1e-4)
    flown = Flown(rule)
    first = flown(outputs, scaled, [0, 1, 2])
    np.testing.assert_allclose(first.times_s, [12.0, 6.0, 0.0], atol=1e-4)
    assert first.connected.tolist() == [True, True, False]
    assert torch.equal(first.loss, planned.loss)
    assert flown(outputs[:1], scaled, [0]).times_s.tolist() == [np.inf]


def test_keeping_the_fastest_flight_connects_earlier() -> None:
    """The same training, judged by what is flown, never reconnects later."""
    small: dict[str, Any] = {"hidden": 32, "iterations": 15, "learning_rate": 1e-3}
    for seed in range(3):
        scenario = reknit.generate(20, 10, seed=seed, split=True)
        planned, flown = (
            reknit.recover(scenario, "gcn", fastest=which, patience=None, **small).metrics
            for which in ("planned", "flown")
        )
        assert flown.charged_time_s <= planned.charged_time_s + 1e-6
        assert flown.planned_time_s is not None
        assert planned.planned_time_s is not None
        assert flown.planned_time_s >= planned.planned_time_s - 1e-6


@pytest.mark.parametrize("name", ["gcn", "gat", "cr-mgc", "demd"])
def test_a_swarm_beyond_the_limit_is_refused_at_once(name: str) -> None:
    """The error names the planner, its limit and what to use instead."""
    crowd = reknit.Scenario(np.arange(6000.0).reshape(-1, 2) * 100.0, [], 120.0)
    with pytest.raises(TooLarge, match=rf"'{name}' was given 3,000 .* 2,500 .* use 'descent'"):
        build(name, {}).propose(crowd, Context())  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "differs"),
    [
        ("gcn", {"learning_rate": 1e-4, "inputs": "metres"}),
        ("gat", {"learning_rate": 0.01, "inputs": "metres"}),
        ("demd", {"learning_rate": 1e-4, "centroid_degrees": "hops", "inputs": "metres"}),
        ("cr-mgc", {"weights": "random", "disconnection": "count", "penalty": 1000.0}),
    ],
)
def test_the_paper_presets_are_the_published_training(name: str, differs: dict[str, Any]) -> None:
    """Up to 1000 iterations, shortest plan kept, Adam anew while split, stop after five."""
    published = {"iterations": 1000, "patience": None, "fastest": "planned", "restart": True}
    published |= {"split_limit": 5, **differs}
    values = resolved(name, {"preset": "paper"})["parameters"]
    assert {key: values[key] for key in published} == published


@pytest.mark.parametrize("name", ["gcn", "gat", "demd", "cr-mgc"])
def test_the_paper_presets_run(name: str) -> None:
    """A few iterations of each give a plan that says what ended them."""
    scenario = reknit.generate(20, 10, seed=3, split=True)
    small: dict[str, Any] = {"hidden": 8 if name == "gat" else 32}
    plan = reknit.plan(scenario, name, preset="paper", iterations=6, **small)
    assert plan.details["stopped_by"] in ("iterations", "split", "bound")


def test_inputs_in_metres_are_the_positions() -> None:
    """To float32's precision, survivors first."""
    scenario = reknit.generate(20, 10, seed=3, split=True)
    features = Gcn(inputs="metres").features(ScaledScenario.of(scenario)).numpy()
    np.testing.assert_allclose(features[:10], scenario.survivor_positions, rtol=1e-4, atol=1e-2)
    np.testing.assert_allclose(features[10:], scenario.destroyed_positions, rtol=1e-4, atol=1e-2)


def test_an_unknown_criterion_is_refused() -> None:
    """Only planned and flown exist."""
    with pytest.raises(InvalidParameter, match=r"Gcn\.fastest is 'flow'; .* mean 'flown'"):
        Gcn(fastest="flow")  # type: ignore[arg-type]
