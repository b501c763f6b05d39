"""Better trees by descents from trees that are shaken out of the best one, in the compiled search.

See descend.c. The regions are a little larger than the truth, so of a tree that is found the cone
program tells how fast it is; the EMST of the positions reached is tried after it.
"""

from __future__ import annotations

import numpy as np

from reknit.base.types import FloatArray, IntArray
from reknit.exact.compiled.kernel import Kernel, descend
from reknit.exact.model.cone import Cones
from reknit.exact.model.problem import Problem
from reknit.exact.search.exchange import Exchange
from reknit.exact.search.proof_tree import Work
from reknit.exact.search.tree_program import TreeSolution
from reknit.network.links import lengths

MOST_SURVIVORS = 400
"""In larger swarms a look takes too long."""

_LEAST_FASTER, _FASTER, _MOST_FASTER = 1e-3, 1e-2, 3e-2
"""By how much a tree is asked to be faster. Where the regions mistook one for a faster tree, more
is asked for, and less after a call that found nothing."""

_MORE, _LESS = 1.5, 0.8

_LONGEST = 1.2
"""How much longer than the best tree others may take on the way."""

_WORK_PER_LINK = 0.001
_TESTS_PER_UNIT = 1_800.0
_TESTS_AT_ONCE = 30_000


class Descents:
    """Goes on from the best tree known, and between its calls from where it ended.

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
        self._faster = _FASTER
        self._start: _Start | None = None

    def step(self, best: TreeSolution) -> TreeSolution:
        """Some descents; the faster of the tree found and the one given."""
        start = self._start
        if start is None or start.best is not best:
            start = self._start = _Start(self.cones.problem, best)
            self.work.add(_WORK_PER_LINK * len(start.pairs))
        before = start.kernel.work
        goal = (1.0 - self._faster) / _LONGEST
        share, tree = descend(start.kernel, start.tree, self.rng, _TESTS_AT_ONCE, start.share, goal)
        self.work.add((start.kernel.work - before) / _TESTS_PER_UNIT)
        if share > goal:
            start.share, start.tree = share, tree
            self._faster = max(_LESS * self._faster, _LEAST_FASTER)
            return best
        links = start.pairs[tree]
        links = links[np.lexsort((links[:, 1], links[:, 0]))]
        better = self.exchange.solve_within(links, best.time_s)
        if better is None:
            self._faster = min(_MORE * self._faster, _MOST_FASTER)
            return best
        return self.exchange.alternate(better)


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
