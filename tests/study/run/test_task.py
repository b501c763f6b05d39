"""A run's key, and what is kept of its flight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import reknit
from reknit.algorithms.steering.hero import Hero
from reknit.base.types import FloatArray
from reknit.study.report.tables import case_text
from reknit.study.run.task import run_task
from reknit.study.run.track import packed, unpacked
from reknit.study.spec import task as task_module
from reknit.study.spec.cases import CaseSpec
from tests.study.test_measures import TASK


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    """Keys made by a test see the planners of that test alone."""
    task_module.forget_planners()
    yield
    task_module.forget_planners()


def test_the_key_is_the_work_not_its_name() -> None:
    """A label does not count; a default that is spelt out is the same work."""
    assert replace(TASK, label="other").key == TASK.key
    hero = replace(TASK, planner="hero")
    assert replace(hero, parameters={"weight": Hero().weight}).key == hero.key
    assert replace(hero, parameters={"weight": 1.0}).key != hero.key
    for change in ({"seed": 4}, {"budget_s": 1.0}, {"demands": {"connectivity": 2}}):
        assert replace(TASK, **change).key != TASK.key


def test_a_share_and_the_number_it_comes_to_are_the_same_work() -> None:
    """Half of 30 and 15 of 30 are one swarm, to the byte, and so one run; 14 are another."""
    half, number = (
        replace(TASK, uavs=30, destroyed=destroyed, planner="sidr", parameters={}, budget_s=None)
        for destroyed in (0.5, 15)
    )
    assert half.scenario() == number.scenario()
    assert half.key == number.key != replace(number, destroyed=14).key


def test_a_changed_default_is_other_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """When a planner's default changes, runs stored with the old one do not stand for it."""
    hero = replace(TASK, planner="hero")
    before = hero.key
    monkeypatch.setattr(Hero.__init__, "__defaults__", (0.123,) + Hero.__init__.__defaults__[1:])  # type: ignore[index]
    task_module.forget_planners()
    assert replace(hero).key != before


def test_other_weights_are_other_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fingerprint of the weights, as the registry tells it, is part of the key."""
    facts = {"planner": "sidr", "parameters": {}, "weights": "abc"}
    monkeypatch.setattr(task_module, "resolved", lambda *_: facts)
    one = replace(TASK).key
    task_module.forget_planners()
    monkeypatch.setattr(task_module, "resolved", lambda *_: {**facts, "weights": "abd"})
    assert replace(TASK).key != one


@pytest.mark.parametrize("planner", ["contraction", "hero"])
def test_a_track_is_small_and_shows_the_flight(planner: str) -> None:
    """Straight flights keep two instants, curved ones as many as stay within a metre; the last
    is exact to the bit, so that links at the limit of the range are drawn.
    """
    scenario = reknit.generate(60, 30, seed=5, split=True)
    run = reknit.recover(scenario, planner)
    track = packed(scenario, run.flight)
    assert track is not None
    assert len(track) < 40_000
    drawn, flight = unpacked(track)
    assert np.array_equal(drawn.positions, scenario.positions)
    assert np.array_equal(flight.positions[-1], run.flight.positions[-1])
    assert (len(flight.times_s) == 2) == (planner == "contraction")
    for k in range(len(scenario.survivors)):
        kept = flight.positions[:, k]
        for point in run.flight.positions[:, k]:
            assert _distance_m(point, kept) < 1.01


def _distance_m(point: FloatArray, line: FloatArray) -> float:
    """From a point to a polyline, by sampling it every thousandth of a piece."""
    shares = np.linspace(0.0, 1.0, 1001)[:, None]
    pieces = [a + shares * (b - a) for a, b in pairwise(line)]
    return float(np.linalg.norm(np.concatenate(pieces) - point, axis=1).min())


def test_inertia_and_demands_reach_the_flight() -> None:
    """A swarm that has to accelerate connects later, and a demanded second path is flown to."""
    plain = replace(TASK, planner="certified")
    rows = [
        run_task(task)
        for task in (
            plain,
            replace(plain, max_acceleration_mps2=2.0),
            replace(plain, demands={"connectivity": 2}),
        )
    ]
    assert all(row["ok"] for row in rows), [row["error"] for row in rows]
    times_s = [row["charged_time_s"] for row in rows]
    assert times_s[1] > times_s[0] + 0.1
    assert times_s[2] > times_s[0]
    assert rows[2]["lower_bound_s"] >= rows[0]["lower_bound_s"]


def test_a_file_and_strikes_are_run(tmp_path: Path) -> None:
    """A scenario file is the scenario, and further losses are counted."""
    scenario = reknit.generate(30, 15, seed=2, split=True)
    reknit.save_scenario(scenario, tmp_path / "mine.json")
    case = CaseSpec.model_validate({"scenarios": "mine.json", "strikes": [[0.5, 2]]})
    (kind,) = case.kinds(tmp_path)
    task = replace(TASK, **kind)
    assert np.array_equal(task.scenario().positions, scenario.positions)
    row = run_task(task)
    assert row["ok"], row["error"]
    assert row["replans"] == 1
    assert row["subnets_before"] == scenario.subnet_count


def test_repetitions_take_layouts_in_turn() -> None:
    """Named layouts come back in order, each repetition with a damage of its own; without names
    the key of a run is what it was before there were any.
    """
    named = [
        replace(TASK, layout_seeds=(5, 9), repetition=number, seed=100 + number)
        for number in range(4)
    ]
    swarms = [task.scenario() for task in named]
    whole = [reknit.generate(TASK.uavs, 0, seed).positions for seed in (5, 9, 5, 9)]
    assert all(
        np.array_equal(swarm.positions, other) for swarm, other in zip(swarms, whole, strict=True)
    )
    assert len({tuple(swarm.destroyed.tolist()) for swarm in swarms}) == 4
    assert replace(TASK, layout_seeds=()).key == TASK.key != replace(TASK, layout_seeds=(5,)).key
    assert "2 layouts" in case_text(tuple(named[0].case.values()))
