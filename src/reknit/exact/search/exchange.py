"""Better trees by exchanging one link at a time.

The links that carry force in the cone program of a tree decide its time. Take one of them away
and the tree falls into two parts; any candidate across them makes a tree again. Candidates are
tried in the order of their length where the survivors are when the link is gone. Most such trees
are slower, and often a few links show it: the cone program on part of a tree is a relaxation, so
the links within two hops of the new one come first. Every refusal leaves a clash behind, which
refuses later trees without a cone program.

After each exchange the EMST of the positions reached is tried: its links hold there too, and
its own cone program is often much faster. So is that of the tree in which the same positions are
shared out anew.
"""

from __future__ import annotations

import numpy as np

from reknit.base.types import IntArray
from reknit.exact.model.assignment import assign_some
from reknit.exact.model.cone import Cones, Solution, dual_time_s
from reknit.exact.model.learned import Link, heavy_clash, link_set
from reknit.exact.search.proof_tree import Work
from reknit.exact.search.state import BETTER
from reknit.exact.search.tree_program import TreeSolution, solve_tree_within
from reknit.network.emst import emst
from reknit.network.links import components, lengths

_HOPS = 2
_TRIED_ACROSS = 8
_CARRIES = 1e-3
_ALTERNATIONS = 20

_MOST_REASSIGNED = 400
_WORK_PER_PAIR = 2e-4


class Exchange:
    """Exchanges links of trees while that makes them faster.

    Parameters
    ----------
    cones
        The problem, and what was learned about it.
    floor_s
        No plan takes less: nothing is sought below.
    work
        What may be done.
    """

    def __init__(self, cones: Cones, floor_s: float, work: Work) -> None:
        self.cones, self.problem = cones, cones.problem
        self.floor_s, self.work = floor_s, work

    def improve(self, tree: TreeSolution) -> TreeSolution:
        """The tree after steps that each made it faster, until none does or the work is done."""
        tree = self.alternate(tree)
        while not self.work.is_done and tree.time_s > self.floor_s * (1.0 + BETTER):
            better = self._first_better(tree)
            if better is None:
                return tree
            tree = self.alternate(better)
        return tree

    def alternate(self, tree: TreeSolution) -> TreeSolution:
        """Take the EMST of the positions reached, or have others go to them, again and again while
        that is faster.
        """
        for _ in range(_ALTERNATIONS):
            if self.work.is_done or not np.isfinite(tree.time_s):
                break
            better = self._other(emst(tree.moved(self.problem)), tree)
            if better is None:
                better = self._other(self._reassigned(tree), tree)
            if better is None:
                break
            tree = better
        return tree

    def _other(self, links: IntArray, tree: TreeSolution) -> TreeSolution | None:
        """The tree of these links if it is faster than another."""
        if np.array_equal(links, tree.links) or self.work.is_done:
            return None
        return self.solve_within(links, tree.time_s * (1.0 - BETTER))

    def _reassigned(self, tree: TreeSolution) -> IntArray:
        """The links between the same places where these are shared out anew.

        Those in the piece that decides the time go to each other's places, so that the flights
        that are long get shorter. All links stay as long as they are, and the cone program of the
        tree between the new neighbours is then often much faster.
        """
        rows = np.unique(tree.pieces[tree.worst])
        if not 2 < len(rows) <= _MOST_REASSIGNED:
            return tree.links
        self.work.add(_WORK_PER_PAIR * len(rows) ** 2)
        site = assign_some(self.problem, rows, tree.moved(self.problem)[rows])
        at_site = np.arange(self.problem.count)
        at_site[rows[site]] = rows
        links = np.sort(at_site[tree.links], axis=1)
        return np.asarray(links[np.lexsort((links[:, 1], links[:, 0]))])

    def solve_within(self, links: IntArray, limit_s: float) -> TreeSolution | None:
        """The tree's cone program, if it takes less than a time; what refutes it is learned."""
        result = solve_tree_within(self.cones, links, limit_s, self.work)
        if isinstance(result, TreeSolution):
            return result
        self._learn(*result, limit_s)
        return None

    def _first_better(self, tree: TreeSolution) -> TreeSolution | None:
        limit_s = tree.time_s * (1.0 - BETTER)
        pairs = self.problem.candidates(limit_s, np.unique(tree.pieces[tree.worst]))
        self.work.add(1e-4 * len(pairs))
        for link in _critical_links(tree):
            better = self._without(tree, link, pairs, limit_s)
            if better is not None or self.work.is_done:
                return better
        return None

    def _without(
        self, tree: TreeSolution, link: Link, pairs: IntArray, limit_s: float
    ) -> TreeSolution | None:
        """The first faster tree that has another link in the place of this one."""
        problem = self.problem
        rest = tree.links[(tree.links != link).any(axis=1)]
        piece = tree.pieces[tree.worst]
        piece = piece[(piece != link).any(axis=1)]
        moved = tree.moved(problem)
        if len(piece):
            opened = self._solve(piece, limit_s)
            if opened.time_s >= limit_s:
                self._learn(piece, opened, limit_s)
                return None
            moved[opened.nodes] = problem.start[opened.nodes] + opened.shift
        label = components(rest, problem.count)
        across = pairs[label[pairs[:, 0]] != label[pairs[:, 1]]]
        across = across[(across != link).any(axis=1)]
        order = np.argsort(lengths(moved, across), kind="stable")[:_TRIED_ACROSS]
        for i, j in across[order].tolist():
            if self.work.is_done:
                break
            better = self.solve_with(rest, (i, j), limit_s)
            if better is not None:
                return better
        return None

    def solve_with(self, rest: IntArray, link: Link, limit_s: float) -> TreeSolution | None:
        """The tree of some links and one more, if it takes less than a time."""
        if self.cones.clashes.refute({*link_set(rest), link}, link, limit_s):
            return None
        links = np.concatenate([rest, [link]])
        links = links[np.lexsort((links[:, 1], links[:, 0]))]
        near = _links_near(links, link, _HOPS)
        if 1 < len(near) < len(links) // 2:
            relaxed = self._solve(near, limit_s)
            if relaxed.time_s >= limit_s:
                self._learn(near, relaxed, limit_s)
                return None
        return self.solve_within(links, limit_s)

    def _solve(self, links: IntArray, limit_s: float) -> Solution:
        self.work.add_program(len(links))
        return self.cones.solve(links, limit_s=limit_s)[0]

    def _learn(self, links: IntArray, solution: Solution, limit_s: float) -> None:
        if solution.proved_s < limit_s:
            return
        clash = heavy_clash(links, solution.forces)
        time_s = dual_time_s(self.problem, clash.links, clash.forces)
        if time_s >= limit_s * (1.0 - 1e-3):
            self.cones.clashes.add(clash, time_s)


def _critical_links(tree: TreeSolution) -> list[Link]:
    """The links that decide the time, those that carry most first."""
    pairs, forces = tree.pieces[tree.worst], tree.solutions[tree.worst].forces
    size = np.sqrt((forces**2).sum(axis=1))
    order = np.argsort(-size, kind="stable")
    order = order[size[order] > _CARRIES * size.max()]
    return [(int(i), int(j)) for i, j in pairs[order]]


def _links_near(links: IntArray, link: Link, hops: int) -> IntArray:
    """The links of a tree within so many hops of one of them, that one included."""
    reached = np.zeros(int(links.max()) + 1, dtype=bool)
    reached[list(link)] = True
    for _ in range(hops - 1):
        touched = reached[links].any(axis=1)
        reached[links[touched]] = True
    return np.asarray(links[reached[links].any(axis=1)])
