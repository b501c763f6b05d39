"""Clashes with as few links as will do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reknit.exact.model.cone import Cones, solve
from reknit.exact.model.problem import Problem
from reknit.exact.proof.certificates import provable_times_s
from reknit.exact.search.minimal_clash import minimal_clash
from reknit.exact.search.proof_tree import Work
from reknit.plans.certificate import Clash


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
    [provable_s] = provable_times_s(problem, [clash]).tolist()
    assert provable_s >= time_s
    assert proved_s == pytest.approx(provable_s, rel=1e-9)
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


def test_times_of_many_clashes_are_those_of_each() -> None:
    """What clashes of other sizes and survivors prove does not depend on each other; nothing is
    proved by forces that are nothing or no numbers, and everything by those that nobody can bear.
    """
    rng = np.random.default_rng(9)
    speeds = np.array([0.0, 0.0, *rng.uniform(5.0, 15.0, 10)])
    problem = Problem(rng.random((12, 2)) * 900.0, speeds, 120.0)
    clashes = []
    for size in (2, 5, 1, 3):
        nodes = rng.permutation(np.arange(2, 12))[: size + 1]
        links = np.sort(np.stack([nodes[:-1], nodes[1:]], axis=1), axis=1)
        start = problem.start[links[:, 0]] - problem.start[links[:, 1]]
        clashes.append(Clash(links, start * rng.uniform(0.5, 1.5, (size, 1))))
    held = Clash(np.array([[0, 1]]), (problem.start[:1] - problem.start[1:2]) * 1e30)
    nothing = replace(clashes[0], forces=np.zeros((2, 2)))
    no_number = replace(clashes[0], forces=np.full((2, 2), np.nan))
    every = [*clashes, held, nothing, no_number]
    times_s = provable_times_s(problem, every)
    for clash, time_s in zip(clashes, times_s.tolist(), strict=False):
        size = np.hypot(*clash.forces.T)
        pull = (
            clash.forces * (problem.start[clash.links[:, 0]] - problem.start[clash.links[:, 1]])
        ).sum()
        balance = np.zeros((12, 2))
        for (i, j), force in zip(clash.links.tolist(), clash.forces, strict=True):
            balance[i] += force
            balance[j] -= force
        wanted_s = (pull - 120.0 * size.sum()) / (speeds * np.hypot(*balance.T)).sum()
        assert time_s == pytest.approx(max(wanted_s, 0.0), rel=1e-9, abs=1e-12)
    assert times_s[-3:].tolist() == [np.finfo(np.float64).max, 0.0, 0.0]
    assert len(provable_times_s(problem, [])) == 0
