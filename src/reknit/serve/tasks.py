"""What a worker process does with a request body: JSON in, JSON out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np

from reknit.algorithms.registry import registered
from reknit.base.budget import Budget
from reknit.base.context import Cancel, Context
from reknit.base.errors import InvalidParameter, InvalidPlan, NoPlan, ReknitError
from reknit.base.progress import Progress
from reknit.exact.proof.bounds import lower_bound
from reknit.flight.flight import Flight
from reknit.flight.metrics import measure
from reknit.flight.simulator import fly
from reknit.plans.files import certificate_file, plan_file, plan_of
from reknit.plans.plan import Plan
from reknit.plans.status import Status
from reknit.recovery.planning import plan
from reknit.recovery.runs import Run, recover
from reknit.serve.models import (
    Bound,
    BoundRequest,
    Comparison,
    ComparisonRequest,
    ComparisonRow,
    FlightFile,
    GenerationRequest,
    Planned,
    PlanRequest,
    Provenance,
    Recovery,
    RecoveryRequest,
    Verification,
    VerificationRequest,
)
from reknit.serve.problems import problem_of
from reknit.swarm.files import scenario_file, scenario_of
from reknit.swarm.generate import generate
from reknit.swarm.scenario import Scenario

_SHIPPED_WEIGHTS = ("pretrained", "random")
"""What a parameter that takes a path may be in a request."""
_OWN = frozenset(
    name
    for function in (plan, recover)
    for name, item in signature(function).parameters.items()
    if item.kind is not item.VAR_KEYWORD
)


class Unwanted(Exception):
    """Nobody wants the result any more."""


@dataclass(frozen=True)
class Call:
    """Limits and listeners of one task.

    Parameters
    ----------
    budget_s
        Seconds of computing that the client grants; None: work is counted, not timed.
    progress
        Told how far it is.
    cancel
        Whether nobody wants the result any more.
    stop
        Whether to end the search with what there is: cancelled, or past the deadline.
    """

    budget_s: float | None
    progress: Progress
    cancel: Cancel
    stop: Cancel

    def go_on(self) -> None:
        """Raise `Unwanted` if it is: a planner that is told to stop hands over what it has, and
        flying and measuring that would be work for nobody.
        """
        if self.cancel():
            raise Unwanted


Task = Callable[[bytes, Call], str]


def _as_keywords(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A planner's parameters, whose types the registry checks."""
    return dict(parameters)


def plan_task(body: bytes, call: Call) -> str:
    """POST /v1/plans."""
    request = PlanRequest.model_validate_json(body)
    _check_parameters(request.planner, request.parameters)
    result = plan(
        scenario_of(request.scenario),
        request.planner,
        seed=request.seed,
        budget_s=call.budget_s,
        progress=call.progress,
        cancel=call.stop,
        **_as_keywords(request.parameters),
    )
    return Planned(plan=plan_file(result), provenance=_provenance(result)).model_dump_json()


def recovery_task(body: bytes, call: Call) -> str:
    """POST /v1/recoveries."""
    request = RecoveryRequest.model_validate_json(body)
    _check_parameters(request.planner, request.parameters)
    scenario = scenario_of(request.scenario)
    run = _recovered(scenario, request.planner, request.seed, call, request.parameters)
    return recovery_model(run, request.frames).model_dump_json()


def comparison_task(body: bytes, call: Call) -> str:
    """POST /v1/comparisons: a planner that fails loses only its own row."""
    request = ComparisonRequest.model_validate_json(body)
    scenario = scenario_of(request.scenario)
    rows: list[ComparisonRow] = []
    count = len(request.planners)
    share_s = None if call.budget_s is None else call.budget_s / (count + 1)
    for number, name in enumerate(request.planners):

        def report(fraction: float, message: str, done: int = number, name: str = name) -> None:
            call.progress((done + fraction) / count, f"{name}: {message}")

        call.go_on()
        report(0.0, "planning")
        try:
            own = replace(call, budget_s=share_s, progress=report)
            run = _recovered(scenario, name, request.seed, own, {})
        except ReknitError as error:
            rows.append(ComparisonRow(planner=name, problem=problem_of(error)))
        else:
            rows.append(ComparisonRow(planner=name, recovery=recovery_model(run, request.frames)))
    call.go_on()
    bounds_s = [lower_bound(scenario, _limits(share_s, call)).bound_s]
    bounds_s += [
        row.recovery.plan.lower_bound_s for row in rows if row.recovery and row.recovery.plan
    ]
    return Comparison(lower_bound_s=max(bounds_s), rows=rows).model_dump_json()


def bound_task(body: bytes, call: Call) -> str:
    """POST /v1/bounds."""
    scenario = scenario_of(BoundRequest.model_validate_json(body).scenario)
    certificate = lower_bound(scenario, _limits(call.budget_s, call))
    result = Bound(bound_s=certificate.bound_s, certificate=certificate_file(certificate))
    return result.model_dump_json()


def verification_task(body: bytes, call: Call) -> str:
    """POST /v1/verifications."""
    request = VerificationRequest.model_validate_json(body)
    scenario = scenario_of(request.scenario)
    try:
        plan_of(request.plan).verify(scenario)
    except (InvalidPlan, ValueError) as error:
        return Verification(valid=False, reason=str(error)).model_dump_json()
    return Verification(valid=True).model_dump_json()


def generation_task(body: bytes, call: Call) -> str:
    """POST /v1/scenarios."""
    request = GenerationRequest.model_validate_json(body)
    scenario = generate(**request.model_dump(exclude_unset=True))
    return scenario_file(scenario).model_dump_json()


TASKS: dict[str, Task] = {
    "plans": plan_task,
    "recoveries": recovery_task,
    "comparisons": comparison_task,
    "bounds": bound_task,
    "verifications": verification_task,
    "scenarios": generation_task,
}


def _limits(budget_s: float | None, call: Call) -> Context:
    return Context(budget=Budget(budget_s), progress=call.progress, cancel=call.stop)


def _recovered(
    scenario: Scenario, planner: str, seed: int, call: Call, parameters: Mapping[str, Any]
) -> Run:
    """What `recover` does, but with a deadline that ends the planning and not the flight: a plan
    that came at the last moment is still flown to its end.
    """
    try:
        answer = plan(
            scenario,
            planner,
            seed=seed,
            budget_s=call.budget_s,
            progress=call.progress,
            cancel=call.stop,
            **_as_keywords(parameters),
        )
    except NoPlan:  # it steers
        return recover(
            scenario,
            planner,
            seed=seed,
            progress=call.progress,
            cancel=call.cancel,
            **_as_keywords(parameters),
        )
    call.go_on()
    flight = fly(scenario, answer, progress=call.progress, cancel=call.cancel)
    call.go_on()
    metrics = measure(scenario, flight, answer)
    return Run(scenario, planner, answer, flight, metrics, answer.compute_s)


def recovery_model(run: Run, frames: int | None) -> Recovery:
    """A run as it is sent, its flight thinned to so many instants."""
    return Recovery(
        planner=run.planner,
        compute_s=run.compute_s,
        plan=None if run.plan is None else plan_file(run.plan),
        provenance=None if run.plan is None else _provenance(run.plan),
        flight=flight_file(run.flight, frames),
        metrics=run.metrics,
    )


def _provenance(plan: Plan) -> Provenance:
    names = Provenance.model_fields.keys() - {"cut_short"}
    cut_short = plan.status is Status.DEADLINE
    return Provenance(cut_short=cut_short, **{name: getattr(plan, name) for name in names})


def flight_file(flight: Flight, frames: int | None) -> FlightFile:
    """A flight as it is sent; its first and last instants are always among the chosen ones."""
    steps = len(flight.times_s)
    chosen = np.arange(steps)
    if frames is not None and frames < steps:
        chosen = np.unique(np.linspace(0, steps - 1, frames).round().astype(np.int64))
    return FlightFile(
        times_s=flight.times_s[chosen].tolist(),
        positions_m=flight.positions[chosen].tolist(),
        subnets=flight.subnets[chosen].tolist(),
        largest_subnet=flight.largest_subnet[chosen].tolist(),
        reconnected_at_s=flight.reconnected_at_s,
        reconnected_at_step_s=flight.reconnected_at_step_s,
        path_lengths_m=flight.path_lengths_m.tolist(),
    )


def _check_parameters(planner: str, parameters: dict[str, Any]) -> None:
    """Refuse what must not reach `recover`: its own arguments, and files of the server."""
    for name in _OWN & parameters.keys():
        raise InvalidParameter(
            f"{planner}.{name}", parameters[name], "the planner's own parameters"
        )
    if not parameters:  # most requests; reading the entry points takes as long as many a plan
        return
    entry = registered().get(planner.split("+")[0])
    if entry is None:
        return
    factory = entry.load()
    fields = dataclasses.fields(factory) if dataclasses.is_dataclass(factory) else ()
    for field in fields:
        value = parameters.get(field.name)
        if "Path" in str(field.type) and value is not None and value not in _SHIPPED_WEIGHTS:
            allowed = f"{' or '.join(_SHIPPED_WEIGHTS)}; files cannot be named in a request"
            raise InvalidParameter(f"{planner}.{field.name}", value, allowed)
