"""The meeting place of all: pairwise in range, and as near as can be."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from scipy.spatial.distance import pdist

import reknit
from reknit.knowledge.policies.rendezvous import rendezvous_targets


@pytest.mark.parametrize(("uavs", "dim", "seed"), [(12, 2, 1), (40, 2, 2), (15, 3, 3), (300, 2, 4)])
def test_all_targets_are_in_range_and_near_the_bound(uavs: int, dim: int, seed: int) -> None:
    """Pairwise at most r; the time is at least (diameter - r) / (2 v), and near it."""
    points = reknit.generate(uavs, [], seed=seed, dim=dim).positions
    targets = rendezvous_targets(points, 120.0, 10.0)
    assert pdist(targets).max() <= 120.0 + 1e-9
    time_s = np.linalg.norm(targets - points, axis=1).max() / 10.0
    bound_s = (pdist(points).max() - 120.0) / 20.0
    assert bound_s - 1e-6 <= time_s <= 1.2 * bound_s


def test_it_is_the_optimum_of_the_whole_program() -> None:
    """The hull's program gives the value of the program over all UAVs, by another solver."""
    points = reknit.generate(14, [], seed=7).positions
    targets = rendezvous_targets(points, 120.0, 10.0)
    cp = import_module("cvxpy")
    x = cp.Variable(points.shape)
    way = cp.max(cp.norm(x - points, axis=1))
    apart = [cp.norm(x[i] - x[j]) <= 120.0 for i in range(14) for j in range(i)]
    best = cp.Problem(cp.Minimize(way), apart).solve(solver=cp.SCS, eps=1e-7)
    assert np.linalg.norm(targets - points, axis=1).max() == pytest.approx(best, rel=1e-4)


@pytest.mark.parametrize(
    "points",
    [
        [[0.0, 0.0]],
        [[0.0, 0.0], [0.0, 0.0]],
        [[0.0, 0.0], [300.0, 0.0]],
        [[0.0, 0.0], [100.0, 100.0], [500.0, 500.0]],
        [[0.0, 0.0, 5.0], [400.0, 0.0, 5.0], [0.0, 400.0, 5.0], [90.0, 90.0, 5.0]],
    ],
    ids=["one", "coincident", "two", "collinear", "flat"],
)
def test_degenerate_swarms_meet_too(points: list[list[float]]) -> None:
    """Hulls without an inside are no problem."""
    targets = rendezvous_targets(np.array(points), 120.0, 10.0)
    assert len(targets) == len(points)
    assert len(points) == 1 or pdist(targets).max() <= 120.0 + 1e-9
