"""`recover`: plan or steer, fly, and measure, with any planner."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from reknit.algorithms.protocols import SteeringPlanner, TargetPlanner
from reknit.algorithms.registry import DEFAULT_PLANNER
from reknit.base.context import Cancel, never
from reknit.base.display import Displayed
from reknit.base.errors import BrokenPlanner, InvalidParameter
from reknit.base.progress import Progress, silent
from reknit.base.types import FloatArray
from reknit.flight.controller import Controller
from reknit.flight.flight import Flight
from reknit.flight.metrics import Metrics, measure
from reknit.flight.simulator import fly
from reknit.network.links import count_subnets
from reknit.plans.plan import Plan
from reknit.recovery.planning import checked_plan, make_context, resolve
from reknit.swarm.demands import unmet_demands
from reknit.swarm.scenario import Scenario


@dataclass(frozen=True, eq=False)
class Run(Displayed):
    """One recovery: what was planned, flown and measured.

    Parameters
    ----------
    scenario
        What happened.
    planner
        The planner's name.
    plan
        None for planners that steer.
    flight
        What was flown.
    metrics
        What the paper measures of it, and more.
    compute_s
        Computing time of the planner, seconds: of the plan, or of the controller at every step.
    """

    scenario: Scenario
    planner: str
    plan: Plan | None
    flight: Flight
    metrics: Metrics
    compute_s: float

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader of this run must not overlook, in plain words; empty if nothing."""
        scenario, plan, at_s = self.scenario, self.plan, self.flight.reconnected_at_s
        texts: list[str] = []
        if plan is not None and not plan.status.is_connected:
            texts += plan.verify(scenario).unmet
        elif at_s is None and plan is not None and plan.recovery_time_s > scenario.allowed_time_s:
            texts.append(
                f"the plan takes {plan.recovery_time_s:.2f} s; "
                f"allowed_time_s is {scenario.allowed_time_s:g}"
            )
        if at_s is None and plan is None:
            texts += missed_demands(scenario, self.flight.positions[-1])
        wanted_m, kept_m = scenario.min_separation_m, self.flight.min_separation_m
        if kept_m < wanted_m:
            ends = " and is kept only at the end"
            texts.append(
                f"on the way {self._closest_two} come within {kept_m:.2f} m of each other; "
                f"min_separation_m is {wanted_m:g}"
                f"{ends if plan is not None and plan.status.is_connected else ''}"
            )
        return tuple(texts)

    @property
    def _closest_two(self) -> str:
        rows = self.flight.closest_rows
        if rows is None:
            return "two UAVs"
        first, second = (self.scenario.survivor_labels[row] for row in rows)
        return f"UAVs {first} and {second}"


def missed_demands(scenario: Scenario, positions: FloatArray) -> list[str]:
    """Which demands survivors miss where they ended, in plain words with their UAVs."""
    is_connected = count_subnets(positions, scenario.radio_range_m) == 1
    end = "connected in the end, but not as demanded" if is_connected else "not whole in the end"
    return [f"{end}: {fault}" for fault in unmet_demands(scenario, positions)]


def recover(
    scenario: Scenario,
    planner: str | TargetPlanner | SteeringPlanner = DEFAULT_PLANNER,
    *,
    seed: int = 0,
    budget_s: float | None = None,
    progress: Progress = silent,
    cancel: Cancel = never,
    max_acceleration_mps2: float | None = None,
    **parameters: Any,
) -> Run:
    """Plan or steer, fly, and measure, with any planner.

    Parameters
    ----------
    scenario
        The damaged swarm and what is demanded of its recovery.
    planner
        A name from `reknit.planners()`, combined by plus signs, or a planner object.
    seed
        The same seed gives the same run (when there is no budget).
    budget_s
        Wall time of the planning, seconds; planners that steer do not plan.
    progress
        Told how much is done (0 to 1) and what is being done.
    cancel
        Asked now and then; once it returns true, planning and flight end with what there is.
    max_acceleration_mps2
        Acceleration limit, metres per second squared; None neglects inertia, as the paper does.
    parameters
        The planner's own.

    Returns
    -------
    Run
        The plan if there is one, the flight and its measures. Where the swarm is not connected
        within the allowed time, the flight says so.
    """
    context = make_context(scenario, seed, budget_s, progress, cancel, None)
    name, built = resolve(planner, parameters)
    target_plan: Plan | None = None
    guide: Plan | TimedController
    if isinstance(built, TargetPlanner):
        guide = target_plan = checked_plan(scenario, name, built, context, parameters)
    else:
        started_s = time.perf_counter()
        controller: object = built.controller(scenario, context)
        if not callable(controller):
            kind = type(controller).__name__
            raise BrokenPlanner(name, f"made a controller that is {kind}; expected a function")
        guide = TimedController(controller)
        guide.compute_s = time.perf_counter() - started_s
    try:
        flight = fly(
            scenario,
            guide,
            max_acceleration_mps2=max_acceleration_mps2,
            progress=progress,
            cancel=cancel,
        )
    except InvalidParameter as fault:
        if fault.field != "controller":
            raise
        told = f"asked for {fault.value}; expected {fault.allowed}"
        raise BrokenPlanner(name, told) from None
    return Run(
        scenario, name, target_plan, flight, measure(scenario, flight, target_plan), guide.compute_s
    )


class TimedController:
    """A controller, and the time it took in all; the simulation around it does not count."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self.compute_s = 0.0

    def __call__(self, positions: FloatArray, time_s: float, step_s: float) -> FloatArray:
        started_s = time.perf_counter()
        velocities = self._controller(positions, time_s, step_s)
        self.compute_s += time.perf_counter() - started_s
        return velocities
