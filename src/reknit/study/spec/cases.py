"""`CaseSpec`: the scenarios of a study, as a grid, from files or from the instance library."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator
from pydantic_core import PydanticCustomError

from reknit.base.errors import InvalidParameter, InvalidScenario, UnknownName
from reknit.base.types import JsonDict
from reknit.recovery.repeated import Strike
from reknit.study.library.instances import instances
from reknit.study.spec.base import AboveZero, OneOrMore, SpecPart, Uavs
from reknit.swarm.demands import demand_fields
from reknit.swarm.files import ScenarioFile, load_scenario, scenario_file
from reknit.swarm.generate import DEFAULT_DESTROYED, DEFAULT_UAVS, number_lost, share_lost
from reknit.swarm.scenario import Scenario
from reknit.swarm.validation import rows


@dataclass(frozen=True)
class CaseColumn:
    """A property of a case: its type in the results file and its name at an axis."""

    kind: type
    axis: str


CASE_COLUMNS = {
    "uavs": CaseColumn(int, "swarm size $N$"),
    "destroyed": CaseColumn(float, "destroyed UAVs $N_D$"),
    "layout": CaseColumn(str, "layout"),
    "damage": CaseColumn(str, "damage"),
    "dim": CaseColumn(int, "dimensions"),
    "layout_seeds": CaseColumn(str, "layouts"),
    "instance": CaseColumn(str, "instance"),
    "scenario_file": CaseColumn(str, "scenario"),
    "radio_range_m": CaseColumn(float, "radio range $d_{tr}$ (m)"),
    "max_speed_mps": CaseColumn(float, "speed limit $v_{max}$ (m/s)"),
    "density_per_km2": CaseColumn(float, "UAVs per km$^2$"),
    "max_acceleration_mps2": CaseColumn(float, "acceleration limit (m/s$^2$)"),
    "demands": CaseColumn(str, "demands"),
    "strikes": CaseColumn(str, "strikes"),
}
"""What tells one kind of case from another, in the order of the results file's columns."""


def _lost(value: Any) -> int | float:
    """A number of UAVs or a ratio below 1, as `generate` takes it."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    is_ratio = isinstance(value, float) and value < 1
    if not (is_whole or is_ratio) or not math.isfinite(value) or value < 0:
        raise PydanticCustomError("lost", "a whole number, or a ratio below 1")
    lost: int | float = value
    return lost


def _strike(value: Any) -> JsonDict:
    """A further loss as keyword arguments of `Strike`; ``[seconds, UAVs]`` is short for two."""
    allowed = {item.name: item.default is MISSING for item in fields(Strike)}
    given = dict(zip(("time_s", "count"), value, strict=False)) if _is_pair(value) else value
    if not isinstance(given, dict) or not set(given) <= set(allowed) or "time_s" not in given:
        keys = ", ".join(allowed)
        raise PydanticCustomError("strike", f"[seconds, UAVs] or a table of {keys}")
    try:
        strike_of(given)
    except (TypeError, ValueError) as error:
        raise PydanticCustomError("strike", "{told}", {"told": str(error)}) from None
    return given


def strike_of(given: JsonDict) -> Strike:
    """The further loss that plain values describe; lists become tuples."""
    values: JsonDict = {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }
    return Strike(**values)


def _is_pair(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 2


Lost = Annotated[int | float, PlainValidator(_lost)]
StrikeFields = Annotated[JsonDict, PlainValidator(_strike)]


def _names(scenario_json: str | None) -> tuple[str, ...] | None:
    """What the UAVs of a scenario file are called; None where rows are the ids."""
    if scenario_json is None:
        return None
    names = ScenarioFile.model_validate_json(scenario_json).names
    return None if names is None else tuple(names)


class CaseSpec(SpecPart):
    """A grid of scenarios; a list stands for each of its values.

    Parameters
    ----------
    uavs, destroyed, layout, damage, dim, radio_range_m, max_speed_mps, density_per_km2
        As of `reknit.generate`, with its defaults.
    layout_seeds
        As ``layout_seed`` of `reknit.generate`: the repetitions take these layouts in turn, with
        a damage of their own each. Left out: every repetition has a layout of its own.
    demands
        Fields of `reknit.Scenario` that ask for more than links, such as ``connectivity``.
    max_acceleration_mps2
        Inertia in flight; neglected if left out.
    strikes
        Further losses during the recovery: ``[seconds, UAVs]``, or tables with the fields of
        `reknit.Strike`.
    families
        Instances of the library instead of the grid.
    scenarios
        Scenario files instead of the grid, relative to the study's own file.
    """

    uavs: Annotated[list[Uavs], *OneOrMore] = Field(default_factory=lambda: [DEFAULT_UAVS])
    destroyed: Annotated[list[Lost], *OneOrMore] = Field(
        default_factory=lambda: [DEFAULT_DESTROYED]
    )
    layout: Annotated[list[str], *OneOrMore] = Field(default_factory=lambda: ["uniform"])
    damage: Annotated[list[str], *OneOrMore] = Field(default_factory=lambda: ["random"])
    dim: Literal[2, 3] = 2
    radio_range_m: Annotated[list[AboveZero], *OneOrMore] | None = None
    max_speed_mps: Annotated[list[AboveZero], *OneOrMore] | None = None
    density_per_km2: Annotated[list[AboveZero], *OneOrMore] | None = None
    layout_seeds: Annotated[list[Annotated[int, Field(ge=0)]], *OneOrMore] = Field(
        default_factory=list
    )
    max_acceleration_mps2: AboveZero | None = None
    demands: JsonDict = Field(default_factory=dict)
    strikes: list[StrikeFields] = Field(default_factory=list)
    families: Annotated[list[str], *OneOrMore] = Field(default_factory=list)
    scenarios: Annotated[list[str], *OneOrMore] = Field(default_factory=list)

    def kinds(self, folder: Path) -> Iterator[JsonDict]:
        """The scenarios, as fields of a `Task`.

        Parameters
        ----------
        folder
            Where the names of scenario files count from.

        Yields
        ------
        dict
            Names and values of the fields, one scenario's at a time.
        """
        for kind in self._scenarios(folder):
            yield {
                **kind,
                "max_acceleration_mps2": self.max_acceleration_mps2,
                "demands": self.demands,
                "strikes": tuple(self.strikes),
            }

    def _scenarios(self, folder: Path) -> Iterator[JsonDict]:
        if self.families:
            for named in instances().values():
                if named.family in self.families:
                    recipe = named.recipe
                    yield {
                        "instance": named.name,
                        "uavs": recipe["uavs"],
                        "destroyed": recipe["destroyed"],
                        "layout": recipe.get("layout", "uniform"),
                        "damage": recipe.get("damage", "random"),
                        "dim": recipe.get("dim", 2),
                    }
        elif self.scenarios:
            for name in self.scenarios:
                yield self._from_file(folder, name)
        else:
            axes: list[Sequence[Any]] = [getattr(self, name) or [None] for name in GRID]
            for values in product(*axes):
                grid = dict(zip(GRID, values, strict=True))
                yield {**grid, "dim": self.dim, "layout_seeds": tuple(self.layout_seeds)}

    def _from_file(self, folder: Path, name: str) -> JsonDict:
        changed = {
            field: values[0]
            for field, values in (
                ("radio_range_m", self.radio_range_m),
                ("max_speed_mps", self.max_speed_mps),
            )
            if values
        }
        scenario = load_scenario(folder / name, **changed, **self.demands)
        return {
            "scenario_file": name,
            "scenario_json": scenario_file(scenario).model_dump_json(),
            "uavs": scenario.uavs,
            "destroyed": len(scenario.destroyed),
            "layout": None,
            "damage": None,
            "dim": scenario.dim,
            **changed,
        }

    def check_kind(self) -> None:
        """Raise if what describes a grid stands beside the files or families in its place."""
        instead = "families" if self.families else "scenarios" if self.scenarios else ""
        if self.families and self.scenarios:
            raise InvalidParameter("scenarios", self.scenarios, "none beside families")
        if not instead:
            return
        of_files = ("radio_range_m", "max_speed_mps") if self.scenarios else ()
        for name in (*GRID, "dim", "layout_seeds"):
            if name in self.model_fields_set and name not in of_files:
                raise InvalidParameter(name, getattr(self, name), f"none beside {instead}")

    def check_losses(self) -> None:
        """Raise if the grid has a swarm that loses all its UAVs."""
        for uavs, destroyed in product(self.uavs, self.destroyed):
            is_ratio = isinstance(destroyed, float)
            count = share_lost(destroyed, uavs) if is_ratio else destroyed
            if count >= uavs and not (self.families or self.scenarios):
                allowed = f"fewer than the {uavs} UAVs of a swarm"
                raise InvalidParameter("destroyed", destroyed, allowed)

    def check_strikes(self, kinds: Iterable[JsonDict]) -> None:
        """Raise if a strike is impossible in one of the scenarios, whatever else is lost there.

        Parameters
        ----------
        kinds
            What `kinds` yields.
        """
        struck = [strike_of(given) for given in self.strikes]
        at_random = sum(strike.count or 0 for strike in struck)
        for kind in kinds if struck else ():
            uavs, names = kind["uavs"], _names(kind.get("scenario_json"))
            survivors = uavs - number_lost(kind["destroyed"], uavs)
            if at_random >= survivors:
                allowed = f"fewer in all than the {survivors} survivors of a swarm of {uavs}"
                raise InvalidParameter("strikes", at_random, allowed)
            for strike in struck:
                if len(rows("strikes", strike.uavs, uavs, names)) == uavs:
                    raise InvalidParameter("strikes", f"all {uavs} UAVs", "at least one survivor")
                if strike.centre_m is not None and len(strike.centre_m) != kind["dim"]:
                    allowed = f"centre_m with {kind['dim']} numbers"
                    raise InvalidParameter("strikes", list(strike.centre_m), allowed)

    def check_demands(self) -> None:
        """Raise if a demand is none, or has a value that no scenario can have."""
        known = tuple(demand_fields())
        for name in self.demands:
            if name not in known:
                raise UnknownName("demand", name, known)
        if self.demands and not (self.families or self.scenarios):
            # A line of as many UAVs as the smallest swarm: only the demands can be at fault.
            row = [[float(place), 0.0, 0.0][: self.dim] for place in range(min(self.uavs))]
            range_m = min(self.radio_range_m) if self.radio_range_m else None
            Scenario(row, (), range_m, **self.demands)
        if self.demands and self.families:
            raise InvalidScenario("demands", self.demands, "none with families: those are frozen")


GRID = (
    *("uavs", "destroyed", "layout", "damage"),
    *("radio_range_m", "max_speed_mps", "density_per_km2"),
)
"""The axes of a grid; the last three may be left at the generator's defaults."""
