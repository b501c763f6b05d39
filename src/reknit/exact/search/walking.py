"""Better trees by walks among those that are a little slower, in the compiled search.

One look at a tree sees all that differ from it in one link, see exchange.c. Of a tree that is found
the cone program tells how fast it is; the EMST of the positions reached is tried after it.
"""

from __future__ import annotations

import numpy as np

from reknit.exact.compiled.kernel import Kernel, exchange
from reknit.exact.model.cone import Cones
from reknit.exact.search.exchange import Exchange
from reknit.exact.search.proof_tree import Work
from reknit.exact.search.tree_program import TreeSolution
from reknit.network.links import lengths

MOST_SURVIVORS = 400
"""In larger swarms a look takes too long."""

_LEAST_FASTER, _FASTER, _MOST_FASTER = 1e-3, 1e-2, 3e-2
"""By how much a tree is asked to be faster. The regions are a little larger than the truth; where
that was mistaken for a faster tree, more is asked for, and less after a walk that found nothing."""

_MORE, _LESS = 1.5, 0.8

_SLOWER = (0.01, 0.02, 0.04, 0.08)
"""By how much trees on the way may be slower, one after the other."""

_WORK_PER_LINK = 0.001
_TESTS_PER_UNIT = 1_000.0
_TESTS_AT_ONCE = 10_000


class Walks:
    """Walks from the best tree known, each a little wider than the one before.

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
        self._walks = 0
        self._faster = _FASTER

    def step(self, best: TreeSolution) -> TreeSolution:
        """One walk; the faster of the tree found and the one given."""
        problem = self.cones.problem
        longer_s = best.time_s * (1.0 + _SLOWER[self._walks % len(_SLOWER)])
        self._walks += 1
        pairs = problem.candidates(longer_s)
        self.work.add(_WORK_PER_LINK * len(pairs))
        length = lengths(problem.start, pairs) / problem.range_m
        number = {(i, j): row for row, (i, j) in enumerate(pairs.tolist())}
        tree = np.asarray([number[i, j] for i, j in np.sort(best.links, axis=1).tolist()])
        centres = (problem.start - problem.start.mean(axis=0)) / problem.range_m
        shorter, longer = (
            Kernel(
                centres,
                problem.speeds * time_s / problem.range_m,
                pairs,
                pairs,
                problem.count,
                length,
                0,
            )
            for time_s in (best.time_s * (1.0 - self._faster), longer_s)
        )
        before = shorter.work + longer.work
        is_found, tree = exchange(shorter, longer, tree, self.rng, _TESTS_AT_ONCE)
        self.work.add((shorter.work + longer.work - before) / _TESTS_PER_UNIT)
        if not is_found:
            self._faster = max(_LESS * self._faster, _LEAST_FASTER)
            return best
        links = pairs[tree]
        links = links[np.lexsort((links[:, 1], links[:, 0]))]
        better = self.exchange.solve_within(links, best.time_s)
        if better is None:
            self._faster = min(_MORE * self._faster, _MOST_FASTER)
            return best
        return self.exchange.alternate(better)
