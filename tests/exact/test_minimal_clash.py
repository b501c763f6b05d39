"""Clashes with as few links as will do."""

from __future__ import annotations

import numpy as np
import pytest

from reknit.exact.model.cone import Cones, solve
from reknit.exact.model.problem import Problem
from reknit.exact.proof.certificates import provable_time_s
from reknit.exact.search.minimal_clash import minimal_clash
from reknit.exact.search.proof_tree import Work


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("part", [0.6, 0.9])
def test_no_end_of_a_clash_can_be_left_out(seed: int, part: float) -> None:
    """What is left of a tree takes the time, but not without any one of its ends."""
    start = np.random.default_rng(seed).random((12, 2)) * 900.0
    problem = Problem(start, np.full(12, 10.0), 120.0)
    tree = problem.first_tree
    solution = solve(problem, tree)
    time_s = part * solution.time_s
    clash, proved_s = minimal_clash(Cones(problem), tree, solution, time_s, Work(1e6))
    assert {tuple(link) for link in clash.links.tolist()} <= {tuple(x) for x in tree.tolist()}
    assert provable_time_s(problem, clash) >= time_s
    assert proved_s == pytest.approx(provable_time_s(problem, clash), rel=1e-9)
    degree = np.bincount(clash.links.ravel())
    for row in np.flatnonzero((degree[clash.links] == 1).any(axis=1)):
        if len(clash.links) > 2:
            assert solve(problem, np.delete(clash.links, row, axis=0)).proved_s < time_s


def test_without_work_the_clash_stays_whole() -> None:
    """When the work is done, only links that carry no force are left out."""
    start = np.stack([np.arange(6) * 180.0, np.zeros(6)], axis=1)
    problem = Problem(start, np.full(6, 10.0), 120.0)
    solution = solve(problem, problem.first_tree)
    clash, _ = minimal_clash(Cones(problem), problem.first_tree, solution, 3.5, Work(0.0))
    assert len(clash.links) == 5
    short, _ = minimal_clash(Cones(problem), problem.first_tree, solution, 3.5, Work(100.0))
    assert len(short.links) == 2
