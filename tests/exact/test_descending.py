"""Descents from the best tree and from drawn ones."""

from __future__ import annotations

import itertools
import os

import numpy as np
import pytest

from reknit.exact.compiled.kernel import is_available
from reknit.exact.model.problem import Problem, is_spanning
from reknit.exact.search.descending import Descents, _Walk
from reknit.exact.search.exchange import Exchange
from reknit.exact.search.proof_tree import Work
from reknit.exact.search.tree_program import TreeSolution
from reknit.exact.solve import solve as search

pytestmark = pytest.mark.skipif(
    not is_available() and "CI" not in os.environ, reason="no C compiler at installation"
)


def _very_sparse(seed: int) -> Problem:
    """Thirty survivors that all have to move, as far apart as 2 to 3 ranges on average."""
    start = np.random.default_rng(seed).random((30, 2)) * 3_000.0
    return Problem(start, np.full(30, 10.0), 120.0)


def _trees(problem: Problem, units: float) -> list[TreeSolution]:
    """The best tree after every step, from the EMST's on."""
    state = search(problem, effort=0)
    work = Work(units)
    exchange = Exchange(state.cones, 0.0, work)
    descents = Descents(state.cones, exchange, work, np.random.default_rng(1))
    trees = [state.tree]
    while not work.is_done:
        trees.append(descents.step(trees[-1]))
    return trees


@pytest.mark.parametrize("seed", range(3))
def test_descents_only_keep_faster_trees(seed: int) -> None:
    """Every tree spans, none is slower than the one before, its own cone program confirms the
    last one's time, and the same seed gives the same tree.
    """
    problem = _very_sparse(seed)
    trees = _trees(problem, 60.0)
    assert all(is_spanning(tree.links, problem.count) for tree in trees)
    assert trees[-1].time_s < 0.95 * trees[0].time_s
    assert all(two.time_s <= one.time_s for one, two in itertools.pairwise(trees))
    again = search(problem, effort=0, links=trees[-1].links).tree
    assert again.time_s == pytest.approx(trees[-1].time_s, rel=1e-6)
    assert np.array_equal(trees[-1].links, _trees(problem, 60.0)[-1].links)


def test_drawn_trees_lead_out_of_a_valley(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where walks from the best tree stay in its valley with twice the work, walks from drawn trees
    find a faster one.
    """
    problem = _very_sparse(0)
    drawn = _trees(problem, 150.0)[-1]
    monkeypatch.setattr(Descents, "_draw", lambda self, best: None)
    alone = _trees(problem, 300.0)[-1]
    assert drawn.time_s < 0.99 * alone.time_s


@pytest.mark.parametrize(
    ("steps", "slower", "is_behind"),
    [(5, 2.0, False), (6, 1.09, True), (6, 1.08, False), (50, 1.011, True), (50, 1.009, False)],
)
def test_a_walk_has_to_come_near(steps: int, slower: float, is_behind: bool) -> None:
    """A walk is given up after six steps or more once it is over 0.5 / s slower than the best."""
    walk = _Walk(search(_very_sparse(0), effort=0).tree)
    walk.steps = steps
    assert walk.is_behind(walk.tree.time_s / slower) is is_behind
