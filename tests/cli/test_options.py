"""Options beside a file, defaults as the help shows them, parameters as text."""

from __future__ import annotations

import dataclasses
import inspect
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import reknit
from reknit.algorithms.registry import BUILT_IN, DEFAULT_PLANNER, Entry
from reknit.cli.app import run
from reknit.cli.options import ScenarioOptions, parse_strike
from reknit.cli.values import parameters, prepared
from reknit.errors import InvalidInput, InvalidParameter, UnreadableFile
from reknit.swarm.demands import demand_fields
from tests.cli.processes import CASE, reknit_process


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


@pytest.mark.parametrize(
    "text",
    [
        "9",
        "3,3",
        "0.999",
        "1.0",
        "3,77",
        "3,9",
        "0,1,2,3,4,5,6,7,8",
        ",",
        "3,",
        "uavs=",
        "",
        "1_0",
        "\uff13",
    ],
)
def test_losses_that_cannot_be_are_refused(swarm: Path, text: str) -> None:
    """All of them, one twice, one unknown, one lost before: one typed error each."""
    with pytest.raises(InvalidInput, match="destroy"):
        ScenarioOptions(path=swarm, destroy=text).scenario()


def test_a_number_is_a_number_whatever_uavs_are_called(swarm: Path, tmp_path: Path) -> None:
    """--destroy 4 takes four also where a UAV is called 4; `uavs=4` is that one, by id or name."""
    assert ScenarioOptions(path=swarm, destroy="uavs=4").scenario().destroyed.tolist() == [4, 9]
    named = tmp_path / "named.csv"
    rows = [f"{k + 1},{100 * k},0,1" for k in range(10)]
    named.write_text("\n".join(["uav_id,x_m,y_m,alive", *rows]))
    for damage in ("random", "disc"):
        options = ScenarioOptions(path=named, destroy="4", damage=damage, range_m=120.0)
        assert len(options.scenario().destroyed) == 4
    alone = ScenarioOptions(path=named, destroy="uavs=4", range_m=120.0).scenario()
    assert alone.destroyed.tolist() == [3]


@pytest.fixture
def telemetry(tmp_path: Path) -> Path:
    """Five UAVs with numbers for names, one without a report, and no column alive."""
    path = tmp_path / "telemetry.csv"
    rows = ["10,0,0,0.2", "11,100,0,9", "12,200,0,", "3,300,0,5", "0,400,0,5.001"]
    path.write_text("uav_id,x_m,y_m,age_s\n" + "\n".join(rows) + "\n")
    return path


def test_uavs_that_are_silent_for_too_long_are_lost(telemetry: Path) -> None:
    """--lost-after 5: older than 5 s or never heard is lost, 5 s is not; --destroy comes on top."""
    scenario = ScenarioOptions(path=telemetry, lost_after=5.0).scenario()
    assert [scenario.label(row) for row in scenario.destroyed] == ["11", "12", "0"]
    scenario = ScenarioOptions(path=telemetry, lost_after=5.0, destroy="uavs=10").scenario()
    assert [scenario.label(row) for row in scenario.survivors] == ["3"]


def test_the_example_swarm_has_one_that_is_silent() -> None:
    """The file that the README names can be tried with --lost-after, which loses one UAV more."""
    path = Path(__file__).parents[2] / "examples" / "swarm.csv"
    scenario = ScenarioOptions(path=path).scenario()
    fewer = ScenarioOptions(path=path, lost_after=5.0).scenario()
    silent = set(fewer.destroyed) - set(scenario.destroyed)
    assert [scenario.label(row) for row in silent] == ["uav-01"]
    assert set(scenario.destroyed) < set(fewer.destroyed)


def test_lost_after_comes_on_top_of_alive(tmp_path: Path) -> None:
    """A file with both columns loses those that either says."""
    path = tmp_path / "both.csv"
    path.write_text("uav_id,x_m,y_m,z_m,alive,age_s\n0,0,0,0,1,1\n1,9,0,0,0,1\n2,9,9,0,1,7\n")
    assert ScenarioOptions(path=path).scenario().destroyed.tolist() == [1]
    assert ScenarioOptions(path=path, lost_after=2.0).scenario().destroyed.tolist() == [1, 2]


@pytest.mark.parametrize("seconds", ["-1", "nan", "inf", "soon"])
def test_lost_after_is_seconds(telemetry: Path, seconds: str) -> None:
    """One line that names the option, with exit code 2."""
    result = reknit_process("recover", str(telemetry), "--lost-after", seconds)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "--lost-after" in result.stderr


def test_lost_after_needs_a_file_that_says_when(telemetry: Path, swarm: Path) -> None:
    """Without a file, with one without ages, and ages that nothing is said about: refused."""
    with pytest.raises(InvalidParameter, match="only beside"):
        ScenarioOptions(lost_after=5.0).scenario()
    with pytest.raises(UnreadableFile, match="no column age_s"):
        ScenarioOptions(path=swarm, lost_after=5.0).scenario()
    with pytest.raises(UnreadableFile, match="no column alive"):
        ScenarioOptions(path=telemetry).scenario()
    whole = swarm.with_suffix(".json")
    reknit.save_scenario(reknit.load_scenario(swarm), whole)
    with pytest.raises(InvalidParameter, match="lost_after"):
        ScenarioOptions(path=whole, lost_after=5.0).scenario()


@pytest.mark.parametrize("age", ["-0.1", "nan", "old", "1,2"])
def test_ages_are_seconds(tmp_path: Path, age: str) -> None:
    """A wrong age is refused with its line, also where it would not matter."""
    path = tmp_path / "odd.csv"
    path.write_text(f"uav_id,x_m,y_m,alive,age_s\n0,0,0,1,1\n1,9,0,0,{age}\n")
    with pytest.raises(UnreadableFile, match="line 3"):
        ScenarioOptions(path=path).scenario()


def test_ids_in_a_demand_are_names_where_there_are_names(telemetry: Path, swarm: Path) -> None:
    """anchors=3 is the UAV called 3, in row 3 or not; without names it is the row."""
    options = ScenarioOptions(path=telemetry, lost_after=5.0, demand=["anchors=3, 10"])
    assert options.scenario().anchors.tolist() == [0, 3]
    assert ScenarioOptions(path=swarm, demand=["anchors=3,1"]).scenario().anchors.tolist() == [1, 3]
    with pytest.raises(InvalidInput, match="anchors"):
        ScenarioOptions(path=telemetry, lost_after=5.0, demand=["anchors=1"]).scenario()
    with pytest.raises(InvalidInput, match="destroyed"):
        ScenarioOptions(path=telemetry, lost_after=5.0, demand=["anchors=0"]).scenario()


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
        value = reknit.generate().radio_range_m if option == "range" else defaults[name]
        shown = f"{value:g}" if isinstance(value, (int, float)) else str(value)
        help_of_option = text.split(f"--{option} ")[1].split("--")[0]
        assert f"[default: ({shown})]" in help_of_option, option
    assert f"[default: ({DEFAULT_PLANNER})]" in text
    assert DEFAULT_PLANNER == "certified"


@pytest.mark.parametrize("text", ["False", "false", "no", "0", "off"])
def test_words_for_false_mean_false(text: str) -> None:
    """--param trimming=False is not a text that counts as true."""
    assert parameters("ml-dagl", [f"trimming={text}"])["trimming"] is False


def test_a_value_of_another_type_is_one_typed_line() -> None:
    """--param trimming=maybe names the parameter, the value and what is allowed."""
    words = ("recover", *CASE, "--planner", "ml-dagl", "--param", "trimming=maybe")
    done = reknit_process(*words)
    assert done.returncode == 2
    assert "ml-dagl.trimming is 'maybe'; allowed: true or false" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "owner", "names"),
    [
        ("recover", "certified", ("progress", "planner", "scenario", "seed", "budget_s", "cancel")),
        ("operate", "hedge", ("seed", "policy")),
    ],
)
def test_parameters_are_the_planners_own(
    capsys: pytest.CaptureFixture[str], command: str, owner: str, names: tuple[str, ...]
) -> None:
    """--param never sets an argument of the call that runs the planner: one typed line."""
    for name in names:
        assert run([command, *CASE, "--param", f"{name}=3"]) == 2
        told = capsys.readouterr().err
        assert told.startswith(f"reknit: {owner}.{name} is 3; allowed: the parameters ")
        assert told.count("\n") == 1


def test_a_parameter_that_would_not_reach_its_planner_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Somebody else's planner with a parameter that `recover` has too is not run without it."""
    taking = Entry("taking", f"{__name__}:Taking", "for a test")
    monkeypatch.setattr("reknit.algorithms.registry.BUILT_IN", (taking,))
    assert prepared("taking", ["weight=3"]) == {"weight": 3}
    with pytest.raises(InvalidParameter, match="--param seed is 3"):
        prepared("taking", ["seed=3"])


@dataclasses.dataclass(frozen=True)
class Taking:
    """A planner with a seed of its own."""

    seed: int = 0
    weight: int = 0

    def propose(self, scenario: reknit.Scenario, context: reknit.Context) -> reknit.Proposal:
        return reknit.Proposal(scenario.survivor_positions)


@pytest.mark.parametrize("words", [("recover", "--planner", "ml-dagl"), ("compare",)])
def test_a_budget_runs_only_when_the_planner_is_loaded(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """What a planner's first import takes is not taken from its seconds."""
    events: list[str] = []
    only = tuple(entry for entry in BUILT_IN if entry.name == "ml-dagl")
    monkeypatch.setattr("reknit.algorithms.registry.BUILT_IN", only)
    monkeypatch.setattr("reknit.algorithms.registry.build", lambda *_: events.append("built"))

    def timed(*_: Any, **__: Any) -> None:
        events.append("timed")
        raise InvalidParameter("the call", "timed", "none; this test needs no more")

    monkeypatch.setattr("reknit.recovery.runs.recover", timed)
    assert run([*words, *CASE, "--budget", "1"]) != 0
    assert events == ["built", "timed"]


def test_the_parameters_of_a_planner_are_listed() -> None:
    """`reknit planners NAME` shows name, type, default and meaning of each."""
    listed = json.loads(reknit_process("planners", "hero", "--json").stdout)["parameters"]
    assert [row["name"] for row in listed] == ["weight"]
    table = reknit_process("planners", "hero").stdout
    assert "weight" in table
    assert str(listed[0]["default"]) in table
    learned = reknit_process("planners", "ml-dagl", columns=200).stdout
    assert "'default' or 'relaxed' or 'paper' or 'published'" in learned
    assert "the preset's: 32 (default)" in learned
    many = json.loads(reknit_process("planners", "ml-dagl", "--json").stdout)["parameters"]
    assert all("the preset's: " in row["unset"] for row in many if row["default"] is None)
    rates = next(row["unset"] for row in many if row["name"] == "learning_rate")
    assert rates == "the preset's: 0.003 (relaxed), 0.0001 (paper, published)"
    unknown = reknit_process("planners", "hroe")
    assert unknown.returncode == 2
    assert "did you mean 'hero'" in unknown.stderr


def test_demands_reach_the_scenario(swarm: Path) -> None:
    """Each --demand is a field of the scenario, beside a file and without one."""
    given = ["connectivity=2", "anchors=0,8", "min_separation_m=5", "position_sigma_m=2.5"]
    for path in (swarm, None):
        options = ScenarioOptions(path=path, destroy="3,5", demand=given)
        case = dataclasses.replace(options, uavs=None if path else 20).scenario()
        assert case.connectivity == 2
        assert case.anchors.tolist() == [0, 8]
        assert case.min_separation_m == 5.0
        assert case.planning_range_m == pytest.approx(120.0 - 3.0 * 2.0**0.5 * 2.5)


def test_every_demand_is_listed_and_unknown_ones_are_refused() -> None:
    """`reknit demands` lists the fields; a misspelt one gets a hint."""
    listed = json.loads(reknit_process("demands", "--json").stdout)["demands"]
    assert [row["name"] for row in listed] == list(demand_fields())
    done = reknit_process("recover", "--demand", "conectivity=2")
    assert done.returncode == 2
    assert "did you mean 'connectivity'" in done.stderr


def test_strikes_take_who_they_say() -> None:
    """By number, by id, by disc: the survivors of each phase are those of the strikes before."""
    words = ["recover", *CASE, "--planner", "certified", "--json"]
    scenario = reknit.generate(30, 15, seed=2, split=True)
    first, second = scenario.survivors[:2].tolist()
    x_m, y_m = scenario.positions[second]
    done = reknit_process(
        *words,
        "--strike",
        f"0:uavs={first}",
        "--strike",
        f"0:disc={x_m},{y_m},1",
        "--strike",
        "1:3",
    )
    phases = json.loads(done.stdout)["phases"]
    assert [phase["scenario"]["survivors"] for phase in phases] == [15, 14, 13, 10]
    assert [phase["struck_at_s"] for phase in phases] == [0.0, 0.0, 1.0, None]
    assert str(first) not in phases[1]["final_positions_m"]
    assert str(second) not in phases[2]["final_positions_m"]
    assert done.returncode == 0


@pytest.mark.parametrize(
    "text", ["3", "3:", "x:1", "1:0", "-1:2", "1:uavs=", "1:disc=1,2", "1:x=3", "1:1_0", "\uff11:1"]
)
def test_strikes_that_make_no_sense_are_refused(text: str) -> None:
    """One typed line, code 2."""
    done = reknit_process("recover", *CASE, "--strike", text)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_inertia_makes_the_flight_longer() -> None:
    """--acceleration reaches the simulator."""
    words = ("recover", *CASE, "--json")
    plain = json.loads(reknit_process(*words).stdout)["metrics"]["flown_time_s"]
    slow = json.loads(reknit_process(*words, "--acceleration", "2").stdout)["metrics"]
    scenario = reknit.generate(30, 15, seed=2, split=True)
    plan = reknit.plan(scenario, "certified", seed=2)
    expected = reknit.fly(scenario, plan, max_acceleration_mps2=2.0).reconnected_at_s
    assert slow["flown_time_s"] == expected
    assert expected is not None
    assert expected > plain


def test_names_of_uavs_are_used_in_and_out(tmp_path: Path) -> None:
    """A file with ids of one's own: --destroy takes them, and results are told by them."""
    path = tmp_path / "named.csv"
    lines = [f"{name},{100 * k},0,1" for k, name in enumerate(("ada", "bo", "cy", "dee"))]
    path.write_text("\n".join(["uav_id,x_m,y_m,alive", *lines]) + "\n")
    out = tmp_path / "out"
    done = reknit_process(
        "recover", str(path), "--destroy", "bo", "--json", "--out", str(out), "--no-animate"
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert list(result["targets_m"]) == ["ada", "cy", "dee"]
    assert set(pq.read_table(out / "flight.parquet")["uav_id"].to_pylist()) == {"ada", "cy", "dee"}
    assert set(result["final_positions_m"]) == {"ada", "cy", "dee"}
    assert json.loads((out / "plan.json").read_text())["uavs"] == ["ada", "cy", "dee"]
    steered = reknit_process("recover", str(path), "--planner", "sidr", "--destroy", "bo", "--json")
    assert set(json.loads(steered.stdout)["final_positions_m"]) == {"ada", "cy", "dee"}
    for text, told in (
        ("bob", "--destroy is 'bob'; allowed: a number such as 100, a ratio such as 0.5, or names"),
        ("bo,bo", "--destroy is 'bo'; allowed: each id once"),
        ("bo,bob", "--destroy is 'bob'; allowed: names of UAVs in this swarm"),
    ):
        refused = reknit_process("recover", str(path), "--destroy", text)
        assert refused.returncode == 2
        assert told in refused.stderr


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("a,b", ["a,b"]),
        ('"a,b",c', ["a,b", "c"]),
        ("uavs=0.5", ["0.5"]),
        ("0.5", 3),  # half of them
        ("uavs=7", ["7"]),
        ("1", 1),
    ],
)
def test_names_with_commas_and_of_digits(tmp_path: Path, text: str, lost: list[str] | int) -> None:
    """A name in quotes or alone may have commas; a number or ratio is one unless uavs= is said."""
    path = tmp_path / "odd.csv"
    rows = [f"{name},{100 * k},0,1" for k, name in enumerate(('"a,b"', "0.5", "c", "d", "7", "e"))]
    path.write_text("\n".join(["uav_id,x_m,y_m,alive", *rows]) + "\n")
    case = ScenarioOptions(path=path, destroy=text).scenario()
    assert len(case.destroyed) == (lost if isinstance(lost, int) else len(lost))
    if isinstance(lost, list):
        assert [case.label(row) for row in case.destroyed] == lost
        swarm = reknit.load_scenario(path)
        assert parse_strike(f"1:uavs={text.removeprefix('uavs=')}", swarm).uavs == tuple(lost)


def test_a_ratio_is_to_the_nearest_uav() -> None:
    """As the help says: a thousandth of 20 UAVs is nobody, a twentieth is one."""
    for ratio, lost in (("0.001", 0), ("0.02", 0), ("0.025", 1), ("0.05", 1)):
        assert len(ScenarioOptions(uavs=20, destroy=ratio).scenario().destroyed) == lost


def test_a_parameter_given_twice_is_refused() -> None:
    """Which of the two was meant is not guessed."""
    with pytest.raises(InvalidParameter, match="each name once"):
        parameters("hero", ["weight=1", "weight=2"])
