"""The registry: complete, helpful, and open to third parties."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import reknit
from reknit.algorithms import registry
from reknit.algorithms.protocols import Polisher, SteeringPlanner, TargetPlanner
from reknit.base.errors import InvalidParameter, MissingExtra, UnknownName

FOLDER = Path(registry.__file__).parent
SHARED = {"__init__", "protocols", "registry", "heading", "common"}


def test_nothing_is_forgotten() -> None:
    """Every planner's file or folder is behind a registered planner."""
    single = [*FOLDER.glob("*.py"), *(FOLDER / "steering").glob("*.py")]
    methods = [path.parent for path in (FOLDER / "learned").glob("*/__init__.py")]
    homes = {entry.factory.split(":")[0].split(".")[-1] for entry in registry.BUILT_IN}
    homes |= {entry.factory.split(":")[0].split(".")[-2] for entry in registry.BUILT_IN}
    assert {path.stem for path in [*single, *methods]} - SHARED <= homes


@pytest.mark.parametrize("entry", registry.BUILT_IN, ids=lambda entry: entry.name)
def test_entries_tell_the_truth(entry: registry.Entry) -> None:
    """What the list says of a planner is what it is."""
    planner = registry.build(entry.name, {})
    assert isinstance(planner, SteeringPlanner) == entry.steers
    assert isinstance(planner, TargetPlanner) != entry.steers
    assert isinstance(planner, Polisher) == entry.polishes


def test_unknown_planners_suggest_the_nearest() -> None:
    """A misspelt name suggests the right one; so does one after a plus sign."""
    scenario = reknit.generate(10, 5, seed=0)
    with pytest.raises(UnknownName, match="did you mean 'center-fly'"):
        reknit.recover(scenario, "centre-fly")
    with pytest.raises(UnknownName, match="after the plus sign"):
        reknit.plan(scenario, "contraction+sidr")
    with pytest.raises(InvalidParameter, match="steers"):
        reknit.recover(scenario, "sidr+contraction")
    with pytest.raises(InvalidParameter, match="a name"):
        reknit.recover(scenario, 3)  # type: ignore[arg-type]


def test_a_missing_extra_says_what_to_install() -> None:
    """A planner whose library is not installed tells which extra brings it."""
    entry = registry.Entry("x", "no_such_library.planner:X", "", extra="learn")
    with pytest.raises(MissingExtra, match=r"reknit\[learn\]"):
        entry.load()


THIRD_PARTY = '''
from dataclasses import dataclass
from reknit import Proposal

@dataclass(frozen=True)
class Huddle:
    """Everyone to the first survivor."""

    def propose(self, scenario, context):
        targets = scenario.survivor_positions.copy()
        targets[:] = targets[0]
        return Proposal(targets)
'''


@pytest.fixture
def third_party(tmp_path: Path) -> Path:
    """An installed package, as pip would lay it out, that brings a planner."""
    (tmp_path / "huddle_planner.py").write_text(THIRD_PARTY)
    info = tmp_path / "huddle_planner-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: huddle-planner\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[reknit.planners]\nhuddle = huddle_planner:Huddle\n")
    return tmp_path


def run(folder: Path, *words: str) -> str:
    program = (
        f"import sys; sys.path.insert(0, {str(folder)!r}); from reknit.cli.app import main; main()"
    )
    command = [sys.executable, "-c", program, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_a_third_partys_planner_works_everywhere(third_party: Path) -> None:
    """Registered through an entry point, it is listed, recovers, compares and conforms."""
    assert "huddle" in run(third_party, "planners")
    case = ("--uavs", "20", "--destroy", "10", "--seed", "2", "--split", "--json")
    recovered = json.loads(run(third_party, "recover", "--planner", "huddle", *case))
    assert recovered["plan"]["status"] == "feasible"
    compared = json.loads(run(third_party, "compare", "--planners", "huddle,sidr", *case))
    assert [row["planner"] for row in compared["runs"]] == ["huddle", "sidr"]
    program = (
        f"import sys; sys.path.insert(0, {str(third_party)!r});"
        "import reknit; reknit.testing.check_planner('huddle')"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
