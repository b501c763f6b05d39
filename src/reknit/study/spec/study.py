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
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, PrivateAttr, ValidationError

from reknit.algorithms.registry import build
from reknit.base.errors import ReknitError, UnknownName, UnreadableFile
from reknit.base.files import first_fault, read_text
from reknit.study.library.instances import instances
from reknit.study.run.task import Task
from reknit.study.spec.parts import CaseSpec, Count, Model, PlannerSpec, ProfileSpec, ViewSpec, each
from reknit.study.spec.toml_lines import line_of
from reknit.swarm.damage import DAMAGE_MODELS
from reknit.swarm.generate import LAYOUTS

PROFILES = ("quick", "paper")
BUILT_IN_FOLDER = Path(__file__).parent.parent / "builtin"


class Study(Model):
    """An experiment: planners x cases x repetitions, and how to report it."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
    title: str = ""
    about: str = ""
    differences: str = ""
    seed: Annotated[int, Field(ge=0)] = 0
    repetitions: Count = 50
    planner: Annotated[list[PlannerSpec], Field(min_length=1)]
    case: Annotated[list[CaseSpec], Field(min_length=1)]
    view: list[ViewSpec] = Field(default_factory=list)
    profile: dict[Literal["quick", "paper"], ProfileSpec] = Field(default_factory=dict)
    _called: str = PrivateAttr("")

    @property
    def called(self) -> str:
        """What stands after `reknit study run` to run it."""
        return self._called or self.name

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
                for value in each(getattr(case, field)):
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
        other = {"planner": planners, "name": f"{self.name}-{suffix}", "profile": profiles}
        # The prose is about the study's own planners.
        study = self.model_copy(update={**other, "differences": ""})
        study._called = f"{self.called} --planner {','.join(names)}"
        return study


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
        place, wrong = first_fault(error)
        raise UnreadableFile(f"{path}: line {line_of(text, place)}: {wrong}") from None
    fault = study.fault()
    if fault is not None:
        told, where = fault
        raise UnreadableFile(f"{path}: line {line_of(text, where)}: {told}") from told
    if Path(name).suffix == ".toml":
        study._called = path.name
    return study


def built_in_studies() -> list[str]:
    """Names of the studies that come with the package."""
    return sorted(path.stem for path in BUILT_IN_FOLDER.glob("*.toml"))
