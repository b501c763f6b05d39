"""`reknit verify`: what it accepts, what it refuses, what it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import reknit
from reknit.base.words import counted
from tests.cli.processes import reknit_process


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """A scenario and a plan for it."""
    scenario = reknit.generate(60, 30, seed=3, split=True)
    reknit.save_scenario(scenario, tmp_path / "scenario.json")
    reknit.plan(scenario, "certified").save(tmp_path / "plan.json")
    return str(tmp_path / "scenario.json"), str(tmp_path / "plan.json")


def test_a_good_plan_is_verified_with_an_account(files: tuple[str, str]) -> None:
    """Code 0, and what was checked with the proof's size."""
    done = reknit_process("verify", *files)
    assert done.returncode == 0, done.stderr
    plan = reknit.Plan.load(files[1])
    assert "verified" in done.stdout
    assert counted(len(plan.certificate.cases), "case") in done.stdout
    assert "a plan file holds nothing else" in done.stdout
    result = json.loads(reknit_process("verify", *files, "--json").stdout)
    assert result["verified"] is True
    assert result["lower_bound_s"] == plan.lower_bound_s


def test_a_flight_that_is_too_long_is_told(tmp_path: Path) -> None:
    """The allowed time is asked of the flight: the plan holds, and the account says it is late."""
    scenario = reknit.generate(60, 30, seed=3, split=True, allowed_time_s=0.01)
    reknit.save_scenario(scenario, tmp_path / "scenario.json")
    reknit.plan(scenario, "certified").save(tmp_path / "plan.json")
    done = reknit_process("verify", str(tmp_path / "scenario.json"), str(tmp_path / "plan.json"))
    assert done.returncode == 0
    assert "more than the allowed 0.01 s" in done.stdout
    assert "every demand on targets is met" in done.stdout


def test_a_false_claim_is_refused(files: tuple[str, str]) -> None:
    """A plan that claims to be faster than it is: code 1 and the fault in words."""
    path = Path(files[1])
    claims = json.loads(path.read_text())
    claims["recovery_time_s"] *= 0.99
    path.write_text(json.dumps(claims))
    done = reknit_process("verify", *files)
    assert done.returncode == 1
    assert "refused" in done.stdout
    assert json.loads(reknit_process("verify", *files, "--json").stdout)["verified"] is False


def test_a_plan_for_another_swarm_is_refused(files: tuple[str, str], tmp_path: Path) -> None:
    """The scenario is part of what is checked."""
    other = tmp_path / "other.json"
    reknit.save_scenario(reknit.generate(60, 30, seed=4, split=True), other)
    assert reknit_process("verify", str(other), files[1]).returncode == 1


def test_a_file_that_is_no_plan_is_wrong_input(files: tuple[str, str]) -> None:
    """Files the wrong way round: one line, code 2."""
    done = reknit_process("verify", files[0], files[0])
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_a_false_submission_is_told_in_one_line(files: tuple[str, str], tmp_path: Path) -> None:
    """`study submit` refuses what `verify` refuses, with the same code, and keeps nothing."""
    out = tmp_path / "library"
    done = reknit_process("study", "submit", "small-4-1", files[1], "--out", str(out))
    assert done.returncode == 1
    assert done.stderr.startswith("reknit: ")
    assert done.stderr.count("\n") == 1
    assert not out.exists() or list(out.iterdir()) == []


def test_a_table_of_ages_alone_is_told_what_can_read_it(tmp_path: Path) -> None:
    """`verify` has no --lost-after, and the message says which commands have it."""
    (tmp_path / "ages.csv").write_text("uav_id,x_m,y_m,age_s\na,0,0,1\nb,1,0,1\n")
    done = reknit_process("verify", str(tmp_path / "ages.csv"), "plan.json")
    assert done.returncode == 2
    assert "by --lost-after to recover, compare and operate" in done.stderr


def test_what_a_table_leaves_open_is_told(tmp_path: Path) -> None:
    """A .csv file tells neither range nor speed; with one the account begins with what was assumed,
    whether the plan holds or not.
    """
    table = tmp_path / "swarm.csv"
    table.write_text("uav_id,x_m,y_m,alive\na,0,0,1\nb,150,0,1\n")
    swarm = reknit.load_scenario(table)
    reknit.plan(swarm, "certified").save(tmp_path / "plan.json")
    slow = reknit.load_scenario(table, max_speed_mps=5.0)
    reknit.plan(slow, "certified").save(tmp_path / "slow.json")
    for name, code in (("plan.json", 0), ("slow.json", 1)):
        done = reknit_process("verify", str(table), str(tmp_path / name))
        assert done.returncode == code
        assert done.stdout.startswith("assumed: a range of 120 m, 10 m/s and no demands")
