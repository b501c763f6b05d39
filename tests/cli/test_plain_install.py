"""A plain installation: all that needs no extra works, the rest says what is missing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import reknit
from reknit.algorithms.registry import BUILT_IN
from tests.cli.processes import CASE, reknit_process

ABSENT = """
import importlib.machinery

ABSENT = {"torch", "torch_geometric", "safetensors", "duckdb", "pyarrow", "joblib", "ray",
          "fastapi", "uvicorn", "httpx", "pettingzoo", "gymnasium"}
find_spec = importlib.machinery.PathFinder.find_spec

def without_extras(name, path=None, target=None):
    return None if name.partition(".")[0] in ABSENT else find_spec(name, path, target)

importlib.machinery.PathFinder.find_spec = staticmethod(without_extras)
"""


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """A folder that makes Python start as if the extras' packages were not installed."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(ABSENT)
    return folder


@pytest.mark.parametrize("words", [["planners"], ["study", "list"], ["planners", "certified"]])
def test_a_list_loads_no_network(words: list[str]) -> None:
    """What only lists planners or studies ends without torch in the process."""
    program = (
        "import sys; from typer.testing import CliRunner; from reknit.cli.app import app; "
        f"result = CliRunner().invoke(app, {words}); assert result.exit_code == 0, result.output; "
        "sys.exit('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_recovery_with_the_default_planner_works(plain: Path, tmp_path: Path) -> None:
    """recover, its files and verify need no extra; the flight is CSV."""
    out = tmp_path / "out"
    done = reknit_process("recover", *CASE, "--out", str(out), path=plain)
    assert done.returncode == 0, done.stderr
    assert "optimal" in done.stdout
    assert "pip install 'reknit[study]' adds the flight as Parquet" in done.stdout
    rows = (out / "flight.csv").read_text().splitlines()
    scenario = reknit.load_scenario(out / "scenario.json")
    assert rows[0] == "time_s,uav_id,x_m,y_m"
    assert (len(rows) - 1) % len(scenario.survivors) == 0
    checked = reknit_process(
        "verify", str(out / "scenario.json"), str(out / "plan.json"), path=plain
    )
    assert checked.returncode == 0, checked.stderr


def test_a_comparison_uses_what_is_there_and_tells_the_rest(plain: Path) -> None:
    """Every planner that needs no extra has a row; one line names the others."""
    done = reknit_process("compare", *CASE, path=plain)
    assert done.returncode == 0, done.stderr
    hint = next(line for line in done.stdout.splitlines() if "reknit[learn]" in line)
    assert "ml-dagl" in hint
    rows = [line for line in done.stdout.splitlines() if "│" in line]
    names = {row.split("│")[1].strip() for row in rows}
    assert {"certified", "contraction", "hero", "sidr"} <= names
    assert "ml-dagl" not in names


def test_a_planner_asked_for_by_name_says_what_it_needs(plain: Path) -> None:
    """One line and code 2 for recover; a row and code 1 in a comparison."""
    done = reknit_process("recover", *CASE, "--planner", "ml-dagl", path=plain)
    assert done.returncode == 2
    assert "pip install 'reknit[learn]'" in done.stderr
    assert done.stderr.count("\n") == 1
    words = ("compare", *CASE, "--planners", "ml-dagl,certified", "--json")
    compared = reknit_process(*words, path=plain)
    assert compared.returncode == 1
    result = json.loads(compared.stdout)
    assert "reknit[learn]" in result["failed"]["ml-dagl"]
    assert [run["planner"] for run in result["runs"]] == ["certified"]


@pytest.mark.parametrize("words", [("planners",), ("demands",), ("study", "list"), ("--help",)])
def test_lists_work(plain: Path, words: tuple[str, ...]) -> None:
    """What only lists needs no extra."""
    done = reknit_process(*words, path=plain)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


LEARNED = [entry.name for entry in BUILT_IN if entry.extra == "learn"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("planners",), [f"pip install 'reknit[learn]' adds {', '.join(LEARNED)}."]),
        (
            ("study", "list"),
            [
                "pip install 'reknit[study]' adds what",
                "pip install 'reknit[learn]' adds the learned",
            ],
        ),
    ],
)
def test_lists_say_what_an_extra_would_bring(
    plain: Path, words: tuple[str, ...], told: list[str]
) -> None:
    """One line for each extra that is missing, and none where all is there."""
    lines = reknit_process(*words, path=plain).stdout.splitlines()
    hints = [line for line in lines if line.startswith("pip install")]
    assert len(hints) == len(told)
    assert all(hint.startswith(start) for hint, start in zip(hints, told, strict=True))
    assert "pip install" not in reknit_process(*words).stdout


def test_planners_that_are_missing_are_marked(plain: Path) -> None:
    """The list says which are not ready."""
    listed = json.loads(reknit_process("planners", "--json", path=plain).stdout)["planners"]
    ready = {row["name"]: row["ready"] for row in listed}
    assert ready["certified"]
    assert not ready["ml-dagl"]


@pytest.mark.parametrize("words", [("study", "run", "scalability"), ("pretrain",)])
def test_what_needs_an_extra_says_so_in_one_line(
    plain: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """One line with the command that installs it, code 2."""
    done = reknit_process(*words, path=plain, cwd=tmp_path)
    assert done.returncode == 2
    assert "pip install 'reknit[" in done.stderr
    assert done.stderr.count("\n") == 1
