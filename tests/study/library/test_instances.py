"""The instance library: frozen, verified, and open to better plans."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import reknit
from reknit.base.errors import ChangedInstance, InvalidPlan, UnknownName
from reknit.study.library import build, instances
from reknit.study.library.instances import instance, submit
from reknit.study.spec.study import load_study
from reknit.swarm.fingerprint import scenario_hash


@pytest.mark.parametrize("name", instances.instances())
def test_every_instance_is_frozen_and_its_best_plan_verifies(name: str) -> None:
    """The recipe makes the hashed scenario, and the best known plan and bound hold for it."""
    one = instance(name)
    scenario = one.scenario()
    assert scenario.is_split
    best = one.best()
    best.verify(scenario)
    assert best.status.is_connected
    assert 0 < best.lower_bound_s <= best.recovery_time_s


def test_the_recipes_are_those_of_the_build() -> None:
    """Nothing was added or changed by hand."""
    assert [(one.name, one.family, one.recipe) for one in instances.instances().values()] == (
        build.recipes()
    )


def test_a_changed_instance_is_refused() -> None:
    """If the generator ever makes another scenario, results cannot be mixed unnoticed."""
    one = instance("paper-50-half")
    with pytest.raises(ChangedInstance, match="paper-50-half"):
        replace(one, recipe={**one.recipe, "seed": 1}).scenario()
    with pytest.raises(UnknownName, match="did you mean 'paper-50-half'"):
        instance("paper-50-haf")


def test_the_hash_covers_what_a_plan_depends_on() -> None:
    """Other positions, damage or range give another hash; a rounding error does not."""
    scenario = instance("paper-20-half").scenario()
    near = replace(scenario, positions=scenario.positions * (1 + 1e-16))
    assert scenario_hash(near) == scenario_hash(scenario)
    for other in (
        replace(scenario, positions=scenario.positions + 1e-6),
        replace(scenario, destroyed=scenario.destroyed[1:]),
        replace(scenario, radio_range_m=121.0),
    ):
        assert scenario_hash(other) != scenario_hash(scenario)


def test_better_submissions_are_kept_and_worse_ones_are_not(tmp_path: Path) -> None:
    """First a poor plan, then a better one, then the poor one again: the better one stays."""
    name = "paper-50-half"
    scenario = instance(name).scenario()
    poor = reknit.plan(scenario, "contraction")
    good = reknit.plan(scenario, "certified")
    assert submit(name, poor, tmp_path).faster
    better = submit(name, good, tmp_path)
    assert better.faster
    assert not submit(name, poor, tmp_path).faster
    kept = instance(name).best(tmp_path)
    kept.verify(scenario)
    assert kept.recovery_time_s == good.recovery_time_s
    assert kept.lower_bound_s >= good.lower_bound_s


def test_submissions_stay_out_of_the_package() -> None:
    """By default a better plan is kept in the user's folder, is then the best known everywhere,
    and the package's own files are as they were.
    """
    name = "large-2000-half"
    packaged = instance(name).best(instances.BEST)
    before = {path.name: path.read_bytes() for path in instances.BEST.iterdir()}
    assert not submit(name, packaged).faster
    assert not instances.user_folder().exists()
    poor = reknit.plan(instance("paper-20-half").scenario(), "contraction")
    instances._keep(instance("paper-20-half"), poor, instances.user_folder())
    assert instance("paper-20-half").best().recovery_time_s < poor.recovery_time_s
    best = instance("paper-20-half").best()
    assert not submit("paper-20-half", poor).faster
    assert best.recovery_time_s == instance("paper-20-half").best().recovery_time_s
    assert {path.name: path.read_bytes() for path in instances.BEST.iterdir()} == before


def test_a_better_plan_of_ones_own_is_the_best_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a poorer packaged plan, a submission is kept in the user's folder and counts."""
    name = "paper-50-half"
    scenario = instance(name).scenario()
    poor, good = (reknit.plan(scenario, planner) for planner in ("contraction", "certified"))
    packaged = instances.user_folder().parent / "packaged"
    instances._keep(instance(name), poor, packaged)
    monkeypatch.setattr(instances, "BEST", packaged)
    assert submit(name, good).faster
    assert (instances.user_folder() / f"{name}.json.gz").exists()
    assert instance(name).best().recovery_time_s == good.recovery_time_s
    assert instance(name).best(packaged).recovery_time_s == poor.recovery_time_s


def test_false_submissions_are_refused(tmp_path: Path) -> None:
    """A plan that lies, or that belongs to another instance, changes nothing."""
    scenario = instance("paper-20-half").scenario()
    plan = reknit.plan(scenario, "contraction")
    with pytest.raises(InvalidPlan):
        submit("paper-20-half", replace(plan, recovery_time_s=0.1), tmp_path)
    with pytest.raises(InvalidPlan):
        submit("paper-50-half", plan, tmp_path)
    apart = replace(
        plan,
        targets=scenario.survivor_positions,
        recovery_time_s=0.0,
        status=reknit.Status.NOT_FOUND,
    )
    with pytest.raises(InvalidPlan, match="must be connected"):
        submit("paper-20-half", apart, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_planner_is_scored_on_the_library() -> None:
    """`study run library --planner X` is the same instances with that planner alone."""
    study = load_study("library").with_planners(["contraction"])
    tasks = study.tasks("quick")
    assert {task.planner for task in tasks} == {"contraction"}
    assert len(tasks) == sum(one.recipe["uavs"] <= 1000 for one in instances.instances().values())
    assert study.fingerprint() != load_study("library").fingerprint()
    assert study.called == "library --planner contraction"
    assert np.array_equal(
        tasks[0].scenario().positions, instance(tasks[0].instance or "").scenario().positions
    )
