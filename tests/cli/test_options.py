"""Options beside a file, defaults as the help shows them, parameters as text."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import reknit
from reknit.algorithms.registry import DEFAULT_PLANNER
from reknit.cli.options import ScenarioOptions
from reknit.cli.values import parameters
from reknit.errors import InvalidParameter
from tests.cli.processes import reknit_process


@pytest.fixture
def swarm(tmp_path: Path) -> Path:
    """A file with ten UAVs in a row, 100 m apart, of which UAV 9 is lost."""
    path = tmp_path / "swarm.csv"
    points = [[100.0 * k, 0.0] for k in range(10)]
    reknit.save_scenario(reknit.Scenario(points, [9], 120.0), path)
    return path


def test_losses_beside_a_file_come_on_top(swarm: Path) -> None:
    """--destroy 3,5 adds to those the file marks as lost."""
    scenario = ScenarioOptions(path=swarm, destroy="3,5").scenario()
    assert scenario.destroyed.tolist() == [3, 5, 9]


def test_a_number_of_losses_beside_a_file_is_drawn_among_survivors(swarm: Path) -> None:
    """--destroy 4 takes four of the nine that are left, by the seed and the damage model."""
    drawn = ScenarioOptions(path=swarm, destroy="4", seed=1).scenario()
    assert len(drawn.destroyed) == 5
    assert 9 in drawn.destroyed
    again = ScenarioOptions(path=swarm, destroy="4", seed=1).scenario()
    assert (drawn.destroyed == again.destroyed).all()
    struck = ScenarioOptions(path=swarm, destroy="4", damage="disc").scenario()
    rows = [row for row in struck.destroyed.tolist() if row != 9]
    assert rows == list(range(rows[0], rows[0] + 4))


@pytest.mark.parametrize("text", ["9", "3,3", "0.999", "1.0", "3,77", "3,9", "0,1,2,3,4,5,6,7,8"])
def test_losses_that_cannot_be_are_refused(swarm: Path, text: str) -> None:
    """All of them, one twice, one unknown, one lost before: one typed error each."""
    with pytest.raises(InvalidParameter, match="destroy"):
        ScenarioOptions(path=swarm, destroy=text).scenario()


def test_range_and_speed_replace_those_of_a_file(swarm: Path) -> None:
    """--range and --speed stand above the file."""
    scenario = ScenarioOptions(path=swarm, range_m=90.0, speed=7.0).scenario()
    assert scenario.radio_range_m == 90.0
    assert (scenario.max_speed_mps == 7.0).all()


def test_the_help_shows_the_defaults_of_the_calls() -> None:
    """What the help calls the default is the default of `generate`, `recover` and the registry."""
    text = " ".join(reknit_process("recover", "--help", columns=200).stdout.split())
    defaults: dict[str, Any] = {
        name: value.default for name, value in inspect.signature(reknit.generate).parameters.items()
    }
    options = {
        "uavs": "uavs",
        "layout": "layout",
        "damage": "damage",
        "dim": "dim",
        "density": "density_per_km2",
        "range": "radio_range_m",
        "speed": "max_speed_mps",
    }
    for option, name in options.items():
        value = defaults[name]
        shown = f"{value:g}" if isinstance(value, (int, float)) else str(value)
        help_of_option = text.split(f"--{option} ")[1].split("--")[0]
        assert f"[default: ({shown})]" in help_of_option, option
    assert f"[default: ({DEFAULT_PLANNER})]" in text
    assert DEFAULT_PLANNER == "certified"


@pytest.mark.parametrize("text", ["False", "false", "no", "FALSE"])
def test_words_for_false_mean_false(text: str) -> None:
    """--param x=False is not a text that counts as true."""
    assert parameters("certified", [f"x={text}"])["x"] is False


def test_a_parameter_given_twice_is_refused() -> None:
    """Which of the two was meant is not guessed."""
    with pytest.raises(InvalidParameter, match="each name once"):
        parameters("hero", ["weight=1", "weight=2"])
