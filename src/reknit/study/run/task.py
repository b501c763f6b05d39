"""One run of a study: what to do, and doing it."""

from __future__ import annotations

import hashlib
import json
import sys
import traceback
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from reknit.algorithms.registry import build
from reknit.base.types import JsonDict
from reknit.flight.flight import Flight
from reknit.recovery.repeated import Strike, recover_repeatedly
from reknit.recovery.runs import Run, recover
from reknit.study.library.instances import instance
from reknit.swarm.generate import generate
from reknit.swarm.scenario import Scenario

_KEPT = ["planner", "label", "uavs", "layout", "damage", "dim", "repetition", "seed", "instance"]


@dataclass(frozen=True)
class Task:
    """One planner on one scenario. Plain values, so that it can travel to another machine."""

    planner: str
    label: str
    parameters: JsonDict
    budget_s: float | None
    uavs: int
    destroyed: int | float
    layout: str
    damage: str
    dim: int
    strikes: tuple[tuple[float, int], ...]
    repetition: int
    seed: int
    instance: str | None = None

    @staticmethod
    def of(row: JsonDict) -> Task:
        """The task of a stored run, strikes aside."""
        lost = row["destroyed"]
        kept = {name: row[name] for name in _KEPT}
        return Task(
            **kept,
            parameters=row["parameters"] or {},
            budget_s=None,
            destroyed=int(lost) if lost >= 1 else lost,
            strikes=(),
        )

    @property
    def key(self) -> str:
        """The same for the same work, whatever it is called in tables."""
        told = asdict(self)
        del told["label"]
        text = json.dumps(told, sort_keys=True, default=list)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def scenario(self) -> Scenario:
        """The swarm and its damage; the same for every planner of the study."""
        if self.instance is not None:
            return instance(self.instance).scenario()
        return generate(
            self.uavs,
            self.destroyed,
            self.seed,
            layout=self.layout,
            damage=self.damage,
            dim=self.dim,
            split=True,
        )

    def recover(self) -> Run:
        """Plan, fly and measure."""
        self.take_one_thread()
        return recover(
            self.scenario(),
            self.planner,
            seed=self.seed,
            budget_s=self.budget_s,
            **self.parameters,
        )

    def take_one_thread(self) -> None:
        """A run has one thread, wherever it is run: several at a time do not fight over cores,
        and sums come out the same with any number of workers and on any machine.
        """
        build(self.planner, self.parameters)  # loads the neural network library, if it is needed
        torch: Any = sys.modules.get("torch")
        if torch is not None:
            torch.set_num_threads(1)


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
    told = f"{type(error).__name__}: {error}"
    trace = "".join(traceback.format_exception(error, limit=-3))
    return {"key": task.key, "ok": False, "error": told + "\n" + trace}


def _single(task: Task) -> JsonDict:
    run = task.recover()
    scenario = run.scenario
    metrics = run.metrics.as_dict()
    plan = run.plan
    bound_s = None if plan is None else plan.lower_bound_s
    details: JsonDict = {} if plan is None else plan.details
    return {
        **{name: metrics[name] for name in MEASURES if name in metrics},
        "degree_distribution": metrics["degree_distribution"],
        "status": None if plan is None else plan.status.value,
        "lower_bound_s": bound_s if bound_s is not None else _bound_s(scenario),
        "allowed_time_s": scenario.allowed_time_s,
        "compute_s": run.compute_s,
        "details": {**details, "subnets": _subnets(run.flight)},
    }


def _subnets(flight: Flight) -> list[list[float]]:
    """N_s over time: [instant, number from then on], where it changes, and the end."""
    count = flight.subnets
    change = np.flatnonzero(np.diff(count, prepend=-1))
    steps = [[round(float(flight.times_s[at]), 3), int(count[at])] for at in change]
    return [*steps, [round(flight.duration_s, 3), int(count[-1])]]


def _repeated(task: Task) -> JsonDict:
    scenario = task.scenario()
    task.take_one_thread()
    strikes = [Strike(time_s, count) for time_s, count in task.strikes]
    run = recover_repeatedly(
        scenario,
        task.planner,
        strikes,
        seed=task.seed,
        budget_s=task.budget_s,
        **task.parameters,
    )
    at = run.reconnected_at_s
    last = run.phases[-1].metrics
    return {
        "converged": at is not None,
        "flown_time_s": at,
        "charged_time_s": scenario.allowed_time_s if at is None else at,
        "mean_degree": last.mean_degree,
        "max_degree": last.max_degree,
        "path_length_m": sum(phase.metrics.path_length_m for phase in run.phases),
        "degree_distribution": last.degree_distribution,
        "allowed_time_s": scenario.allowed_time_s,
        "compute_s": run.compute_s,
        "details": {"replans": run.replans, "connected_share": run.connected_share},
    }


MEASURES = (
    "converged",
    "planned_time_s",
    "flown_time_s",
    "step_time_s",
    "charged_time_s",
    "mean_degree",
    "max_degree",
    "path_length_m",
    "longest_path_m",
    "coverage_before",
    "coverage_after",
    "min_separation_m",
    "subnets_before",
    "subnets_after",
)


def _bound_s(scenario: Scenario) -> float:
    from reknit.exact.proof.bounds import lower_bound

    return lower_bound(scenario).bound_s
