"""`Study`: an experiment described as data, in TOML or in Python.

A study is a grid: every planner on every case, repeated with other seeds. Comparisons are paired:
all planners see the same scenarios.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reknit.algorithms.registry import build
from reknit.errors import ReknitError, UnknownName, UnreadableFile
from reknit.files import read_text
from reknit.scenario.damage import DAMAGE_MODELS
from reknit.scenario.generate import LAYOUTS
from reknit.study.library.instances import instances
from reknit.study.task import Task

Count = Annotated[int, Field(ge=1)]
PROFILES = ("quick", "paper")
BUILT_IN_FOLDER = Path(__file__).parent / "builtin"


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PlannerSpec(_Model):
    """A planner of a study, with the name it has in tables."""

    name: str
    label: str = ""
    parameters: dict[str, Any] = {}
    budget_s: Annotated[float, Field(ge=0)] | None = None

    @property
    def shown(self) -> str:
        """The label, or the name if there is none."""
        return self.label or self.name


class CaseSpec(_Model):
    """A grid of scenarios; a list stands for each of its values."""

    uavs: Annotated[int, Field(ge=2)] | list[Annotated[int, Field(ge=2)]] = 200
    destroyed: int | float | list[int | float] = 0.5
    layout: str | list[str] = "uniform"
    damage: str | list[str] = "random"
    dim: Literal[2, 3] = 2
    strikes: list[tuple[float, int]] = []
    families: list[str] = []

    def kinds(self) -> list[dict[str, Any]]:
        """The scenarios of the grid, as fields of a task; instances of the library instead, if
        families of it are named.
        """
        if self.families:
            return [
                {
                    "instance": one.name,
                    "uavs": one.recipe["uavs"],
                    "destroyed": one.recipe["destroyed"],
                    "layout": one.recipe.get("layout", "uniform"),
                    "damage": one.recipe.get("damage", "random"),
                    "dim": one.recipe.get("dim", 2),
                }
                for one in instances().values()
                if one.family in self.families
            ]
        return [
            {
                "uavs": uavs,
                "destroyed": destroyed,
                "layout": layout,
                "damage": damage,
                "dim": self.dim,
            }
            for uavs, destroyed, layout, damage in product(
                _each(self.uavs), _each(self.destroyed), _each(self.layout), _each(self.damage)
            )
        ]


class ViewSpec(_Model):
    """One figure or table of the report."""

    kind: Literal["table", "lines", "bars", "degrees", "curves", "maps"]
    title: str = ""
    x: str = "uavs"
    y: str = "charged_time_s"
    only: dict[str, Any] = {}


class ProfileSpec(_Model):
    """What a profile changes: fewer repetitions, smaller swarms, fewer planners."""

    repetitions: Count | None = None
    max_uavs: Annotated[int, Field(ge=2)] | None = None
    destroyed: list[int | float] | None = None
    planners: list[str] | None = None


class Study(_Model):
    """An experiment: planners x cases x repetitions, and how to report it."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
    title: str = ""
    about: str = ""
    seed: Annotated[int, Field(ge=0)] = 0
    repetitions: Count = 50
    planner: Annotated[list[PlannerSpec], Field(min_length=1)]
    case: Annotated[list[CaseSpec], Field(min_length=1)]
    view: list[ViewSpec] = []
    profile: dict[Literal["quick", "paper"], ProfileSpec] = {}

    def fingerprint(self) -> str:
        """Identifies what is run; titles, views and the number of repetitions do not count."""
        told = self.model_dump(mode="json", include={"name", "seed", "planner", "case", "profile"})
        for profile in told["profile"].values():
            profile.pop("repetitions")
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]

    def tasks(self, profile: str = "paper") -> list[Task]:
        """Every run of the study under a profile, in a fixed order: repetition by repetition,
        so that an early look at the results has some of everything.
        """
        if profile not in PROFILES:
            raise UnknownName("profile", profile, PROFILES)
        limits = self.profile.get(profile, ProfileSpec())  # type: ignore[call-overload]
        planners = [
            planner
            for planner in self.planner
            if limits.planners is None or planner.shown in limits.planners
        ]
        return [
            Task(
                planner=planner.name,
                label=planner.shown,
                parameters=planner.parameters,
                budget_s=planner.budget_s,
                strikes=tuple(case.strikes),
                repetition=repetition,
                seed=self.seed + repetition,
                **kind,
            )
            for repetition in range(limits.repetitions or self.repetitions)
            for case in self.case
            for kind in case.kinds()
            if limits.max_uavs is None or kind["uavs"] <= limits.max_uavs
            if limits.destroyed is None or kind["destroyed"] in limits.destroyed
            for planner in planners
        ]

    def with_planners(self, names: list[str]) -> Study:
        """The same study with these planners instead, under a name of its own."""
        planners = [PlannerSpec(name=name) for name in names]
        suffix = "-".join(re.sub(r"[^a-z0-9]+", "-", name.lower()) for name in names)
        profiles = {
            name: profile.model_copy(update={"planners": None})
            for name, profile in self.profile.items()
        }
        return self.model_copy(
            update={"planner": planners, "name": f"{self.name}-{suffix}", "profile": profiles}
        )


def load_study(name: str | Path) -> Study:
    """A built-in study by its name, or the study of a .toml file."""
    path = Path(name)
    if path.suffix != ".toml":
        known = built_in_studies()
        if str(name) not in known:
            raise UnknownName("study", str(name), known)
        path = BUILT_IN_FOLDER / f"{name}.toml"
    text = read_text(path)
    try:
        study = Study.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise UnreadableFile(f"{path}: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = tuple(first["loc"])
        line = line_of(text, where)
        dotted = ".".join(str(part) for part in where)
        raise UnreadableFile(
            f"{path}: line {line}: {dotted} is {first.get('input')!r}; {first['msg']}"
        ) from None
    _check_names(study, path, text)
    return study


def built_in_studies() -> list[str]:
    """Names of the studies that come with the package."""
    return sorted(path.stem for path in BUILT_IN_FOLDER.glob("*.toml"))


def line_of(text: str, where: tuple[int | str, ...]) -> int:
    """The line of a TOML text that holds a value, as near as a scan of headers and keys tells."""
    keys = [part for part in where if isinstance(part, str)]
    index = next((part for part in where if isinstance(part, int)), 0)
    found, section, seen = 1, "", -1
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[+\s*([\w.\-]+)\s*\]+", line)
        if header:
            section = header.group(1)
            seen += section == (keys[0] if keys else "")
            if keys and section == keys[0] and seen == index:
                found = number
            continue
        key = re.match(r"\s*([\w\-]+)\s*=", line)
        if not key or not keys:
            continue
        here = key.group(1) == keys[-1] or key.group(1) in keys[1:]
        in_section = section.split(".")[0] == keys[0] and seen == max(index, 0)
        if here and (in_section or (section == "" and keys[0] == key.group(1))):
            return number
        if section == "" and key.group(1) == keys[0]:
            return number
    return found


def _check_names(study: Study, path: Path, text: str) -> None:
    """Planners and their parameters, layouts and damages must exist."""
    for number, planner in enumerate(study.planner):
        try:
            build(planner.name, planner.parameters)
        except ReknitError as error:
            line = line_of(text, ("planner", number, "name"))
            raise UnreadableFile(f"{path}: line {line}: {error}") from error
    families = {one.family for one in instances().values()}
    for number, case in enumerate(study.case):
        for family in case.families:
            if family not in families:
                line = line_of(text, ("case", number, "families"))
                told = UnknownName("family", family, sorted(families))
                raise UnreadableFile(f"{path}: line {line}: {told}")
        for field, known in (("layout", LAYOUTS), ("damage", tuple(DAMAGE_MODELS))):
            for value in _each(getattr(case, field)):
                if value not in known:
                    line = line_of(text, ("case", number, field))
                    told = UnknownName(field, value, known)
                    raise UnreadableFile(f"{path}: line {line}: {told}")


def _each(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
