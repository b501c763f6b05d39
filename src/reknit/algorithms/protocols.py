"""What a planner is: the two protocols, what they are given and what they give back.

A planner is a frozen dataclass whose fields are its parameters. It either proposes targets once
(`TargetPlanner`) or steers at every step (`SteeringPlanner`); a `Polisher` improves targets that
another planner proposed and is what stands after the plus sign in ``"gcn+contraction"``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from reknit.base.context import Context
from reknit.base.errors import BrokenPlanner, InvalidParameter
from reknit.base.types import FloatArray, JsonDict
from reknit.base.values import finite_numbers, is_number
from reknit.flight.controller import Controller
from reknit.plans.certificate import Certificate
from reknit.plans.status import Status
from reknit.swarm.scenario import Scenario


@dataclass(frozen=True, eq=False)
class Proposal:
    """Targets from a planner, before anybody checked them.

    Parameters
    ----------
    targets
        (N_R, dim) metres, in the order of ``scenario.survivors``.
    status
        Only what cannot be seen from the targets: DEADLINE when the budget cut the work
        short, NOT_FOUND or INFEASIBLE when no targets meet the demands.
    certificate
        A bound better than the scenario's own, if the planner proved one.
    details
        JSON-ready facts worth keeping, such as the number of iterations.
    """

    targets: FloatArray
    status: Status | None = None
    certificate: Certificate | None = None
    details: JsonDict = field(default_factory=dict)


@runtime_checkable
class TargetPlanner(Protocol):
    """Computes targets once; every survivor then flies straight to its own."""

    def propose(self, scenario: Scenario, context: Context) -> Proposal:
        """Targets for a scenario that is not connected yet.

        Parameters
        ----------
        scenario
            The damaged swarm and what is demanded of its recovery.
        context
            Seed, limits and listeners of this call.

        Returns
        -------
        Proposal
            With (N_R, dim) targets, metres; whoever asked checks them.
        """
        ...


@runtime_checkable
class SteeringPlanner(Protocol):
    """Makes no plan; steers every survivor at every step."""

    def controller(self, scenario: Scenario, context: Context) -> Controller:
        """A fresh controller for one flight.

        Parameters
        ----------
        scenario
            The damaged swarm and what is demanded of its recovery.
        context
            Seed, limits and listeners of this call.

        Returns
        -------
        Controller
            Asked at every step for the velocities of the survivors.
        """
        ...


@runtime_checkable
class Polisher(Protocol):
    """Improves what another planner proposed."""

    def polish(self, scenario: Scenario, proposal: Proposal, context: Context) -> Proposal:
        """A proposal at least as good.

        Parameters
        ----------
        scenario
            The damaged swarm and what is demanded of its recovery.
        proposal
            What the planner before the plus sign proposed.
        context
            Seed, limits and listeners of this call.

        Returns
        -------
        Proposal
            With (N_R, dim) targets, metres; whoever asked checks them.
        """
        ...


@runtime_checkable
class Resolving(Protocol):
    """A planner whose fields leave something open, such as one with presets of its own, or whose
    defaults depend on the swarm's size.
    """

    def resolved(self, uavs: int | None = None) -> JsonDict:
        """Every parameter with the value it comes to, JSON-ready.

        Parameters
        ----------
        uavs
            For swarms of so many UAVs; None: of any.
        """
        ...


@runtime_checkable
class Weighted(Protocol):
    """A planner that begins from trained weights."""

    def weight_files(self, uavs: int | None = None, dim: int | None = None) -> Sequence[Path]:
        """The files of them that decide its results, in a fixed order.

        Parameters
        ----------
        uavs, dim
            For swarms of so many UAVs in the plane or in space; None: for any.
        """
        ...


def checked_proposal(planner: str, proposal: object, scenario: Scenario) -> Proposal:
    """What a planner returned, if it is a proposal with finite targets of the right shape.

    Parameters
    ----------
    planner
        Its name, for the error.
    proposal
        What it returned.
    scenario
        What it was asked about.

    Raises
    ------
    BrokenPlanner
        It is something else; says what.
    """
    if not isinstance(proposal, Proposal):
        kind = type(proposal).__name__
        raise BrokenPlanner(planner, f"returned {kind}; expected a reknit.Proposal")
    shape = scenario.survivor_positions.shape
    try:
        finite_numbers(proposal.targets, shape)
    except ValueError as wrong:
        told = f"proposed targets {wrong}; expected finite numbers of shape {shape}"
        raise BrokenPlanner(planner, told) from None
    for name, (value, fits, expected) in _other_parts(proposal).items():
        if not fits:
            fault = InvalidParameter(name, value, expected)
            raise BrokenPlanner(planner, f"made a proposal whose {fault}")
    return proposal


def _other_parts(proposal: Proposal) -> dict[str, tuple[Any, bool, str]]:
    """What a proposal has beside targets: each value, whether it is one, and what would be."""
    status, certificate, details = proposal.status, proposal.certificate, proposal.details
    is_proof = isinstance(certificate, Certificate) and is_number(certificate.bound_s)
    return {
        "status": (status, status is None or isinstance(status, Status), "None or a reknit.Status"),
        "certificate": (
            certificate,
            certificate is None or is_proof,
            "None or a reknit.Certificate of a number of seconds",
        ),
        "details": (details, _is_json(details), "a dict that JSON can hold"),
    }


def _is_json(details: object) -> bool:
    if not isinstance(details, dict) or not all(isinstance(name, str) for name in details):
        return False
    try:
        return bool(json.dumps(details))
    except (TypeError, ValueError, RecursionError):
        return False
