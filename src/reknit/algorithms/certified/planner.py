"""`certified`: the search over trees with its bound, and the polisher on another planner's tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reknit.algorithms.base import Context, Proposal
from reknit.algorithms.certified.bounds import quickest_s, state_certificate
from reknit.algorithms.certified.cone import Cones
from reknit.algorithms.certified.movement import place
from reknit.algorithms.certified.problem import Problem
from reknit.algorithms.certified.search import State, improve
from reknit.algorithms.certified.tree import settle
from reknit.algorithms.contraction import contract
from reknit.errors import InvalidParameter
from reknit.network.emst import emst
from reknit.network.links import count_subnets
from reknit.plans.check import demand_faults
from reknit.plans.status import Status
from reknit.scenario.scenario import Scenario
from reknit.types import FloatArray, IntArray

_QUICKEST_S = 2e-3
_QUICKEST_S_PER_UAV = 4e-5
"""With less time than this left a first tree would come too late: the contraction it is."""


@dataclass(frozen=True)
class Certified:
    """Provably near the best: a cone program on a tree, a search over trees, a proof by cases.

    effort   how many cone programs and cases the search may take.
    """

    effort: int = 4_000

    def __post_init__(self) -> None:
        if not isinstance(self.effort, int) or isinstance(self.effort, bool) or self.effort < 0:
            raise InvalidParameter("certified.effort", self.effort, "a whole number of at least 0")

    def propose(self, scenario: Scenario, context: Context) -> Proposal:
        """The best plan found, with the bound that the search proved."""
        problem = Problem.of(scenario)
        if _is_late(problem, context):
            return fallback(scenario)
        tree = problem.first_tree
        return self._plan(scenario, problem, tree, context, self.effort)

    def polish(self, scenario: Scenario, proposal: Proposal, context: Context) -> Proposal:
        """The cone program on the EMST of the proposed targets, if that is faster."""
        problem = Problem.of(scenario)
        if _is_late(problem, context):
            polished = fallback(scenario)
        else:
            polished = self._plan(scenario, problem, emst(proposal.targets), context, 0)
        details = {**proposal.details, **polished.details}
        if _time_s(scenario, proposal.targets) <= _time_s(scenario, polished.targets):
            return Proposal(proposal.targets, proposal.status, polished.certificate, details)
        return Proposal(polished.targets, polished.status, polished.certificate, details)

    def _plan(
        self,
        scenario: Scenario,
        problem: Problem,
        tree: IntArray,
        context: Context,
        effort: int,
    ) -> Proposal:
        budget = context.budget
        cones = Cones(problem)
        floor_s = quickest_s(problem)
        state = State(settle(cones, tree, floor_s), floor_s)
        if effort:
            state = improve(cones, state, effort, lambda: budget.is_over)
        targets = place(problem, state.settled, lambda: budget.is_over)
        if targets is None or count_subnets(targets, problem.range_m) > 1:
            return fallback(scenario)
        certificate = state_certificate(scenario, problem, state)
        status = Status.DEADLINE if budget.is_over else None
        details = {"cone_programs": cones.solved, "tree_time_s": state.settled.time_s}
        return Proposal(targets, status, certificate, details)


def fallback(scenario: Scenario) -> Proposal:
    """A plan that needs no search: the contraction."""
    return Proposal(contract(scenario, scenario.survivor_positions), Status.DEADLINE)


def _is_late(problem: Problem, context: Context) -> bool:
    return context.budget.left_s < _QUICKEST_S + _QUICKEST_S_PER_UAV * problem.count


def _time_s(scenario: Scenario, targets: FloatArray) -> float:
    """Planned time of targets that meet the demands; infinite for others."""
    if demand_faults(scenario, targets):
        return np.inf
    delta = targets - scenario.survivor_positions
    speeds = scenario.max_speed_mps[scenario.survivors]
    return float((np.sqrt((delta**2).sum(axis=1)) / speeds).max())
