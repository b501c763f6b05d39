"""Objects of the wrong kind given to the Python interface: one typed error that names the field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reknit
from reknit.base.errors import (
    BrokenPlanner,
    InvalidInput,
    InvalidScenario,
    InvalidWeights,
    UnknownName,
)
from reknit.base.version import VERSION

SCENARIO = reknit.generate(20, 10, seed=1, split=True)
OTHER = reknit.generate(30, 10, seed=1)
PLAN = reknit.plan(SCENARIO, "contraction")
WRONG: Any = np.zeros((4, 2))
API: Any = reknit
"""The package as a caller without a type checker sees it."""

PAIR = np.array([1, 2])
HUGE = 10**400
HIDDEN = np.ma.array([1.0, 2.0], mask=[True, False])
STUDY = reknit.load_study("optimality", with_planners=False)
SMALL = STUDY.with_planners(["sidr"])


class NoFunction:
    """A planner that steers by something that cannot be called."""

    def controller(self, scenario: reknit.Scenario, context: reknit.Context) -> Any:
        return 5


class Steering:
    """A planner that steers with what a function makes of the positions."""

    def __init__(self, wish: Callable[[Any], Any]) -> None:
        self.wish = wish

    def controller(self, scenario: reknit.Scenario, context: reknit.Context) -> Any:
        return lambda positions, time_s, step_s: self.wish(positions)


class NoArray:
    """Something that raises when numpy asks what it holds."""

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        raise RuntimeError("no array")


class NoFloat(float):
    """A number that refuses to be one."""

    def __float__(self) -> float:
        raise RuntimeError("no number")


class NoText:
    """Something that raises when it is shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")


class Bare:
    """A planner that returns whatever it was made with."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def propose(self, scenario: reknit.Scenario, context: reknit.Context) -> Any:
        return self.answer


def strike(*places: Any, **fields: Any) -> Callable[[], Any]:
    """A strike that is made when the test asks for it."""
    return lambda: reknit.Strike(*places, **fields)


CASES: dict[str, tuple[Callable[[], Any], str]] = {
    "plan: positions": (lambda: reknit.plan(WRONG), "scenario"),
    "recover: None": (lambda: reknit.recover(None), "scenario"),  # type: ignore[arg-type]
    "fly: positions": (lambda: reknit.fly(WRONG, PLAN), "scenario"),
    "verify: positions": (lambda: PLAN.verify(WRONG), "scenario"),
    "strikes: positions": (lambda: reknit.recover_repeatedly(WRONG, "sidr", []), "scenario"),
    "plot: another's plan": (lambda: PLAN.plot(OTHER), "scenario"),
    "bound: None": (lambda: reknit.lower_bound(None), "scenario"),  # type: ignore[arg-type]
    "bound: a number": (lambda: reknit.lower_bound(SCENARIO, 3), "context"),  # type: ignore[arg-type]
    "generate: 3.0": (lambda: reknit.generate(10, dim=3.0), "dim"),  # type: ignore[arg-type]
    "generate: no density": (lambda: reknit.generate(density_per_km2=None), "density_per_km2"),  # type: ignore[arg-type]
    "generate: a text": (lambda: reknit.generate(density_per_km2="x"), "density_per_km2"),  # type: ignore[arg-type]
    "save: nowhere": (lambda: PLAN.save(None), "path"),  # type: ignore[arg-type]
    "save: no name": (lambda: PLAN.save(""), "path"),
    "save: no scenario": (lambda: reknit.save_scenario(None, "a.json"), "scenario"),  # type: ignore[arg-type]
    "save: no path": (lambda: reknit.save_scenario(SCENARIO, None), "path"),  # type: ignore[arg-type]
    "a range of 400 digits": (lambda: reknit.Scenario([[0, 0]], (), 10**400), "radio_range_m"),
    "a place of 400 digits": (lambda: reknit.Scenario([[10**400, 0]], ()), "positions"),
    "radio: a text": (lambda: reknit.Radio().outage_probability("x"), "distance_m"),  # type: ignore[arg-type]
    "radio: far": (lambda: reknit.Radio().outage_probability(1e300), "distance_m"),
    "radio: None": (lambda: reknit.Radio().range_at_reliability_m(None), "reliability"),  # type: ignore[arg-type]
    "client: a time": (lambda: reknit.Client("http://127.0.0.1", timeout_s=-1.0), "timeout_s"),
    "client: a text": (lambda: reknit.Client("http://127.0.0.1", patience_s="x"), "patience_s"),  # type: ignore[arg-type]
    "client: a token": (lambda: reknit.Client("http://127.0.0.1", token=3), "token"),  # type: ignore[arg-type]
    "client: None": (lambda: reknit.Client("http://127.0.0.1").plan(None), "scenario"),  # type: ignore[arg-type]
    "client: nan": (
        lambda: reknit.Client("http://127.0.0.1").plan(SCENARIO, effort=float("nan")),
        "parameters",
    ),
    "strike: everybody": (
        lambda: reknit.recover_repeatedly(
            SCENARIO, "sidr", [reknit.Strike(0.1, uavs=tuple(range(20)))]
        ),
        "strike.uavs",
    ),
    "strike: everywhere": (
        lambda: reknit.recover_repeatedly(
            SCENARIO, "sidr", [reknit.Strike(0.1, centre_m=(0.0, 0.0), radius_m=1e6)]
        ),
        "strike.radius_m",
    ),
    "a planner's class": (lambda: reknit.recover(SCENARIO, NoFunction), "planner"),  # type: ignore[arg-type]
    "strikes: numbers": (lambda: reknit.recover_repeatedly(SCENARIO, "sidr", [5]), "strikes"),  # type: ignore[list-item]
    "strikes: None": (lambda: reknit.recover_repeatedly(SCENARIO, "sidr", None), "strikes"),  # type: ignore[arg-type]
    "strikes: seed": (lambda: reknit.recover_repeatedly(SCENARIO, "sidr", [], seed=-1), "seed"),
    "strike: time": (strike("soon", count=1), r"strike\.time_s"),
    "strike: count 1.5": (strike(1.0, count=1.5), r"strike\.count"),
    "strike: count nan": (strike(1.0, count=np.nan), r"strike\.count"),
    "strike: one name": (strike(1.0, uavs="abc"), r"strike\.uavs"),
    "strike: array": (strike(1.0, uavs=np.arange(3)), r"strike\.uavs"),
    "strike: centre": (strike(1.0, centre_m=("a", 0.0), radius_m=5.0), r"strike\.centre_m"),
    "strike: radius": (strike(1.0, centre_m=(0.0, 0.0), radius_m="5"), r"strike\.radius_m"),
    "fly: another's plan": (lambda: reknit.fly(OTHER, PLAN), "plan"),
    "budget in words": (lambda: reknit.plan(SCENARIO, budget_s="5"), "budget_s"),  # type: ignore[arg-type]
    "seed, steering": (lambda: reknit.recover(SCENARIO, "hero", seed=-1), "seed"),
    "scenario file": (lambda: reknit.load_scenario(5), "path"),  # type: ignore[arg-type]
    "plan file": (lambda: reknit.Plan.load(None), "path"),  # type: ignore[arg-type]
    "study": (lambda: reknit.run_study({}, "x.duckdb"), "study"),  # type: ignore[arg-type]
    "client": (lambda: reknit.Client(5), "url"),  # type: ignore[arg-type]
}

CASES |= {
    "mission: None": (lambda: API.Mission(None), r"mission\.swarm"),
    **{
        f"mission: {field} {number}": (
            lambda field=field, value=value: API.Mission(SCENARIO, **{field: value}),  # type: ignore[misc]
            rf"mission\.{field}(\[\d\])?",
        )
        for field, values in {
            "waypoints": (None, 5, "ab", NoText(), np.array(1.0), [("1", "2")], [(HUGE, 0)], [3]),
            "velocity_mps": ("xy", 5, (HUGE, 0), [1j, 0], [True, False], HIDDEN, NoArray()),
            "speed_mps": ("5", True, PAIR, HUGE, NoFloat(5.0), [5.0]),
            "area": (5, "ab", [(0.0, 0.0)], [(0.0, 0.0)] * 3, [(0, 0), (None, 1)]),
        }.items()
        for number, value in enumerate(values)
    },
    "report: None": (lambda: API.write_report(None, "x", "y"), "study"),
    "report: a name": (lambda: API.write_report("optimality", "x", "y"), "study"),
    "report: progress": (lambda: API.write_report(STUDY, "x", "y", progress=None), "progress"),
    "study: progress": (lambda: API.run_study(STUDY, "x", progress=5), "progress"),
    "study: address": (lambda: API.run_study(SMALL, "x", engine="ray", address=5), "address"),
    "study: planners None": (lambda: API.Study.with_planners(STUDY, None), "names"),
    "study: planners 5": (lambda: API.Study.with_planners(STUDY, [5]), "names"),
    "study: one planner": (lambda: API.Study.with_planners(STUDY, "sidr"), "names"),
    "study: no planners": (lambda: API.Study.with_planners(STUDY, []), "names"),
    "fly: progress": (lambda: API.fly(SCENARIO, PLAN, progress=None), "progress"),
    "fly: cancel": (lambda: API.fly(SCENARIO, PLAN, cancel=False), "cancel"),
    "operate: progress": (lambda: API.operate(SCENARIO, progress=None), "progress"),
    **{
        f"operate: until {end!r:.20}": (
            lambda end=end: API.operate(SCENARIO, end_s=end),  # type: ignore[misc]
            "end_s",
        )
        for end in ("x", True, PAIR, HUGE, np.nan, NoFloat(5.0))
    },
    **{
        f"path: {call.__name__} {name!r}": (
            lambda call=call, name=name: call(name),  # type: ignore[misc]
            "path|study",
        )
        for call in (PLAN.save, API.Plan.load, API.load_scenario, API.load_study)
        for name in ("a\0b.json", "a\ud800b.json")
    },
    "path: a results file": (lambda: API.run_study(SMALL, "\0.duckdb"), "path"),
    "path: known": (lambda: API.run_study(SMALL, "x", known="\0"), "known"),
    "path: a folder": (lambda: API.write_report(STUDY, "x", "\0"), "folder"),
    "digits: budget": (lambda: API.plan(SCENARIO, budget_s=HUGE), "budget_s"),
    "digits: destroyed": (lambda: API.generate(20, HUGE), "destroyed"),
    "digits: speed": (lambda: API.generate(20, 10, max_speed_mps=HUGE), "max_speed_mps"),
    "digits: radio": (lambda: API.Radio(HUGE), r"radio\.transmit_power_w"),
    "digits: a product": (lambda: API.Radio(10**300, 10**300), r"radio\.range_m"),
    "digits: strike": (strike(HUGE, count=1), r"strike\.time_s"),
    "digits: radius": (strike(1.0, centre_m=(0, 0), radius_m=HUGE), r"strike\.radius_m"),
    "digits: centre": (strike(1.0, centre_m=(HUGE, 0), radius_m=1.0), r"strike\.centre_m"),
    "digits: effort": (lambda: API.plan(SCENARIO, effort=HUGE), r"certified\.effort"),
    "digits: too many to show": (lambda: API.generate(20, 10**5000), "destroyed"),
    "strike: hidden": (strike(1.0, centre_m=HIDDEN, radius_m=1.0), r"strike\.centre_m"),
    "strike: no list": (strike(1.0, centre_m=np.array(1.0), radius_m=1.0), r"strike\.centre_m"),
    "names: no list": (lambda: API.Scenario([[0, 0]], names=np.array(1.0)), "names"),
    **{
        f"{field}: {type(value).__name__}": (
            lambda field=field, value=value: API.Scenario(**{"positions": [[0, 0]], field: value}),  # type: ignore[misc]
            field,
        )
        for field in ("positions", "max_speed_mps", "radio_range_m", "destroyed", "names", "radio")
        for value in (NoArray(), NoText())
    },
    "a number that is none": (lambda: API.Scenario([[0, 0]], (), NoFloat(1.0)), "radio_range_m"),
    "places that are none": (lambda: API.Scenario([[NoFloat(1.0), 0.0]]), "positions"),
    "a truth among places": (lambda: API.Scenario([[0.5, True]]), "positions"),
    "speeds in words": (
        lambda: API.Scenario([[0, 0], [1, 1]], max_speed_mps=["10", "10"]),
        "max_speed_mps",
    ),
    "speeds as truths": (
        lambda: API.Scenario([[0, 0], [1, 1]], max_speed_mps=[True, True]),
        "max_speed_mps",
    ),
    "a speed next to none": (
        lambda: API.Scenario([[0, 0], [1, 1]], max_speed_mps=1e-300),
        "max_speed_mps",
    ),
    "a speed too slow for the way": (
        lambda: API.Scenario([[-1e9, 0], [1e9, 1]], max_speed_mps=1e-8),
        "max_speed_mps",
    ),
    "a speed too slow to generate": (
        lambda: API.generate(20, 10, max_speed_mps=1e-300),
        "max_speed_mps",
    ),
    "a planner that is not shown": (lambda: API.plan(SCENARIO, NoText()), "planner"),
    "plan: no certificate": (lambda: replace(PLAN, certificate=None), r"plan\.certificate"),  # type: ignore[arg-type]
    "plan: a number": (lambda: replace(PLAN, certificate=5), r"plan\.certificate"),  # type: ignore[arg-type]
    "plan: no targets": (lambda: replace(PLAN, targets=None), r"plan\.targets"),  # type: ignore[arg-type]
    **{
        f"plan: uavs {value!r:.20}": (
            lambda value=value: replace(PLAN, uavs=value),  # type: ignore[misc]
            r"plan\.uavs",
        )
        for value in ([True, False], [0.0, 1.0], 5, "ab", [None], np.array([0.5]))
    },
    "context: a text": (lambda: API.Context("x"), "seed"),
    "context: a number": (lambda: API.Context(budget=5.0), "budget"),
    "context: progress": (lambda: API.Context(progress=None), "progress"),
    "context: cancel": (lambda: API.Context(cancel=True), "cancel"),
    "context: warm start": (lambda: API.Context(warm_start="x"), "warm_start"),
    "testing: no planner": (lambda: API.testing.check_planner(None), "planner"),
    "testing: a list": (lambda: API.testing.check_planner("sidr", [SCENARIO]), "scenarios"),
    "testing: numbers": (lambda: API.testing.check_planner("sidr", {"a": 5}), "scenarios"),
    "testing: 5": (lambda: API.testing.check_planner("sidr", None, 5), "parameters"),
    "testing: an object's": (
        lambda: API.testing.check_planner(Bare(None), None, {"a": 1}),
        "parameters",
    ),
    "testing: a policy's list": (lambda: API.testing.check_policy("pull", [SCENARIO]), "scenarios"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_object_is_one_typed_error(case: str) -> None:
    """Nobody is shown an AttributeError from within: the error names the argument."""
    call, field = CASES[case]
    with pytest.raises(InvalidInput, match=f"^({field}) is "):
        call()


@pytest.mark.parametrize("name", [PAIR, 5, None, [], NoText()], ids=type)
def test_a_name_that_is_no_text_is_unknown(name: Any) -> None:
    """An array is compared by its entries; wherever one of a few names is asked for, it is none."""
    calls: dict[str, Callable[[], Any]] = {
        "until": lambda: API.fly(SCENARIO, PLAN, until=name),
        "until ": lambda: API.operate(SCENARIO, until=name),
        "profile": lambda: STUDY.tasks(name),
        "profile ": lambda: API.write_report(SMALL, "x", "y", profile=name),
        "engine": lambda: API.run_study(SMALL, "x", engine=name),
        "layout": lambda: API.generate(20, 10, layout=name),
        "damage": lambda: API.generate(20, 10, damage=name),
    }
    for kind, call in calls.items():
        with pytest.raises(UnknownName, match=f"^{kind.strip()} is "):
            call()


@pytest.mark.parametrize("number", [np.float32(46.0), np.float64(46.0), np.int64(46), 46])
def test_a_radio_takes_every_kind_of_number(number: Any) -> None:
    """Numbers of numpy and whole ones make the same radio as Python's own."""
    radio = reknit.Radio(transmit_power_w=number)
    assert radio == reknit.Radio(transmit_power_w=46.0)
    assert type(radio.transmit_power_w) is float


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"certificate": 5}, "certificate is 5"),
        ({"certificate": replace(PLAN.certificate, bound_s="x")}, "certificate is"),  # type: ignore[arg-type]
        ({"details": None}, "details is None"),
        ({"details": {"a": object()}}, "details is"),
        ({"details": {1: 2}}, "details is"),
        ({"status": "deadline"}, "status is 'deadline'"),
        ({"targets": PLAN.targets + 1j}, "targets that are no numbers"),
        ({"targets": PLAN.targets > 0}, "targets that are no numbers"),
        ({"targets": np.ma.array(PLAN.targets, mask=PLAN.targets > 0)}, "targets that are no num"),
        ({"targets": PLAN.targets.astype(str)}, "targets that are no numbers"),
        ({"targets": [[HUGE, 0]] * 10}, "targets that are no numbers"),
        ({"targets": NoArray()}, "targets that are no numbers"),
        ({"targets": PLAN.targets * np.nan}, "targets that are not all finite; expected"),
        ({"targets": PLAN.targets[1:]}, r"targets of shape \(9, 2\); expected .* \(10, 2\)"),
    ],
)
def test_a_proposal_of_wrong_parts_names_the_planner(fields: dict[str, Any], told: str) -> None:
    """What a planner proposes beside targets is looked at too, and nothing is made to fit."""
    proposal = reknit.Proposal(**{"targets": PLAN.targets, **fields})
    with pytest.raises(BrokenPlanner, match=f"planner 'Bare' .*{told}"):
        reknit.plan(SCENARIO, Bare(proposal))


@pytest.mark.parametrize("answer", [None, PLAN.targets, (PLAN.targets,), "here"])
def test_a_planner_that_returns_something_else_is_named(answer: Any) -> None:
    """None, or bare targets instead of a `Proposal`: the error names the planner and its answer."""
    with pytest.raises(BrokenPlanner, match=f"planner 'Bare' returned {type(answer).__name__};"):
        reknit.plan(SCENARIO, Bare(answer))


def test_a_study_runs_into_a_file_that_is_given_as_text(tmp_path: Path) -> None:
    """run_study(study, "x.duckdb") is as good as with a Path."""
    text = 'name = "a"\nrepetitions = 1\n[[planner]]\nname = "sidr"\n[[case]]\nuavs = 12\n'
    (tmp_path / "a.toml").write_text(text + "destroyed = 0.5\n")
    study = reknit.load_study(str(tmp_path / "a.toml"))
    summary = reknit.run_study(study, str(tmp_path / "x.duckdb"), workers=1)
    assert (summary.now, summary.total) == (1, 1)
    assert (tmp_path / "x.duckdb").exists()


@pytest.mark.parametrize("planner", ["certified", "contraction", "center-fly", "sidr", "hero"])
def test_a_swarm_at_the_ends_of_the_world_takes_few_steps(planner: str) -> None:
    """UAVs at +-1e9 m, the farthest that is allowed: some thousand frames, not a billion."""
    scenario = reknit.Scenario([[-1e9, 0.0], [-1e9, 90.0], [1e9, 0.0], [1e9, 90.0]], ())
    run = reknit.recover(scenario, planner, budget_s=1.0)
    assert len(run.flight.times_s) < 10_000
    with pytest.raises(InvalidScenario, match=r"allowed: metres, at most 1e\+09"):
        reknit.Scenario([[0.0, 0.0], [1.1e9, 0.0]], ())


def test_points_of_a_strike_may_be_arrays() -> None:
    """A disc's centre is as good in numpy as in a tuple."""
    hit = reknit.Strike(np.float64(1.0), centre_m=np.zeros(2), radius_m=np.float32(5))  # type: ignore[arg-type]
    assert hit.radius_m == 5


def test_only_what_resembles_a_name_is_suggested() -> None:
    """A slip is answered by the name that was meant, anything else by the list alone."""
    assert "did you mean 'paper'" in str(UnknownName("profile", "papre", ["quick", "paper"]))
    assert "did you mean" not in str(UnknownName("profile", "nope", ["quick", "paper"]))
    with pytest.raises(UnknownName, match=r"^layout is None; allowed: uniform"):
        reknit.generate(20, 10, layout=None)  # type: ignore[arg-type]


def test_a_plan_names_the_version_that_made_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The code's own version counts, not what an older installation left in the metadata."""
    monkeypatch.setattr("reknit.recovery.planning.version", lambda package: "0.0.1")
    assert reknit.plan(SCENARIO, "contraction").versions["reknit"] == VERSION


@pytest.mark.parametrize(
    ("wish", "told"),
    [
        (lambda here: here * np.nan, "that are not all finite at 0 s; expected finite numbers of"),
        (lambda here: here[1:], r"of shape \(9, 2\) at 0 s; .* of shape \(10, 2\)"),
        (lambda here: here + 1j, "that are no numbers"),
        (lambda here: here > 0, "that are no numbers"),
        (lambda here: np.ma.array(here, mask=here > 0), "that are no numbers"),
        (lambda here: here.astype(str), "that are no numbers"),
        (lambda here: [[HUGE, 0]] * len(here), "that are no numbers"),
        (lambda here: NoArray(), "that are no numbers"),
    ],
    ids=["nan", "shape", "complex", "truths", "hidden", "texts", "digits", "no array"],
)
def test_velocities_that_are_none_name_the_planner(wish: Callable[[Any], Any], told: str) -> None:
    """A planner that steers by nonsense is told apart from input that is wrong."""
    with pytest.raises(BrokenPlanner, match=f"^planner 'Steering' asked for velocities {told}"):
        reknit.recover(SCENARIO, Steering(wish))


def test_a_controller_that_is_none_names_the_planner() -> None:
    """What cannot be called steers nobody."""
    with pytest.raises(BrokenPlanner, match=r"^planner 'NoFunction' made a controller that is int"):
        reknit.recover(SCENARIO, NoFunction())


def test_a_plan_with_hidden_targets_is_refused() -> None:
    """Masked targets would be flown to as if they were there."""
    hidden = np.ma.array(PLAN.targets, mask=True)
    with pytest.raises(InvalidInput, match=r"^plan\.targets is "):
        replace(PLAN, targets=hidden)


def test_a_picture_takes_no_scenario_beside_its_own() -> None:
    """What would be ignored is refused."""
    run = reknit.recover(SCENARIO, "sidr")
    for item in (SCENARIO, run):
        with pytest.raises(InvalidInput, match=r"^scenario is 5; allowed: none"):
            item.plot(5)


@pytest.mark.parametrize(("weights", "told"), [("nofile", "No such file"), ("", "a folder")])
@pytest.mark.parametrize("planner", ["ml-dagl", "cr-mgc"])
def test_weights_that_are_no_file_are_told_where_nobody_needs_them(
    planner: str, weights: str, told: str
) -> None:
    """Also for a swarm that is still whole, for which no net is loaded."""
    whole = reknit.generate(20, 1, seed=1)
    assert not whole.is_split
    with pytest.raises(InvalidWeights, match=told):
        reknit.recover(whole, planner, weights=weights)
