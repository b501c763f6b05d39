"""Plans to JSON and back."""

from __future__ import annotations

import json
from pathlib import Path

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
    for name in (
        "status",
        "recovery_time_s",
        "lower_bound_s",
        "gap",
        "planner",
        "seed",
        "versions",
    ):
        assert getattr(back, name) == getattr(plan, name)
    assert np.array_equal(back.certificate.cases, plan.certificate.cases)


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
        {"version": 2},
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
