"""`plan`: a scenario and a planner's name in, a checked plan out."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from reknit.algorithms.protocols import (
    Proposal,
    SteeringPlanner,
    TargetPlanner,
    checked_proposal,
)
from reknit.algorithms.registry import DEFAULT_PLANNER, build, check_weights
from reknit.base.budget import Budget
from reknit.base.context import Cancel, Context, never
from reknit.base.errors import BrokenPlanner, InvalidParameter, InvalidProof, NoPlan
from reknit.base.log import logger
from reknit.base.progress import Progress, silent
from reknit.base.types import FloatArray, JsonDict
from reknit.base.values import check_callable, check_seed
from reknit.base.version import VERSION
from reknit.exact.model.problem import Problem
from reknit.exact.proof.bounds import emst_bound, lower_bound
from reknit.plans.certificate import Certificate
from reknit.plans.checker.claims import check_claims, demand_faults
from reknit.plans.plan import Plan
from reknit.plans.status import OPTIMALITY_GAP, Status
from reknit.swarm.objective import planned_time_s
from reknit.swarm.scenario import Scenario, check_scenario

_LOG = logger(__name__)

_BOUND_SHARE = 0.4
"""Share of a budget that the bound may take; a planner without time left has only a fallback."""


def plan(
    scenario: Scenario,
    planner: str | TargetPlanner = DEFAULT_PLANNER,
    *,
    seed: int = 0,
    budget_s: float | None = None,
    progress: Progress = silent,
    cancel: Cancel = never,
    warm_start: Plan | None = None,
    **parameters: Any,
) -> Plan:
    """Where every survivor should fly. The plan has passed the checker when it is returned.

    Parameters
    ----------
    scenario
        The damaged swarm and what is demanded of its recovery.
    planner
        A name from `reknit.planners()`, combined by plus signs, or a planner object.
    seed
        The same seed gives the same plan (when there is no budget).
    budget_s
        Wall time of this call, seconds, bound and check included, and the loading of the
        planner's libraries in the first call that needs them; the best plan by then is
        returned. None: no limit.
    progress
        Told how much is done (0 to 1) and what is being done.
    cancel
        Asked now and then; once it returns true the best plan so far is returned.
    warm_start
        An earlier plan to begin from, of the same scenario or of the swarm before further
        losses; planners that cannot use it ignore it.
    parameters
        The planner's own.

    Returns
    -------
    Plan
        Its `timings_s` tell what loading, the bound, the planner and the check took.
    """
    context = make_context(scenario, seed, budget_s, progress, cancel, warm_start)
    name, built = resolve(planner, parameters)
    if not isinstance(built, TargetPlanner):
        raise NoPlan(f"{name!r} steers at every step and makes no plan; use reknit.recover")
    return checked_plan(scenario, name, built, context, parameters)


def resolve(
    planner: str | TargetPlanner | SteeringPlanner, parameters: Mapping[str, Any]
) -> tuple[str, TargetPlanner | SteeringPlanner]:
    """The name and the object of a planner that is given as either."""
    if isinstance(planner, str):
        built = build(planner, parameters)
        check_weights(built)
        return planner, built
    # A class has the methods of its planners too, but nobody to call them on.
    if isinstance(planner, type) or not isinstance(planner, (TargetPlanner, SteeringPlanner)):
        raise InvalidParameter("planner", planner, "a name, or an object that plans or steers")
    if parameters:
        raise InvalidParameter("parameters", dict(parameters), "none beside a planner object")
    return type(planner).__name__, planner


def make_context(
    scenario: Scenario,
    seed: int,
    budget_s: float | None,
    progress: Progress,
    cancel: Cancel,
    warm_start: Plan | None,
) -> Context:
    """What a planner is given beside the scenario; the budget runs from here."""
    budget = Budget(budget_s)
    check_scenario(scenario)
    check_seed(seed)
    check_callable(progress=progress, cancel=cancel)
    if warm_start is not None and not isinstance(warm_start, Plan):
        raise InvalidParameter("warm_start", warm_start, "a Plan or None")
    targets = None if warm_start is None else _earlier_targets(scenario, warm_start)
    return Context(int(seed), budget, progress, cancel, targets)


def _earlier_targets(scenario: Scenario, earlier: Plan) -> FloatArray | None:
    """The targets of an earlier plan for those who survive now; others stay where they are.

    None if the plan has nothing to say about this swarm.
    """
    targets = scenario.survivor_positions.copy()
    if not earlier.uavs:
        return np.array(earlier.targets) if earlier.targets.shape == targets.shape else None
    if earlier.targets.shape[1] != scenario.dim:
        return None
    row_of = {label: row for row, label in enumerate(earlier.uavs)}
    known = [row_of.get(label, -1) for label in scenario.survivor_labels]
    rows = np.asarray(known)
    targets[rows >= 0] = earlier.targets[rows[rows >= 0]]
    return targets if (rows >= 0).any() else None


def checked_plan(
    scenario: Scenario,
    name: str,
    planner: TargetPlanner,
    context: Context,
    parameters: JsonDict,
) -> Plan:
    """Bound, propose, check: the plan that `plan` returns."""
    loading_s = context.budget.elapsed_s
    bound = lower_bound(scenario, _for_the_bound(context))
    bound_s = context.budget.elapsed_s - loading_s
    # A bound above zero says that something is missing, without another look at the demands.
    if bound.bound_s > 0.0 or demand_faults(scenario, scenario.survivor_positions):
        try:
            proposal = planner.propose(scenario, context)
        except SystemExit as error:  # a planner may be anybody's; it ends nobody's process
            raise BrokenPlanner.unusable(name, type(planner).__module__, error) from error
    else:
        proposal = Proposal(scenario.survivor_positions, Status.ALREADY_CONNECTED)
    compute_s = context.budget.elapsed_s - bound_s - loading_s
    started_s = time.perf_counter()
    proposal = checked_proposal(name, proposal, scenario)
    targets = np.array(proposal.targets, dtype=np.float64)
    targets.setflags(write=False)
    recovery_time_s = planned_time_s(scenario, targets)
    faults = demand_faults(scenario, targets)
    timings_s = {"loading": loading_s, "bound": bound_s, "planner": compute_s}
    details = dict(proposal.details)
    for certificate in _by_strength(scenario, bound, proposal.certificate):
        claimed = Plan(
            targets=targets,
            status=_status(scenario, proposal, targets, faults, recovery_time_s, certificate),
            recovery_time_s=recovery_time_s,
            certificate=certificate,
            compute_s=compute_s,
            planner=name,
            seed=context.seed,
            parameters=dict(parameters),
            versions=_versions(),
            details=details,
            uavs=tuple(scenario.survivor_labels),
            timings_s=timings_s,
        )
        try:
            check_claims(claimed, scenario, faults, context.cancel)
        except InvalidProof as refusal:
            # The plan does not depend on its bound: a weaker one takes the refused one's place.
            _LOG.warning("the checker refused a bound of %r s: %s", certificate.bound_s, refusal)
            details["refused_proof"] = str(refusal)
            continue
        break
    timings_s["check"] = time.perf_counter() - started_s
    _LOG.info("%s: %s, timings %s", name, claimed, timings_s)
    return claimed


def _for_the_bound(context: Context) -> Context:
    """The context of the bound, which leaves the planner its share of a limited time."""
    if context.budget.seconds is None:
        return context
    share_s = max(0.0, context.budget.left_s) * _BOUND_SHARE
    return context.with_changes(budget=Budget(share_s))


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
    faults: list[str],
    recovery_time_s: float,
    certificate: Certificate,
) -> Status:
    """The status that targets and bound deserve; a planner can only say that its time was over."""
    is_still = np.array_equal(targets, scenario.survivor_positions)
    if faults:
        if not is_still:
            return Status.NOT_CONNECTED
        is_hopeless = certificate.bound_s > Problem.of(scenario).horizon_s
        return Status.INFEASIBLE if is_hopeless else Status.NOT_FOUND
    if is_still:
        return Status.ALREADY_CONNECTED
    if recovery_time_s <= certificate.bound_s * (1 + OPTIMALITY_GAP):
        return Status.OPTIMAL
    return Status.DEADLINE if proposal.status is Status.DEADLINE else Status.FEASIBLE


def _versions() -> dict[str, str]:
    """Versions of what had a part in a plan; a library that was not even loaded had none."""
    packages = ("numpy", "scipy", "clarabel", "torch")
    others = {name: _version(name) for name in packages if name in sys.modules}
    # Of the code that runs: an editable installation's metadata may be of an older one.
    return {"reknit": VERSION, **others}


@cache
def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
