"""What a planner is: the two protocols, what they are given and what they give back.

A planner is a frozen dataclass whose fields are its parameters. It either proposes targets once
(`TargetPlanner`) or steers at every step (`SteeringPlanner`); a `Polisher` improves targets that
another planner proposed and is what stands after the plus sign in ``"gcn+contraction"``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from reknit.base.context import Context
from reknit.base.types import FloatArray, JsonDict
from reknit.flight.controller import Controller
from reknit.plans.certificate import Certificate
from reknit.plans.status import Status
from reknit.swarm.scenario import Scenario


@dataclass(frozen=True, eq=False)
class Proposal:
    """Targets from a planner, before anybody checked them.

    targets      (N_R, dim) in the order of ``scenario.survivors``.
    status       only what cannot be seen from the targets: DEADLINE when the budget cut the
                 work short, NOT_FOUND or INFEASIBLE when no targets meet the demands.
    certificate  a bound better than the scenario's own, if the planner proved one.
    details      JSON-ready facts worth keeping, such as the number of iterations.
    """

    targets: FloatArray
    status: Status | None = None
    certificate: Certificate | None = None
    details: JsonDict = field(default_factory=dict)


@runtime_checkable
class TargetPlanner(Protocol):
    """Computes targets once; every survivor then flies straight to its own."""

    def propose(self, scenario: Scenario, context: Context) -> Proposal:
        """Targets for a scenario that is not connected yet."""
        ...


@runtime_checkable
class SteeringPlanner(Protocol):
    """Makes no plan; steers every survivor at every step."""

    def controller(self, scenario: Scenario, context: Context) -> Controller:
        """A fresh controller for one flight."""
        ...


@runtime_checkable
class Polisher(Protocol):
    """Improves what another planner proposed."""

    def polish(self, scenario: Scenario, proposal: Proposal, context: Context) -> Proposal:
        """A proposal at least as good."""
        ...
