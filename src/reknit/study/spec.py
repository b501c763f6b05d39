"""`Study`: an experiment described as data, in TOML or in Python.

A study is a grid: every planner on every case, repeated with other seeds. Comparisons are paired:
all planners see the same scenarios.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Sequence
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
from reknit.study.lines import line_of
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

    kind: Literal["lines", "bars", "dots", "degrees", "curves", "training", "subnets", "maps"]
    title: str = ""
    x: str = "uavs"
    y: str = "charged_time_s"
    log: bool = False
    only: dict[str, Any] = {}


class FewerSpec(_Model):
    """Fewer repetitions of costly runs: those of some planners (of all, if none is named) on
    swarms of at least so many UAVs. None at all for 0.
    """

    repetitions: Annotated[int, Field(ge=0)]
    planners: list[str] = []
    from_uavs: Annotated[int, Field(ge=2)] = 2

    def covers(self, label: str, uavs: int) -> bool:
        """Whether it holds for a planner on a swarm of this size."""
        return uavs >= self.from_uavs and (not self.planners or label in self.planners)


class ProfileSpec(_Model):
    """What a profile changes: fewer repetitions, smaller swarms, fewer planners."""

    repetitions: Count | None = None
    max_uavs: Annotated[int, Field(ge=2)] | None = None
    destroyed: list[int | float] | None = None
    planners: list[str] | None = None
    fewer: list[FewerSpec] = []


class Study(_Model):
    """An experiment: planners x cases x repetitions, and how to report it."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
    title: str = ""
    about: str = ""
    differences: str = ""
    seed: Annotated[int, Field(ge=0)] = 0
    repetitions: Count = 50
    planner: Annotated[list[PlannerSpec], Field(min_length=1)]
    case: Annotated[list[CaseSpec], Field(min_length=1)]
    view: list[ViewSpec] = []
    profile: dict[Literal["quick", "paper"], ProfileSpec] = {}

    def fingerprint(self) -> str:
        """Identifies what can be run: labels, titles and views do not count, nor which part of
        the runs a profile asks for.
        """
        told = self.model_dump(mode="json", include={"name", "seed", "planner", "case"})
        for planner in told["planner"]:
            planner.pop("label")
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]

    def tasks(self, profile: str = "paper") -> list[Task]:
        """Every run of the study under a profile, in a fixed order: repetition by repetition,
        so that an early look at the results has some of everything.
        """
        if profile not in PROFILES:
            raise UnknownName("profile", profile, PROFILES)
        limits: ProfileSpec = self.profile.get(profile, ProfileSpec())  # type: ignore[call-overload]
        most = limits.repetitions or self.repetitions

        def repetitions(label: str, uavs: int) -> int:
            if limits.planners is not None and label not in limits.planners:
                return 0
            fewer = (one.repetitions for one in limits.fewer if one.covers(label, uavs))
            return min(most, *fewer, most)

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
            for repetition in range(most)
            for case in self.case
            for kind in case.kinds()
            if limits.max_uavs is None or kind["uavs"] <= limits.max_uavs
            if limits.destroyed is None or kind["destroyed"] in limits.destroyed
            for planner in self.planner
            if repetition < repetitions(planner.shown, kind["uavs"])
        ]

    def fault(self) -> tuple[ReknitError, tuple[int | str, ...]] | None:
        """What is wrong with a name in it, and where: planners and their parameters, layouts,
        damages, families and labels must exist.
        """
        for number, planner in enumerate(self.planner):
            try:
                build(planner.name, planner.parameters)
            except ReknitError as error:
                return error, ("planner", number, "name")
        for field, value, known, where in self._names():
            if value not in known:
                return UnknownName(field, value, known), where
        return None

    def _names(self) -> Iterator[tuple[str, str, Sequence[str], tuple[int | str, ...]]]:
        """(what it is, name, names there are, where) of everything that is named."""
        families = sorted({one.family for one in instances().values()})
        known = {"families": families, "layout": LAYOUTS, "damage": tuple(DAMAGE_MODELS)}
        for number, case in enumerate(self.case):
            for field, names in known.items():
                for value in _each(getattr(case, field)):
                    yield field, value, names, ("case", number, field)
        labels = [planner.shown for planner in self.planner]
        for profile, limits in self.profile.items():
            for value in limits.planners or []:
                yield "planner", value, labels, ("profile", profile, "planners")
            for number, fewer in enumerate(limits.fewer):
                for value in fewer.planners:
                    yield (
                        "planner",
                        value,
                        labels,
                        ("profile", profile, "fewer", number, "planners"),
                    )

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
    fault = study.fault()
    if fault is not None:
        told, where = fault
        raise UnreadableFile(f"{path}: line {line_of(text, where)}: {told}") from told
    return study


def built_in_studies() -> list[str]:
    """Names of the studies that come with the package."""
    return sorted(path.stem for path in BUILT_IN_FOLDER.glob("*.toml"))


def _each(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
