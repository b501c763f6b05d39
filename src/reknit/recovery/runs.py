"""`plan` and `recover`: a scenario and a planner's name in, checked results out."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from reknit.algorithms.protocols import Proposal, SteeringPlanner, TargetPlanner
from reknit.algorithms.registry import DEFAULT_PLANNER, build
from reknit.base.budget import Budget
from reknit.base.context import Context
from reknit.base.errors import InvalidParameter, InvalidPlan, InvalidProof, NoPlan
from reknit.base.log import logger
from reknit.base.progress import Progress, silent
from reknit.base.types import FloatArray, JsonDict
from reknit.exact.model.problem import Problem
from reknit.exact.proof.bounds import emst_bound, lower_bound
from reknit.flight.flight import Flight
from reknit.flight.metrics import Metrics, measure
from reknit.flight.simulator import fly
from reknit.plans.certificate import Certificate
from reknit.plans.checker.claims import demand_faults
from reknit.plans.plan import Plan
from reknit.plans.status import OPTIMALITY_GAP, Status
from reknit.swarm.scenario import Scenario

_LOG = logger(__name__)


@dataclass(frozen=True, eq=False)
class Run:
    """One recovery: what was planned (None for planners that steer), flown and measured."""

    scenario: Scenario
    planner: str
    plan: Plan | None
    flight: Flight
    metrics: Metrics
    compute_s: float


def plan(
    scenario: Scenario,
    planner: str | TargetPlanner = DEFAULT_PLANNER,
    *,
    seed: int = 0,
    budget_s: float | None = None,
    progress: Progress = silent,
    **parameters: Any,
) -> Plan:
    """Where every survivor should fly. The plan has passed the checker when it is returned.

    planner     a name from `reknit.planners()`, combined by plus signs, or a planner object.
    seed        the same seed gives the same plan (when there is no budget).
    budget_s    stop after so many seconds and return the best so far.
    parameters  the planner's own.
    """
    name, built = _resolve(planner, parameters)
    if not isinstance(built, TargetPlanner):
        raise NoPlan(f"{name!r} steers at every step and makes no plan; use reknit.recover")
    return _plan(scenario, name, built, seed, budget_s, progress, parameters)


def recover(
    scenario: Scenario,
    planner: str | TargetPlanner | SteeringPlanner = DEFAULT_PLANNER,
    *,
    seed: int = 0,
    budget_s: float | None = None,
    progress: Progress = silent,
    **parameters: Any,
) -> Run:
    """Plan or steer, fly, and measure, with any planner."""
    name, built = _resolve(planner, parameters)
    if isinstance(built, TargetPlanner):
        made = _plan(scenario, name, built, seed, budget_s, progress, parameters)
        flight = fly(scenario, made, progress=progress)
        compute_s = made.compute_s
    else:
        made = None
        context = Context(seed, Budget(budget_s), progress)
        started = time.perf_counter()
        flight = fly(scenario, built.controller(scenario, context), progress=progress)
        compute_s = time.perf_counter() - started
    return Run(scenario, name, made, flight, measure(scenario, flight, made), compute_s)


def _resolve(
    planner: str | TargetPlanner | SteeringPlanner, parameters: Mapping[str, Any]
) -> tuple[str, TargetPlanner | SteeringPlanner]:
    if isinstance(planner, str):
        return planner, build(planner, parameters)
    if not isinstance(planner, (TargetPlanner, SteeringPlanner)):
        raise InvalidParameter("planner", planner, "a name, or an object that plans or steers")
    if parameters:
        raise InvalidParameter("parameters", dict(parameters), "none beside a planner object")
    return type(planner).__name__, planner


def _plan(
    scenario: Scenario,
    name: str,
    planner: TargetPlanner,
    seed: int,
    budget_s: float | None,
    progress: Progress,
    parameters: JsonDict,
) -> Plan:
    if not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InvalidParameter("seed", seed, "a whole number of at least 0")
    bound = lower_bound(scenario)
    budget = Budget(budget_s)
    if demand_faults(scenario, scenario.survivor_positions):
        proposal = planner.propose(scenario, Context(int(seed), budget, progress))
    else:
        proposal = Proposal(scenario.survivor_positions, Status.ALREADY_CONNECTED)
    compute_s = budget.elapsed_s
    targets = _targets(name, proposal, scenario)
    recovery_time_s = planned_time_s(scenario, targets)
    details = dict(proposal.details)
    for certificate in _by_strength(scenario, bound, proposal.certificate):
        made = Plan(
            targets=targets,
            status=_status(scenario, proposal, targets, recovery_time_s, certificate),
            recovery_time_s=recovery_time_s,
            certificate=certificate,
            compute_s=compute_s,
            planner=name,
            seed=int(seed),
            parameters=dict(parameters),
            versions=_versions(),
            details=details,
        )
        try:
            made.verify(scenario)
        except InvalidProof as refusal:
            # The plan does not depend on its bound: a weaker one takes the refused one's place.
            _LOG.warning("the checker refused a bound of %r s: %s", certificate.bound_s, refusal)
            details["refused_proof"] = str(refusal)
            continue
        break
    return made


def planned_time_s(scenario: Scenario, targets: FloatArray) -> float:
    """Planned T_rc, the objective of (P1): ``max_i |x_i - p_i| / v_i``."""
    delta = scenario.survivor_positions - targets
    square = delta[:, 0] * delta[:, 0]
    for axis in range(1, scenario.dim):
        square = square + delta[:, axis] * delta[:, axis]
    return float((np.sqrt(square) / scenario.max_speed_mps[scenario.survivors]).max())


def _targets(name: str, proposal: Proposal, scenario: Scenario) -> FloatArray:
    targets = np.array(proposal.targets, dtype=np.float64)
    if targets.shape != scenario.survivor_positions.shape or not np.isfinite(targets).all():
        raise InvalidPlan(
            f"planner {name!r} proposed targets of shape {targets.shape}; expected finite "
            f"numbers of shape {scenario.survivor_positions.shape}"
        )
    targets.setflags(write=False)
    return targets


def _by_strength(
    scenario: Scenario, bound: Certificate, other: Certificate | None
) -> Iterator[Certificate]:
    """The certificates to offer to the checker, the strongest first and last one that claims
    nothing, which no checker can refuse.
    """
    known = [bound] if other is None else [bound, other]
    yield from sorted(known, key=lambda certificate: certificate.bound_s, reverse=True)
    yield emst_bound(scenario)
    yield Certificate.trivial()


def _status(
    scenario: Scenario,
    proposal: Proposal,
    targets: FloatArray,
    recovery_time_s: float,
    certificate: Certificate,
) -> Status:
    """The status the targets deserve; a planner can only say what they do not show."""
    if demand_faults(scenario, targets):
        if not np.array_equal(targets, scenario.survivor_positions):
            return Status.NOT_CONNECTED
        if proposal.status is Status.INFEASIBLE:
            is_proved = certificate.bound_s > Problem.of(scenario).horizon_s
            return Status.INFEASIBLE if is_proved else Status.NOT_FOUND
        return Status.NOT_FOUND if proposal.status is Status.NOT_FOUND else Status.NOT_CONNECTED
    if proposal.status is Status.ALREADY_CONNECTED:
        return Status.ALREADY_CONNECTED
    if recovery_time_s <= certificate.bound_s * (1 + OPTIMALITY_GAP):
        return Status.OPTIMAL
    return Status.DEADLINE if proposal.status is Status.DEADLINE else Status.FEASIBLE


def _versions() -> dict[str, str]:
    """Versions of what had a part in a plan; a library that was not even loaded had none."""
    packages = ("reknit", "numpy", "scipy", "clarabel", "torch")
    return {name: _version(name) for name in packages if name in sys.modules}


@cache
def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
