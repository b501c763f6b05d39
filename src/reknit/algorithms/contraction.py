"""`contraction`: the swarm shrunk just enough to connect, as a planner and as a polisher."""

from __future__ import annotations

from dataclasses import dataclass, replace

from reknit.algorithms.protocols import Proposal
from reknit.base.context import Context
from reknit.exact.demands.contraction import contract
from reknit.swarm.scenario import Scenario


@dataclass(frozen=True)
class Contraction:
    """The survivors' own positions, contracted; as a polisher, another planner's targets."""

    def propose(self, scenario: Scenario, context: Context) -> Proposal:
        """Contract the positions at t_0 about the centre that moves the farthest UAV least."""
        return Proposal(contract(scenario, scenario.survivor_positions))

    def polish(self, scenario: Scenario, proposal: Proposal, context: Context) -> Proposal:
        """Contract the proposed targets just enough to connect; leave connected ones alone."""
        targets = contract(scenario, proposal.targets)
        moved = targets is not proposal.targets
        status = None if moved else proposal.status
        details = {**proposal.details, "contracted": moved}
        return replace(proposal, targets=targets, status=status, details=details)
