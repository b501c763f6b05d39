"""The question of `case_search`, put to a compiled search that learns clauses from conflicts.

Is there a plan that takes less than a trial time T? Every candidate link is used or not. The links
across any cut are a clause, one of them is used; links that cannot hold together within T are
another, one of them is not. The search decides links, takes up what follows, and resolves every
conflict to a clause that it keeps. Where the last conflict rests on no decision, the resolutions
that led to it are a proof.

Whether a tree of links can hold is seen from the regions in which its UAVs can be
(`exact.compiled`), polygons a little larger than the truth. So a clash is one for certain, and its
forces can be read off; a tree that connects everybody is solved as a cone program before it is
believed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reknit.base.types import IntArray
from reknit.exact.compiled.kernel import (
    CLASH,
    CONNECTED,
    CUT,
    FULL,
    PROVED,
    UNDECIDED,
    Kernel,
    is_available,
)
from reknit.exact.model.cone import Cones
from reknit.exact.model.problem import Problem
from reknit.exact.search.minimal_clash import minimal_clash
from reknit.exact.search.proof_tree import NO_LINKS, Faster, Region, Work
from reknit.network.links import components, lengths
from reknit.plans.certificate import Clash

_CLAUSES = 40_000
"""Clauses that there is room for."""

_TESTS_PER_UNIT = 2_400.0
_TESTS_AT_ONCE = 10_000
"""Regions that take about as long as a unit of work, and those between two questions whether to
stop: some ten milliseconds."""

MOST_ROWS, WORK_PER_ROW = 480_000, 0.002
"""Rows that a proof may take, and the work of writing and checking one of them."""

_DOUBT = 1e-6
"""How far the time that a proof's clashes prove may stay behind the trial time."""


def can_search(problem: Problem) -> bool:
    """Whether the compiled search is there and knows the problem: it does the plane only."""
    return problem.start.shape[1] == 2 and is_available()


class ClauseSearch:
    """Looks for a plan faster than the trial time in a region, or proves that there is none.

    Parameters
    ----------
    cones
        Cone programs that earlier searches solved.
    region
        The survivors looked at.
    pairs
        (m, 2) the candidate links, all those with an end in the region.
    time_s
        The trial time.
    work
        What may be done.
    held
        (k, 2) links in use whatever is decided, which the region takes as joined. A search with
        such links finds plans that have them; it proves nothing about others.
    """

    def __init__(
        self,
        cones: Cones,
        region: Region,
        pairs: IntArray,
        time_s: float,
        work: Work,
        held: IntArray = NO_LINKS,
    ) -> None:
        problem = cones.problem
        self.problem, self.cones, self.time_s, self.work = problem, cones, time_s, work
        self.held = held
        length_m = lengths(problem.start, pairs)
        reach_m = problem.speeds * time_s
        # Links that no flight can break need not be decided: their ends are one node.
        holds = length_m <= problem.range_m - reach_m[pairs].sum(axis=1)
        ends = region.node[pairs]
        node = components(ends[holds], region.size)
        ends = node[ends]
        keep = ends[:, 0] != ends[:, 1]
        self.pairs = np.concatenate([pairs[keep], held])
        uavs, local = np.unique(self.pairs, return_inverse=True)
        start = problem.start[uavs]
        self.kernel = Kernel(
            (start - start.mean(axis=0)) / problem.range_m,
            reach_m[uavs] / problem.range_m,
            local.reshape(-1, 2),
            np.concatenate([ends[keep], np.zeros_like(held)]),
            int(node.max(initial=0)) + 1,
            lengths(problem.start, self.pairs) / problem.range_m,
            _CLAUSES,
        )
        self.kernel.hold(len(self.pairs) - len(held))
        self._exact: dict[int, Clash] = {}
        self._needed = np.zeros(0, dtype=bool)

    def run(self) -> Resolution | Faster | None:
        """The proof that no plan takes less than the trial time, a plan that does, or None when
        the work ran out first.
        """
        kernel = self.kernel
        standing = UNDECIDED
        while standing == UNDECIDED and not self.work.is_done:
            before = kernel.work
            standing = kernel.search(_TESTS_AT_ONCE)
            self.work.add((kernel.work - before) / _TESTS_PER_UNIT)
            if standing == CONNECTED:
                outcome = self._solve_links_in_use()
                if not isinstance(outcome, int):
                    return outcome
                standing = outcome
        return self._proved() if standing == PROVED else None

    def _solve_links_in_use(self) -> Faster | int | None:
        """The plan on the links in use; where it takes too long after all, how the search stands
        when it has learned that; None where the solver fails.
        """
        pairs = self.pairs[self.kernel.links_in_use()]
        label = components(pairs, self.problem.count)[pairs[:, 0]]
        moved = self.problem.start.copy()
        for piece in np.unique(label):
            links = pairs[label == piece]
            solution, is_new = self.cones.solve(links, limit_s=self.time_s)
            if is_new:
                self.work.add_program(len(links))
            if max(solution.time_s, solution.proved_s) < self.time_s:
                moved[solution.nodes] += solution.shift
                continue
            if solution.proved_s < self.time_s:
                return None
            clash, _ = minimal_clash(self.cones, links, solution, self.time_s, self.work)
            return self._refute(clash)
        return Faster(moved)

    def _refute(self, clash: Clash) -> int:
        """Learn from a clash that the regions do not show; how the search stands then."""
        number = {(i, j): row for row, (i, j) in enumerate(self.pairs.tolist())}
        links = np.asarray([number[i, j] for i, j in clash.links.tolist()])
        clause, standing = self.kernel.refute(links)
        if standing != FULL:
            self._exact[clause] = clash
        return standing

    def _proved(self) -> Resolution | None:
        """The proof, if it is short enough and its clashes hold what they promise."""
        if len(self.held):
            return Resolution(self, 0)
        kernel = self.kernel
        is_needed = kernel.needed()
        if is_needed is None:
            return None
        self._needed = is_needed
        rows = kernel.count_steps(is_needed) + int((is_needed & (kernel.kinds == CUT)).sum())
        if rows > min(MOST_ROWS, self.work.most_rows):
            return None
        for clause in np.flatnonzero(is_needed & (kernel.kinds == CLASH)).tolist():
            if clause in self._exact:
                continue
            if self.work.is_over():
                return None
            links = kernel.links_of(clause)
            forces, part = kernel.forces(links)
            if part < 1.0 - _DOUBT:
                solution, _ = self.cones.solve(self.pairs[links])
                if solution.proved_s < self.time_s * (1.0 - _DOUBT):
                    return None
                forces = solution.forces
            self._exact[clause] = Clash(self.pairs[links], forces)
        return Resolution(self, rows)

    def clash(self, number: int) -> Clash:
        """The clash that an end of a proof names."""
        return self._exact[number]

    def needed_clauses(self) -> list[int]:
        """The clauses that the proof rests on, those before others that rest on them."""
        return np.flatnonzero(self._needed).tolist()


@dataclass(frozen=True, eq=False)
class Resolution:
    """How a search ends that found a proof, which is written when it is asked for.

    Parameters
    ----------
    search
        The search.
    rows
        How many rows the proof takes, about.
    """

    search: ClauseSearch
    rows: int
