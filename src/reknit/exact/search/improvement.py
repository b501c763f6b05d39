"""Search over trees, and the bound that comes with it.

Start from a tree and its cone program. Then ask, in a region about the links that decide the
time, whether any plan is faster (`branching`): a faster one gives a better tree; a proof that
there is none is a bound on every plan, since survivors outside the region were supposed to be
connected for nothing. When the work runs out first, smaller trial times are tried for a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from reknit.base.types import FloatArray, IntArray
from reknit.exact.model.cone import Cones
from reknit.exact.model.problem import Problem
from reknit.exact.search.branching import Search
from reknit.exact.search.cases import Found, OutOfWork, Proof, Region, Work
from reknit.exact.search.settling import Settled, settle
from reknit.network.emst import lightest_tree
from reknit.network.links import lengths

BETTER = 2e-7
"""A plan counts as faster when it is so by this much; proofs stop this much short."""

MOST_ROWS = 40_000
"""A longer proof is worth less than the trouble of carrying and checking it."""

_REGION = 48
_AT_ONCE = 60
_BISECTIONS = 8
_CLOSE = 1.002
_BLUR = 0.3


@dataclass(frozen=True, eq=False)
class Case:
    """A finished proof and the search that its links and clashes belong to."""

    search: Search
    proof: Proof


@dataclass(frozen=True, eq=False)
class State:
    """The best tree so far, the best bound, and the proof of that bound (None: by the EMST)."""

    settled: Settled
    bound_s: float
    case: Case | None = None

    @property
    def is_proved(self) -> bool:
        """Whether there is nothing left to gain."""
        return self.bound_s >= self.settled.time_s * (1.0 - 2.0 * BETTER)

    def is_impossible(self, problem: Problem) -> bool:
        """Whether no plan is possible at all: there would be one before the bound."""
        return self.bound_s > problem.horizon_s


def improve(cones: Cones, state: State, limit: int, is_over: Callable[[], bool]) -> State:
    """Better trees and a better bound, within some `limit` cone programs and cases.

    Most swarms are settled at once. Where that fails, trial times halfway to the bound bring
    large steps from above and below before the time is lowered bit by bit.
    """
    first = min(limit, _AT_ONCE)
    state = _descend(cones, state, Work(first, is_over))
    state = _bisect(cones, state, max(4, min(limit // 4, limit // 50 + 12)), is_over)
    if limit > first and not state.is_proved:
        state = _descend(cones, state, Work(limit - first, is_over))
        state = _bisect(cones, state, limit // 16, is_over)
    return state


def _descend(cones: Cones, state: State, work: Work) -> State:
    """Ask for a plan just faster than the best, until there is none or the work is done."""
    problem = cones.problem
    size = _REGION
    while not (state.is_proved or state.is_impossible(problem)):
        trial_s = _trial_s(problem, state)
        try:
            case = _search(cones, state.settled, trial_s, size, work)
        except OutOfWork:
            break
        except Found as found:
            better = _regraft(cones, state, found.moved, trial_s, size)
            if better.time_s < state.settled.time_s * (1.0 - BETTER / 2.0):
                state = replace(state, settled=better)
                size = _REGION
            elif size >= problem.count:
                break
            else:
                size *= 2
            continue
        if case.proof.rows > MOST_ROWS:
            break
        state = replace(state, bound_s=trial_s, case=case)
    return state


def _bisect(cones: Cones, state: State, limit: int, is_over: Callable[[], bool]) -> State:
    """Try times halfway between the bound and the best, each with so much work."""
    low_s, high_s = state.bound_s, state.settled.time_s
    if not np.isfinite(high_s):
        return state
    for _ in range(_BISECTIONS if limit > 20 else _BISECTIONS // 2):
        if high_s <= low_s * _CLOSE or state.is_proved or is_over():
            break
        trial_s = 0.5 * (low_s + high_s)
        try:
            case = _search(cones, state.settled, trial_s, _REGION, Work(limit, is_over))
        except OutOfWork:
            high_s = trial_s
        except Found as found:
            better = _regraft(cones, state, found.moved, trial_s, _REGION)
            if better.time_s < state.settled.time_s:
                state = replace(state, settled=better)
            high_s = min(trial_s, better.time_s)
        else:
            if case.proof.rows > MOST_ROWS:
                break
            low_s = trial_s
            state = replace(state, bound_s=trial_s, case=case)
    return state


def restarts(
    cones: Cones, state: State, tries: int, rng: np.random.Generator
) -> Iterator[IntArray]:
    """Other trees by chance: links about the critical ones, their lengths blurred."""
    problem, settled = cones.problem, state.settled
    near = problem.candidates(_trial_s(problem, state), _region(problem, settled, _REGION))
    pairs = np.unique(np.concatenate([settled.tree, near]), axis=0)
    length_m = lengths(settled.moved(problem), pairs)
    for _ in range(tries):
        blur = np.exp(_BLUR * rng.random() * rng.standard_normal(len(pairs)))
        yield lightest_tree(pairs, length_m * blur, problem.count)


def best_of(
    cones: Cones, state: State, trees: Iterable[IntArray], is_over: Callable[[], bool]
) -> State:
    """The state with the best of these trees, if one is better than its own."""
    for tree in trees:
        if is_over():
            break
        settled = settle(cones, tree, state.bound_s)
        if settled.time_s < state.settled.time_s * (1.0 - BETTER):
            state = replace(state, settled=settled)
    return state


def _trial_s(problem: Problem, state: State) -> float:
    """Just below the best time; while there is none, well above what is proved."""
    if np.isfinite(state.settled.time_s):
        return state.settled.time_s * (1.0 - BETTER)
    return max(1.5 * state.bound_s, 0.25 * problem.range_m / problem.top_speed)


def _search(cones: Cones, settled: Settled, trial_s: float, size: int, work: Work) -> Case:
    problem = cones.problem
    rows = _region(problem, settled, size)
    region = Region.whole(problem.count) if rows is None else Region.around(rows, problem.count)
    pairs = problem.candidates(trial_s, rows)
    work.add(len(pairs) // 500)
    search = Search(cones, region, pairs, trial_s, work)
    return Case(search, search.run())


def _region(problem: Problem, settled: Settled, size: int) -> IntArray | None:
    """The survivors nearest to those that decide the time; None: all."""
    if size * 4 >= problem.count * 3:
        return None
    centre = problem.start[settled.critical_rows()]
    nearest = np.full(problem.count, np.inf)
    for point in centre:
        np.minimum(nearest, ((problem.start - point) ** 2).sum(axis=1), out=nearest)
    return np.sort(np.argsort(nearest, kind="stable")[:size])


def _regraft(cones: Cones, state: State, moved: FloatArray, trial_s: float, size: int) -> Settled:
    """The tree that uses the links which hold at the positions found, and the old one elsewhere."""
    problem = cones.problem
    near = problem.candidates(trial_s, _region(problem, state.settled, size))
    pairs = np.unique(np.concatenate([state.settled.tree, near]), axis=0)
    length = lengths(moved, pairs)
    excess = np.maximum(0.0, length - problem.range_m * (1.0 + 1e-8))
    order = np.lexsort((length, excess))
    weight = np.empty(len(pairs))
    weight[order] = np.arange(len(pairs))
    return settle(cones, lightest_tree(pairs, weight, problem.count), state.bound_s)
