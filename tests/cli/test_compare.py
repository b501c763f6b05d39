"""`reknit compare` with planners that crash, are missing, or have little room."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import reknit
from tests.cli.processes import CASE, reknit_process

CRASHING = """
from dataclasses import dataclass

@dataclass(frozen=True)
class Crashing:
    def propose(self, scenario, context):
        raise ZeroDivisionError("third party's fault")
"""


@pytest.fixture
def crashing(tmp_path: Path) -> Path:
    """A folder with an installed third-party planner that crashes."""
    (tmp_path / "crashing.py").write_text(CRASHING)
    info = tmp_path / "crashing-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: crashing\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[reknit.planners]\ncrashing = crashing:Crashing\n")
    return tmp_path


def test_a_planner_that_crashes_loses_only_its_row(crashing: Path) -> None:
    """The others are run and shown; the exit code says that one failed."""
    words = ("compare", *CASE, "--planners", "crashing,sidr,certified")
    done = reknit_process(*words, path=crashing)
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stdout
    assert "optimal" in done.stdout
    assert "Traceback" not in done.stderr
    result = json.loads(reknit_process(*words, "--json", path=crashing).stdout)
    assert [run["planner"] for run in result["runs"]] == ["sidr", "certified"]
    assert "third party's fault" in result["failed"]["crashing"]


def test_a_planner_that_found_nothing_has_no_planned_time() -> None:
    """Nobody moves, which takes 0 s, but no plan was made: a dash, and null for machines."""
    pytest.importorskip("torch")
    words = ("compare", *CASE, "--planners", "gcn", "--budget", "0")
    done = reknit_process(*words, "--json")
    row = json.loads(done.stdout)["runs"][0]
    assert row["plan"]["status"] == "not found"
    assert row["plan"]["recovery_time_s"] is None
    assert row["metrics"]["planned_time_s"] is None
    line = next(line for line in reknit_process(*words).stdout.splitlines() if "gcn" in line)
    assert [cell.strip() for cell in line.split("│")[2:4]] == ["-", "-"]


def test_a_planner_that_cannot_be_loaded_loses_only_its_row(crashing: Path) -> None:
    """A broken entry point that is asked for by name is a row with the reason, as a crash is."""
    points = crashing / "crashing-1.0.dist-info" / "entry_points.txt"
    points.write_text("[reknit.planners]\ngone = nowhere:Gone\n")
    done = reknit_process("compare", *CASE, "--planners", "gone,certified", path=crashing)
    assert done.returncode == 1
    assert "optimal" in done.stdout
    assert "nowhere" in done.stdout
    assert done.stderr == ""
    listed = json.loads(reknit_process("planners", "--json", path=crashing).stdout)["planners"]
    assert {row["name"]: row["ready"] for row in listed}["gone"] is False


def test_a_comparison_says_which_demand_is_not_met() -> None:
    """Below the table, with the planner and the UAV, and within the terminal's width."""
    words = ("compare", *CASE, "--planners", "contraction,certified")
    demand = ("--demand", "connectivity=2")
    done = reknit_process(*words, *demand, columns=60)
    assert "contraction: the loss of a single UAV would split" in done.stdout
    assert "cut node: UAV " in " ".join(done.stdout.split())
    assert all(len(line) <= 60 for line in done.stdout.splitlines()[1:])
    rows = json.loads(reknit_process(*words, *demand, "--json").stdout)["runs"]
    assert [len(row["warnings"]) for row in rows] == [1, 0]


def test_a_log_tells_where_a_planner_crashed(crashing: Path) -> None:
    """-v shows its author the traceback."""
    words = ("-v", "compare", *CASE, "--planners", "crashing,sidr")
    assert "line 7, in propose" in reknit_process(*words, path=crashing).stderr


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_narrow_terminals_cut_no_number(columns: int) -> None:
    """Every number that is shown is whole, no line is wider than the terminal, and the flown
    time and the status are always there.
    """
    names = ("hero", "sidr", "mdsg-apf", "contraction", "certified")
    words = ("compare", *CASE, "--planners", ",".join(names))
    wide = reknit_process(*words, columns=200).stdout
    narrow = reknit_process(*words, columns=columns).stdout
    assert "…" not in narrow
    lines = narrow.splitlines()
    assert all(len(line) <= columns for line in lines[1:])
    for name in names:
        row = next(line for line in lines if name in line)
        full = next(line for line in wide.splitlines() if name in line)
        flown = re.findall(r"\d+\.\d\d s", full)[0]
        assert flown in row
        figures = [cell.strip() for cell in row.split("│") if re.search(r"\d", cell)]
        assert all(re.fullmatch(r"\d+(\.\d\d)?( s| ms|%)?", cell) for cell in figures)


def test_the_bound_under_the_table_is_as_exact_as_the_rows() -> None:
    """In a swarm that is whole again in milliseconds it is not rounded above the plan's time."""
    words = ("compare", "--uavs", "30", "--destroy", "18", "--split", "--planners", "certified")
    told = reknit_process(*words, columns=120).stdout
    [time_s] = re.findall(r"certified .*? (0\.00\d+) s", told)
    assert f"No plan is faster than {time_s} s." in told


def test_plans_are_saved_too(tmp_path: Path) -> None:
    """--out has a plan for every planner that plans, and each verifies."""
    out = tmp_path / "out"
    words = ("compare", *CASE, "--planners", "sidr,contraction,certified", "--out", str(out))
    assert reknit_process(*words).returncode == 0
    scenario = reknit.load_scenario(out / "scenario.json")
    plans = sorted(out.glob("plan-*.json"))
    assert [path.name for path in plans] == ["plan-certified.json", "plan-contraction.json"]
    for path in plans:
        reknit.Plan.load(path).verify(scenario)


def test_a_folder_never_shows_two_swarms(tmp_path: Path) -> None:
    """A comparison of another swarm takes away the flight and pictures of the first, and the other
    way round; of the same swarm both stay.
    """
    swarm = ("--uavs", "20", "--destroy", "10", "--out", str(tmp_path))
    once = ("recover", "--planner", "sidr", "--no-animate", *swarm)
    many = ("compare", "--planners", "contraction,sidr", *swarm)
    assert reknit_process(*once, "--seed", "1").returncode == 0
    assert reknit_process(*many, "--seed", "1").returncode == 0
    assert (tmp_path / "recovery.png").exists()
    assert reknit_process(*many, "--seed", "2").returncode == 0
    assert {path.name for path in tmp_path.iterdir()} == {
        "scenario.json", "comparison.json", "comparison.png", "index.html", "plan-contraction.json",
    }  # fmt: skip
    assert reknit_process(*once, "--seed", "1").returncode == 0
    assert not (tmp_path / "comparison.png").exists()
    assert not (tmp_path / "plan-contraction.json").exists()


def test_a_missed_demand_has_one_name(tmp_path: Path) -> None:
    """Who ends connected but not as demanded is called so, planning or steering."""
    done = reknit_process(
        "compare", "--uavs", "40", "--destroy", "20", "--seed", "3", "--planners",
        "sidr,contraction", "--demand", "min_separation_m=50", "--json",
    )  # fmt: skip
    runs = json.loads(done.stdout)["runs"]
    assert [run["metrics"]["subnets_after"] for run in runs] == [1, 1]
    table = reknit_process(
        "compare", "--uavs", "40", "--destroy", "20", "--seed", "3", "--planners",
        "sidr,contraction", "--demand", "min_separation_m=50",
    ).stdout  # fmt: skip
    assert table.count("demanded") >= 2
    assert "not connected" not in " ".join(table.split())
