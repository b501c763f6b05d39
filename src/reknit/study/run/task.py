"""Doing one run of a study."""

from __future__ import annotations

import traceback

import numpy as np

from reknit.base.types import JsonDict
from reknit.exact.proof.bounds import lower_bound
from reknit.flight.flight import Flight
from reknit.knowledge.repeated import recover_repeatedly
from reknit.recovery.runs import recover
from reknit.study.measures import RunFacts, figures_of
from reknit.study.run.track import packed
from reknit.study.spec.cases import strike_of
from reknit.study.spec.task import Task


def run_task(task: Task) -> JsonDict:
    """Do the work and return a row for the store; a failure is a row that says so."""
    row: JsonDict = {"key": task.key, "ok": True, "error": None}
    try:
        row |= _repeated(task) if task.strikes else _single(task)
    except Exception as error:
        return failure(task, error)
    return row


def failure(task: Task, error: Exception) -> JsonDict:
    """The row of a run that failed."""
    message = f"{type(error).__name__}: {error}"
    trace = "".join(traceback.format_exception(error, limit=-3))
    return {"key": task.key, "ok": False, "error": message + "\n" + trace}


def _arguments(task: Task) -> JsonDict:
    """What `recover` and `recover_repeatedly` are given beside scenario and planner."""
    given: JsonDict = {"seed": task.seed, "budget_s": task.budget_s, **task.parameters}
    if task.max_acceleration_mps2 is not None:
        given["max_acceleration_mps2"] = task.max_acceleration_mps2
    return given


def _single(task: Task) -> JsonDict:
    run = recover(task.scenario(), task.planner, **_arguments(task))
    plan = run.plan
    bound_s = lower_bound(run.scenario).bound_s if plan is None else plan.lower_bound_s
    details: JsonDict = {} if plan is None else plan.details
    facts = RunFacts(run.compute_s, bound_s, run.scenario.allowed_time_s)
    return {
        **run.metrics.as_dict(),
        **figures_of(facts),
        "status": None if plan is None else plan.status.value,
        "details": {**details, "subnets": _subnets(run.flight)},
        # The maps of a report show the first repetition.
        "track": packed(run.scenario, run.flight) if task.repetition == 0 else None,
    }


def _subnets(flight: Flight) -> list[list[float]]:
    """N_s over time: [instant, number from then on], where it changes, and the end."""
    count = flight.subnets
    change = np.flatnonzero(np.diff(count, prepend=-1))
    steps = [[round(float(flight.times_s[at]), 3), int(count[at])] for at in change]
    return [*steps, [round(flight.duration_s, 3), int(count[-1])]]


def _repeated(task: Task) -> JsonDict:
    scenario = task.scenario()
    strikes = [strike_of(given) for given in task.strikes]
    run = recover_repeatedly(scenario, task.planner, strikes, **_arguments(task))
    at_s = run.reconnected_at_s
    first, last = run.phases[0].metrics.as_dict(), run.phases[-1].metrics.as_dict()
    separations_m = [phase.metrics.min_separation_m for phase in run.phases]
    facts = RunFacts(run.compute_s, None, scenario.allowed_time_s, run.replans, run.connected_share)
    return {
        **last,
        **{name: first[name] for name in first if name.endswith("_before")},
        "converged": at_s is not None,
        "flown_time_s": at_s,
        "charged_time_s": scenario.allowed_time_s if at_s is None else at_s,
        "path_length_m": sum(phase.metrics.path_length_m for phase in run.phases),
        "min_separation_m": min(
            (closest_m for closest_m in separations_m if closest_m is not None), default=None
        ),
        # These are of one phase alone.
        **dict.fromkeys(("planned_time_s", "step_time_s", "longest_path_m")),
        **figures_of(facts),
        "details": {},
    }
