"""The cone programs against cvxpy and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from reknit.base.types import FloatArray, IntArray
from reknit.exact.model.cone import (
    Apart,
    Cones,
    dual_time_s,
    least_movement,
    solve,
    solve_apart,
)
from reknit.exact.model.problem import Problem
from reknit.exact.search.tree_program import solve_tree
from reknit.network.emst import lightest_tree
from reknit.network.links import lengths


def _random(seed: int) -> tuple[Problem, IntArray]:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 10))
    start = rng.random((count, 2 + seed % 2)) * 500.0
    speeds = rng.uniform(2.0, 20.0, count) if seed % 3 else np.full(count, 10.0)
    if seed % 4 == 3:
        speeds[0] = 0.0
    pairs = np.stack(np.triu_indices(count, k=1), axis=1)
    tree = lightest_tree(pairs, rng.random(len(pairs)), count)
    return Problem(start, speeds, 120.0), tree


def _oracle(problem: Problem, links: IntArray, limit_s: float | None) -> float:
    cvxpy = pytest.importorskip("cvxpy")
    shift = cvxpy.Variable(problem.start.shape)
    moved = problem.start + shift
    size = cvxpy.norm(shift, 2, axis=1)
    near = [cvxpy.norm(moved[i] - moved[j]) <= problem.range_m for i, j in links.tolist()]
    if limit_s is not None:
        goal = cvxpy.sum(size)
        limits = [size <= problem.speeds * limit_s]
    else:
        goal = cvxpy.Variable()
        limits = [size <= problem.speeds * goal]
    program = cvxpy.Problem(cvxpy.Minimize(goal), near + limits)
    program.solve(solver=cvxpy.SCS, eps_abs=1e-10, eps_rel=1e-10, max_iters=200_000)
    return float(program.value)


@pytest.mark.parametrize("seed", range(24))
def test_least_time_agrees_with_cvxpy(seed: int) -> None:
    """In 2-D and 3-D, with different speeds and an anchor: the same optimum, and its dual proves
    it.
    """
    problem, tree = _random(seed)
    solution = solve(problem, tree)
    assert solution.time_s == pytest.approx(_oracle(problem, tree, None), rel=1e-6)
    assert solution.proved_s == pytest.approx(solution.time_s, rel=1e-6)
    moved = problem.start.copy()
    moved[solution.nodes] += solution.shift
    assert lengths(moved, tree).max() <= problem.range_m * (1 + 1e-8)


@pytest.mark.parametrize("seed", range(12))
def test_least_movement_agrees_with_cvxpy(seed: int) -> None:
    """Within a tenth more than the least time, the same least total movement."""
    problem, tree = _random(seed)
    limit_s = 1.1 * solve(problem, tree).time_s
    _, shift = least_movement(problem, tree, limit_s, problem.range_m)
    total_m = np.sqrt((shift**2).sum(axis=1)).sum()
    assert total_m == pytest.approx(_oracle(problem, tree, limit_s), rel=1e-6)


@pytest.mark.parametrize("seed", range(24))
def test_any_forces_prove_less(seed: int) -> None:
    """Weak duality: no vectors prove more than the optimum."""
    problem, tree = _random(seed)
    best_s = solve(problem, tree).time_s
    rng = np.random.default_rng(seed)
    for _ in range(50):
        forces = rng.standard_normal((len(tree), problem.start.shape[1]))
        assert dual_time_s(problem, tree, forces) <= best_s * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(24))
def test_pieces_are_as_good_as_the_whole(seed: int) -> None:
    """Settling a tree piece by piece gives the optimum of the whole tree."""
    rng = np.random.default_rng(seed)
    start: FloatArray = rng.random((40, 2)) * 900.0
    problem = Problem(start, np.full(40, 10.0), 120.0)
    tree = problem.first_tree
    floor_s = float(problem.closing_time_s(tree).max())
    settled = solve_tree(Cones(problem), tree, floor_s)
    assert settled.time_s == pytest.approx(solve(problem, tree).time_s, rel=1e-7)


def test_by_hand() -> None:
    """Two UAVs meet halfway; an anchor lets the other do all; two anchors cannot meet."""
    start = np.array([[0.0, 0.0], [200.0, 0.0]])
    link = np.array([[0, 1]])
    assert solve(Problem(start, np.array([10.0, 10.0]), 120.0), link).time_s == pytest.approx(4.0)
    assert solve(Problem(start, np.array([0.0, 10.0]), 120.0), link).time_s == pytest.approx(8.0)
    stuck = solve(Problem(start, np.array([0.0, 0.0]), 120.0), link)
    assert stuck.time_s == np.inf
    assert stuck.proved_s == np.inf
    held = np.array([[0.0, 0.0], [200.0, 0.0], [500.0, 0.0]])
    far = solve(Problem(held, np.array([0.0, 10.0, 0.0]), 120.0), np.array([[0, 1], [1, 2]]))
    assert far.time_s == np.inf
    assert far.proved_s > 1e6


def test_pairs_are_kept_apart() -> None:
    """With a direction given, the separation holds and the links do too."""
    start = np.array([[0.0, 0.0], [200.0, 0.0], [201.0, 1.0]])
    problem = Problem(start, np.full(3, 10.0), 120.0)
    apart = Apart(np.array([[1, 2]]), np.array([[0.0, -1.0]]), 30.0)
    shift = solve_apart(problem, np.array([[0, 1], [0, 2]]), apart, 120.0, None)
    assert shift is not None
    moved = start + shift
    assert moved[2, 1] - moved[1, 1] >= 30.0 - 1e-6
    assert lengths(moved, np.array([[0, 1], [0, 2]])).max() <= 120.0 + 1e-6
