"""One exact search, read by the lower bound and by the `certified` planner.

`solve` starts from a tree, or from the state that an earlier call left, and spends some work on
better trees and better bounds. The short search that a scenario's bound takes is kept with the
scenario (`quick_state`); the planner goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from reknit.base.context import Context
from reknit.base.log import logger
from reknit.base.progress import Report, silent
from reknit.base.types import IntArray
from reknit.exact.model.cone import Cones
from reknit.exact.model.problem import Problem
from reknit.exact.search.clause_search import MOST_ROWS, WORK_PER_ROW, can_search
from reknit.exact.search.improving import Improver
from reknit.exact.search.narrowing import Asker, is_near, is_small, narrow
from reknit.exact.search.proof_tree import Work
from reknit.exact.search.state import State
from reknit.exact.search.tree_program import solve_tree
from reknit.network.emst import emst
from reknit.swarm.scenario import Scenario

_LOG = logger(__name__)

_QUICK, _QUICK_SMALL = 80.0, 300.0
"""Work (see `Work`) that the bound of a scenario may take, and that of a small swarm: most of these
are settled by it, and no other kind of bound is then computed."""

_SETTLE = 1_000.0
"""Work that may go first into settling a small swarm whose bound is near, before anything else is
tried: several short tries cost more than one long one."""

_RESERVE, _RESERVE_S_PER_UAV = 0.2, 3e-5
"""What is kept of a budget for targets and check: a part of it, or seconds for every survivor."""

_FOR_THE_PROOF, _S_PER_ROW = 0.2, 1.2e-3 * WORK_PER_ROW
"""The part of a budget that a proof may take, and seconds for each of its rows: to write it into a
certificate, and to check that; a fifth more than it takes as a rule."""

_FIRST_SHARE = 100.0
"""Work on better trees in the first round, and then on a better bound; each round doubles it."""


_LEAST = 20.0
"""Less work than this is not worth another round."""

_LAST_SHARES = 8.0
"""When fewer shares than this are left, they all go into one last round: half a proof is worth
nothing, so the bound is given one long try rather than several short ones."""

_AT_THE_END = 0.5
"""Of the work on a bound that is near, for cases before clauses."""

_FOR_TREES = 0.25
"""Of the last round, for better trees; the rest is for the bound."""


def quick_effort(problem: Problem) -> float:
    """Work of the short search, which a scenario's bound takes."""
    return _QUICK_SMALL if is_small(problem) else _QUICK


def solve(
    problem: Problem,
    *,
    effort: float,
    context: Context | None = None,
    state: State | None = None,
    links: IntArray | None = None,
) -> State:
    """The best tree and bound that some work finds.

    Parameters
    ----------
    problem
        Survivors, speeds and range.
    effort
        Work (see `Work`) that the search may take; 0: only the tree it starts from.
    context
        Randomness, limits and listeners; by default there are none.
    state
        What an earlier search found; it is not changed.
    links
        (n - 1, 2) the tree to start from without a `state`; by default the EMST.

    Returns
    -------
    The state at the end, at least as good as the one at the beginning.
    """
    context = Context() if context is None else context
    is_over = _stops_early(problem, context)
    if state is None:
        cones = Cones(problem, is_over)
        links = problem.first_tree if links is None else links
        state = State(cones, solve_tree(cones, links, problem.quickest_s), problem.quickest_s)
    else:
        state = state.branch_off(is_over)
        if not state.tree.is_whole:  # an earlier call ran out of time before it had a tree
            solved = solve_tree(state.cones, state.tree.links, problem.quickest_s)
            state = replace(state, tree=solved)
    work = Work(effort, is_over, most_rows=_most_rows(context))
    improver = Improver(state, context.rng)
    if context.warm_start is not None and effort > 0.0:
        state = improver.start_from(state, emst(context.warm_start), work)
    tell = partial(_tell, context, work)
    asker, by_cases = Asker(by_clauses=can_search(problem)), Asker()
    first = quick_effort(problem)
    if asker.by_clauses:
        state = _narrow(state, by_cases, work, _QUICK, tell)
        first -= _QUICK
    elif is_small(problem) and is_near(state):
        first = _SETTLE
    is_cut_short = asker.by_clauses and work.is_done
    if first > 0.0 and not is_cut_short:
        state = _narrow(state, asker, work, first, tell)
    share = _FIRST_SHARE
    while not (work.limit - work.done < _LEAST or state.is_proved or state.is_impossible):
        if is_cut_short or work.is_done:
            break
        tell(state)
        done = work.done
        left = work.limit - work.done
        for_trees, for_bound = share, share
        if left < _LAST_SHARES * share:
            for_trees, for_bound = _FOR_TREES * left, left
        if state.has_tree:
            part = work.part(for_trees)
            state = improver.improve(state, part)
            work.add(part.done)
            tell(state)
        if asker.by_clauses and is_near(state):
            # Regions do not tell trees apart that are nearly as fast; cone programs do.
            state = _narrow(state, by_cases, work, _AT_THE_END * for_bound, tell)
        state = _narrow(state, asker, work, for_bound, tell)
        if work.done == done:
            break  # there was nothing to do, and there would be nothing in the next round
        share *= 2
    return state


def _stops_early(problem: Problem, context: Context) -> Callable[[], bool]:
    """Whether to stop, early enough to turn the tree into targets and have them checked."""
    if context.budget.seconds is None:
        return lambda: context.is_over
    reserve_s = min(_RESERVE_S_PER_UAV * problem.count, _RESERVE * context.budget.seconds)
    if can_search(problem):
        reserve_s += _S_PER_ROW * min(_most_rows(context), MOST_ROWS)
    return lambda: context.is_over or context.budget.left_s < reserve_s


def _most_rows(context: Context) -> float:
    """Rows of a proof for which a part of the budget is enough, where there is one."""
    if context.budget.seconds is None:
        return np.inf
    return _FOR_THE_PROOF * max(context.budget.left_s, 0.0) / _S_PER_ROW


def _narrow(
    state: State, asker: Asker, work: Work, share: float, tell: Callable[[State], None]
) -> State:
    if work.is_done or state.is_proved or state.is_impossible:
        return state
    part = work.part(share)
    left = work.limit - work.done + WORK_PER_ROW * state.rows
    part.most_rows = min(work.most_rows, left / WORK_PER_ROW)
    before = state.rows
    state = narrow(state, asker, part, tell)
    # Only the last proof is written, so only its rows count.
    work.add(part.done + WORK_PER_ROW * (state.rows - before))
    return state


def _tell(context: Context, work: Work, state: State) -> None:
    """Report a state to whoever listens; to show it takes time, in large swarms."""
    _LOG.debug("plan %.6g s, bound %.6g s", state.tree.time_s, state.bound_s)
    if context.progress is not silent:
        context.progress(_part_done(work, context), _closing_in(state))


def _part_done(work: Work, context: Context) -> float:
    """How much of the work or the time is used up, from 0 to 1."""
    budget = context.budget
    of_time = budget.elapsed_s / budget.seconds if budget.seconds else 0.0
    return min(1.0, max(of_time, work.done / work.limit))


def _closing_in(state: State) -> Report:
    text = f"plan {state.tree.time_s:.4g} s, bound {state.bound_s:.4g} s"
    if not state.has_tree:
        return Report(text, lower_bound_s=state.bound_s)
    return Report(text, state.tree.moved(state.problem), state.tree.time_s, state.bound_s)


def quick_state(scenario: Scenario, context: Context | None = None) -> State:
    """The state after the short search of a scenario's bound, computed once and kept with it.

    Where the context ends the search before its end, the state is kept for other calls with a
    limit only, so that calls without one do not depend on earlier ones.
    """
    memo = scenario._memo
    context = Context() if context is None else context
    state: State | None = memo.get("exact_state")
    if state is None and context.has_limits:
        state = memo.get("interrupted_exact_state")
    if state is None:
        # Whoever asks first, with whatever seed: the state is the same.
        alone = context.with_changes(seed=0, progress=silent, warm_start=None)
        problem = Problem.of(scenario)
        state = solve(problem, effort=quick_effort(problem), context=alone)
        is_whole = not _stops_early(state.problem, context)()
        memo["exact_state" if is_whole else "interrupted_exact_state"] = state
    return state
