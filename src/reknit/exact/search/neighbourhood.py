"""Better trees by freeing all links in a neighbourhood and searching it by cases.

The survivors nearest to one that has a part in deciding the time are freed: links among them
are open again, all other links of the tree are held. The search by cases then looks for any
faster plan that keeps the held links, a far larger set of trees than single exchanges reach.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reknit.base.types import IntArray
from reknit.exact.model.cone import Cones
from reknit.exact.search.case_search import CaseSearch
from reknit.exact.search.clause_search import ClauseSearch
from reknit.exact.search.exchange import Exchange
from reknit.exact.search.proof_tree import Faster, Region, Work
from reknit.exact.search.state import BETTER, CaseProof
from reknit.exact.search.tree_program import TreeSolution
from reknit.network.emst import lightest_tree
from reknit.network.links import components, lengths

_SMALLEST, _FIRST, _LARGEST = 6, 12, 64
_GROWTH = 1.3
_CASES = 80.0
"""Work that one neighbourhood may take."""

_TURNS = 8
"""One in so many neighbourhoods is searched by cases where there are clauses too."""

_HELD = 150
"""Held links that take part in the cone programs, those nearest to the neighbourhood."""


@dataclass
class Neighbourhoods:
    """Frees neighbourhoods of one tree after the other.

    Their size is adapted: larger after one was searched to its end, smaller after one was not.

    Parameters
    ----------
    cones
        The problem, and what was learned about it.
    exchange
        Takes up each faster tree.
    work
        What may be done.
    rng
        Chooses where.
    is_quick
        Whether the compiled search looks for faster trees.
    """

    cones: Cones
    exchange: Exchange
    work: Work
    rng: np.random.Generator
    is_quick: bool = False
    size: float = _FIRST
    proof: CaseProof | None = None
    _steps: int = 0

    def step(self, tree: TreeSolution) -> TreeSolution:
        """Free one neighbourhood; the faster tree found in it, or the same one.

        Where all are free and none is faster, that is a proof for the whole swarm: `proof`.
        """
        problem = self.cones.problem
        limit_s = tree.time_s * (1.0 - BETTER)
        moved = tree.moved(problem)
        critical = tree.critical_rows()
        centre = moved[critical[self.rng.integers(len(critical))]]
        size = round(self.size * self.rng.uniform(0.7, 1.4))
        away = ((moved - centre) ** 2).sum(axis=1)
        rows = np.argpartition(away, size)[:size] if size < len(away) else np.arange(len(away))
        free = np.zeros(problem.count, dtype=bool)
        free[rows] = True
        kept = tree.links[~free[tree.links].all(axis=1)]
        label = components(kept, problem.count)
        pairs = problem.candidates(limit_s, np.sort(rows))
        pairs = pairs[free[pairs].all(axis=1)]
        part = self.work.part(_CASES)
        part.add(1e-3 * problem.count)
        region = Region(label, int(label.max()) + 1)
        held = self._held(tree, kept, rows, limit_s)
        # Clauses reach much further; cases tell apart trees that are nearly as fast.
        self._steps += 1
        kind = ClauseSearch if self.is_quick and self._steps % _TURNS else CaseSearch
        search = kind(self.cones, region, pairs, limit_s, part, held)
        outcome = search.run()
        self.work.add(part.done)
        if isinstance(outcome, Faster):
            better = self._tree(tree, kept, pairs, outcome, limit_s)
            if better is not None:
                return self.exchange.improve(better)
        elif outcome is not None and len(kept) == 0 and not isinstance(outcome, Faster):
            self.proof = CaseProof(search, outcome)
        factor = 1.0 / _GROWTH if outcome is None else _GROWTH
        self.size = min(max(self.size * factor, _SMALLEST), _LARGEST, problem.count)
        return tree

    def _held(self, tree: TreeSolution, kept: IntArray, rows: IntArray, limit_s: float) -> IntArray:
        """The kept links that flights of so long can break, nearest to the neighbourhood."""
        problem = self.cones.problem
        speeds = np.where(tree.movable, problem.speeds, 0.0)
        give_m = (speeds[kept[:, 0]] + speeds[kept[:, 1]]) * limit_s
        held = kept[lengths(problem.start, kept) > problem.range_m - give_m]
        reached = np.zeros(problem.count, dtype=bool)
        reached[rows] = True
        taken = np.zeros(len(held), dtype=bool)
        while True:
            touched = np.asarray(reached[held].any(axis=1))
            if touched.sum() == taken.sum() or touched.sum() > _HELD:
                return np.asarray(held[touched if touched.sum() <= _HELD else taken])
            taken = touched
            reached[held[touched]] = True

    def _tree(
        self, tree: TreeSolution, kept: IntArray, pairs: IntArray, faster: Faster, limit_s: float
    ) -> TreeSolution | None:
        """The kept links and those that hold at the positions found."""
        links = np.unique(np.concatenate([tree.links, pairs]), axis=0)
        length_m = lengths(faster.positions, links)
        count = self.cones.problem.count
        key = links[:, 0] * count + links[:, 1]
        length_m[np.isin(key, kept[:, 0] * count + kept[:, 1])] = -1.0
        return self.exchange.solve_within(lightest_tree(links, length_m, count), limit_s)
