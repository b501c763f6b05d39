"""Bounds by forces on survivors: true for every tree, refused when forged, tight on lines."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import networkx as nx
import numpy as np
import pytest

import reknit
from reknit.base.errors import InvalidPlan
from reknit.base.types import FloatArray
from reknit.exact.model.problem import Problem
from reknit.exact.proof.pulls import pull_certificate
from reknit.plans.certificate import Certificate
from reknit.plans.checker.proof import prove
from reknit.plans.checker.pulls import _directions, _through_links
from reknit.plans.status import Status
from tests.exact.brute import optimum_s

NO_CASES = np.empty((0, 2), dtype=np.int64)


def _line(count: int, spacing_m: float = 180.0) -> reknit.Scenario:
    return reknit.Scenario(np.stack([spacing_m * np.arange(count), 0.0 * np.arange(count)], axis=1))


def _sparse(seed: int, count: int = 30, dim: int = 2) -> reknit.Scenario:
    points = np.random.default_rng(seed).random((count, dim)) * 200.0 * count
    return reknit.Scenario(points, (), 120.0, 10.0)


def _heaviest_tree(forces: FloatArray) -> float:
    """The largest sum of |z(S_e)| over all labelled trees."""
    count = len(forces)
    heaviest = 0.0
    for code in product(range(count), repeat=count - 2):
        tree = nx.from_prufer_sequence(list(code)) if count > 2 else nx.path_graph(2)
        total = 0.0
        for link in list(tree.edges):
            tree.remove_edge(*link)
            side = list(nx.node_connected_component(tree, link[0]))
            total += float(np.linalg.norm(forces[side].sum(axis=0)))
            tree.add_edge(*link)
        heaviest = max(heaviest, total)
    return heaviest


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_no_tree_carries_more_than_the_path(count: int) -> None:
    """The forces through the links of any tree add up to at most G(z), by trying all trees; for
    forces along a line some path reaches it.
    """
    rng = np.random.default_rng(count)
    for dim in (2, 3):
        for _ in range(6):
            forces = rng.standard_normal((count, dim)) * rng.choice([0.0, 1.0, 3.0], (count, 1))
            forces -= forces.mean(axis=0)
            size = np.linalg.norm(forces, axis=1)
            assert _heaviest_tree(forces) <= _through_links(forces, size, 0.0) * (1.0 + 1e-12)
    ends = np.zeros((count, 2))
    ends[0, 0], ends[-1, 0] = 1.0, -1.0
    size = np.linalg.norm(ends, axis=1)
    assert _through_links(ends, size, 0.0) == pytest.approx(_heaviest_tree(ends), rel=1e-9)


@pytest.mark.parametrize("dim", [2, 3])
def test_no_vector_is_far_from_all_directions(dim: int) -> None:
    """The promised cosine holds for random vectors."""
    directions, cosine = _directions(dim)
    vectors = np.random.default_rng(dim).standard_normal((4_000, dim))
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    assert (vectors @ directions.T).max(axis=1).min() >= cosine


def test_no_optimum_lies_below_the_bound() -> None:
    """Brute force over all trees of small sparse swarms, with equal and different speeds."""
    rng = np.random.default_rng(3)
    proved = 0
    for number in range(10):
        count = int(rng.integers(2, 5))
        points = rng.random((count, int(rng.choice([2, 3])))) * rng.choice([500.0, 2000.0])
        if number % 4 == 0:
            points[:, 1:] = 0.0
        speeds = rng.uniform(1.0, 20.0, count) if number % 2 else 10.0
        scenario = reknit.Scenario(points, (), 120.0, speeds)
        certificate = pull_certificate(Problem.of(scenario), 0.0)
        if certificate is None:
            continue
        bound_s = prove(certificate, scenario).bound_s
        assert certificate.bound_s <= bound_s <= optimum_s(scenario) * (1.0 + 1e-7)
        proved += 1
    assert proved > 4


@pytest.mark.parametrize("count", [20, 50])
def test_lines_are_solved(count: int) -> None:
    """On a line the span bound meets the plan: ``t = (n - 1)(s - d) / (2 v)``."""
    scenario = _line(count)
    plan = reknit.plan(scenario, "certified", effort=20)
    assert plan.status is Status.OPTIMAL
    assert plan.recovery_time_s == pytest.approx((count - 1) * 60.0 / 20.0, rel=1e-6)
    assert plan.certificate.pulls is not None
    assert "pull" in plan.verify(scenario).kind


@pytest.mark.parametrize("dim", [2, 3])
def test_very_sparse_swarms_have_a_bound_worth_having(dim: int) -> None:
    """Thirty survivors spread over 50 ranges: the mean gap is at most 30 %."""
    gaps = []
    for seed in range(2):
        scenario = _sparse(seed, dim=dim)
        gaps.append(reknit.plan(scenario, "certified", effort=300).gap)
    assert np.mean(gaps) <= 0.30


def test_a_crowd_is_not_pulled_apart() -> None:
    """Where the survivors could span the swarm many times over, nothing is tried."""
    scenario = reknit.generate(uavs=200, destroyed=100, seed=1, split=True)
    assert pull_certificate(Problem.of(scenario), 0.0) is None


FORGED: dict[str, Any] = {
    "no numbers": lambda z: z * np.nan,
    "too large": lambda z: z * 1e200,
    "too small": lambda z: z * 1e-200,
    "single precision": lambda z: z.astype(np.float32),
    "too few": lambda z: z[:-1],
    "a list": lambda z: z.tolist(),
    "turned": lambda z: z[:, ::-1].copy(),
    "one left out": lambda z: np.where(np.arange(len(z))[:, None] == len(z) - 1, 0.0, z),
    "inwards": lambda z: -z,
}


@pytest.fixture(scope="module")
def case() -> tuple[reknit.Scenario, reknit.Plan]:
    scenario = _line(20)
    return scenario, reknit.plan(scenario, "certified", effort=20)


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_forged_pulls_are_refused(case: tuple[reknit.Scenario, reknit.Plan], forge: Any) -> None:
    """The bound of a line does not survive other forces."""
    scenario, plan = case
    pulls = plan.certificate.pulls
    assert pulls is not None
    with pytest.raises(InvalidPlan):
        replace(plan, certificate=replace(plan.certificate, pulls=forge(pulls))).verify(scenario)


def test_random_pulls_prove_nothing_false() -> None:
    """Whatever the forces, balanced or not, they prove no more than a plan takes."""
    rng = np.random.default_rng(8)
    for scenario in (_line(8), _sparse(1, 8), _sparse(2, 6, 3)):
        plan_s = reknit.plan(scenario, "certified", effort=40).recovery_time_s
        honest = pull_certificate(Problem.of(scenario), 0.0)
        assert honest is not None
        assert honest.pulls is not None
        for _ in range(60):
            noise = rng.standard_normal(honest.pulls.shape) * np.abs(honest.pulls).max()
            forces = honest.pulls * rng.choice([0.0, 1.0]) + noise * 10.0 ** rng.uniform(-12, 6)
            forged = Certificate(0.0, 0.0, NO_CASES, pulls=forces * 10.0 ** rng.uniform(-90, 80))
            assert prove(forged, scenario).bound_s <= plan_s
