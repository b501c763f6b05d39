"""The demands: declared once, and the planners' own test of each."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any, get_type_hints

import numpy as np
import pytest

from reknit import Radio, Scenario
from reknit.swarm.demands import DEMANDS, GivenDemands, demand_fields, rule, unmet_demands
from reknit.swarm.files import ScenarioFile
from reknit.swarm.fingerprint import scenario_hash

SQUARE = [[0.0, 0.0], [100.0, 0.0], [100.0, 100.0], [0.0, 100.0]]
OTHER_VALUES: dict[str, Any] = {
    "allowed_time_s": 3.0,
    "link_margin": 0.1,
    "link_reliability": 0.9,
    "position_sigma_m": 1.0,
    "min_separation_m": 5.0,
    "anchors": [0],
    "connectivity": 2,
}


def test_every_field_of_every_demand_is_everywhere() -> None:
    """The scenario, its file, its keyword arguments and its values know the same fields."""
    declared = set(demand_fields())
    assert declared == set(OTHER_VALUES)
    assert declared == set(get_type_hints(GivenDemands))
    assert declared <= {item.name for item in fields(Scenario)}
    assert declared <= set(ScenarioFile.model_fields)
    assert all(rule(name).meaning for name in declared)


@pytest.mark.parametrize("name", OTHER_VALUES)
def test_the_hash_forgets_no_demand(name: str) -> None:
    """Two scenarios that differ in one demand hash apart."""
    scenario = Scenario(SQUARE, (), radio=Radio())
    assert scenario_hash(replace(scenario, **{name: OTHER_VALUES[name]})) != scenario_hash(scenario)


def test_a_demand_that_is_not_made_leaves_the_hash_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release that knows one demand more hashes the scenarios of the one before alike."""
    scenario = Scenario(SQUARE, (), radio=Radio())
    known = scenario_hash(scenario)
    earlier = {name: value for name, value in scenario.values().items() if name != "connectivity"}
    monkeypatch.setattr(Scenario, "values", lambda self: earlier)
    assert scenario_hash(scenario) == known


def test_the_hash_knows_the_radio() -> None:
    """Radios of one range but other fading allow other planned links, and hash apart."""
    calm, harsh = (
        Scenario(SQUARE, (), radio=Radio(fading_shape=shape), link_reliability=0.99)
        for shape in (3.0, 1.0)
    )
    assert calm.radio_range_m == harsh.radio_range_m
    assert calm.planning_range_m != harsh.planning_range_m
    assert scenario_hash(calm) != scenario_hash(harsh)


def test_uncertain_positions_shorten_links() -> None:
    """The length of a link between two positions off by sigma deviates by sqrt(2) sigma."""
    scenario = Scenario(SQUARE, (), 120.0, position_sigma_m=5.0)
    assert scenario.planning_range_m == pytest.approx(120.0 - 3.0 * math.sqrt(2.0) * 5.0)
    errors_m = np.random.default_rng(0).normal(0.0, 5.0, (100_000, 2, 2))
    apart = np.array([scenario.planning_range_m, 0.0]) + errors_m[:, 0] - errors_m[:, 1]
    too_long = np.linalg.norm(apart, axis=1) > 120.0
    # Three deviations, one-sided: 0.135 % of normal lengths, and a little for errors across.
    assert 0.001 < too_long.mean() < 0.0025


UNMET: dict[str, tuple[dict[str, Any], list[list[float]]]] = {
    "not in the largest: UAV 3": ({}, [[0.0, 0.0], [100.0, 0.0], [100.0, 100.0], [-121.0, 0.0]]),
    "UAVs 0 and 1 end 3 m apart": ({"min_separation_m": 5.0}, [[0, 0], [3, 0], [50, 0], [90, 0]]),
    "anchors move: UAV 2": ({"anchors": [2]}, [[0, 0], [100, 0], [100, 99], [0, 100]]),
    "2 sub-nets at a range of 120 m; not in the largest: UAVs 2, 3": (
        {"connectivity": 2},
        [[0, 0], [100, 0], [300, 0], [400, 0]],
    ),
    "the loss of UAV 1": ({"connectivity": 2}, [[0, 0], [100, 0], [200, 0], [200, 50]]),
    "the loss of UAVs 1, 3": ({"connectivity": 3}, SQUARE),
}


@pytest.mark.parametrize("words", UNMET)
def test_what_is_unmet_is_told_with_its_uavs(words: str) -> None:
    """The planners' test says which demand fails and for whom."""
    demands, targets = UNMET[words]
    scenario = Scenario(SQUARE, (), 120.0, **demands)
    told = unmet_demands(scenario, np.asarray(targets, dtype=np.float64))
    assert len(told) == 1
    assert words in told[0]


def test_nothing_is_unmet_where_all_is_well() -> None:
    """A square with diagonals in range meets everything at once."""
    scenario = Scenario(
        SQUARE, (), 150.0, min_separation_m=100.0, anchors=[0, 1], connectivity=4, link_margin=0.05
    )
    assert unmet_demands(scenario, scenario.survivor_positions) == []
    assert sum(demand.is_asked(scenario) for demand in DEMANDS) == 4
