"""Plans in several threads at once, and work that a caller leaves."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import reknit
from reknit.algorithms.learned.common.threads import run_until_over
from reknit.algorithms.registry import build
from reknit.base.budget import Budget
from reknit.base.context import Context

SMALL: dict[str, dict[str, Any]] = {
    "gcn": {"iterations": 4, "hidden": 48},
    "gat": {"iterations": 3, "hidden": 16},
    "cr-mgc": {"iterations": 2},
    "demd": {"iterations": 3, "hidden": 32},
    "descent": {},
    "ml-dagl": {"trees": 4, "refine": 5},
}
"""The planners of this room and their neighbours, each with little to do."""

PAPER: dict[str, Any] = {"preset": "paper", "iterations": 2}
RELAXED: dict[str, Any] = {"preset": "relaxed", "iterations": 2, "refine": 5}


@pytest.mark.parametrize(
    ("name", "parameters"),
    [*SMALL.items(), ("ml-dagl", PAPER), ("ml-dagl", RELAXED), ("certified", {})],
)
def test_plans_in_threads_are_those_made_in_turn(name: str, parameters: dict[str, Any]) -> None:
    """Eight plans at once have the bytes of the same eight one after another."""
    scenarios = [reknit.generate(40, 20, seed=seed, split=True) for seed in range(8)]

    def plan(scenario: reknit.Scenario) -> bytes:
        # A copy knows nothing of what was computed about the scenario before.
        return reknit.plan(replace(scenario), name, seed=5, **parameters).targets.tobytes()

    in_turn = [plan(scenario) for scenario in scenarios]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(plan, scenarios)) == in_turn


@pytest.mark.parametrize("name", ["gcn", "gat", "cr-mgc", "demd", "ml-dagl"])
def test_the_process_keeps_its_number_of_threads(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No planner sets it, not even for a moment."""

    def refuse(count: int) -> None:
        raise AssertionError(f"the number of threads was set to {count}")

    monkeypatch.setattr(torch, "set_num_threads", refuse)
    scenario = reknit.generate(20, 10, seed=1, split=True)
    reknit.plan(scenario, name, budget_s=30.0, **SMALL[name])


def test_a_plan_does_not_depend_on_the_threads() -> None:
    """One thread or two, the targets are the same to the last bit."""
    scenario = reknit.generate(uavs=60, destroyed=30, seed=3, split=True)
    before = torch.get_num_threads()
    targets = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        targets.append(reknit.plan(scenario, "gcn", iterations=5).targets)
    torch.set_num_threads(before)
    np.testing.assert_array_equal(targets[0], targets[1])


def test_without_a_limit_the_caller_does_the_work_itself() -> None:
    """No thread is started, and the work is done."""
    threads = []
    assert run_until_over(lambda _: threads.append(threading.current_thread()), Context())
    assert threads == [threading.current_thread()]


def test_a_caller_who_cancels_does_not_wait_for_the_work() -> None:
    """The call returns while the work still cannot be stopped; later the work is told."""
    started, release, ended = threading.Event(), threading.Event(), threading.Event()

    def work(context: Context) -> None:
        started.set()
        release.wait()
        assert context.is_over
        ended.set()

    assert not run_until_over(work, Context(cancel=started.is_set))
    assert not ended.is_set()
    release.set()
    assert ended.wait(30.0)


def test_a_limit_that_is_reached_before_the_work_begins() -> None:
    """Nothing is started."""
    begun = []
    assert not run_until_over(lambda _: begun.append(1), Context(budget=Budget(0.0)))
    assert begun == []


def test_errors_and_progress_come_back_to_the_caller() -> None:
    """What the work raises is raised here; progress is told on the caller's thread, in order."""
    heard: list[tuple[float, threading.Thread]] = []
    context = Context(
        budget=Budget(60.0),
        progress=lambda fraction, _: heard.append((fraction, threading.current_thread())),
    )

    def work(inner: Context) -> None:
        inner.progress(0.25, "some")
        inner.progress(0.5, "more")
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        run_until_over(work, context)
    assert heard == [(0.25, threading.current_thread()), (0.5, threading.current_thread())]


@pytest.mark.parametrize("name", ["gcn", "gat", "cr-mgc", "demd"])
def test_a_planner_without_time_leaves_everyone_in_place(name: str) -> None:
    """Cancelled before its first output, it proposes no move and says that it was cut short."""
    scenario = reknit.generate(30, 15, seed=1, split=True)
    planner = build(name, {})
    proposal = planner.propose(scenario, Context(cancel=lambda: True))  # type: ignore[union-attr]
    np.testing.assert_array_equal(proposal.targets, scenario.survivor_positions)
    assert proposal.status is reknit.Status.DEADLINE
    assert proposal.details["stopped_by"] == "deadline"
