"""Separations that leave little room: lattices, assignments and what is improved from there."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

import reknit
from reknit.base.types import FloatArray
from reknit.exact.demands.lattice import lattice_targets
from reknit.exact.model.problem import Problem
from reknit.plans.checker.claims import demand_faults
from reknit.plans.status import Status


def _hexagonal_time_s(start: FloatArray, pitch_m: float, speed_mps: float) -> float:
    """The longest flight to the sites nearest to the middle of a hexagonal lattice, by matching."""
    steps = np.arange(-30, 31)
    a, b = np.meshgrid(steps, steps)
    sites = pitch_m * np.stack([(a + 0.5 * b).ravel(), (np.sqrt(0.75) * b).ravel()], axis=1)
    sites = sites[np.argsort((sites**2).sum(axis=1), kind="stable")[: len(start)]]
    sites = sites + start.mean(axis=0)
    distance_m = np.linalg.norm(start[:, None] - sites[None], axis=2)
    for limit_m in np.unique(distance_m):
        graph = csr_array((distance_m <= limit_m).astype(np.int8))
        if (maximum_bipartite_matching(graph, perm_type="column") >= 0).all():
            return float(limit_m) / speed_mps
    raise AssertionError("everybody reaches some site")


@pytest.mark.parametrize(("dim", "order"), [(2, 1), (2, 2), (2, 3), (3, 2)])
def test_lattice_meets_the_demands(dim: int, order: int) -> None:
    """Sites are far enough apart, near enough to be linked, and k-connected; the anchor stays."""
    free = reknit.generate(60, 30, seed=3, split=True, dim=dim)
    anchor = int(free.survivors[7])
    scenario = reknit.Scenario(
        free.positions, free.destroyed, 120.0, 10.0,
        min_separation_m=112.0, connectivity=order, anchors=[anchor],
    )  # fmt: skip
    targets = lattice_targets(Problem.of(scenario), 112.0, order, lambda: False)
    assert targets is not None
    assert demand_faults(scenario, targets) == []


@pytest.mark.parametrize("gap_m", [80.0, 100.0, 119.0])
def test_never_slower_than_a_lattice(gap_m: float) -> None:
    """A plan is faster than the same swarm on a hexagonal lattice with the best assignment."""
    scenario = reknit.generate(60, 30, seed=6, split=True, min_separation_m=gap_m)
    plan = reknit.plan(scenario, "certified")
    assert plan.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert not demand_faults(scenario, plan.targets)
    start = scenario.survivor_positions
    others_s = [_hexagonal_time_s(start, pitch_m, 10.0) for pitch_m in (gap_m, 119.9)]
    assert plan.recovery_time_s < min(others_s)


def test_two_connected_and_apart() -> None:
    """Separation and 2-connectivity together are improved from the lattice too."""
    scenario = reknit.generate(40, 20, seed=2, split=True, min_separation_m=100.0, connectivity=2)
    plan = reknit.plan(scenario, "certified")
    fallback = reknit.plan(scenario, "certified", budget_s=0.0)
    assert plan.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert plan.recovery_time_s < fallback.recovery_time_s
