"""The registry: complete, helpful, and open to third parties."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import reknit
from reknit.algorithms import registry
from reknit.algorithms.protocols import Polisher, SteeringPlanner, TargetPlanner
from reknit.base.errors import (
    BrokenPlanner,
    InvalidParameter,
    InvalidWeights,
    MissingExtra,
    UnknownName,
)
from reknit.cli import codes

FOLDER = Path(registry.__file__).parent
SHARED = {
    "__init__",
    "protocols",
    "registry",
    "parameters",
    "objective",
    "tree_starts",
    "trimming",
    "heading",
    "common",
}


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


OTHERS = {
    "drifts": """
from dataclasses import dataclass

@dataclass(frozen=True)
class Drift:
    speed: float = 1.0

    def controller(self, scenario, context):
        return lambda positions, time_s, step_s: positions * 0.0
""",
    "no_library": "import a_library_that_nobody_has\n",
    "raises": "raise RuntimeError('not on this machine')\n",
    "no_planner": "class Thing:\n    pass\n",
    "exits": "import sys\nsys.exit(0)\n",
    "quits": """
import sys

class Quit:
    def propose(self, scenario, context):
        sys.exit(0)
""",
    "sulks": """
class Sulk:
    def propose(self, scenario, context):
        return None
""",
    "spins": """
import numpy as np

class Spin:
    def controller(self, scenario, context):
        return lambda positions, time_s, step_s: positions * np.nan
""",
    "divides": """
class Divide:
    def propose(self, scenario, context):
        return 1 / 0
""",
}
"""Modules of a package that brings a planner that steers, and some that cannot be used."""


@pytest.fixture
def others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Those modules, installed, each with an entry point of its own name."""
    lines = ["[reknit.planners]"]
    for name, text in OTHERS.items():
        (tmp_path / f"others_{name}.py").write_text(text)
        attribute = {
            "drifts": "Drift", "no_planner": "Thing", "sulks": "Sulk", "quits": "Quit",
            "spins": "Spin", "divides": "Divide",
        }.get(name, "X")  # fmt: skip
        lines.append(f"{name} = others_{name}:{attribute}")
    info = tmp_path / "others-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("others")
def test_third_parties_are_listed_as_what_they_are() -> None:
    """One that steers is told to; one that cannot be loaded is listed with the reason."""
    known = registry.registered()
    assert known["drifts"].steers
    assert not known["drifts"].not_ready
    assert "a_library_that_nobody_has" in known["no_library"].not_ready
    assert "not on this machine" in known["raises"].not_ready
    assert "neither propose nor controller" in known["no_planner"].not_ready
    assert set(OTHERS) < set(reknit.planners())
    assert not known["center-fly"].not_ready


@pytest.mark.usefixtures("others")
def test_what_is_no_planner_has_no_parameters_either() -> None:
    """Asked for them, it says why it cannot be used instead of listing none."""
    with pytest.raises(BrokenPlanner, match="it has neither propose nor controller"):
        registry.parameters("no_planner")


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize("name", ["no_library", "raises", "no_planner", "exits"])
def test_a_broken_third_party_is_one_typed_error(name: str) -> None:
    """Asked for, it names itself and its package, and hinders no other planner."""
    with pytest.raises(BrokenPlanner, match=f"planner '{name}' from others"):
        registry.build(name, {})
    assert registry.build("center-fly", {})


def test_a_third_partys_faults_are_told_as_its_own(others: Path) -> None:
    """Whether it ends the process while it is loaded or plans, answers nonsense or raises: a code
    of its own, never that of a recovery or of wrong input; one line, or where it raised the
    traceback; and in a comparison it loses its own row alone.
    """
    with pytest.raises(BrokenPlanner, match="SystemExit"):
        reknit.plan(reknit.generate(20, 8, seed=1, split=True), "quits")
    swarm = ("--uavs", "20", "--destroy", "8", "--seed", "1", "--split")
    environment = {**os.environ, "PYTHONPATH": str(others)}
    words = [sys.executable, "-m", "reknit"]
    for name, told in {
        "exits": "planner 'exits' from others cannot be used: SystemExit",
        "quits": "planner 'quits' from others_quits cannot be used: SystemExit",
        "sulks": "planner 'sulks' returned NoneType; expected a reknit.Proposal",
        "spins": "planner 'spins' asked for velocities that are not all finite at 0 s",
        "divides": "ZeroDivisionError",
    }.items():
        alone = subprocess.run(
            [*words, "recover", *swarm, "--planner", name],
            env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert alone.returncode == codes.INTERNAL_ERROR == 70
        assert told in alone.stderr
        assert ("Traceback" in alone.stderr) == (name == "divides")
    listed = subprocess.run(
        [*words, "planners", "--json"], env=environment, capture_output=True, text=True, check=True
    )
    assert "center-fly" in listed.stdout
    both = subprocess.run(
        [*words, "compare", *swarm, "--planners", "certified,quits", "--json"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "certified" in both.stdout
    assert "quits" in both.stdout


@pytest.mark.usefixtures("others")
def test_a_third_partys_parameters_are_checked_too() -> None:
    """Its annotations are enough; an unknown one is refused for a plain class as well."""
    with pytest.raises(InvalidParameter, match=r"drifts\.speed is 'fast'; .* a finite number"):
        registry.build("drifts", {"speed": "fast"})
    with pytest.raises(InvalidParameter, match=r"sulks\.speed is 3; allowed: no parameters"):
        registry.build("sulks", {"speed": 3})


@pytest.mark.usefixtures("others")
def test_nonsense_before_a_plus_sign_is_the_first_planners_fault() -> None:
    """A planner that returns None is named, not the polisher that would stumble over it."""
    scenario = reknit.generate(20, 10, seed=2, split=True)
    with pytest.raises(BrokenPlanner, match="'sulks' returned NoneType"):
        reknit.plan(scenario, "sulks+contraction")


def test_resolved_parameters_hold_every_default() -> None:
    """A default given and a default left out are the same work; another value is not."""
    left_out = registry.resolved("hero", {})
    assert left_out == registry.resolved("hero", {"weight": 0.8})
    assert left_out != registry.resolved("hero", {"weight": 0.7})
    assert left_out["parameters"] == {"weight": 0.8}
    combined = registry.resolved("contraction+certified", {})
    assert [part["planner"] for part in combined["then"]] == ["certified"]
    json.dumps(combined)


@pytest.mark.parametrize(
    ("uavs", "effort"),
    [(20, 2_000), (1_000, 2_000), (2_000, 4_000), (5_000, 10_000), (9**6, 10_000)],
)
def test_the_effort_that_a_size_gets_is_resolved(uavs: int, effort: int) -> None:
    """Certified's default grows with the swarm up to a limit; what is given stays as it is."""
    assert registry.resolved("certified", {}, uavs)["parameters"] == {"effort": effort}
    given = registry.resolved("certified", {"effort": 300}, uavs)
    assert given["parameters"] == {"effort": 300}
    left_open = registry.resolved("certified", {}, uavs) == registry.resolved("certified", {})
    assert not left_open


def test_resolved_parameters_follow_the_weights(tmp_path: Path) -> None:
    """The hash of the weight file changes with its bytes, not with its name."""
    one, other = tmp_path / "one.safetensors", tmp_path / "other.safetensors"
    one.write_bytes(b"weights")
    other.write_bytes(b"weights")
    hashes = [registry.resolved("cr-mgc", {"weights": path})["weights"] for path in (one, other)]
    assert hashes[0] == hashes[1]
    one.write_bytes(b"other weights")
    assert registry.resolved("cr-mgc", {"weights": one})["weights"] != hashes[0]
    assert "weights" not in registry.resolved("cr-mgc", {"weights": "random"})
    with pytest.raises(InvalidWeights, match="missing"):
        registry.resolved("cr-mgc", {"weights": tmp_path / "missing"})


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
        f"import sys; sys.path.insert(0, {str(folder)!r}); from reknit.cli import main; main()"
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
