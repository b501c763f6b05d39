"""`Study`: an experiment described as data, in TOML or in Python.

A study is a grid: every planner on every case, repeated with other seeds. Comparisons are paired:
all planners see the same scenarios.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr, ValidationError

from reknit.algorithms.registry import build
from reknit.base.errors import (
    InvalidParameter,
    InvalidStudy,
    MissingExtra,
    ReknitError,
    UnknownName,
    UnreadableFile,
)
from reknit.base.faults import Location, first_fault, plain_error
from reknit.base.files import checked_path, read_text
from reknit.base.values import check_known
from reknit.study.library.instances import instances
from reknit.study.spec.base import Count, SpecPart
from reknit.study.spec.cases import CaseSpec
from reknit.study.spec.profiles import PlannerSpec, ProfileSpec
from reknit.study.spec.task import Task, forget_planners
from reknit.study.spec.toml_lines import line_of
from reknit.study.spec.views import ROW_COLUMNS, ViewSpec
from reknit.swarm.damage import DAMAGE_MODELS
from reknit.swarm.layouts import LAYOUTS

PROFILES = ("quick", "paper")
BUILT_IN_FOLDER = Path(__file__).parent.parent / "builtin"


MAX_SEED = 2**62
"""So that seed + repetition fits the 64 bits of a results file's column."""


class Study(SpecPart):
    """An experiment: planners x cases x repetitions, and how to report it.

    Parameters
    ----------
    name
        Small letters, digits and hyphens.
    title, about, differences
        Prose of the report; ``differences`` may hold numbers from the runs, such as
        ``{charged_time_s | ml-dagl | uavs=200}``.
    seed
        Of the first repetition; each further one counts up.
    repetitions
        Scenarios of each kind.
    planner, case, view
        Who is compared on what, and which figures show it.
    profile
        What "quick" and "paper" leave out.
    """

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
    title: str = ""
    about: str = ""
    differences: str = ""
    seed: Annotated[int, Field(ge=0, le=MAX_SEED, strict=True)] = 0
    repetitions: Count = 50
    planner: Annotated[list[PlannerSpec], Field(min_length=1)]
    case: Annotated[list[CaseSpec], Field(min_length=1)]
    view: list[ViewSpec] = Field(default_factory=list)
    profile: dict[Literal["quick", "paper"], ProfileSpec] = Field(default_factory=dict)
    _called: str = PrivateAttr("")
    _folder: Path = PrivateAttr(Path())

    @classmethod
    def of(cls, fields: Mapping[str, Any], folder: str | Path = ".") -> Study:
        """A study from plain values, as a .toml file holds them.

        Parameters
        ----------
        fields
            By name, as above; lists and tables as lists and dictionaries.
        folder
            Where the names of scenario files count from.

        Returns
        -------
        Study
            Checked as `fault` does.

        Raises
        ------
        ReknitError
            If something in it is wrong; names the field, the value and what is allowed.
        """
        if not isinstance(fields, Mapping):
            raise InvalidParameter("study", fields, "a table of names and values")
        try:
            study = cls.model_validate(dict(fields))
        except ValidationError as error:
            raise InvalidStudy(plain_error(error, cls)) from None
        study._folder = checked_path("folder", folder)
        fault = study.fault()
        if fault is not None:
            raise fault[0]
        return study

    @property
    def called(self) -> str:
        """What stands after `reknit study run` to run it."""
        return self._called or self.name

    def fingerprint(self) -> str:
        """Identifies what can be run: labels, titles and views do not count, nor which part of
        the runs a profile asks for.
        """
        asked = self.model_dump(
            mode="json", include={"name", "seed", "planner", "case"}, exclude_defaults=True
        )
        for planner in asked["planner"]:
            planner.pop("label", None)
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]

    def tasks(self, profile: str = "paper") -> list[Task]:
        """Every run of the study under a profile.

        Their order is fixed: repetition by repetition, so that an early look at the results has
        some of everything.

        Parameters
        ----------
        profile
            "quick" or "paper".

        Returns
        -------
        list of Task
            Each run once; the same profile gives the same list.

        Raises
        ------
        UnknownName
            If there is no such profile.
        """
        check_known("profile", profile, PROFILES)
        forget_planners()
        limits: ProfileSpec = self.profile.get(profile, ProfileSpec())  # type: ignore[call-overload]
        most = limits.repetitions or self.repetitions

        def repetitions(label: str, uavs: int, destroyed: float) -> int:
            if limits.planners is not None and label not in limits.planners:
                return 0
            fewer = (f.repetitions for f in limits.fewer if f.covers(label, uavs, destroyed))
            return min(most, *fewer, most)

        kinds = [kind for case in self.case for kind in case.kinds(self._folder)]
        return [
            Task(
                planner=planner.name,
                label=planner.shown,
                parameters=planner.parameters,
                budget_s=planner.budget_s,
                repetition=repetition,
                seed=self.seed + repetition,
                **kind,
            )
            for repetition in range(most)
            for kind in kinds
            if limits.max_uavs is None or kind["uavs"] <= limits.max_uavs
            if limits.destroyed is None or kind["destroyed"] in limits.destroyed
            for planner in self.planner
            if repetition < repetitions(planner.shown, kind["uavs"], kind["destroyed"])
        ]

    def fault(self, *, of_planners: bool = True) -> tuple[ReknitError, Location] | None:
        """What is wrong with it beyond its form, and where: planners and their parameters,
        layouts, damages, families, demands, labels, axes and filters must exist.

        Parameters
        ----------
        of_planners
            Whether to make the planners, which loads the libraries of the learned ones.

        Returns
        -------
        tuple of ReknitError and Location, or None
            The first fault and the keys that lead to it, such as ``("planner", 0, "name")``; None
            if there is none.
        """
        for number, planner in enumerate(self.planner if of_planners else ()):
            try:
                build(planner.name, planner.parameters)
            except MissingExtra:
                continue  # a study may be listed without the libraries that run it
            except ReknitError as error:
                key = "name" if isinstance(error, UnknownName) else "parameters"
                return error, ("planner", number, key)
        for field, value, known, where in self._names():
            if value not in known:
                return UnknownName(field, value, known), where
        for number, case in enumerate(self.case):
            key = "destroyed"
            try:
                case.check_kind()
                case.check_losses()
                key = "demands"
                case.check_demands()
                key = "scenarios"
                kinds = list(case.kinds(self._folder))
                key = "strikes"
                case.check_strikes(kinds)
            except ReknitError as error:
                field = getattr(error, "field", key)
                return error, ("case", number, field if field in CaseSpec.model_fields else key)
        return self._fault_of_views()

    def _names(self) -> Iterator[tuple[str, str, Sequence[str], Location]]:
        """(what it is, name, names there are, where) of everything that is named."""
        families = sorted({named.family for named in instances().values()})
        known = {"families": families, "layout": tuple(LAYOUTS), "damage": tuple(DAMAGE_MODELS)}
        for number, case in enumerate(self.case):
            for field, names in known.items():
                for value in getattr(case, field):
                    yield field, value, names, ("case", number, field)
        labels = [planner.shown for planner in self.planner]
        for profile, limits in self.profile.items():
            location: Location = ("profile", profile)
            for value in limits.planners or []:
                yield "planner", value, labels, (*location, "planners")
            for number, fewer in enumerate(limits.fewer):
                for value in fewer.planners:
                    yield "planner", value, labels, (*location, "fewer", number, "planners")

    def _fault_of_views(self) -> tuple[ReknitError, Location] | None:
        parameters = sorted({name for planner in self.planner for name in planner.parameters})
        values: dict[str, set[Any]] = {name: set() for name in ROW_COLUMNS}
        for task in self.tasks():
            for name, value in {**task.identity, **task.case}.items():
                values[name].add(value)
        for number, view in enumerate(self.view):
            fault = view.fault(parameters, values)
            if fault is not None:
                return fault[0], ("view", number, fault[1])
        return None

    def with_planners(self, names: Sequence[str]) -> Study:
        """The same study with other planners, under a name of its own.

        What the study says of its own planners is left out: labels, parameters, prose and the
        figures that show them.

        Parameters
        ----------
        names
            As of `reknit.planners`, combined by plus signs.

        Returns
        -------
        Study
            Not checked yet; `fault` tells of names that do not exist.
        """
        is_list = isinstance(names, Sequence) and not isinstance(names, str)
        if not is_list or not names or not all(isinstance(name, str) for name in names):
            raise InvalidParameter("names", names, "a list of planners' names")
        planners = [PlannerSpec(name=name) for name in names]
        suffix = "-".join(re.sub(r"[^a-z0-9]+", "-", name.lower()) for name in names)
        profiles = {
            name: profile.model_copy(
                update={"planners": None, "fewer": [f for f in profile.fewer if not f.planners]}
            )
            for name, profile in self.profile.items()
        }
        # Views choose among the study's own labels and parameters, which are gone.
        views = [
            view.model_copy(update={"only": {k: v for k, v in view.only.items() if k != "label"}})
            for view in self.view
            if view.x in ROW_COLUMNS
        ]
        other: dict[str, Any] = {
            "planner": planners,
            "name": f"{self.name}-{suffix}",
            "profile": profiles,
        }
        other["view"] = views
        # The prose is about the study's own planners.
        study = self.model_copy(update={**other, "differences": ""})
        study._called = f"{self.called} --planner {','.join(names)}"
        study._folder = self._folder
        return study


def check_study(value: object) -> None:
    """Raise `InvalidParameter` unless it is a `Study`; the name of one is none yet."""
    if not isinstance(value, Study):
        raise InvalidParameter("study", value, "a reknit.Study")


def _parse_toml(path: Path, text: str) -> dict[str, Any]:
    """The tables of a TOML text; a typed error if it is none."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise UnreadableFile(f"{path}: nested too deeply") from None
    except ValueError as error:  # not TOML, or a number of thousands of digits
        raise UnreadableFile(f"{path}: {error}") from None


def load_study(name: str | Path, *, with_planners: bool = True) -> Study:
    """A built-in study by its name, or the study of a .toml file.

    Parameters
    ----------
    name
        One of the built-in studies, or a path that ends in ``.toml``.
    with_planners
        Whether its planners are made and their parameters checked. A list of studies does
        without, since the learned planners take seconds to load.

    Returns
    -------
    Study
        Checked; names of scenario files in it count from the file's folder.

    Raises
    ------
    UnknownName
        If there is no such study.
    UnreadableFile
        If the file is missing or wrong; names the line, the value and what is allowed.
    """
    path = checked_path("study", name)
    if path.suffix != ".toml":
        known = built_in_studies()
        if str(name) not in known:
            raise UnknownName("study", str(name), known)
        path = BUILT_IN_FOLDER / f"{name}.toml"
    text = read_text(path)
    try:
        data = _parse_toml(path, text)
        study = Study.model_validate(data)
    except ValidationError as error:
        location, wrong = first_fault(error, Study)
        named = ".".join(map(str, location))
        wrong = wrong.replace(named, ".".join(map(str, _written(location, data))), 1)
        raise UnreadableFile(f"{path}: line {line_of(text, location)}: {wrong}") from None
    study._folder = path.parent
    fault = study.fault(of_planners=with_planners)
    if fault is not None:
        fault_error, where = fault
        raise UnreadableFile(f"{path}: line {line_of(text, where)}: {fault_error}") from fault_error
    if Path(name).suffix == ".toml":
        study._called = path.name
    return study


def _written(location: Location, data: Any) -> Location:
    """The part of a location that the text itself has: a single value is the item of no list."""
    for depth, key in enumerate(location):
        if not isinstance(data, (dict, list)):
            return location[:depth]
        try:
            data = data[key]  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            return location[: depth + 1]
    return location


def built_in_studies() -> list[str]:
    """Names of the studies that come with the package."""
    return sorted(path.stem for path in BUILT_IN_FOLDER.glob("*.toml"))
