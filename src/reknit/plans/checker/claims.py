"""The independent checker of plans.

Everything a plan claims is computed again from the scenario's raw positions. Nothing here is
shared with the planners, the network module or the simulator.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from reknit.base.errors import InvalidPlan, InvalidProof
from reknit.base.types import FloatArray
from reknit.plans.checker.proof import Proved, prove, refuse_idle_parts
from reknit.plans.checker.survivors import link_limit_m, survivor_rows
from reknit.plans.checker.targets import demand_faults
from reknit.plans.status import OPTIMALITY_GAP, Status
from reknit.plans.verification import Verification
from reknit.swarm.validation import MAX_COORDINATE_M

if TYPE_CHECKING:
    from reknit.plans.plan import Plan
    from reknit.swarm.scenario import Scenario

__all__ = ["check_claims", "check_plan", "demand_faults"]


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


def check_claims(
    plan: Plan,
    scenario: Scenario,
    faults: list[str],
    is_over: Callable[[], bool] = lambda: False,
) -> Verification:
    """The same for targets that `demand_faults` has looked at already.

    Parameters
    ----------
    plan, scenario
        See `check_plan`.
    faults
        What `demand_faults` says of the plan's targets.
    is_over
        Asked now and then while a proof is walked through, which is refused once it is true.

    Returns
    -------
    Verification
        What was checked.
    """
    start = np.asarray(scenario.positions)[survivor_rows(scenario)]
    targets = _targets(plan, start)
    _check_uavs(plan, scenario)
    _check_times(plan, scenario, start, targets)
    proved = _check_bound(plan, scenario, faults, is_over)
    _check_status(plan, scenario, start, targets, faults)
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


def _check_bound(
    plan: Plan, scenario: Scenario, faults: list[str], is_over: Callable[[], bool]
) -> Proved:
    time_s, claimed_s = plan.recovery_time_s, plan.lower_bound_s
    proved = prove(plan.certificate, scenario, is_over)
    if claimed_s > proved.bound_s:
        raise InvalidProof(
            f"lower_bound_s is {claimed_s!r}; its certificate proves {proved.bound_s!r}"
        )
    refuse_idle_parts(plan.certificate, proved)
    if not faults and claimed_s > time_s:
        raise InvalidProof(f"lower_bound_s is {claimed_s!r}; the plan itself takes {time_s!r}")
    return proved


def _check_status(
    plan: Plan, scenario: Scenario, start: FloatArray, targets: FloatArray, faults: list[str]
) -> None:
    status = plan.status
    if not isinstance(status, Status):
        raise InvalidPlan(f"status is {status!r}; allowed: a reknit.Status")
    deserved, reason = _deserved(plan, scenario, start, targets, faults)
    # That the time was over does not show in a plan; what else it is does.
    if deserved is not (Status.FEASIBLE if status is Status.DEADLINE else status):
        raise InvalidPlan(f"status is {status.value!r}, but {reason}: {deserved.value!r}")


def _deserved(
    plan: Plan, scenario: Scenario, start: FloatArray, targets: FloatArray, faults: list[str]
) -> tuple[Status, str]:
    """The one status that targets and bound deserve, and why."""
    time_s, bound_s = plan.recovery_time_s, plan.lower_bound_s
    is_still = np.array_equal(start, targets)
    if faults and not is_still:
        return Status.NOT_CONNECTED, faults[0]
    if faults and bound_s > _horizon_s(scenario, start):
        return Status.INFEASIBLE, f"a bound of {bound_s!r} s leaves no plan"
    if faults:
        room = f"a bound of {bound_s!r} s leaves room for a plan"
        return Status.NOT_FOUND, f"nobody moves, {faults[0]}, and {room}"
    if is_still:
        return Status.ALREADY_CONNECTED, "nobody moves and every demand is met"
    if time_s <= bound_s * (1.0 + OPTIMALITY_GAP):
        near = f"{time_s!r} s is within {OPTIMALITY_GAP:.1%} of the bound of {bound_s!r} s"
        return Status.OPTIMAL, near
    far = f"{time_s!r} s is more than {OPTIMALITY_GAP:.1%} above the bound of {bound_s!r} s"
    return Status.FEASIBLE, f"every demand is met and {far}"


def _horizon_s(scenario: Scenario, start: FloatArray) -> float:
    """If any plan meets the demands on links and anchors, one takes no longer than this.

    A connected network of n UAVs lies within n d of each of its members, an anchor say, and no
    survivor starts farther from that anchor than the swarm is wide.
    """
    movers = np.setdiff1d(survivor_rows(scenario), np.asarray(scenario.anchors))
    slowest = float(np.asarray(scenario.max_speed_mps)[movers].min(initial=np.inf))
    across_m = float(np.sqrt((np.ptp(start, axis=0) ** 2).sum()))
    return (across_m + len(start) * link_limit_m(scenario)) / slowest
