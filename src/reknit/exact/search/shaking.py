"""Better trees by random exchanges that may first make a tree a little slower.

One of the links, mostly one that carries force, is replaced by another that is short where the
survivors are. Of a tree that is hardly slower the EMST of the positions reached is tried too; it
may share few links with the first. What is faster is kept. After many failures some links of the
best tree are exchanged whatever comes of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from reknit.base.types import IntArray
from reknit.exact.model.cone import Cones
from reknit.exact.model.learned import Link
from reknit.exact.search.exchange import Exchange
from reknit.exact.search.proof_tree import Work
from reknit.exact.search.state import BETTER
from reknit.exact.search.tree_program import TreeSolution
from reknit.network.emst import emst
from reknit.network.links import components, lengths

_SLOWER = 1.05
_KICKED = 1.25
"""How much slower than the one before a tree may be to be looked at, and after a kick."""

_ACROSS = 10
_PATIENCE, _KICKS = 40, 3
_WITHOUT_FORCE = 1e-3
"""How much as likely as the link with the largest force one without any is taken out."""


@dataclass
class Shaking:
    """Random walks among trees, from the best one known.

    Parameters
    ----------
    cones
        The problem, and what was learned about it.
    exchange
        Solves trees.
    work
        What may be done.
    rng
        Chooses the exchanges.
    """

    cones: Cones
    exchange: Exchange
    work: Work
    rng: np.random.Generator
    _here: TreeSolution | None = None
    _failures: int = field(default=0)

    def step(self, best: TreeSolution) -> TreeSolution:
        """One exchange; the faster of the tree found and the one given."""
        here = best
        if self._here is not None and self._here.time_s >= best.time_s:
            here = self._here
        self._here = here
        other = self._try(here, _SLOWER * here.time_s)
        if other is not None and other.time_s < here.time_s * (1.0 - BETTER):
            self._here, self._failures = other, 0
            return min(best, other, key=lambda tree: tree.time_s)
        self._failures += 1
        if self._failures > _PATIENCE:
            self._failures = 0
            self._here = best
            for _ in range(_KICKS):
                kicked = self._try(self._here, _KICKED * best.time_s)
                self._here = self._here if kicked is None else kicked
            return min(best, self._here, key=lambda tree: tree.time_s)
        return best

    def _try(self, tree: TreeSolution, limit_s: float) -> TreeSolution | None:
        """A tree with one other link, or the EMST of the positions that it reaches."""
        exchanged = self._exchanged(tree)
        if exchanged is None:
            return None
        rest, link = exchanged
        other = self.exchange.solve_with(rest, link, limit_s)
        if other is None:
            return None
        again = emst(other.moved(self.cones.problem))
        if np.array_equal(again, other.links):
            return other
        better = self.exchange.solve_within(again, other.time_s)
        return other if better is None else better

    def _exchanged(self, tree: TreeSolution) -> tuple[IntArray, Link] | None:
        """The links but one, and a short one in its place."""
        problem = self.cones.problem
        piece, forces = tree.pieces[tree.worst], tree.solutions[tree.worst].forces
        size = np.sqrt((forces**2).sum(axis=1))
        weight = size / size.max() + _WITHOUT_FORCE
        out = piece[int(self.rng.choice(len(piece), p=weight / weight.sum()))]
        rest = tree.links[(tree.links != out).any(axis=1)]
        label = components(rest, problem.count)
        pairs = problem.candidates(_SLOWER * tree.time_s, np.unique(piece))
        across = pairs[label[pairs[:, 0]] != label[pairs[:, 1]]]
        across = across[(across != out).any(axis=1)]
        self.work.add(0.05 + 1e-4 * len(pairs))
        if len(across) == 0:
            return None
        moved = tree.moved(problem)
        near = np.argsort(lengths(moved, across), kind="stable")[:_ACROSS]
        into = across[near[int(len(near) * self.rng.random() ** 2)]]
        return rest, (int(into[0]), int(into[1]))
