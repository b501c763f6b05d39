"""The independent checker of plans.

Everything a plan claims is computed again from the scenario's raw positions. Nothing here is
shared with the planners, the network module or the simulator.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from reknit.base.errors import InvalidPlan, InvalidProof
from reknit.base.types import FloatArray
from reknit.plans.checker.proof import Proved, prove, refuse_idle_parts
from reknit.plans.checker.survivors import survivor_rows
from reknit.plans.checker.targets import demand_faults
from reknit.plans.status import OPTIMALITY_GAP, Status
from reknit.plans.verification import Verification
from reknit.swarm.validation import MAX_COORDINATE_M

if TYPE_CHECKING:
    from reknit.plans.plan import Plan
    from reknit.swarm.scenario import Scenario

__all__ = ["check_claims", "check_plan", "demand_faults"]

_MET = (Status.OPTIMAL, Status.FEASIBLE, Status.DEADLINE, Status.ALREADY_CONNECTED)
_STILL = (Status.ALREADY_CONNECTED, Status.NOT_FOUND, Status.INFEASIBLE)


def check_plan(plan: Plan, scenario: Scenario) -> Verification:
    """Recompute every claim of a plan.

    Parameters
    ----------
    plan
        Targets, time, status and certificate: all that a plan file holds.
    scenario
        What the plan is for.

    Returns
    -------
    Verification
        What was checked.

    Raises
    ------
    InvalidPlan
        Names the first claim that does not hold; `InvalidProof` if that is the lower bound.
    """
    start = np.asarray(scenario.positions)[survivor_rows(scenario)]
    return check_claims(plan, scenario, demand_faults(scenario, _targets(plan, start)))


def check_claims(plan: Plan, scenario: Scenario, faults: list[str]) -> Verification:
    """The same for targets that `demand_faults` has looked at already.

    Parameters
    ----------
    plan, scenario
        See `check_plan`.
    faults
        What `demand_faults` says of the plan's targets.

    Returns
    -------
    Verification
        What was checked.
    """
    start = np.asarray(scenario.positions)[survivor_rows(scenario)]
    targets = _targets(plan, start)
    _check_uavs(plan, scenario)
    _check_times(plan, scenario, start, targets)
    _check_status(plan, start, targets, faults)
    proved = _check_bound(plan, scenario, start)
    deserved = _deserved(plan, scenario, start, targets, faults)
    # That the time was over does not show in a plan; what else it is does.
    if deserved is not (Status.FEASIBLE if plan.status is Status.DEADLINE else plan.status):
        raise InvalidPlan(
            f"status is {plan.status.value!r}; targets and bound deserve {deserved.value!r}"
        )
    return Verification(
        status=plan.status,
        recovery_time_s=plan.recovery_time_s,
        lower_bound_s=plan.lower_bound_s,
        survivors=len(start),
        unmet=tuple(faults),
        allowed_time_s=float(scenario.allowed_time_s),
        kind=proved.kind,
        cases=proved.cases,
        clashes=proved.clashes,
        vectors=proved.vectors,
        exact=proved.exact,
    )


def _check_uavs(plan: Plan, scenario: Scenario) -> None:
    rows = survivor_rows(scenario).tolist()
    names = rows if scenario.names is None else [scenario.names[row] for row in rows]
    if plan.uavs and list(plan.uavs) != names:
        raise InvalidPlan("the plan's UAVs are not the survivors of this scenario")


def _targets(plan: Plan, start: FloatArray) -> FloatArray:
    targets = plan.targets
    if type(targets) is not np.ndarray or targets.dtype != np.float64:
        raise InvalidPlan("targets are not an array of float64 numbers")
    if targets.shape != start.shape:
        raise InvalidPlan(f"targets have shape {targets.shape}; the survivors {start.shape}")
    if not (np.abs(targets) <= MAX_COORDINATE_M).all():
        raise InvalidPlan(
            f"targets are not all finite and at most {MAX_COORDINATE_M:g} m from the origin"
        )
    return targets


def _check_times(plan: Plan, scenario: Scenario, start: FloatArray, targets: FloatArray) -> None:
    speeds = np.asarray(scenario.max_speed_mps)[survivor_rows(scenario)]
    square = (start[:, 0] - targets[:, 0]) * (start[:, 0] - targets[:, 0])
    for axis in range(1, start.shape[1]):
        delta = start[:, axis] - targets[:, axis]
        square = square + delta * delta
    time_s = float((np.sqrt(square) / speeds).max())
    if plan.recovery_time_s != time_s or not math.isfinite(time_s):
        raise InvalidPlan(
            f"recovery_time_s is {plan.recovery_time_s!r}; the farthest flight takes {time_s!r}"
        )


def _check_status(plan: Plan, start: FloatArray, targets: FloatArray, faults: list[str]) -> None:
    status = plan.status
    if not isinstance(status, Status):
        raise InvalidPlan(f"status is {status!r}; allowed: a reknit.Status")
    if status in _MET and faults:
        raise InvalidPlan(f"status is {status.value!r}, but {faults[0]}")
    if status not in _MET and not faults:
        raise InvalidPlan(f"status is {status.value!r}, but the targets meet every demand")
    if status in _STILL and not np.array_equal(start, targets):
        raise InvalidPlan(f"status is {status.value!r}, but the targets are not where UAVs start")


def _deserved(
    plan: Plan, scenario: Scenario, start: FloatArray, targets: FloatArray, faults: list[str]
) -> Status:
    """The one status that targets and bound deserve."""
    is_still = np.array_equal(start, targets)
    if faults:
        is_hopeless = is_still and plan.lower_bound_s > _horizon_s(scenario, start)
        otherwise = Status.NOT_FOUND if is_still else Status.NOT_CONNECTED
        return Status.INFEASIBLE if is_hopeless else otherwise
    if is_still:
        return Status.ALREADY_CONNECTED
    is_near = plan.recovery_time_s <= plan.lower_bound_s * (1.0 + OPTIMALITY_GAP)
    return Status.OPTIMAL if is_near else Status.FEASIBLE


def _check_bound(plan: Plan, scenario: Scenario, start: FloatArray) -> Proved:
    status, time_s, claimed_s = plan.status, plan.recovery_time_s, plan.lower_bound_s
    proved = prove(plan.certificate, scenario)
    if claimed_s > proved.bound_s:
        raise InvalidProof(
            f"lower_bound_s is {claimed_s!r}; its certificate proves {proved.bound_s!r}"
        )
    refuse_idle_parts(plan.certificate, proved)
    if status in _MET and claimed_s > time_s:
        raise InvalidProof(f"lower_bound_s is {claimed_s!r}; the plan itself takes {time_s!r}")
    if status is Status.INFEASIBLE and claimed_s <= _horizon_s(scenario, start):
        raise InvalidPlan(
            f"status is {status.value!r}, but a bound of {claimed_s!r} s leaves room for a plan"
        )
    is_near = time_s <= claimed_s * (1.0 + OPTIMALITY_GAP)
    if status is Status.OPTIMAL and not is_near:
        raise InvalidPlan(
            f"status is 'optimal', but {time_s!r} s is more than {OPTIMALITY_GAP:.1%} above the "
            f"bound of {claimed_s!r} s"
        )
    if status in (Status.FEASIBLE, Status.DEADLINE) and is_near:
        raise InvalidPlan(
            f"status is {status.value!r}, but {time_s!r} s is within {OPTIMALITY_GAP:.1%} of the "
            f"bound of {claimed_s!r} s, which is 'optimal'"
        )
    return proved


def _horizon_s(scenario: Scenario, start: FloatArray) -> float:
    """If any plan meets the demands on links and anchors, one takes no longer than this.

    A connected network of n UAVs lies within n d of each of its members, an anchor say, and no
    survivor starts farther from that anchor than the swarm is wide.
    """
    movers = np.setdiff1d(survivor_rows(scenario), np.asarray(scenario.anchors))
    slowest = float(np.asarray(scenario.max_speed_mps)[movers].min(initial=np.inf))
    across_m = float(np.sqrt((np.ptp(start, axis=0) ** 2).sum()))
    return (across_m + len(start) * scenario.planning_range_m) / slowest
