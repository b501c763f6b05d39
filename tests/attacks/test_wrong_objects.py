"""Objects of the wrong kind given to the Python interface: one typed error that names the field."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reknit
from reknit.base.errors import (
    InvalidInput,
    InvalidPlan,
    InvalidScenario,
    UnknownName,
)
from reknit.base.version import VERSION

SCENARIO = reknit.generate(20, 10, seed=1, split=True)
OTHER = reknit.generate(30, 10, seed=1)
PLAN = reknit.plan(SCENARIO, "contraction")
WRONG: Any = np.zeros((4, 2))


class NoFunction:
    """A planner that steers by something that cannot be called."""

    def controller(self, scenario: reknit.Scenario, context: reknit.Context) -> Any:
        return 5


class NoNumbers:
    """A planner that steers with velocities that are none."""

    def controller(self, scenario: reknit.Scenario, context: reknit.Context) -> Any:
        return lambda positions, time_s, step_s: np.full_like(positions, np.nan)


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
    "no controller": (lambda: reknit.recover(SCENARIO, NoFunction()), "controller"),
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
    "a controller's velocities": (lambda: reknit.recover(SCENARIO, NoNumbers()), "controller"),
    "budget in words": (lambda: reknit.plan(SCENARIO, budget_s="5"), "budget_s"),  # type: ignore[arg-type]
    "seed, steering": (lambda: reknit.recover(SCENARIO, "hero", seed=-1), "seed"),
    "scenario file": (lambda: reknit.load_scenario(5), "path"),  # type: ignore[arg-type]
    "plan file": (lambda: reknit.Plan.load(None), "path"),  # type: ignore[arg-type]
    "study": (lambda: reknit.run_study({}, "x.duckdb"), "study"),  # type: ignore[arg-type]
    "client": (lambda: reknit.Client(5), "url"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_object_is_one_typed_error(case: str) -> None:
    """Nobody is shown an AttributeError from within: the error names the argument."""
    call, field = CASES[case]
    with pytest.raises(InvalidInput, match=f"^{field} is "):
        call()


@pytest.mark.parametrize("answer", [None, PLAN.targets, (PLAN.targets,), "here"])
def test_a_planner_that_returns_something_else_is_named(answer: Any) -> None:
    """None, or bare targets instead of a `Proposal`: the error names the planner and its answer."""
    with pytest.raises(InvalidPlan, match=f"planner 'Bare' returned {type(answer).__name__};"):
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
