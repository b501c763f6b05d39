"""One run of a study: what to do, and doing it."""

from __future__ import annotations

import hashlib
import json
import traceback
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache

import numpy as np

from reknit.algorithms.registry import resolved
from reknit.base.types import JsonDict
from reknit.exact.proof.bounds import lower_bound
from reknit.flight.flight import Flight
from reknit.knowledge.repeated import recover_repeatedly
from reknit.recovery.runs import recover
from reknit.study.library.instances import instance
from reknit.study.measures import RunFacts, figures_of
from reknit.study.run.track import packed
from reknit.study.spec.cases import strike_of
from reknit.swarm.files import ScenarioFile, scenario_of
from reknit.swarm.generate import generate, number_lost
from reknit.swarm.scenario import Scenario


@dataclass(frozen=True)
class Task:
    """One planner on one scenario. Plain values, so that it can travel to another machine.

    Parameters
    ----------
    planner, label, parameters, budget_s
        The planner, and what it is called in tables.
    repetition, seed
        Which repetition of the case, and the seed of scenario and planner.
    uavs, destroyed, layout, damage, dim, radio_range_m, max_speed_mps, density_per_km2
        As of `reknit.generate`; None for its default.
    layout_seeds
        The repetitions have these layouts in turn; none: each has one of its own.
    instance
        Name of an instance of the library, which is then the scenario.
    scenario_file, scenario_json
        Name and content of a scenario file, which is then the scenario.
    demands
        Further fields of the scenario.
    max_acceleration_mps2
        Inertia in flight; None neglects it.
    strikes
        Further losses during the recovery, as keyword arguments of `Strike`.
    """

    planner: str
    label: str
    parameters: JsonDict
    budget_s: float | None
    repetition: int
    seed: int
    uavs: int
    destroyed: int | float
    layout: str | None
    damage: str | None
    dim: int
    instance: str | None = None
    scenario_file: str | None = None
    scenario_json: str | None = None
    radio_range_m: float | None = None
    max_speed_mps: float | None = None
    density_per_km2: float | None = None
    layout_seeds: tuple[int, ...] = ()
    max_acceleration_mps2: float | None = None
    demands: JsonDict = field(default_factory=dict)
    strikes: tuple[JsonDict, ...] = ()

    @cached_property
    def key(self) -> str:
        """The same for the same work, whatever it is called in tables.

        The planner counts with every parameter that it would run with and with the weights that
        it has for swarms of this size, so that a stored run does not stand for one with other
        defaults.
        """
        given = {item.name: getattr(self, item.name) for item in fields(self)}
        for name in ("label", "planner", "parameters"):
            del given[name]
        if self.instance is None and self.scenario_json is None:
            # Half of 200 and 100 of 200 are the same swarm.
            given["destroyed"] = number_lost(self.destroyed, self.uavs)
        # What is not set does not count: a new field leaves the keys of older studies alone.
        settled = {name: value for name, value in given.items() if value not in (None, {}, ())}
        # Further strikes may leave a swarm of another size to plan for.
        uavs = None if self.strikes else self.uavs
        settled["planner"] = _planner_facts(
            self.planner, json.dumps(self.parameters), uavs, self.dim
        )
        text = json.dumps(settled, sort_keys=True, default=list)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    @property
    def identity(self) -> JsonDict:
        """Planner, label, seed and repetition."""
        return {
            "label": self.label,
            "planner": self.planner,
            "seed": self.seed,
            "repetition": self.repetition,
        }

    @property
    def case(self) -> JsonDict:
        """The properties of the scenario, one per column of `CASE_COLUMNS`; those that hold
        several values as JSON text, None where nothing is set.
        """
        return {
            "uavs": self.uavs,
            "destroyed": self.destroyed,
            "layout": self.layout,
            "damage": self.damage,
            "dim": self.dim,
            "layout_seeds": json.dumps(self.layout_seeds) if self.layout_seeds else None,
            "instance": self.instance,
            "scenario_file": self.scenario_file,
            "radio_range_m": self.radio_range_m,
            "max_speed_mps": self.max_speed_mps,
            "density_per_km2": self.density_per_km2,
            "max_acceleration_mps2": self.max_acceleration_mps2,
            "demands": json.dumps(self.demands, sort_keys=True) if self.demands else None,
            "strikes": json.dumps(self.strikes) if self.strikes else None,
        }

    def scenario(self) -> Scenario:
        """The swarm and its damage; the same for every planner of the study."""
        if self.instance is not None:
            return instance(self.instance).scenario()
        if self.scenario_json is not None:
            return scenario_of(ScenarioFile.model_validate_json(self.scenario_json))
        named = ("layout", "damage", "radio_range_m", "max_speed_mps", "density_per_km2")
        given = {name: getattr(self, name) for name in named if getattr(self, name) is not None}
        if self.layout_seeds:
            given["layout_seed"] = self.layout_seeds[self.repetition % len(self.layout_seeds)]
        return generate(
            self.uavs,
            self.destroyed,
            self.seed,
            dim=self.dim,
            split=True,
            **given,
            **self.demands,
        )


@lru_cache(maxsize=1024)
def _planner_facts(planner: str, parameters: str, uavs: int | None, dim: int) -> JsonDict:
    """What decides a planner's results. It takes milliseconds, and a study has thousands of runs
    of a dozen planners; `forget_planners` begins afresh.
    """
    return resolved(planner, json.loads(parameters), uavs, dim)


def forget_planners() -> None:
    """Have keys made from now on see planners and weights as they are now."""
    _planner_facts.cache_clear()


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
