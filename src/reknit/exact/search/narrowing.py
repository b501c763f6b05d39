"""Better trees and better bounds from a search by cases or by clauses.

In a region about the links that decide the best tree's time, ask whether any plan is faster
(`case_search`, or the quicker `clause_search` where it can be used): a faster one gives a better
tree; a proof that there is none is a bound on every plan, since survivors outside the region were
supposed to be connected for nothing. When the work runs out first, smaller trial times are tried
for a bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from reknit.base.types import FloatArray, IntArray
from reknit.exact.model.problem import Problem
from reknit.exact.search.case_search import CaseSearch
from reknit.exact.search.clause_search import ClauseSearch, Resolution
from reknit.exact.search.proof_tree import Faster, Proof, Region, Work, in_order
from reknit.exact.search.state import BETTER, CaseProof, State
from reknit.exact.search.tree_program import TreeSolution, solve_tree
from reknit.network.emst import lightest_tree
from reknit.network.links import lengths

MOST_ROWS = 40_000
"""A longer proof is worth less than the trouble of carrying and checking it."""

_REGION, _WIDE_REGION = 48, 96
"""Survivors that are looked at by cases, and by clauses."""

_MOST_TWOS = 1_000_000
"""A region is halved while more links than this meet at its UAVs, counted by twos: to look at
them all would take longer than a caller waits who cancels."""

_SHORT = 300.0
"""Work up to which it is tried to settle the swarm at once even where the bound is far."""

_AT_ONCE = 0.5
"""The part of the work for that; all of it in a small swarm whose bound is near."""

_FOURFOLD = 0.04
_SHORTEST_STEP, _LONGEST_STEP = 0.003, 0.05
_SPENT, _TRIED = 0.15, 0.35
"""Of the work left, what the next proof is meant to cost and what it may cost."""

_FILLED = 0.7
"""Of the rows that a proof may have, how many the next one is meant to have."""

_AGAIN = 4.0
"""A time that was not proved is tried again with so many times the work."""

_NEAR, _NEAR_SMALL = 1.04, 1.12
"""Where the best time is farther above the bound than this, it is not likely to be proved; in a
small swarm it is over a wider gap."""


Tell = Callable[[State], None]
"""Told every better state on the way."""


def narrow(state: State, asker: Asker, work: Work, tell: Tell = lambda state: None) -> State:
    """Better trees and a better bound, within some work.

    Most swarms are settled at once. Where the bound is not near, or part of the work does not do
    it, trial times climb from the bound. While no tree is known there is nothing to climb to.
    """
    if not state.has_tree:
        return _descend(state, asker, work.part(work.limit), work, tell)
    if is_near(state) or (work.limit <= _SHORT and not asker.by_clauses):
        share = 1.0 if is_small(state.problem) and is_near(state) else _AT_ONCE
        state = _descend(state, asker, work.part(share * work.limit), work, tell)
    return _climb(state, asker, work, tell)


@dataclass
class Asker:
    """How the question whether any plan is faster is put, and what the answers cost.

    Parameters
    ----------
    by_clauses
        Whether it is put to the compiled search.
    cost
        Work that a proof of the present bound takes, as far as is known.
    failed_s
        The last time that was tried and not proved, seconds.
    failed_cost
        Work that was spent on it.
    """

    by_clauses: bool = False
    cost: float = 1.0
    failed_s: float = math.inf
    failed_cost: float = 0.0

    @property
    def size(self) -> int:
        """Survivors that are looked at, those about the links that decide the time."""
        return _WIDE_REGION if self.by_clauses else _REGION

    def search(
        self, state: State, trial_s: float, size: int, work: Work
    ) -> CaseSearch | ClauseSearch:
        """The search that answers it for a trial time and so many survivors."""
        problem = state.problem
        rows = _region(state, size)
        pairs = problem.candidates(trial_s, rows)
        # What is proved of a smaller region holds for the larger one too.
        while size > 1 and (np.bincount(pairs.ravel()) ** 2).sum() > _MOST_TWOS:
            size = max(1, min(size, problem.count) // 2)
            rows = _region(state, size)
            pairs = problem.candidates(trial_s, rows)
        region = Region.whole(problem.count) if rows is None else Region.around(rows, problem.count)
        work.add(len(pairs) // 500)
        kind = ClauseSearch if self.by_clauses else CaseSearch
        return kind(state.cones, region, pairs, trial_s, work)


def _is_too_long(proof: Proof | Resolution) -> bool:
    """Whether a proof is not worth carrying; a search by clauses sees to that itself."""
    return isinstance(proof, Proof) and len(in_order(proof)) > MOST_ROWS


def is_small(problem: Problem) -> bool:
    """Whether a search by cases looks at the whole swarm at once."""
    return _takes_all(_REGION, problem)


def _takes_all(size: int, problem: Problem) -> bool:
    """Whether a region of so many survivors had better be the whole swarm."""
    return 4 * size >= 3 * problem.count


def is_near(state: State) -> bool:
    """Whether the best time is likely to be proved, or nearly."""
    near = _NEAR_SMALL if is_small(state.problem) else _NEAR
    return state.tree.time_s <= near * state.bound_s


def _descend(state: State, asker: Asker, part: Work, work: Work, tell: Tell) -> State:
    """Ask for a plan just faster than the best, until there is none or this part is done."""
    problem = state.problem
    size = asker.size
    while not (state.is_proved or state.is_impossible):
        trial_s = _trial_s(state)
        search = asker.search(state, trial_s, size, part)
        outcome = search.run()
        if outcome is None:
            break
        if isinstance(outcome, Faster):
            better = _regraft(state, outcome.positions, trial_s, size)
            if better.time_s < state.tree.time_s * (1.0 - BETTER / 2.0):
                state = replace(state, tree=better)
                tell(state)
                size = asker.size
            elif size >= problem.count:
                break
            else:
                size *= 2
        elif _is_too_long(outcome):
            break
        else:
            state = replace(state, bound_s=trial_s, case=CaseProof(search, outcome))
            tell(state)
    work.add(part.done)
    return state


def _climb(state: State, asker: Asker, work: Work, tell: Tell) -> State:
    """Prove longer and longer times.

    How far to step follows from what the last proof cost and what is left, and from how long it is
    and may be, as if a proof of a time longer by `_FOURFOLD` cost four times as much and were four
    times as long. Only the last proof will be written. Below a time that was not proved the next
    one is halfway to it, unless there is much more work to spend on it than there was.
    """
    while state.has_tree and not (state.is_proved or work.is_done):
        left = work.limit - work.done
        times = _SPENT * left / asker.cost
        if state.rows:
            times = min(times, _FILLED * work.most_rows / state.rows)
        step = min(_FOURFOLD * math.log(max(times, 1.0), 4.0), _LONGEST_STEP)
        trial_s = state.bound_s * (1.0 + step)
        if asker.failed_s > state.bound_s and _TRIED * left < _AGAIN * asker.failed_cost:
            trial_s = min(trial_s, 0.5 * (state.bound_s + asker.failed_s))
        if trial_s < state.bound_s * (1.0 + _SHORTEST_STEP):
            break
        trial_s = min(trial_s, _trial_s(state))
        part = work.part(_TRIED * left)
        search = asker.search(state, trial_s, asker.size, part)
        outcome = search.run()
        work.add(part.done)
        if isinstance(outcome, Faster):
            better = _regraft(state, outcome.positions, trial_s, asker.size)
            if better.time_s >= state.tree.time_s * (1.0 - BETTER / 2.0):
                break
            state = replace(state, tree=better)
            tell(state)
        elif outcome is None or _is_too_long(outcome):
            # What failed for another reason than the work would fail again.
            asker.failed_s, asker.failed_cost = trial_s, part.done if part.is_done else math.inf
        else:
            state = replace(state, bound_s=trial_s, case=CaseProof(search, outcome))
            asker.cost = max(1.0, part.done)
            tell(state)
    return state


def _trial_s(state: State) -> float:
    """Just below the best time; while there is none, well above what is proved."""
    if np.isfinite(state.tree.time_s):
        return state.tree.time_s * (1.0 - BETTER)
    return max(1.5 * state.bound_s, 0.25 * state.problem.range_m / state.problem.top_speed)


def _region(state: State, size: int) -> IntArray | None:
    """The survivors nearest to those that decide the time; None: all."""
    problem = state.problem
    if _takes_all(size, problem):
        return None
    centre = problem.start[state.tree.critical_rows()]
    nearest = np.full(problem.count, np.inf)
    for point in centre:
        np.minimum(nearest, ((problem.start - point) ** 2).sum(axis=1), out=nearest)
    return np.sort(np.argsort(nearest, kind="stable")[:size])


def _regraft(state: State, moved: FloatArray, trial_s: float, size: int) -> TreeSolution:
    """The tree that uses the links which hold at the positions found, and the old one elsewhere."""
    problem = state.problem
    near = problem.candidates(trial_s, _region(state, size))
    pairs = np.unique(np.concatenate([state.tree.links, near]), axis=0)
    length = lengths(moved, pairs)
    excess = np.maximum(0.0, length - problem.range_m * (1.0 + 1e-8))
    order = np.lexsort((length, excess))
    weight = np.empty(len(pairs))
    weight[order] = np.arange(len(pairs))
    return solve_tree(state.cones, lightest_tree(pairs, weight, problem.count), state.bound_s)
