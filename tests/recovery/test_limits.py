"""Budgets and cancelling, by counting work: what is done once a limit is reached."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import clarabel
import networkx as nx
import numpy as np
import pytest

import reknit
import reknit.algorithms.certified as certified_module
import reknit.exact.solve as solve_module
from reknit.algorithms.learned.ml_dagl.settings import Settings
from reknit.algorithms.registry import BUILT_IN
from reknit.exact.demands import redundant_links
from reknit.exact.demands.fallbacks import fallback_targets
from reknit.exact.model.problem import Problem
from reknit.exact.search import conflicts
from reknit.network import emst as emst_module
from reknit.network.links import links
from reknit.plans.checker import claims
from reknit.recovery import planning

PLANNERS = [entry.name for entry in BUILT_IN if not entry.steers]


def _counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[str]:
    """Have every call of a function noted."""
    calls: list[str] = []
    real = getattr(owner, name)

    def counted(*given: Any, **named: Any) -> Any:
        calls.append(name)
        return real(*given, **named)

    monkeypatch.setattr(owner, name, counted)
    return calls


@pytest.mark.parametrize("planner", PLANNERS)
def test_a_plan_without_time_takes_one_tree_and_one_look(
    monkeypatch: pytest.MonkeyPatch, planner: str
) -> None:
    """With a budget of zero the survivors' tree is found once, the checker looks at the demands
    once, and no network counts hops.
    """
    scenario = reknit.generate(60, 30, seed=1, split=True)
    trees = _counted(monkeypatch, emst_module, "delaunay_edges")
    looks = [
        _counted(monkeypatch, planning, "demand_faults"),
        _counted(monkeypatch, claims, "demand_faults"),
    ]
    hops = _counted(monkeypatch, Settings, "hops")
    plan = reknit.plan(scenario, planner, budget_s=0.0)
    plan_looks = sum(map(len, looks))
    plan.verify(scenario)
    assert len(trees) == 1
    assert plan_looks == 1
    assert hops == []
    is_late = plan.status is reknit.Status.DEADLINE
    if planner not in ("gcn", "gat", "cr-mgc", "demd") and not is_late:
        # Nothing was left out, as by a planner that computes its targets at one stroke.
        unlimited = reknit.plan(replace(scenario), planner)
        np.testing.assert_array_equal(plan.targets, unlimited.targets)


@pytest.mark.parametrize("order", [2, 3, 4])
def test_without_time_contraction_is_k_connected_all_the_same(order: int) -> None:
    """The k-th power of the spanning tree serves where the least range is not sought: networkx
    finds the contracted swarm k-connected, and no range was tried.
    """
    scenario = reknit.generate(40, 15, seed=order, split=True, connectivity=order)
    targets = fallback_targets(scenario, lambda: True)
    assert targets is not None
    graph = nx.Graph()
    graph.add_nodes_from(range(len(targets)))
    graph.add_edges_from(links(targets, scenario.planning_range_m).tolist())
    assert nx.node_connectivity(graph) >= order
    least = fallback_targets(scenario)
    assert least is not None
    moved, moved_least = (
        float(np.abs(points - scenario.survivor_positions).max()) for points in (targets, least)
    )
    assert moved_least <= moved


def test_clashes_are_looked_for_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut into pieces the search for clashes finds the same, asks before every piece, and ends
    when it is told to.
    """
    points = np.random.default_rng(3).uniform(0.0, 900.0, (60, 2))
    problem = Problem(points, np.full(60, 10.0), 120.0)
    pairs = problem.candidates(8.0)
    whole = conflicts.clashing_pairs(problem, pairs, 8.0)
    monkeypatch.setattr(conflicts, "_TWOS_AT_ONCE", 100)
    asked: list[bool] = []

    def answering(answer: bool) -> Callable[[], bool]:
        return lambda: asked.append(answer) or answer  # type: ignore[func-returns-value]

    parts = conflicts.clashing_pairs(problem, pairs, 8.0, answering(False))
    assert np.array_equal(whole, parts)
    degree = np.bincount(pairs.ravel())
    twos = int((degree * (degree - 1) // 2).sum())
    most = int((degree * (degree - 1) // 2).max())
    assert len(asked) >= twos // (100 + most)
    asked.clear()
    first, _ = conflicts.clashing_pairs(problem, pairs, 8.0, answering(True))
    assert (len(first), len(asked)) == (0, 1)


@pytest.mark.parametrize("planner", ["certified", "descent", "ml-dagl", "gcn"])
def test_a_cancelled_planner_is_asked_no_more_than_it_takes_to_end(planner: str) -> None:
    """Once `cancel` is true the plan ends after a few more questions, where it would have gone on
    to ask many times.
    """
    scenario = reknit.generate(120, 100, seed=2, split=True)
    answers: list[bool] = []

    def cancel(after: int) -> bool:
        answers.append(len(answers) >= after)
        return answers[-1]

    reknit.plan(scenario, planner, cancel=lambda: cancel(3))
    assert answers.count(True) <= 12


@pytest.mark.parametrize(
    "demands", [{"connectivity": 2}, {"connectivity": 3}, {"anchors": 1}, {"anchors": 4}]
)
def test_whenever_it_is_cancelled_little_is_left_to_do(
    monkeypatch: pytest.MonkeyPatch, demands: dict[str, int]
) -> None:
    """Cancelled at any question, `certified` solves at most one cone program a moving piece from
    there on, looks for no least range, and what it returns meets the demands or says that nothing
    was found in time.
    """
    scenario = reknit.generate(90, 45, seed=4, split=True)
    if "anchors" in demands:
        scenario = replace(scenario, anchors=scenario.survivors[: demands["anchors"]])
    else:
        scenario = replace(scenario, **demands)  # type: ignore[arg-type]
    asked: list[None] = []
    reknit.plan(replace(scenario), "certified", cancel=lambda: asked.append(None) is not None)  # type: ignore[func-returns-value]
    programs = _counted(monkeypatch, clarabel, "DefaultSolver")
    searches = _counted(monkeypatch, redundant_links, "is_k_connected")
    for after in np.unique(np.geomspace(1, len(asked), 25).astype(int)):
        questions: list[None] = []

        def cancel(limit: int = int(after), questions: list[None] = questions) -> bool:
            questions.append(None)
            if len(questions) == limit:
                programs.clear()
                searches.clear()
            return len(questions) >= limit

        plan = reknit.plan(replace(scenario), "certified", cancel=cancel)
        plan.verify(scenario)
        assert plan.status.is_connected or demands.get("anchors", 0) > 1
        assert len(programs) <= (8 if demands.get("anchors", 0) > 1 else 2)
        assert len(searches) <= 1


def test_a_search_that_ends_before_its_time_leaves_the_fallback_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """When the first cone program is cut short a little before the budget ends, the fallback
    stops at the budget too, and the status says why the plan is no better.
    """
    scenario = reknit.generate(90, 45, seed=4, split=True, connectivity=2)
    monkeypatch.setattr(solve_module, "_stops_early", lambda problem, context: lambda: True)
    over: list[bool] = []
    real = fallback_targets

    def noted(scenario: reknit.Scenario, is_over: Callable[[], bool]) -> Any:
        over.append(is_over())
        return real(scenario, is_over)

    monkeypatch.setattr(certified_module, "fallback_targets", noted)
    for budget_s, is_over in ((1e3, False), (0.0, True)):
        plan = reknit.plan(replace(scenario), "certified", budget_s=budget_s)
        assert plan.status is reknit.Status.DEADLINE
        assert over.pop() is is_over


@pytest.mark.parametrize("order", [2, 3, 4])
def test_a_range_that_is_not_sought_to_the_end_is_k_connected(order: int) -> None:
    """Ended at any question, the range is one at which networkx finds the swarm k-connected, and
    no shorter than the least.
    """
    points = np.random.default_rng(order).uniform(0.0, 900.0, (40, 2))
    least_m = redundant_links.redundant_range_m(points, order)
    for after in range(1, 30):
        asked: list[None] = []

        def is_over(limit: int = after, asked: list[None] = asked) -> bool:
            asked.append(None)
            return len(asked) >= limit

        range_m = redundant_links.redundant_range_m(points, order, is_over)
        graph = nx.Graph(links(points, range_m * (1.0 + 1e-12)).tolist())
        assert len(graph) == len(points)
        assert nx.node_connectivity(graph) >= order
        assert range_m >= least_m
