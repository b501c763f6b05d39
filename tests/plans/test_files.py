"""Plans to JSON and back."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reknit
from reknit.base.errors import InvalidPlan, UnreadableFile


@pytest.fixture
def scenario() -> reknit.Scenario:
    return reknit.generate(30, 15, seed=2, split=True)


def test_round_trip_is_exact(tmp_path: Path, scenario: reknit.Scenario) -> None:
    """A plan read back is the same to the last bit and still passes the checker."""
    plan = reknit.plan(scenario, "contraction", seed=4)
    plan.save(tmp_path / "plan.json")
    back = reknit.Plan.load(tmp_path / "plan.json")
    back.verify(scenario)
    assert back.targets.tobytes() == plan.targets.tobytes()
    for name in ("status", "recovery_time_s", "lower_bound_s", "gap", "uavs"):
        assert getattr(back, name) == getattr(plan, name)
    assert np.array_equal(back.certificate.cases, plan.certificate.cases)
    back.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "plan.json").read_bytes()


def test_a_file_holds_nothing_that_is_not_checked(
    tmp_path: Path, scenario: reknit.Scenario
) -> None:
    """Every value of a plan file is told from another one: how the plan came about is not there,
    and a change of anything that is there is refused, on loading or against the scenario.
    """
    path = tmp_path / "plan.json"
    reknit.plan(scenario, "certified", seed=4).save(path)
    whole = json.loads(path.read_text())
    assert set(whole) == {
        "format", "version", "status", "recovery_time_s", "lower_bound_s", "gap", "uavs",
        "targets_m", "certificate",
    }  # fmt: skip
    others = {"uavs": [*whole["uavs"][::-1]], "format": "reknit-scenario", "version": 3}
    others |= {"status": "feasible", "certificate": {**whole["certificate"], "bound_s": 99.0}}
    others |= {"targets_m": [[x + 1e-9 * (abs(x) + 1.0), y] for x, y in whole["targets_m"]]}
    for name, value in whole.items():
        changed = others[name] if name in others else value * (1.0 + 1e-12) + 1e-12
        for text in ({**whole, name: changed}, {k: v for k, v in whole.items() if k != name}):
            path.write_text(json.dumps(text))
            if name not in text and name in ("format", "version"):
                reknit.Plan.load(path, scenario)  # left out, these claim nothing
                continue
            with pytest.raises((InvalidPlan, UnreadableFile)):
                reknit.Plan.load(path, scenario)


def test_a_plan_that_was_read_says_that_its_origin_is_unknown(
    tmp_path: Path, scenario: reknit.Scenario
) -> None:
    """It has no planner, seed or computing time, and shows without them."""
    reknit.plan(scenario, "contraction", seed=4).save(tmp_path / "plan.json")
    back = reknit.Plan.load(tmp_path / "plan.json", scenario)
    assert (back.planner, back.seed, back.parameters, back.details) == ("", None, {}, {})
    assert math.isnan(back.compute_s)
    assert repr(back).startswith("Plan(status=")
    assert "unknown" in back._repr_html_()


def test_that_the_time_was_over_is_not_in_the_file(
    tmp_path: Path, scenario: reknit.Scenario
) -> None:
    """It cannot be checked: the file says feasible, and a file that says otherwise is refused."""
    plan = reknit.plan(scenario, "certified", budget_s=0.0)
    assert plan.status is reknit.Status.DEADLINE
    path = tmp_path / "plan.json"
    plan.save(path)
    assert reknit.Plan.load(path, scenario).status is reknit.Status.FEASIBLE
    path.write_text(path.read_text().replace('"feasible"', '"deadline"'))
    with pytest.raises(UnreadableFile, match="status is 'deadline'"):
        reknit.Plan.load(path)


@pytest.mark.parametrize(
    "origin", [{"version": 1}, {"version": 1, "planner": "me", "compute_s": 1e300, "seed": -5}]
)
def test_files_of_the_first_version_are_refused(
    tmp_path: Path, scenario: reknit.Scenario, origin: dict[str, Any]
) -> None:
    """They told how the plan came about, which no checker can know: verified, it would pass for
    proved.
    """
    path = tmp_path / "plan.json"
    reknit.plan(scenario, "certified").save(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **origin}))
    with pytest.raises(UnreadableFile, match=r"plan\.json: version is 1; allowed: 2"):
        reknit.Plan.load(path)


@pytest.mark.parametrize("count", [0, 3])
def test_every_target_says_whose_it_is(
    tmp_path: Path, scenario: reknit.Scenario, count: int
) -> None:
    """Without names, or with too few, targets would fit any swarm of the size: no such file is
    written, and none is read.
    """
    plan = reknit.plan(scenario, "contraction")
    path = tmp_path / "plan.json"
    with pytest.raises(InvalidPlan, match=f"uavs is a list of {count}; allowed: 15"):
        replace(plan, uavs=plan.uavs[:count]).save(path)
    assert list(tmp_path.iterdir()) == []
    plan.save(path)
    whole = json.loads(path.read_text())
    path.write_text(json.dumps({**whole, "uavs": whole["uavs"][:count]}))
    with pytest.raises(InvalidPlan, match=f"uavs is a list of {count}; allowed: 15"):
        reknit.Plan.load(path)


LIES: dict[str, Callable[[reknit.Plan], dict[str, Any]]] = {
    "targets_m.0.0 is nan": lambda plan: {"targets": plan.targets * math.nan},
    "recovery_time_s is nan": lambda plan: {"recovery_time_s": math.nan},
    "recovery_time_s is '5'": lambda plan: {"recovery_time_s": "5"},
    "lower_bound_s is inf": lambda plan: {
        "certificate": replace(plan.certificate, bound_s=math.inf)
    },
    "trial_s is nan": lambda plan: {"certificate": replace(plan.certificate, trial_s=math.nan)},
    "status is 'feasible'": lambda plan: {"status": "feasible"},
}


@pytest.mark.parametrize("told", LIES)
def test_what_no_file_can_hold_is_not_saved(
    tmp_path: Path, scenario: reknit.Scenario, told: str
) -> None:
    """One typed error names the field and the value, and nothing is written."""
    plan = reknit.plan(scenario, "contraction")
    with pytest.raises(InvalidPlan, match=f"^{told}; allowed: "):
        replace(plan, **LIES[told](plan)).save(tmp_path / "plan.json")
    assert list(tmp_path.iterdir()) == []


def test_ids_of_numpy_are_saved_as_any_others(tmp_path: Path, scenario: reknit.Scenario) -> None:
    """`scenario.survivors` names the survivors as well as a tuple of them."""
    plan = reknit.plan(scenario, "contraction")
    named = replace(plan, uavs=scenario.survivors)  # type: ignore[arg-type]
    assert named.uavs == plan.uavs
    named.verify(scenario)
    named.save(tmp_path / "plan.json")
    assert reknit.Plan.load(tmp_path / "plan.json", scenario).uavs == plan.uavs


def test_a_tampered_file_fails_the_check(tmp_path: Path, scenario: reknit.Scenario) -> None:
    """Loading believes the file, verifying does not."""
    path = tmp_path / "plan.json"
    reknit.plan(scenario, "contraction").save(path)
    data = json.loads(path.read_text())
    data["targets_m"][0][0] += 500.0
    path.write_text(json.dumps(data))
    with pytest.raises(InvalidPlan):
        reknit.Plan.load(path).verify(scenario)


@pytest.mark.parametrize(
    "change",
    [
        {"status": "splendid"},
        {"version": 3},
        {"targets_m": "here"},
        {"targets_m": [[0.0, 1.0], [2.0]]},
        {"recovery_time_s": None},
        {"surprise": 1},
    ],
)
def test_bad_files_are_refused(
    tmp_path: Path, scenario: reknit.Scenario, change: dict[str, object]
) -> None:
    """A file that is no plan gives a typed error with its name."""
    path = tmp_path / "plan.json"
    reknit.plan(scenario, "contraction").save(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(UnreadableFile, match=r"plan\.json"):
        reknit.Plan.load(path)
