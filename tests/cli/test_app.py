"""The command line as people and machines use it."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import typer
from PIL import Image

import reknit
from reknit import cli
from reknit.algorithms.registry import BUILT_IN
from reknit.base.words import counted
from reknit.cli import console
from reknit.cli.app import app
from reknit.cli.outputs import run_summary

CASE = ("--uavs", "30", "--destroy", "15", "--seed", "2", "--split")


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Exit code of the command."""
    monkeypatch.setattr(sys, "argv", ["reknit", *words])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    return int(caught.value.code or 0)


def colours_in(path: Path) -> int:
    """How many different colours a picture has; a blank one has one."""
    with Image.open(path) as picture:
        pixels = np.asarray(picture.convert("RGB")).astype(np.int64)
        return len(np.unique(pixels @ np.array([65536, 256, 1])))


def test_recover_prints_a_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """People see what happened, in words."""
    assert run(monkeypatch, "recover", *CASE, "--planner", "contraction") == 0
    text = capsys.readouterr().out
    assert "30 UAVs, 15 destroyed; 15 survivors in" in text
    for word in ("contraction", "planned time", "no plan beats", "flown time", "-> 1"):
        assert word in text


def test_recover_json_is_the_same_as_the_api(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Machines get what the Python call gives."""
    assert run(monkeypatch, "recover", *CASE, "--planner", "contraction", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    scenario = reknit.generate(30, 15, seed=2, split=True)
    expected = reknit.recover(scenario, "contraction", seed=2)
    assert expected.plan is not None
    ids = [str(uav) for uav in scenario.survivors]
    assert list(told["targets_m"]) == ids
    assert list(told["targets_m"].values()) == expected.plan.targets.tolist()
    assert list(told["final_positions_m"].values()) == expected.flight.positions[-1].tolist()
    assert told["metrics"]["flown_time_s"] == expected.flight.reconnected_at_s
    assert told["plan"]["lower_bound_s"] == expected.plan.lower_bound_s


def test_recover_writes_everything(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """--out holds the scenario, a plan that verifies, the flight, the figures and pictures that
    open and are not blank.
    """
    out = tmp_path / "new" / "folder"
    assert run(monkeypatch, "recover", *CASE, "--planner", "contraction", "--out", str(out)) == 0
    names = {path.name for path in out.iterdir()}
    assert names == {
        "scenario.json",
        "plan.json",
        "flight.parquet",
        "metrics.json",
        "recovery.png",
        "recovery.gif",
        "index.html",
    }
    scenario = reknit.load_scenario(out / "scenario.json")
    reknit.Plan.load(out / "plan.json").verify(scenario)
    metrics = json.loads((out / "metrics.json").read_text())["metrics"]
    table = pq.read_table(out / "flight.parquet")
    assert table.column_names == ["time_s", "uav_id", "x_m", "y_m"]
    assert table["time_s"][-1].as_py() == metrics["flown_time_s"]
    assert colours_in(out / "recovery.png") > 100
    film: Any = Image.open(out / "recovery.gif")
    assert film.n_frames > 5
    film.close()
    assert str(out.name) in capsys.readouterr().out


def test_the_flight_is_csv_without_pyarrow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A base installation has no pyarrow and writes the same rows as CSV."""
    monkeypatch.setattr("reknit.cli.outputs.find_spec", lambda name: None)
    words = ("--planner", "sidr", "--no-animate", "--out", str(tmp_path))
    assert run(monkeypatch, "recover", *CASE, *words) == 0
    with (tmp_path / "flight.csv").open() as file:
        rows = list(csv.DictReader(file))
    scenario = reknit.load_scenario(tmp_path / "scenario.json")
    assert float(rows[0]["x_m"]) == scenario.survivor_positions[0, 0]
    assert not (tmp_path / "plan.json").exists()


def test_a_file_is_recovered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """JSON and CSV files of the same swarm give the same answer."""
    scenario = reknit.generate(30, 15, seed=2, split=True)
    times = []
    for name in ("case.json", "case.csv"):
        reknit.save_scenario(scenario, tmp_path / name)
        words = ("recover", str(tmp_path / name), "--planner", "contraction", "--json")
        assert run(monkeypatch, *words) == 0
        times.append(json.loads(capsys.readouterr().out)["plan"]["recovery_time_s"])
    assert times[0] == times[1]


def test_brackets_in_a_folders_name_are_no_markup(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """What is written is told with the name that was given."""
    out = tmp_path / "run [red]"
    words = ("--planner", "contraction", "--no-animate", "--out", str(out))
    assert run(monkeypatch, "recover", *CASE, *words) == 0
    assert f"Written to {out}: " in capsys.readouterr().out


def test_compare_shows_all_planners(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """One table and one picture with every planner asked for, and the bound."""
    words = ("--planners", "center-fly,hero,sidr,contraction", "--out", str(tmp_path))
    assert run(monkeypatch, "compare", *CASE, *words) == 0
    text = capsys.readouterr().out
    for name in ("center-fly", "hero", "sidr", "contraction", "No plan is faster than"):
        assert name in text
    assert colours_in(tmp_path / "comparison.png") > 100
    assert len(json.loads((tmp_path / "comparison.json").read_text())) == 4


def test_planners_lists_every_planner(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The list is the registry."""
    assert run(monkeypatch, "planners", "--json") == 0
    listed = json.loads(capsys.readouterr().out)["planners"]
    assert [row["name"] for row in listed][: len(BUILT_IN)] == [entry.name for entry in BUILT_IN]
    assert run(monkeypatch, "planners") == 0
    assert "everyone flies" in capsys.readouterr().out


def test_parameters_reach_the_planner(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """--param name=value is read as JSON where it can be."""
    words = ("--planner", "hero", "--param", "weight=0", "--json")
    assert run(monkeypatch, "recover", *CASE, *words) == 0
    scenario = reknit.generate(30, 15, seed=2, split=True)
    expected = reknit.recover(scenario, "hero", weight=0).metrics.flown_time_s
    assert json.loads(capsys.readouterr().out)["metrics"]["flown_time_s"] == expected


@pytest.mark.filterwarnings("default:.*degrees")
@pytest.mark.parametrize("command", ["recover", "compare", "operate"])
def test_json_tells_what_reading_the_file_warned_of(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    command: str,
) -> None:
    """A machine that reads standard output alone learns that metres look like degrees."""
    file = tmp_path / "swarm.csv"
    file.write_text("uav_id,x_m,y_m,alive\n1,48.1,11.5,1\n2,48.3,11.6,0\n3,48.5,11.7,1\n")
    words = [command, str(file), "--range", "0.3", "--json"]
    assert run(monkeypatch, *words, *(["--planners", "sidr"] if command == "compare" else [])) == 0
    told = capsys.readouterr()
    assert "degrees" in told.err
    assert any("degrees" in warning for warning in json.loads(told.out)["warnings"])


def test_help_loads_nothing_heavy() -> None:
    """Neither numpy nor torch is loaded to show the help, so that it answers in a blink."""
    program = (
        "import sys; from reknit import cli; sys.argv = ['reknit', '--help']\n"
        "try: cli.main()\n"
        "except SystemExit: pass\n"
        "print([name for name in ('numpy', 'scipy', 'torch', 'matplotlib', 'pydantic')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert done.stdout.decode().splitlines()[-1] == "[]"


def test_recovering_loads_no_neural_network_library() -> None:
    """The classical planners run without torch."""
    program = (
        "import sys, reknit; reknit.recover(reknit.generate(20, 10, seed=1), 'sidr');"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert done.stdout.decode().strip() == "False"


def test_a_separation_that_is_not_kept_on_the_way_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The table and the JSON of a run carry its warnings."""
    scenario = reknit.Scenario(
        [[0.0, 0.0], [50.0, 0.0], [400.0, 0.0]], (), 120.0, min_separation_m=10.0, allowed_time_s=60
    )
    targets = np.array([[250.0, 0.0], [150.0, 0.0], [360.0, 0.0]])

    class Through:
        def propose(self, scenario: reknit.Scenario, context: reknit.Context) -> reknit.Proposal:
            return reknit.Proposal(targets)

    done = reknit.recover(scenario, Through())
    assert run_summary(done)["warnings"] == list(done.warnings)
    assert "on the way UAVs 0 and 1 come within" in done.warnings[0]
    console.out.print(console.run_table(done))
    assert "warning" in capsys.readouterr().out


def test_a_demand_that_a_run_with_strikes_misses_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Under the table stands why the last phase did not reconnect, with the UAV it is about."""
    case = ("--uavs", "40", "--destroy", "20", "--seed", "3", "--demand", "connectivity=2")
    assert run(monkeypatch, "recover", *case, "--planner", "hero", "--strike", "1:1") == 1
    text = " ".join(capsys.readouterr().out.split())
    assert "warning: connected in the end, but not as demanded: the loss of UAV" in text


def _commands(group: Any, path: str = "reknit") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


COMMANDS = dict(_commands(typer.main.get_command(app)))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_helps_with_an_example(name: str) -> None:
    """Help texts hold an example."""
    assert COMMANDS[name].epilog.startswith(f"Example: {name}")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_shows_its_default(name: str) -> None:
    """A value, or words for what happens without; arguments have names in capital letters."""
    for parameter in COMMANDS[name].params:
        text = parameter.help or ""
        of_preset = text.replace("default, relaxed,", "").replace("--preset default", "")
        assert "default" not in of_preset.lower(), parameter.name
        if parameter.param_type_name == "argument":
            assert parameter.metavar == parameter.metavar.upper()
        elif not (parameter.is_flag or parameter.name == "help"):
            words = parameter.show_default
            assert isinstance(words, str) or parameter.default is not None, parameter.name


@pytest.mark.parametrize(("count", "text"), [(0, "0 runs"), (1, "1 run"), (2000, "2,000 runs")])
def test_one_is_singular(count: int, text: str) -> None:
    """Numbers come with the right form of their noun."""
    assert counted(count, "run") == text
    assert counted(count, "study", "studies").endswith("study" if count == 1 else "studies")


@pytest.mark.parametrize(
    "wrong", [("--range", "-1"), ("--planner", "nope"), ("--demand", "min_separation_m=1e999")]
)
def test_a_wrong_input_leaves_no_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wrong: tuple[str, str]
) -> None:
    """Code 2 means that nothing is written: not even the folder of --out, or those above it."""
    out = tmp_path / "new" / "deep"
    words = [word for word in CASE if word not in wrong]
    assert run(monkeypatch, "recover", *words, *wrong, "--out", str(out)) == 2
    assert not (tmp_path / "new").exists()


def test_files_of_an_earlier_run_do_not_stay(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A run without a plan or an animation leaves none of an earlier run in its folder."""
    where = ("--out", str(tmp_path))
    assert run(monkeypatch, "recover", *CASE, "--planner", "contraction", *where) == 0
    assert {"plan.json", "recovery.gif"} <= {path.name for path in tmp_path.iterdir()}
    (tmp_path / "mine.txt").write_text("keep")
    assert run(monkeypatch, "recover", *CASE, "--planner", "sidr", "--no-animate", *where) == 0
    names = {path.name for path in tmp_path.iterdir()}
    assert not {"plan.json", "recovery.gif"} & names
    assert {"mine.txt", "scenario.json", "recovery.png"} <= names


def test_phases_of_an_earlier_run_do_not_stay(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With fewer strikes, or none, no earlier phase passes for one of this run; what somebody else
    put there stays, and so does a scenario that may be the one that was read.
    """
    words = ("recover", *CASE, "--no-animate", "--out", str(tmp_path))
    strike = ("--strike", "1:1")
    (tmp_path / "phase-7").mkdir()
    for strikes, phases in ((2, {0, 1, 2, 7}), (1, {0, 1, 2, 7}), (0, {2, 7}), (1, {0, 1, 2, 7})):
        assert run(monkeypatch, *words, *strike * strikes) == 0
        (tmp_path / "phase-2" / "mine.txt").write_text("keep")
        assert {path.name for path in tmp_path.glob("phase-*")} == {f"phase-{k}" for k in phases}
        assert (tmp_path / "phase-2" / "plan.json").exists() == (strikes == 2)
        assert (tmp_path / "plan.json").exists() == (strikes == 0)
    assert (tmp_path / "scenario.json").exists()


def test_plans_of_an_earlier_comparison_do_not_stay(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Only the plans of this comparison's planners, and files that are called after no planner."""
    words = ("compare", *CASE, "--out", str(tmp_path), "--planners")
    assert run(monkeypatch, *words, "contraction,certified,certified+contraction") == 0
    (tmp_path / "plan-b.json").write_text("keep")
    assert run(monkeypatch, *words, "contraction") == 0
    plans = {path.name for path in tmp_path.glob("plan-*")}
    assert plans == {"plan-contraction.json", "plan-b.json"}


OBSTACLES = {
    "a folder for the plan": (("recover",), "plan.json/", "plan.json"),
    "a folder for a plan": (("compare", "--planners", "sidr"), "plan-sidr.json/", "plan-sidr.json"),
    "a folder for the picture": (("operate",), "belief.png/", "belief.png"),
    "a folder for a phase's page": (
        ("recover", "--strike", "1:1"),
        "phase-1/index.html/",
        "index.html",
    ),
    "a file for a phase": (("recover", "--strike", "1:1"), "phase-1", "phase-1"),
}


@pytest.mark.parametrize(("words", "obstacle", "told"), OBSTACLES.values(), ids=OBSTACLES)
def test_what_is_in_the_way_of_a_file_is_told_before_planning(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    words: tuple[str, ...],
    obstacle: str,
    told: str,
) -> None:
    """One line that names it, code 2, and nothing is written beside it."""
    place = tmp_path / obstacle
    if obstacle.endswith("/"):
        place.mkdir(parents=True)
    else:
        place.touch()
    # The scenario is not asked for, so nothing was planned.
    monkeypatch.setattr("reknit.cli.options.ScenarioOptions.scenario", None)
    assert run(monkeypatch, *words, "--out", str(tmp_path)) == 2
    problem = capsys.readouterr().err
    assert f"{told}: " in problem
    assert problem.count("\n") == 1
    assert len(list(tmp_path.rglob("*"))) == obstacle.strip("/").count("/") + 1


def test_compare_tells_the_best_bound_it_has(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No plan of a comparison proves more than the comparison says."""
    words = ("--uavs", "40", "--destroy", "20", "--seed", "3", "--split")
    demand = ("--demand", "min_separation_m=50", "--planners", "certified,contraction", "--json")
    run(monkeypatch, "compare", *words, *demand)
    told = json.loads(capsys.readouterr().out)
    assert told["lower_bound_s"] >= max(row["plan"]["lower_bound_s"] for row in told["runs"])


def test_a_number_with_hundreds_of_digits_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A whole number that no float can hold is refused like any other wrong one."""
    for huge in ("1" + "0" * 400, "1" * 5000):  # the second is beyond what Python reads
        for name in ("allowed_time_s", "min_separation_m", "position_sigma_m", "link_margin"):
            assert run(monkeypatch, "recover", *CASE, "--demand", f"{name}={huge}") == 2
            told = capsys.readouterr().err
            assert name in told
            assert told.count("\n") == 1
