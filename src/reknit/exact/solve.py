"""One exact search, read by the lower bound and by the `certified` planner.

`solve` starts from a tree, or from the state that an earlier call left, and spends some work on
better trees and better bounds. The short search that a scenario's bound takes is kept with the
scenario (`quick_state`); the planner goes on from there.
"""

from __future__ import annotations

from reknit.base.context import Context
from reknit.base.types import IntArray
from reknit.exact.model.cone import Cones
from reknit.exact.model.problem import Problem
from reknit.exact.search.narrowing import best_of, narrow, restarts
from reknit.exact.search.state import State
from reknit.exact.search.tree_program import solve_tree
from reknit.swarm.scenario import Scenario

QUICK_EFFORT = 40
"""Cone programs and cases that the bound of a scenario may take."""


def solve(
    problem: Problem,
    *,
    effort: int,
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
        How many cone programs and cases the search may take; 0: only the tree it starts from.
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
    if state is None:
        cones = Cones(problem)
        links = problem.first_tree if links is None else links
        state = State(cones, solve_tree(cones, links, problem.quickest_s), problem.quickest_s)
    else:
        state = state.branch_off()
    if effort == 0 or state.is_proved:
        return state
    state = narrow(state, effort, lambda: context.is_over)
    if effort > QUICK_EFFORT and not state.is_proved and state.has_tree:
        trees = restarts(state, effort // 40, context.rng)
        better = best_of(state, trees, lambda: context.is_over)
        if better.tree is not state.tree:
            state = narrow(better, effort // 4, lambda: context.is_over)
    return state


def quick_state(scenario: Scenario) -> State:
    """The state after the short search of a scenario's bound, computed once and kept with it."""
    memo = scenario._memo
    if "exact_state" not in memo:
        memo["exact_state"] = solve(Problem.of(scenario), effort=QUICK_EFFORT)
    state: State = memo["exact_state"]
    return state
