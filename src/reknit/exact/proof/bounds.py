"""Bounds that no plan can beat, each with a certificate for the checker.

The EMST bound comes for nothing. A short search by cases (`case_search`) about the links that
decide the time of the EMST's cone program usually raises it to the optimum: links that are alone
across a cut of the candidates must be used (the bridge bound), and cuts of two, three and more
links are gone through case by case.
"""

from __future__ import annotations

import numpy as np

from reknit.base.context import Context
from reknit.base.errors import InvalidParameter
from reknit.base.progress import silent
from reknit.base.types import IntArray
from reknit.exact.model.feasibility import check_possible
from reknit.exact.model.problem import Problem
from reknit.exact.proof.certificates import (
    certificate_of,
    cut_certificate,
    parting_certificate,
)
from reknit.exact.proof.covers import cover_certificate
from reknit.exact.proof.crowds import crowd_certificate
from reknit.exact.proof.holes import hole_certificate
from reknit.exact.proof.pulls import pull_certificate
from reknit.exact.search.proof_tree import GivenUp
from reknit.exact.search.state import State
from reknit.exact.solve import quick_effort, quick_state, solve
from reknit.network.links import lengths
from reknit.plans.certificate import Certificate
from reknit.swarm.scenario import Scenario, check_scenario

_LOSSES = 40_000
"""Survivors whose loss is tried for the bound of a 2-connected result, times their number."""


_HASTY_S = 0.5
"""With less time left than this links are not counted: one linear program may take 50 ms."""


def lower_bound(scenario: Scenario, context: Context | None = None) -> Certificate:
    """The best bound known for a scenario, computed once and kept with it.

    Parameters
    ----------
    scenario
        The damaged swarm and its demands.
    context
        Limits of the computing: when they end the search, what is proved by then is returned,
        at least the EMST bound, and it is not kept. By default there are none.

    Returns
    -------
    The bound in seconds and what proves it.

    Raises
    ------
    ImpossibleDemands
        No plan at all can meet the scenario's demands.
    """
    check_scenario(scenario)
    if context is not None and not isinstance(context, Context):
        raise InvalidParameter("context", context, "None or a context of a planner")
    memo = scenario._memo
    known: Certificate | None = memo.get("lower_bound")
    if known is not None:
        return known
    context = Context() if context is None else context
    check_possible(scenario)
    bound = _lower_bound(scenario, context)
    if not context.has_limits or ("exact_state" in memo and not context.is_over):
        memo["lower_bound"] = bound
    return bound


def emst_bound(scenario: Scenario) -> Certificate:
    """``(l - d) / (2 v_max)``, l the longest EMST edge of the survivors.

    Across the cut that this edge closes every pair is at least l apart, and two UAVs approach
    each other at no more than 2 v_max. With different speeds: the largest
    ``max(0, |p_i - p_j| - d) / (v_i + v_j)`` in the tree that is minimal in it.
    """
    problem = Problem.of(scenario)
    return cut_certificate(problem, problem.quickest_s)


def _lower_bound(scenario: Scenario, context: Context) -> Certificate:
    certificates = [_connecting(scenario, Problem.of(scenario), None, context)]
    if context.is_over:
        return certificates[0]
    pulled = pulled_bound(scenario, context)
    if pulled is not None:
        certificates.append(pulled)
    if scenario.connectivity > 1 and len(scenario.survivors) > 2:
        lost = _worst_loss(Problem.of(scenario), context)
        certificates.append(
            _connecting(scenario, Problem.of(scenario).without(lost), lost, context)
        )
    if scenario.min_separation_m > 0.0:
        certificates.append(_parting(scenario))
        crowd = crowd_certificate(
            Problem.of(scenario), scenario.min_separation_m, lambda: context.is_over
        )
        if crowd is not None:
            certificates.append(crowd)
    return max(certificates, key=lambda certificate: certificate.bound_s)


def pulled_bound(scenario: Scenario, context: Context) -> Certificate | None:
    """The best certificate about all trees at once, where the short search leaves a gap: by forces
    on the survivors, by a hole among them or by counting links; kept with the scenario like the
    search.
    """
    memo = scenario._memo
    if "pulled_bound" in memo:
        known: Certificate | None = memo["pulled_bound"]
        return known
    if context.has_limits and "hasty_pulled_bound" in memo:
        hasty: Certificate | None = memo["hasty_pulled_bound"]
        return hasty
    state = quick_state(scenario, context)
    strongest, is_whole = _strongest(state, context)
    if is_whole:
        memo["pulled_bound"] = strongest
    elif context.has_limits:
        memo["hasty_pulled_bound"] = strongest
    return strongest


def _strongest(state: State, context: Context) -> tuple[Certificate | None, bool]:
    """The best certificate about all trees, and whether there was time for every kind."""
    if state.bound_s == 0.0 or state.is_proved:
        return None, not context.is_over
    known_s = state.bound_s
    strongest = hole_certificate(state.problem, known_s, state.tree.time_s, lambda: context.is_over)
    known_s = known_s if strongest is None else strongest.bound_s
    pulled = pull_certificate(state.problem, known_s, lambda: context.is_over)
    if pulled is not None:
        strongest, known_s = pulled, pulled.bound_s
    if context.budget.seconds is not None and context.budget.left_s < _HASTY_S:
        return strongest, False
    counted = cover_certificate(state.problem, known_s, state.tree.time_s, lambda: context.is_over)
    return strongest if counted is None else counted, not context.is_over


def _connecting(
    scenario: Scenario, problem: Problem, lost: int | None, context: Context
) -> Certificate:
    floor_s = problem.quickest_s
    cheap = cut_certificate(problem, floor_s, lost)
    if floor_s == 0.0 or context.is_over:
        return cheap
    if lost is None:
        state = quick_state(scenario, context)
    else:
        alone = context.with_changes(seed=0, progress=silent, warm_start=None)
        state = solve(problem, effort=quick_effort(problem), context=alone)
    if state.case is None or (state.case.takes_long and context.is_over):
        return cheap
    try:
        proved = certificate_of(state.case, lost, context.cancel)
    except GivenUp:
        return cheap
    return cheap if proved.bound_s <= cheap.bound_s else proved


def _worst_loss(problem: Problem, context: Context) -> int:
    """The survivor without whom the others are farthest from connected, of those looked at before
    the context is over.
    """
    tree = problem.first_tree
    rows = np.arange(problem.count)
    most = max(4, _LOSSES // problem.count)
    if problem.count > most:
        # Only survivors that hold tree links together matter; the longest links come first.
        order = np.argsort(-lengths(problem.start, tree), kind="stable")
        degree = np.bincount(tree.ravel(), minlength=problem.count)
        ends = tree[order].ravel()
        first = np.sort(np.unique(ends, return_index=True)[1])
        rows = ends[first]
        rows = rows[degree[rows] > 1][:most]
    times_s = [problem.without(int(rows[0])).quickest_s]
    for row in rows[1:]:
        if context.is_over:
            break
        times_s.append(problem.without(int(row)).quickest_s)
    return int(rows[int(np.argmax(times_s))])


def _parting(scenario: Scenario) -> Certificate:
    """UAVs closer than the demanded separation must part: ``(s - |p_i - p_j|) / (v_i + v_j)``."""
    problem = Problem.of(scenario)
    pairs = _closer_than(problem, scenario.min_separation_m)
    speed = problem.speeds[pairs].sum(axis=1)
    pairs, speed = pairs[speed > 0.0], speed[speed > 0.0]
    if len(pairs) == 0:
        return Certificate.trivial()
    lack_m = scenario.min_separation_m - lengths(problem.start, pairs)
    pair = pairs[int(np.argmax(lack_m / speed))]
    return parting_certificate(problem, (int(pair[0]), int(pair[1])), scenario.min_separation_m)


def _closer_than(problem: Problem, distance_m: float) -> IntArray:
    pairs = problem.pairs_within(distance_m)
    return np.asarray(pairs[lengths(problem.start, pairs) < distance_m])
