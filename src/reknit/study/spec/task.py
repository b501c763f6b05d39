"""`Task`: one run of a study, planner and scenario, and the key that it is known by."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache
from typing import Any

from reknit.algorithms.registry import resolved
from reknit.base.types import JsonDict
from reknit.study.library.instances import instance
from reknit.study.spec.cases import CASE_COLUMNS
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
        return {name: _cell(getattr(self, name)) for name in CASE_COLUMNS}

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


def _cell(value: Any) -> Any:
    """A property of a case as the results file holds it."""
    if not isinstance(value, (tuple, dict)):
        return value
    return json.dumps(value, sort_keys=isinstance(value, dict)) if value else None


@lru_cache(maxsize=1024)
def _planner_facts(planner: str, parameters: str, uavs: int | None, dim: int) -> JsonDict:
    """What decides a planner's results. It takes milliseconds, and a study has thousands of runs
    of a dozen planners; `forget_planners` begins afresh.
    """
    return resolved(planner, json.loads(parameters), uavs, dim)


def forget_planners() -> None:
    """Have keys made from now on see planners and weights as they are now."""
    _planner_facts.cache_clear()
