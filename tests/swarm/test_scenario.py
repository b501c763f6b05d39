"""Scenario: what it accepts, what it refuses, what it derives."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from reknit import Radio, Scenario, generate, lower_bound, recover
from reknit.base.errors import InvalidInput, InvalidScenario
from tests.strategies import scenarios

LINE = [[0.0, 0.0], [100.0, 0.0], [200.0, 0.0]]


def test_it_derives_survivors_and_subnets() -> None:
    """Destroying the middle of a line leaves two sub-nets of one."""
    scenario = Scenario(LINE, [1], 120.0)
    assert scenario.survivors.tolist() == [0, 2]
    assert scenario.subnets.tolist() == [0, 1]
    assert scenario.is_split
    assert not Scenario(LINE, [], 120.0).is_split


def test_the_allowed_time_is_half_the_longest_side() -> None:
    """T_max = D / (2 v_max) with D the longest side of the bounding box of all UAVs."""
    assert Scenario(LINE, [1], 120.0, 10.0).allowed_time_s == 10.0


def test_arrays_are_read_only_and_copied() -> None:
    """Nobody can change a scenario, not even through the array it was made from."""
    points = np.array(LINE)
    scenario = Scenario(points, [1], 120.0)
    points[0, 0] = 55.0
    assert scenario.positions[0, 0] == 0.0
    for name in ("positions", "destroyed", "survivors", "max_speed_mps", "survivor_positions"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(scenario, name)[0] = 1
    with pytest.raises(AttributeError):
        scenario.radio_range_m = 3.0  # type: ignore[misc]


@given(scenarios())
def test_survivors_and_destroyed_make_up_the_swarm(scenario: Scenario) -> None:
    """Every UAV is a survivor or destroyed, none both."""
    ids = np.concatenate([scenario.survivors, scenario.destroyed])
    assert sorted(ids.tolist()) == list(range(scenario.uavs))
    assert np.array_equal(np.flatnonzero(scenario.alive), scenario.survivors)


def test_demands_change_the_planning_range() -> None:
    """A link margin and a reliability shorten the links that may be planned."""
    assert Scenario(LINE, [1], 100.0, link_margin=0.2).planning_range_m == 80.0
    radio = Radio()
    scenario = Scenario(LINE, [1], radio=radio, link_reliability=0.9)
    assert scenario.planning_range_m == radio.range_at_reliability_m(0.9)
    assert scenario.planning_range_m < scenario.radio_range_m == radio.range_m
    assert scenario.has_demands


def test_anchors_do_not_move() -> None:
    """An anchor's speed counts as zero; the others keep theirs."""
    scenario = Scenario(LINE, [1], 120.0, [5.0, 6.0, 7.0], anchors=[2])
    assert scenario.survivor_speeds_mps.tolist() == [5.0, 0.0]


def test_equality_is_of_values() -> None:
    """Scenarios with the same values are equal; one field apart they are not."""
    assert Scenario(LINE, [1], 120.0) == Scenario(np.array(LINE), (1,), 120)
    assert Scenario(LINE, [1], 120.0) != Scenario(LINE, [1], 121.0)
    assert Scenario(LINE, [1], 120.0) != Scenario(LINE, [1], 120.0, connectivity=2)
    assert hash(Scenario(LINE, [1], 120.0)) == hash(Scenario(LINE, [1], 120.0))


BAD: list[tuple[str, dict[str, Any]]] = [
    ("positions[1]", {"positions": [[0.0, 0.0], [np.nan, 1.0], [2.0, 2.0]]}),
    ("positions[1]", {"positions": [[0.0, 0.0], [np.inf, 1.0]]}),
    ("positions[0]", {"positions": [[1e12, 0.0], [0.0, 1.0]]}),
    ("positions", {"positions": [[0.0], [1.0]]}),
    ("positions", {"positions": [0.0, 1.0]}),
    ("positions", {"positions": []}),
    ("positions", {"positions": "three UAVs"}),
    ("positions", {"positions": [[0.0, 0.0], [1.0]]}),
    ("destroyed", {"destroyed": [3]}),
    ("destroyed", {"destroyed": [-1]}),
    ("destroyed", {"destroyed": [1, 1]}),
    ("destroyed", {"destroyed": [0, 1, 2]}),
    ("destroyed", {"destroyed": [0.5]}),
    ("destroyed", {"destroyed": 1}),
    ("destroyed", {"destroyed": ["1"]}),
    ("radio_range_m", {"radio_range_m": 0.0}),
    ("radio_range_m", {"radio_range_m": -1.0}),
    ("radio_range_m", {"radio_range_m": np.nan}),
    ("radio_range_m", {"radio_range_m": "far"}),
    ("radio_range_m", {"radio_range_m": True}),
    ("radio_range_m", {"radio": Radio(wavelength_m=0.1)}),
    ("max_speed_mps", {"max_speed_mps": 0.0}),
    ("max_speed_mps", {"max_speed_mps": -3.0}),
    ("max_speed_mps", {"max_speed_mps": np.inf}),
    ("max_speed_mps", {"max_speed_mps": [1.0, 2.0]}),
    ("max_speed_mps", {"max_speed_mps": [1.0, 0.0, 2.0]}),
    ("max_speed_mps", {"max_speed_mps": "fast"}),
    ("allowed_time_s", {"allowed_time_s": -1.0}),
    ("link_margin", {"link_margin": 1.0}),
    ("link_margin", {"link_margin": -0.1}),
    ("link_reliability", {"link_reliability": 0.9}),
    ("min_separation_m", {"min_separation_m": -1.0}),
    ("anchors", {"anchors": [9]}),
    ("connectivity", {"connectivity": 0}),
    ("connectivity", {"connectivity": 2.0}),
    ("connectivity", {"connectivity": 11}),
    ("anchors", {"anchors": [1]}),
    ("anchors", {"anchors": "02"}),
    ("position_sigma_m", {"position_sigma_m": 40.0}),
    (
        "link_margin, link_reliability and position_sigma_m",
        {"link_margin": 0.9, "position_sigma_m": 20.0},
    ),
    ("names", {"names": ["a", "b"]}),
    ("names", {"names": ["a", "b", "a"]}),
    ("names", {"names": ["a", "b", 3]}),
    ("names", {"names": "abc"}),
    ("destroyed", {"names": ["a", "b", "c"], "destroyed": ["d"]}),
    ("max_speed_mps", {"max_speed_mps": 1e308}),
    ("positions", {"positions": np.ma.masked_greater(np.asarray(LINE), 150.0)}),
    ("positions", {"positions": [["0", "1"], ["2", "3"]]}),
    ("seperation_m", {"seperation_m": 3.0}),
    ("connectivity", {"connectivity": True}),
]


@pytest.mark.parametrize(("field", "change"), BAD, ids=[f"{f}-{i}" for i, (f, _) in enumerate(BAD)])
def test_bad_values_are_named(field: str, change: dict[str, Any]) -> None:
    """One typed error names the field and says what is allowed."""
    values: dict[str, Any] = {"positions": LINE, "destroyed": [1], "radio_range_m": 120.0}
    with pytest.raises(InvalidScenario) as caught:
        Scenario(**{**values, **change})
    assert isinstance(caught.value, InvalidInput)
    assert caught.value.field == field
    assert "allowed" in str(caught.value)


def test_degenerate_but_legal_scenarios_are_accepted() -> None:
    """One UAV, coincident UAVs and nobody destroyed are scenarios like any other."""
    assert Scenario([[1.0, 2.0]], [], 120.0).subnet_count == 1
    assert Scenario([[0.0, 0.0]] * 5, [], 120.0).subnet_count == 1
    assert Scenario([[0.0, 0.0], [500.0, 0.0]], [], 120.0).is_split


def test_replace_works_on_every_scenario() -> None:
    """`dataclasses.replace` changes one field and keeps the others, with a radio and names too."""
    radio = Radio()
    scenario = Scenario(
        LINE, ["b"], radio=radio, names=["a", "b", "c"], anchors=["c"], link_reliability=0.9
    )
    changed = replace(scenario, connectivity=2)
    assert changed.connectivity == 2
    assert replace(changed, connectivity=1) == scenario
    assert replace(scenario, radio=None, link_reliability=None).radio_range_m == radio.range_m


def test_names_stand_for_rows() -> None:
    """UAVs may be listed by their names; messages and labels use them."""
    scenario = Scenario(LINE, ["b"], 120.0, names=["a", "b", "c"], anchors=["a"])
    assert scenario.destroyed.tolist() == [1]
    assert scenario.anchors.tolist() == [0]
    assert scenario.survivor_labels == ["a", "c"]
    assert Scenario(LINE, [1], 120.0).survivor_labels == [0, 2]


def test_copies_hold_the_fields_alone() -> None:
    """Once it was planned for, a scenario and its run can still be copied and sent to another
    process; the copy is equal, its arrays are read-only, and it plans as the first one does.
    """
    scenario = generate(200, 180, seed=3, radio=Radio(), names=None, split=True, anchors=[])
    run = recover(scenario, "certified", effort=200)
    for made in (pickle.loads(pickle.dumps(scenario)), copy.deepcopy(scenario)):
        assert made == scenario
        assert not made.positions.flags.writeable
        assert lower_bound(made).bound_s == lower_bound(scenario).bound_s
    for copied in (pickle.loads(pickle.dumps(run)), copy.deepcopy(run)):
        assert copied.scenario == scenario
        assert copied.plan is not None
        copied.plan.verify(scenario)
