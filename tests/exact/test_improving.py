"""The search for better trees: exchanges, neighbourhoods, and the rounds that join them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import reknit
from reknit.base.budget import Budget
from reknit.base.context import Context
from reknit.exact.model.cone import Cones, solve
from reknit.exact.model.learned import LearnedClashes
from reknit.exact.model.problem import Problem, is_spanning
from reknit.exact.proof.certificates import certificate_of
from reknit.exact.search.exchange import Exchange
from reknit.exact.search.improving import Improver
from reknit.exact.search.proof_tree import Work
from reknit.exact.search.shaking import Shaking
from reknit.exact.search.tree_program import TreeSolution, solve_tree, solve_tree_within
from reknit.exact.solve import quick_effort, quick_state
from reknit.exact.solve import solve as search
from reknit.network.links import lengths
from reknit.plans.certificate import Clash
from reknit.plans.checker.proof import prove


def _sparse(seed: int, count: int = 20) -> Problem:
    start = np.random.default_rng(seed).random((count, 2)) * 1_500.0
    return Problem(start, np.full(count, 10.0), 120.0)


def _is_plan(problem: Problem, tree: TreeSolution) -> bool:
    """Whether a tree's positions are in reach and its links hold, up to the solver's rounding."""
    moved = tree.moved(problem)
    flown_s = np.sqrt(((moved - problem.start) ** 2).sum(axis=1)) / problem.speeds
    return bool(
        is_spanning(tree.links, problem.count)
        and flown_s.max() <= tree.time_s * (1.0 + 1e-6)
        and lengths(moved, tree.links).max() <= problem.range_m * (1.0 + 1e-6)
    )


@pytest.mark.parametrize("seed", range(6))
def test_exchanges_only_improve(seed: int) -> None:
    """Exchanging links gives a spanning tree that is a plan and no slower than the EMST's."""
    problem = _sparse(seed)
    cones = Cones(problem)
    first = solve_tree(cones, problem.first_tree, problem.quickest_s)
    better = Exchange(cones, problem.quickest_s, Work(300.0)).improve(first)
    assert better.time_s <= first.time_s
    assert _is_plan(problem, better)


def test_places_are_shared_out_anew() -> None:
    """On a line the last survivor is linked between the two others. The spanning tree of where they
    get to is the same tree again; sharing the places out anew gives the chain in order, the best.
    """
    start = np.array([[0.0, 0.0], [300.0, 0.0], [600.0, 0.0]])
    problem = Problem(start, np.full(3, 10.0), 120.0)
    cones = Cones(problem)
    crossed = solve_tree(cones, np.array([[0, 2], [1, 2]]), problem.quickest_s)
    assert crossed.time_s > 20.0
    better = Exchange(cones, problem.quickest_s, Work(300.0)).alternate(crossed)
    assert better.links.tolist() == [[0, 1], [1, 2]]
    assert better.time_s == pytest.approx((600.0 - 2 * 120.0) / 2 / 10.0)


@pytest.mark.parametrize("seed", range(4))
def test_more_work_never_gives_a_slower_tree(seed: int) -> None:
    """Going on gives trees as fast or faster, in the end a faster one, and each is a plan."""
    problem = _sparse(seed)
    times_s = []
    state = search(problem, effort=0)
    improver = Improver(state, np.random.default_rng(0))
    for limit in (0.0, 100.0, 600.0):
        state = improver.improve(state, Work(limit))
        assert _is_plan(problem, state.tree)
        times_s.append(state.tree.time_s)
    assert times_s[2] <= times_s[1] <= times_s[0]
    assert times_s[2] < times_s[0]


@pytest.mark.parametrize("seed", range(4))
def test_a_tree_within_a_time_is_the_tree(seed: int) -> None:
    """With a limit above its time a tree is solved as without one; below, a piece refutes it."""
    problem = _sparse(seed)
    cones = Cones(problem)
    whole = solve(problem, problem.first_tree)
    within = solve_tree_within(cones, problem.first_tree, 1.01 * whole.time_s, Work(10.0))
    assert isinstance(within, TreeSolution)
    assert within.time_s == pytest.approx(whole.time_s, rel=1e-7)
    refuted = solve_tree_within(cones, problem.first_tree, 0.9 * whole.time_s, Work(10.0))
    assert not isinstance(refuted, TreeSolution)
    piece, solution = refuted
    assert 0.9 * whole.time_s <= solution.proved_s <= whole.time_s * (1.0 + 1e-9)
    assert len(solution.forces) == len(piece)


def test_clashes_refute_what_holds_them() -> None:
    """A set of links is refuted when it has a clash with the new link and enough time."""
    clashes = LearnedClashes()
    clashes.add(Clash(np.array([[0, 1], [1, 2]]), np.ones((2, 2))), 5.0)
    tree = {(0, 1), (1, 2), (2, 3)}
    assert clashes.refute(tree, (1, 2), 5.0)
    assert not clashes.refute(tree, (1, 2), 5.1)
    assert not clashes.refute(tree, (2, 3), 5.0)
    assert not clashes.refute({(1, 2), (2, 3)}, (1, 2), 5.0)
    copied = clashes.copy()
    copied.add(Clash(np.array([[2, 3]]), np.ones((1, 2))), 9.0)
    assert len(list(clashes)) == 1
    assert len(list(copied)) == 2


def test_the_planner_goes_on_from_the_bounds_state() -> None:
    """Planning leaves the scenario's state as it was, so that a second plan is the same."""
    scenario = reknit.generate(uavs=200, destroyed=185, seed=5, split=True)
    bound = reknit.lower_bound(scenario)
    state = quick_state(scenario)
    programs, clashes = state.cones.solved, len(list(state.cones.clashes))
    plans = [reknit.plan(scenario, "certified", effort=400) for _ in range(2)]
    assert quick_state(scenario) is state
    assert (state.cones.solved, len(list(state.cones.clashes))) == (programs, clashes)
    assert plans[0].targets.tobytes() == plans[1].targets.tobytes()
    assert plans[0].lower_bound_s >= bound.bound_s


def test_a_call_with_a_budget_leaves_no_trace() -> None:
    """A plan without a budget is the same whether or not a hasty one was made before."""
    fresh, used = (reknit.generate(200, 185, seed=8, split=True) for _ in range(2))
    reknit.plan(used, "certified", budget_s=0.01)
    one, two = (reknit.plan(swarm, "certified", effort=300) for swarm in (fresh, used))
    assert one.targets.tobytes() == two.targets.tobytes()
    assert one.lower_bound_s == two.lower_bound_s


def test_an_earlier_plan_is_a_start() -> None:
    """With the targets of a good plan to begin from, hardly any work gives a plan as good."""
    problem = _sparse(4, 25)
    good = search(problem, effort=800)
    assert good.tree.time_s < search(problem, effort=quick_effort(problem)).tree.time_s
    context = Context(warm_start=good.tree.moved(problem))
    again = search(problem, effort=quick_effort(problem), context=context)
    assert again.tree.time_s <= good.tree.time_s * (1.0 + 1e-6)


def test_a_neighbourhood_of_all_is_a_proof() -> None:
    """In a swarm so small that a neighbourhood frees every UAV, one without a faster plan proves
    the best tree, and the search for better ones ends there.
    """
    scenario = reknit.generate(200, 180, seed=516, split=True)
    problem = Problem.of(scenario)
    begun = search(problem, effort=0.0)
    work = Work(4_000.0)
    state = Improver(begun, np.random.default_rng(0)).improve(begun, work)
    assert work.done < work.limit
    assert state.is_proved
    assert state.case is not None
    certificate = certificate_of(state.case)
    assert prove(certificate, scenario).bound_s == pytest.approx(state.tree.time_s, rel=1e-6)


def test_cancelling_ends_the_search() -> None:
    """Once the caller cancels, no further cone program is solved to its end."""
    problem = _sparse(1)
    asked: list[int] = []

    def cancel() -> bool:
        asked.append(1)
        return len(asked) > 200

    whole = search(problem, effort=4_000)
    state = search(problem, effort=4_000, context=Context(cancel=cancel))
    assert state.cones.solved < 0.5 * whole.cones.solved
    assert len(asked) < 400
    assert _is_plan(problem, state.tree)


def test_no_time_gives_the_weaker_bound() -> None:
    """With no budget the bound is the EMST's, and it is not kept for later calls."""
    scenario = reknit.generate(uavs=200, destroyed=185, seed=4, split=True)
    hasty = reknit.lower_bound(scenario, Context(budget=Budget(0.0)))
    bound = reknit.lower_bound(scenario)
    assert 0.0 < hasty.bound_s < bound.bound_s


def test_progress_shows_plan_and_bound_closing_in() -> None:
    """Listeners are told both times; the plan never gets worse."""
    messages: list[str] = []
    context = Context(progress=lambda fraction, message: messages.append(message))
    search(_sparse(2), effort=1_500, context=context)
    times_s = [float(message.split()[1]) for message in messages]
    assert len(messages) >= 3
    assert all("bound" in message for message in messages)
    assert times_s == sorted(times_s, reverse=True)


def test_a_search_cut_short_is_taken_up_again() -> None:
    """A state without a tree, left by a call that had no time, still leads to a plan."""
    problem = _sparse(4)
    cut = search(problem, effort=100, context=Context(budget=Budget(0.0)))
    assert not cut.has_tree
    again = search(problem, effort=100, state=cut)
    assert again.tree.time_s <= search(problem, effort=0).tree.time_s * (1.0 + 1e-7)
    assert _is_plan(problem, again.tree)


def test_shaking_only_keeps_faster_trees() -> None:
    """Random exchanges, kicks included, give spanning trees that are never slower than before, with
    the time that a cone program of their own confirms; the same seed gives the same tree.
    """
    problem = _sparse(7)

    def shaken() -> list[TreeSolution]:
        state = search(problem, effort=0)
        work = Work(150.0)
        exchange = Exchange(state.cones, 0.0, work)
        shaking = Shaking(state.cones, exchange, work, np.random.default_rng(5))
        trees = [state.tree]
        while not work.is_done:
            trees.append(shaking.step(trees[-1]))
        return trees

    trees = shaken()
    assert len(trees) > 45  # there was a kick
    assert trees[-1].time_s < 0.9 * trees[0].time_s
    for before, after in itertools.pairwise(trees):
        assert after.time_s <= before.time_s
    assert _is_plan(problem, trees[-1])
    again = search(problem, effort=0, links=trees[-1].links).tree
    assert again.time_s == pytest.approx(trees[-1].time_s, rel=1e-6)
    assert np.array_equal(trees[-1].links, shaken()[-1].links)
