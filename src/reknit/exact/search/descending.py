"""Better trees by descents in the compiled search: on from the best tree known, and from others.

See descend.c. Walks from the best tree seldom leave the valley in which that lies, however long
they go on; one that begins elsewhere often ends lower. So trees are drawn at random too, and a walk
from one of them is gone on with as long as it stays near the best, ever nearer the longer it lasts.

The regions are a little larger than the truth, so of a tree that is found the cone program tells
how fast it is; the EMST of the positions reached is tried after it.
"""

from __future__ import annotations

import numpy as np

from reknit.base.types import FloatArray, IntArray
from reknit.exact.compiled.kernel import Kernel, descend
from reknit.exact.model.cone import Cones
from reknit.exact.model.problem import Problem
from reknit.exact.search.exchange import Exchange
from reknit.exact.search.proof_tree import Work
from reknit.exact.search.state import BETTER
from reknit.exact.search.tree_program import TreeSolution
from reknit.network.emst import lightest_tree
from reknit.network.links import lengths

MOST_SURVIVORS = 400
"""In larger swarms a look takes too long."""

_LEAST_FASTER, _FASTER, _MOST_FASTER = 1e-3, 1e-2, 3e-2
"""By how much a tree is asked to be faster. Where the regions mistook one for a faster tree, more
is asked for, and less after a call that found nothing."""

_MORE, _LESS = 1.5, 0.8

_LONGEST = 1.2
"""How much longer than its tree a walk may take on the way."""

_WORK_PER_LINK = 0.001
_TESTS_PER_UNIT = 3_600.0
_TESTS_AT_ONCE = 30_000

_NOISE = 0.5
"""How much longer than it is a link counts at most where a tree is drawn."""

_GRACE, _BEHIND = 6, 0.5
"""After so many steps a walk from a drawn tree has to be near the best tree: after s steps at most
by the second number over s slower."""

_IDLE, _TURNS = 10, 4
"""Of so many steps the walk from the best tree gets all but one, until it has found nothing in so
many of its own; then it gets one."""


class Descents:
    """Goes on from the best tree known, and in turn from trees that are drawn.

    Parameters
    ----------
    cones
        The problem, and what was learned about it.
    exchange
        Solves trees.
    work
        What may be done.
    rng
        Chooses the ways.
    """

    def __init__(
        self, cones: Cones, exchange: Exchange, work: Work, rng: np.random.Generator
    ) -> None:
        self.cones, self.exchange, self.work, self.rng = cones, exchange, work, rng
        self._main: _Walk | None = None
        self._other: _Walk | None = None
        self._steps = 0

    def step(self, best: TreeSolution) -> TreeSolution:
        """Some descents; the faster of the tree found and the one given."""
        if self._main is None or self._main.tree is not best:
            self._main = _Walk(best)
        self._steps += 1
        is_one_of_many = self._steps % _TURNS != 0
        if is_one_of_many == (self._main.idle < _IDLE):
            return self._go_on(self._main, best)
        if self._other is None or self._other.is_behind(best.time_s):
            self._other = self._draw(best)
        return best if self._other is None else self._go_on(self._other, best)

    def _go_on(self, walk: _Walk, best: TreeSolution) -> TreeSolution:
        """The faster of the tree given and of that which the walk has then."""
        walk.steps += 1
        walk.idle += 1
        if not self._finds_faster(walk):
            return best
        walk.idle = 0
        walk.tree = self.exchange.alternate(walk.tree)
        if walk.tree.time_s >= best.time_s * (1.0 - BETTER):
            return best
        if walk is self._other:
            self._main, self._other = walk, None
        return walk.tree

    def _draw(self, best: TreeSolution) -> _Walk | None:
        """A walk from a tree of short links, each of which counts as longer by some noise."""
        problem = self.cones.problem
        pairs = problem.candidates(best.time_s * _LONGEST)
        self.work.add(_WORK_PER_LINK * len(pairs))
        weight = lengths(problem.start, pairs) * (1.0 + _NOISE * self.rng.random(len(pairs)))
        links = lightest_tree(pairs, weight, problem.count)
        tree = self.exchange.solve_within(links, np.inf)
        return None if tree is None else _Walk(tree)

    def _finds_faster(self, walk: _Walk) -> bool:
        """Some descents of a walk; whether its tree is a faster one then."""
        start = walk.start
        if start is None or start.best is not walk.tree:
            start = walk.start = _Start(self.cones.problem, walk.tree)
            self.work.add(_WORK_PER_LINK * len(start.pairs))
        before = start.kernel.work
        goal = (1.0 - walk.faster) / _LONGEST
        share, tree = descend(start.kernel, start.tree, self.rng, _TESTS_AT_ONCE, start.share, goal)
        self.work.add((start.kernel.work - before) / _TESTS_PER_UNIT)
        if share > goal:
            start.share, start.tree = share, tree
            walk.faster = max(_LESS * walk.faster, _LEAST_FASTER)
            return False
        links = start.pairs[tree]
        links = links[np.lexsort((links[:, 1], links[:, 0]))]
        better = self.exchange.solve_within(links, walk.tree.time_s)
        if better is None:
            walk.faster = min(_MORE * walk.faster, _MOST_FASTER)
            return False
        walk.tree = better
        return True


class _Walk:
    """Descents one after the other.

    Parameters
    ----------
    tree
        The tree that they begin from; later the fastest one found.

    Attributes
    ----------
    faster
        By how much a faster tree is asked for.
    steps, idle
        How many steps there were, and how many since the last faster tree.
    """

    def __init__(self, tree: TreeSolution) -> None:
        self.tree = tree
        self.faster = _FASTER
        self.steps = self.idle = 0
        self.start: _Start | None = None

    def is_behind(self, best_s: float) -> bool:
        """Whether it is not worth going on."""
        return self.steps >= _GRACE and self.tree.time_s > best_s * (1.0 + _BEHIND / self.steps)


class _Start:
    """Where descents begin, as the compiled search sees it.

    Parameters
    ----------
    problem
        What is to be solved.
    best
        The tree that the first of them begins from.

    Attributes
    ----------
    tree
        (n - 1,) numbers of its links among `pairs`, the candidates.
    share
        Within which part of the longest time it holds.
    """

    def __init__(self, problem: Problem, best: TreeSolution) -> None:
        longest_s = best.time_s * _LONGEST
        self.best, self.share = best, 1.0 / _LONGEST
        self.pairs = problem.candidates(longest_s)
        number = {(i, j): row for row, (i, j) in enumerate(self.pairs.tolist())}
        ends = np.sort(best.links, axis=1).tolist()
        self.tree: IntArray = np.asarray([number[i, j] for i, j in ends])
        centres: FloatArray = problem.start - problem.start.mean(axis=0)
        self.kernel = Kernel(
            centres / problem.range_m,
            problem.speeds * longest_s / problem.range_m,
            self.pairs,
            self.pairs,
            problem.count,
            lengths(problem.start, self.pairs) / problem.range_m,
            0,
        )
