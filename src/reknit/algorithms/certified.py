"""`certified`: the search over trees with its bound, and the polisher on another planner's tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from reknit.algorithms.parameters import Range, check_fields
from reknit.algorithms.protocols import Proposal
from reknit.base.context import Context, never
from reknit.base.log import logger
from reknit.base.types import FloatArray, JsonDict
from reknit.exact.demands.fallbacks import fallback_targets
from reknit.exact.demands.shaping import DemandRepair
from reknit.exact.model.problem import Problem
from reknit.exact.proof.bounds import lower_bound, pulled_bound
from reknit.exact.proof.certificates import certificate_of
from reknit.exact.search.clause_search import can_search
from reknit.exact.search.proof_tree import GivenUp, Work
from reknit.exact.search.state import CaseProof, State
from reknit.exact.search.targets import exact_targets
from reknit.exact.solve import quick_state, solve
from reknit.network.emst import emst
from reknit.network.links import count_subnets
from reknit.plans.certificate import Certificate
from reknit.plans.status import Status
from reknit.swarm.demands import meets_demands
from reknit.swarm.objective import planned_time_s
from reknit.swarm.scenario import Scenario

_LOG = logger(__name__)

_EFFORT_PER_UAV = 2
_SMALL, _LARGE = 1_000, 5_000
"""Numbers of UAVs between which the effort grows with them. Below, two seconds are enough to be
patient for; above, some ten seconds."""

_QUICKLY_TESTED = 2
"""The connectivity up to which a test of targets takes milliseconds."""


@dataclass(frozen=True)
class Certified:
    """Provably near the best: a cone program on a tree, a search over trees, a proof by cases.

    Parameters
    ----------
    effort
        Work that the search may take, in units of about a millisecond of one core; None: 2,000,
        and 2 for every UAV from 1,000 to 5,000 of them. With a budget the search goes on until
        that is over.
    """

    UNSET: ClassVar[str] = "by the number of UAVs"

    effort: Annotated[int, Range(least=0, most=1_000_000_000)] | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    def resolved(self, uavs: int | None = None) -> JsonDict:
        """The parameters with the effort that swarms of so many UAVs get."""
        return {"effort": self.effort if uavs is None else self._effort(uavs)}

    def _effort(self, uavs: int) -> int:
        if self.effort is not None:
            return self.effort
        return _EFFORT_PER_UAV * min(max(uavs, _SMALL), _LARGE)

    def propose(self, scenario: Scenario, context: Context) -> Proposal:
        """The best plan found, with the bound that the search proved; the one that was given to
        begin from, if none is faster.
        """
        return _or_earlier(scenario, self._searched(scenario, context), context)

    def _searched(self, scenario: Scenario, context: Context) -> Proposal:
        if context.is_over:
            return _fallback(scenario, context, None, {})
        wanted = self._effort(scenario.uavs)
        effort = float(wanted)
        if effort > 0.0 and context.budget.seconds is not None:
            effort = np.inf
        begun = quick_state(scenario, context)
        if _has_no_tree_in_time(begun, context):
            return _fallback(scenario, context, None, {})
        pulled = pulled_bound(scenario, context)
        if pulled is not None:
            begun = replace(begun, bound_s=max(begun.bound_s, pulled.bound_s))
        state = solve(begun.problem, effort=effort, context=context, state=begun)
        return _proposal(scenario, state, context, wanted)

    def polish(self, scenario: Scenario, proposal: Proposal, context: Context) -> Proposal:
        """The cone program on the EMST of the proposed targets, if that is faster."""
        if context.is_over:
            if meets_demands(scenario, proposal.targets):
                return proposal
            polished = _fallback(scenario, context, proposal.certificate, {})
            return replace(polished, details=proposal.details)
        links = emst(proposal.targets)
        state = solve(Problem.of(scenario), effort=0, context=context, links=links)
        polished = _proposal(scenario, state, context, 0)
        details = {**proposal.details, **polished.details}
        before_s = _time_s(scenario, proposal.targets, context)
        is_worse = np.isfinite(before_s) and before_s <= _time_s(
            scenario, polished.targets, context
        )
        best = proposal if is_worse else polished
        return Proposal(best.targets, best.status, polished.certificate, details)


def _has_no_tree_in_time(state: State, context: Context) -> bool:
    """Whether the time ended in the first cone program; another one would end no better."""
    return context.is_over and not state.tree.is_whole


def _proposal(scenario: Scenario, state: State, context: Context, effort: int) -> Proposal:
    """Targets on the state's tree, shaped to the demands that a tree does not know."""
    problem = state.problem
    certificate = None  # the scenario's own bound is at least the EMST's, where the search began
    if state.case is not None and not (state.case.takes_long and context.is_over):
        certificate = _written(state.case, context)
    kind = "clauses" if can_search(problem) else "cases"  # without a C compiler: always cases
    details: JsonDict = {"cone_programs": state.cones.solved, "search": kind}
    if state.is_impossible:
        return Proposal(problem.start, Status.INFEASIBLE, certificate, details)
    targets, repair = None, None
    if state.has_tree:
        targets = exact_targets(problem, state.tree, lambda: context.is_over)
    if targets is not None and _is_demanding(scenario) and _is_faulty(scenario, targets):
        starts = [targets]
        other = fallback_targets(scenario, lambda: context.is_over)
        if context.is_over:
            return _unsearched(scenario, other, True, certificate, details)
        if other is not None:
            starts.append(other)
        if scenario.connectivity > 1:
            starts.append(problem.start)
        if context.warm_start is not None:
            starts.append(context.warm_start)
        bound_s = max(state.bound_s, lower_bound(scenario, context).bound_s)
        repair = DemandRepair(scenario, problem, context.rng, lambda: context.is_over, bound_s)
        targets = repair.best(starts, max(effort, 1) // 4)
        if scenario.connectivity > 1 and effort > 0:
            work = Work(np.inf if context.budget.seconds else effort, lambda: context.is_over)
            proved = None
            if targets is None:
                targets, proved = repair.sought(state.cones, work)
            if targets is not None:
                targets, proved = repair.narrowed(targets, state.cones, work)
            certificate = certificate if proved is None else proved
        if targets is not None and scenario.min_separation_m > 0.0 and effort > 0:
            work = Work(np.inf if context.budget.seconds else effort, lambda: context.is_over)
            targets, parted = repair.parted(targets, work)
            certificate = _stronger(certificate, parted)
    is_seen = targets is not None and repair is not None and repair.has_met(targets)
    if targets is None or (not is_seen and _is_faulty(scenario, targets)):
        return _fallback(scenario, context, certificate, details, not state.tree.is_whole)
    status = Status.DEADLINE if context.is_over else None
    return Proposal(targets, status, certificate, details)


def _written(case: CaseProof, context: Context) -> Certificate | None:
    """The certificate of a proof; None if the caller cancels while it is written."""
    try:
        return certificate_of(case, is_over=context.cancel)
    except GivenUp:
        return None


def _stronger(first: Certificate | None, second: Certificate | None) -> Certificate | None:
    if first is None or second is None:
        return first if second is None else second
    return max(first, second, key=lambda certificate: certificate.bound_s)


def _fallback(
    scenario: Scenario,
    context: Context,
    certificate: Certificate | None,
    details: JsonDict,
    is_cut_short: bool = False,
) -> Proposal:
    """A plan that needs no search; if there is none, nobody moves and nothing is claimed.

    A search that was cut short ends a little before its time is over, see `solve`.
    """
    _LOG.info("no searched plan that meets the demands: one that needs no search")
    targets = fallback_targets(scenario, lambda: context.is_over)
    is_late = is_cut_short or context.is_over
    return _unsearched(scenario, targets, is_late, certificate, details)


def _unsearched(
    scenario: Scenario,
    targets: FloatArray | None,
    is_late: bool,
    certificate: Certificate | None,
    details: JsonDict,
) -> Proposal:
    """The proposal of what `fallback_targets` found, or of nothing."""
    if targets is None:
        return Proposal(scenario.survivor_positions, Status.NOT_FOUND, certificate, details)
    return Proposal(targets, Status.DEADLINE if is_late else None, certificate, details)


def _or_earlier(scenario: Scenario, proposal: Proposal, context: Context) -> Proposal:
    """The targets to begin from, where they meet the demands sooner than those proposed."""
    earlier = context.warm_start
    if earlier is None or proposal.status is Status.INFEASIBLE:
        return proposal
    is_plan = proposal.status is not Status.NOT_FOUND
    before_s = planned_time_s(scenario, proposal.targets) if is_plan else np.inf
    if planned_time_s(scenario, earlier) >= before_s:
        return proposal
    # The test of more than two losses takes long, and then it is given up when the time is over.
    is_slow = scenario.connectivity > _QUICKLY_TESTED
    if not meets_demands(scenario, earlier, (lambda: context.is_over) if is_slow else never):
        return proposal
    status = Status.DEADLINE if context.is_over else None
    return replace(proposal, targets=earlier, status=status)


def _is_faulty(scenario: Scenario, targets: FloatArray) -> bool:
    """Whether the targets miss a demand; anchors have not moved, since their speed is zero."""
    if _is_demanding(scenario):
        return not meets_demands(scenario, targets)
    return count_subnets(targets, scenario.planning_range_m) > 1


def _is_demanding(scenario: Scenario) -> bool:
    return scenario.min_separation_m > 0.0 or scenario.connectivity > 1


def _time_s(scenario: Scenario, targets: FloatArray, context: Context) -> float:
    """Planned time of targets that are known to meet the demands in time; infinite for others."""
    if not meets_demands(scenario, targets, lambda: context.is_over):
        return np.inf
    return planned_time_s(scenario, targets)
