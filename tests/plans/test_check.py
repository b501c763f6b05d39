"""The checker finds every lie, and its own parts agree with brute force."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reknit
from reknit.base.errors import InvalidPlan
from reknit.base.types import FloatArray
from reknit.plans.certificate import Clash, Lemma
from reknit.plans.checker import targets as check
from reknit.plans.checker.pieces import LinkRule
from reknit.plans.checker.pieces import pieces as pieces_of
from reknit.plans.status import Status
from tests.strategies import point_sets


@pytest.fixture(scope="module")
def case() -> tuple[reknit.Scenario, reknit.Plan]:
    scenario = reknit.generate(40, 20, seed=1, split=True)
    return scenario, reknit.plan(scenario, "contraction")


def read_only(array: FloatArray) -> FloatArray:
    array.setflags(write=False)
    return array


def test_an_honest_plan_passes(case: tuple[reknit.Scenario, reknit.Plan]) -> None:
    """What reknit.plan returns passes the checker."""
    scenario, plan = case
    plan.verify(scenario)


@pytest.mark.parametrize("zero", [0, np.float32(0), np.int64(0)])
def test_a_whole_number_of_seconds_is_a_number(
    case: tuple[reknit.Scenario, reknit.Plan], zero: Any
) -> None:
    """Certificate(0, 0, ...) claims what Certificate(0.0, 0.0, ...) does."""
    scenario, plan = case
    nothing = reknit.Certificate(zero, zero, np.empty((0, 2), dtype=np.int64))
    assert (type(nothing.bound_s), type(nothing.trial_s)) == (float, float)
    replace(plan, certificate=nothing, status=Status.FEASIBLE).verify(scenario)


LIES: dict[str, Any] = {
    "a target moved": lambda plan: {
        "targets": plan.targets + 900.0 * (np.arange(20)[:, None] == 3)
    },
    "a shorter time": lambda plan: {"recovery_time_s": plan.recovery_time_s * (1 - 1e-15)},
    "a longer time": lambda plan: {"recovery_time_s": plan.recovery_time_s + 1e-9},
    "optimal": lambda plan: {"status": Status.OPTIMAL},
    "not connected": lambda plan: {"status": Status.NOT_CONNECTED},
    "a higher bound": lambda plan: {
        "certificate": replace(plan.certificate, bound_s=plan.lower_bound_s * (1 + 1e-12))
    },
    "a bound without proof": lambda plan: {
        "certificate": replace(plan.certificate, cases=np.empty((0, 2), dtype=np.int64))
    },
    "a negative bound": lambda plan: {"certificate": replace(plan.certificate, bound_s=-1.0)},
    "a bound that is no number": lambda plan: {
        "certificate": replace(plan.certificate, bound_s=float("nan"))
    },
    "one target too few": lambda plan: {"targets": plan.targets[1:]},
    "a target nowhere": lambda plan: {"targets": np.where(plan.targets > 0, np.nan, 0.0)},
    "targets in single precision": lambda plan: {"targets": plan.targets.astype(np.float32)},
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_every_lie_is_found(case: tuple[reknit.Scenario, reknit.Plan], lie: Any) -> None:
    """A plan with one false claim is refused."""
    scenario, plan = case
    with pytest.raises(InvalidPlan):
        replace(plan, **lie(plan)).verify(scenario)


def test_every_plan_has_one_status() -> None:
    """No other status is accepted for it, but that a feasible plan's time may have been over."""
    whole = reknit.generate(30, 2, seed=1)
    assert not whole.is_split
    split = reknit.generate(40, 20, seed=1, split=True)
    still = replace(
        reknit.plan(split, "contraction"), targets=split.survivor_positions, recovery_time_s=0.0
    )
    plans = [
        (whole, reknit.plan(whole)),
        (split, reknit.plan(split)),
        (split, reknit.plan(split, "contraction")),
        (split, replace(still, status=Status.NOT_FOUND)),
    ]
    seen = [plan.status for _, plan in plans]
    assert seen == [
        Status.ALREADY_CONNECTED, Status.OPTIMAL, Status.FEASIBLE, Status.NOT_FOUND
    ]  # fmt: skip
    for scenario, plan in plans:
        plan.verify(scenario)
        accepted = {plan.status}
        if plan.status is Status.FEASIBLE:
            accepted.add(Status.DEADLINE)
        for status in Status:
            other = replace(plan, status=status)
            if status in accepted:
                other.verify(scenario)
            else:
                with pytest.raises(InvalidPlan):
                    other.verify(scenario)


def test_nothing_idle_stands_in_a_certificate() -> None:
    """What has no part in the proof is refused, in a proof by cases and where nothing is proved:
    it would look like a claim.
    """
    split = reknit.generate(40, 28, seed=0, split=True)
    whole = reknit.generate(30, 2, seed=1)
    clash = Clash(np.array([[0, 1]]), np.array([[1.0, 0.0]]))
    lemma = Lemma(np.array([[0, 1]]), np.empty((0, 2), np.int64), np.array([[-1, -1]]))
    idle: dict[str, Any] = {"clashes": (clash,), "lemmas": (lemma,), "apart": (0, 1)}
    idle |= {"crowd": np.array([0, 1]), "hole": np.zeros(2), "pulls": np.zeros((1, 2))}
    for scenario in (split, whole):
        plan = reknit.plan(scenario)
        plan.verify(scenario)
        for name, part in idle.items():
            held = getattr(plan.certificate, name)
            more = (*held, *part) if name in ("clashes", "lemmas") else part
            changed: dict[str, Any] = {name: more}
            certificate = replace(plan.certificate, **changed)
            with pytest.raises(InvalidPlan):
                replace(plan, certificate=certificate).verify(scenario)
    nothing = reknit.plan(whole).certificate
    rest: dict[str, Any] = {"trial_s": 1.0, "lost": 0, "cases": np.array([[0, 9]])}
    for name, part in rest.items():
        with pytest.raises(InvalidPlan):
            replace(reknit.plan(whole), certificate=replace(nothing, **{name: part})).verify(whole)


def test_a_gap_of_one_rounding_error_is_found() -> None:
    """Targets a rounding error out of range are not connected: no tolerance is hidden."""
    scenario = reknit.Scenario([[0.0, 0.0], [60.0, 0.0], [130.0, 0.0]], [1], 120.0)
    exact = np.array([[5.0, 0.0], [125.0, 0.0]])
    beyond = np.array([[5.0, 0.0], [np.nextafter(125.0, 126.0), 0.0]])
    assert check.demand_faults(scenario, exact) == []
    assert "2 sub-nets" in check.demand_faults(scenario, beyond)[0]


def test_demands_are_seen() -> None:
    """Margin, separation, anchors and 2-connectivity are each held against the targets."""
    points = [[0.0, 0.0], [50.0, 0.0], [100.0, 0.0], [50.0, 40.0]]
    here = np.array(points)

    def faults(targets: FloatArray, **demands: Any) -> str:
        return " ".join(check.demand_faults(reknit.Scenario(points, [], 120.0, **demands), targets))

    assert faults(here) == ""
    assert "sub-nets" in faults(here, link_margin=0.7)
    assert "m apart" in faults(here, min_separation_m=45.0)
    assert faults(here + [0.0, 1.0], anchors=[2]) == "anchors move: UAV 2"
    assert faults(here, anchors=[2]) == ""
    line = np.array([[0.0, 0.0], [100.0, 0.0], [200.0, 0.0], [300.0, 0.0]])
    assert "loss of a single UAV" in faults(line, connectivity=2)
    square = np.array([[0.0, 0.0], [100.0, 0.0], [100.0, 100.0], [0.0, 100.0]])
    assert faults(square, connectivity=2) == ""
    assert "loss of 2 UAVs" in faults(square, connectivity=3)
    assert faults(here, connectivity=2) == ""


def test_unmet_demands_name_the_uavs() -> None:
    """Who is apart, whose loss splits, who is too close and who moved, by the names of the file."""
    positions = [[100.0 * i, 0.0] for i in range(9)]
    names = [f"u{i}" for i in range(9)]

    def faults(targets: list[list[float]], **demands: Any) -> str:
        scenario = reknit.Scenario(positions, [0], 120.0, names=names, **demands)
        return " ".join(check.demand_faults(scenario, np.array(targets)))

    here = positions[1:]
    assert faults(here) == ""
    apart = faults([[row[0] * (1.0 if row[0] < 150 else 10.0), 0.0] for row in here])
    assert "not in the largest: UAVs u2, u3, u4, u5, u6 and 2 more" in apart
    bent = [*here[:6], [660.0, 80.0], [640.0, 80.0]]
    assert "it is a cut node: UAV u2" in faults(bent, connectivity=2)
    near = [*here[:6], [601.0, 0.0], [700.0, 0.0]]
    assert "closest: UAVs u6, u7" in faults(near, min_separation_m=5.0)
    assert faults([*here[:7], [799.0, 0.0]], anchors=[8, 1]) == "anchors move: UAV u8"
    ring = [[100.0 * np.cos(a), 100.0 * np.sin(a)] for a in np.arange(8) * np.pi / 4]
    assert "too few paths between them: UAVs u1, u3" in faults(ring, connectivity=3)


@pytest.mark.parametrize("seed", range(12))
def test_losses_survived_by_larger_networks(seed: int) -> None:
    """In networks where most UAVs have neighbours enough and a few have not, too."""
    points = np.random.default_rng(seed).uniform(0.0, 500.0, (60, 2))
    graph = nx.random_geometric_graph(60, 150.0, pos=dict(enumerate(points.tolist())))
    connectivity = nx.node_connectivity(graph)
    for order in (3, 4, 6):
        scenario = reknit.Scenario(points, (), 150.0, connectivity=order)
        assert (not check.demand_faults(scenario, points)) == (connectivity >= order)


def _two_halves(seed: int) -> nx.Graph:
    """Two dense halves and a few links between them, the nodes renumbered."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(8, 18))
    name, density = rng.permutation(count).tolist(), rng.uniform(0.6, 1.0)
    graph = nx.Graph()
    graph.add_nodes_from(range(count))
    for i, j in combinations(range(count), 2):
        if (i < count // 2) == (j < count // 2) and rng.random() < density:
            graph.add_edge(name[i], name[j])
    for _ in range(int(rng.integers(1, 6))):
        left, right = rng.integers(0, count // 2), rng.integers(count // 2, count)
        graph.add_edge(name[left], name[right])
    return graph


def test_losses_that_part_two_halves() -> None:
    """Where everybody has neighbours enough and a few losses still split the network, networkx
    agrees too: on whether they do, and on the two nodes with too few paths between them.
    """
    outcomes: list[bool] = []
    for seed in range(300):
        graph = _two_halves(seed)
        lists = [sorted(graph[node]) for node in range(len(graph))]
        for losses in (2, 3, 4):
            if not nx.is_connected(graph) or min(map(len, lists)) <= losses:
                continue
            weak = check.weak_nodes(lists, losses)
            outcomes.append(weak is None)
            assert outcomes[-1] == (nx.node_connectivity(graph) > losses)
            if weak is not None:
                assert nx.node_connectivity(graph, *weak.tolist()) <= losses
    assert outcomes.count(True) > 20
    assert outcomes.count(False) > 100


@given(point_sets(min_size=3, max_size=14), st.sampled_from([60.0, 120.0, 250.0]))
def test_biconnectivity_matches_removing_each_uav(points: FloatArray, range_m: float) -> None:
    """The chain decomposition agrees with taking every UAV away in turn."""
    graph = nx.Graph()
    graph.add_nodes_from(range(len(points)))
    for i, j in combinations(range(len(points)), 2):
        if np.linalg.norm(points[i] - points[j]) <= range_m:
            graph.add_edge(i, j)
    pieces = nx.number_connected_components(graph)
    label = pieces_of(LinkRule(points, range_m), np.arange(len(points)))
    assert len(set(label.tolist())) == pieces
    if pieces == 1:
        cuts = {
            lost
            for lost in range(len(points))
            if not nx.is_connected(graph.subgraph(set(graph) - {lost}))
        }
        found = check.cut_node(check.neighbour_lists(points, range_m))
        assert found in cuts if cuts else found is None


@pytest.mark.parametrize("seed", range(6))
def test_losses_that_split_a_crowd(seed: int) -> None:
    """Also where most are crowded, some on one spot, and the few links to nearest neighbours do
    not tell: crowds joined by a few links, or spread evenly.
    """
    rng = np.random.default_rng(seed)
    crowds = [rng.normal(0.0, 8.0, (40, 2)), rng.normal([130.0, 0.0], 6.0, (32, 2))]
    if seed % 3 == 0:
        crowds = [rng.uniform(-70.0, 70.0, (72, 2))]
    if seed % 3 == 1:
        crowds.append(np.tile(crowds[0][:1], (20, 1)))
    points = np.concatenate(crowds)
    apart_m = np.linalg.norm(points[:, None] - points[None], axis=2)
    between = np.sort(apart_m[:40, 40:72].ravel())
    for limit_m in [120.0, *(between[k] for k in (0, 1, 2, 5, 40) if seed % 3)]:
        graph = nx.from_numpy_array((apart_m <= limit_m) & ~np.eye(len(points), dtype=bool))
        if nx.is_connected(graph):
            survived = nx.node_connectivity(graph) - 1
            for losses in (1, 2, 3):
                weak = check.weak_targets(points, limit_m, losses)
                assert (weak is None) == (losses <= survived)


@given(point_sets(min_size=3, max_size=12), st.sampled_from([120.0, 250.0, 400.0]))
def test_losses_survived_match_networkx(points: FloatArray, range_m: float) -> None:
    """The checker's count of losses that a network survives agrees with node connectivity."""
    graph = nx.Graph()
    graph.add_nodes_from(range(len(points)))
    for i, j in combinations(range(len(points)), 2):
        if np.linalg.norm(points[i] - points[j]) <= range_m:
            graph.add_edge(i, j)
    scenario = reknit.Scenario(points, (), range_m)
    if nx.is_connected(graph):
        for order in (2, 3, 4, 5):
            wanted = min(order, len(points) - 1)
            faults = check.demand_faults(replace(scenario, connectivity=order), points)
            assert (not faults) == (nx.node_connectivity(graph) >= wanted)
