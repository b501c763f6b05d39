"""2-connected results: plans and bounds against every 2-connected network, and forged proofs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

import reknit
from reknit.base.errors import ImpossibleDemands, InvalidPlan
from reknit.base.types import IntArray
from reknit.plans.certificate import CUT, Certificate
from reknit.plans.status import Status
from tests.exact.brute import small_scenarios, tree_time_s


@cache
def _minimal_networks(nodes: int) -> tuple[IntArray, ...]:
    """Every 2-connected network that loses that with any of its links."""
    pairs = list(combinations(range(nodes), 2))
    networks = []
    for number in range(nodes, 2 * nodes - 3 + (nodes < 5)):
        for chosen in combinations(pairs, number):
            graph = nx.Graph(chosen)
            if len(graph) < nodes or not nx.is_biconnected(graph):
                continue
            if not any(nx.is_biconnected(nx.restricted_view(graph, [], [link])) for link in chosen):
                networks.append(np.asarray(chosen, dtype=np.int64))
    return tuple(networks)


def _optimum_s(scenario: reknit.Scenario) -> float:
    """The least time over all minimal 2-connected networks, by another solver."""
    start, speeds = scenario.survivor_positions, scenario.survivor_speeds_mps
    best_s = np.inf
    for links in _minimal_networks(len(start)):
        apart_m = np.linalg.norm(start[links[:, 0]] - start[links[:, 1]], axis=1)
        excess_m = np.maximum(0.0, apart_m - scenario.planning_range_m)
        speed = speeds[links].sum(axis=1)
        never = np.where(excess_m > 0.0, np.inf, 0.0)  # two anchors stay as they are
        if np.divide(excess_m, speed, out=never, where=speed > 0.0).max() < best_s:
            time_s = tree_time_s(start, speeds, scenario.planning_range_m, links)
            best_s = min(best_s, time_s)
    return float(best_s)


def test_plans_are_the_best_of_all_networks() -> None:
    """On swarms of 4 and 5 the plan is optimal, and no network is faster than its bound."""
    for drawn in small_scenarios(seed=5, count=8, least=4, most=5):
        scenario = replace(drawn, connectivity=2, anchors=np.empty(0, dtype=np.int64))
        plan = reknit.plan(scenario, "certified")
        optimum_s = _optimum_s(scenario)
        assert plan.lower_bound_s <= optimum_s * (1.0 + 1e-6)
        assert plan.status is Status.OPTIMAL
        assert plan.recovery_time_s == pytest.approx(optimum_s, rel=2e-3)


def _anchored(seed: int, count: int) -> Iterator[reknit.Scenario]:
    """Swarms of 4 and 5 with anchors one or two ranges apart; some of them have no plan."""
    rng = np.random.default_rng(seed)
    while count:
        nodes = int(rng.integers(4, 6))
        points = rng.random((nodes, 2)) * rng.choice([180.0, 250.0, 320.0])
        anchors = rng.choice(nodes, nodes - int(rng.integers(2, nodes - 1)), replace=False)
        places = points[anchors]
        apart_m = np.linalg.norm(places[:, None] - places, axis=2)
        if 100.0 < apart_m.max() < 200.0:
            count -= 1
            yield reknit.Scenario(points, [], 100.0, 10.0, anchors=anchors, connectivity=2)


def test_plans_with_anchors_apart_are_found_where_there_are_any() -> None:
    """With several anchors out of each other's range the plan is as fast as the best network, and
    where no network can be, that is proved.
    """
    seen = set()
    for scenario in _anchored(seed=1, count=24):
        optimum_s = max(0.0, _optimum_s(scenario))  # the oracle rounds below zero
        try:
            plan = reknit.plan(scenario, "certified")
        except ImpossibleDemands:
            assert not np.isfinite(optimum_s)
            continue
        seen.add(plan.status)
        if plan.status is Status.INFEASIBLE:
            assert not np.isfinite(optimum_s)
        else:
            assert plan.status in (Status.OPTIMAL, Status.ALREADY_CONNECTED)
            assert plan.recovery_time_s == pytest.approx(optimum_s, rel=2e-3, abs=1e-6)
            assert plan.lower_bound_s <= optimum_s * (1.0 + 1e-6)
    assert {Status.OPTIMAL, Status.INFEASIBLE} <= seen


def _redundant() -> tuple[reknit.Scenario, reknit.Plan]:
    """A plan whose proof has cuts under supposed losses."""
    for seed in range(20):
        scenario = reknit.generate(40, 28, seed=seed, split=True, connectivity=2)
        plan = reknit.plan(scenario, "certified")
        if (plan.certificate.cases[:, 1] < CUT).any():
            return scenario, plan
    raise AssertionError("no proof rests on a supposed loss")


def test_forged_losses_are_refused() -> None:
    """A cut under a loss counts only where a 2-connected result is asked and it is a cut."""
    scenario, plan = _redundant()
    plan.verify(scenario)
    certificate = plan.certificate
    rows = certificate.cases
    supposed = np.flatnonzero((rows[:, 0] < 0) & (rows[:, 1] < CUT))

    def with_ends(number: int) -> Certificate:
        forged = rows.copy()
        forged[supposed, 1] = number
        return replace(certificate, cases=forged)

    nobody = CUT - 1 - len(plan.targets)
    for forged in (with_ends(CUT), with_ends(nobody), replace(certificate, lost=0)):
        with pytest.raises(InvalidPlan):
            replace(plan, certificate=forged).verify(scenario)
    with pytest.raises(InvalidPlan):
        plan.verify(replace(scenario, connectivity=1))


def test_proofs_survive_a_file(tmp_path: object) -> None:
    """Cuts under supposed losses are written and read like the rest of a proof."""
    scenario, plan = _redundant()
    path = f"{tmp_path}/plan.json"
    plan.save(path)
    again = reknit.Plan.load(path, scenario)
    assert np.array_equal(again.certificate.cases, plan.certificate.cases)
