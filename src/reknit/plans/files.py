"""Plans in JSON files, exact both ways.

A file holds what a plan claims, all of which the checker computes again, and nothing else: how the
plan came about cannot be checked, so it stands elsewhere (``metrics.json``, a study's store).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reknit.base.errors import InvalidPlan, UnreadableFile
from reknit.base.faults import plain_error
from reknit.base.files import checked_path, parse_json, read_text, write_text
from reknit.base.types import IntArray
from reknit.base.values import is_finite
from reknit.plans.certificate import (
    FOLLOWS,
    Bundle,
    Certificate,
    Clash,
    Lemma,
    Parting,
    Winding,
)
from reknit.plans.plan import Plan
from reknit.plans.status import Status

_Row = Annotated[int, Field(ge=-1, lt=2**62)]
"""A row of the survivors, the number of a clash, or -1."""

_First = Annotated[int, Field(ge=FOLLOWS, lt=2**62)]
"""The first end of a link; negative numbers begin the other rows of cases."""


_End = Annotated[int, Field(gt=-(2**62), lt=2**62)]
"""The second end of a link, the number of a clash, or what kind of cut ends a case."""


class _ClashFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    links: list[tuple[_Row, _Row]]
    forces: list[list[float]]


class _BundleFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    weight: _Row
    nodes: list[_Row] = []
    links: list[tuple[_Row, _Row]] = []


class _PartingFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    cases: list[tuple[_Row, _End]]
    cuts: list[tuple[_End, _End]]
    clashes: list[_ClashFile]


class _LemmaFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    used: list[tuple[_Row, _Row]] = []
    unused: list[tuple[_Row, _Row]] = []
    cases: list[tuple[_First, _End]]


class _WindingFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    gaps: list[_Row]
    straight_rad: float
    weights: list[_Row]


class CertificateFile(BaseModel):
    """The JSON form of a certificate."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    bound_s: float
    trial_s: float
    cases: list[tuple[_First, _End]]
    clashes: list[_ClashFile]
    lost: _Row | None
    apart: tuple[_Row, _Row] | None
    pulls: list[list[float]] | None = None
    hole: list[float] | None = None
    windings: list[_WindingFile] = []
    crowd: list[_Row] | None = None
    bundles: list[_BundleFile] = []
    parting: _PartingFile | None = None
    lemmas: list[_LemmaFile] = []


class PlanFile(BaseModel):
    """The JSON form of a plan, version 2. (Version 1 held claims that nobody can check.)"""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    format: Literal["reknit-plan"] = "reknit-plan"
    status: str
    recovery_time_s: float
    lower_bound_s: float
    gap: float | None
    targets_m: list[list[float]]
    certificate: CertificateFile
    version: Literal[2] = 2
    uavs: list[int | str]


def plan_file(plan: Plan) -> PlanFile:
    """The JSON form of a plan; that its time was over is how it came about.

    Raises
    ------
    InvalidPlan
        No file can hold the plan, such as one with a target that is not a number.
    """
    if not isinstance(plan.status, Status):
        raise InvalidPlan(f"status is {plan.status!r}; allowed: a reknit.Status")
    for name, time_s in (
        ("recovery_time_s", plan.recovery_time_s),
        ("lower_bound_s", plan.lower_bound_s),
    ):
        if not is_finite(time_s):  # nor has such a plan a gap
            raise InvalidPlan(f"{name} is {time_s!r}; allowed: a finite number")
    _check_named(plan)
    try:
        return PlanFile(
            status=_shown(plan.status).value,
            recovery_time_s=plan.recovery_time_s,
            lower_bound_s=plan.lower_bound_s,
            gap=_finite_gap(plan),
            uavs=list(plan.uavs),
            targets_m=plan.targets.tolist(),
            certificate=certificate_file(plan.certificate),
        )
    except ValidationError as error:
        raise InvalidPlan(plain_error(error, PlanFile)) from None


def _check_named(plan: Plan) -> None:
    """Refuse targets that do not say whose they are: they would fit any swarm of the size."""
    if len(plan.uavs) != len(plan.targets):
        allowed = f"{len(plan.targets)}, one for each target"
        raise InvalidPlan(f"uavs is a list of {len(plan.uavs)}; allowed: {allowed}")


def plan_json(plan: Plan) -> str:
    """The text of a plan file."""
    return plan_file(plan).model_dump_json(indent=1) + "\n"


def save_plan(plan: Plan, path: str | Path) -> None:
    """Write a plan; nothing is left behind if that fails."""
    write_text(checked_path("path", path), plan_json(plan))


def load_plan(path: str | Path) -> Plan:
    """Read a plan. It is as good as its file: `Plan.verify` checks it against a scenario."""
    return parse_plan(read_text(checked_path("path", path)), str(path))


def parse_plan(text: str, path: str) -> Plan:
    """The plan of a text; `path` is where it comes from, for the error."""
    try:
        parse_json(path, text)  # which refuses a key that is there twice
        return plan_of(PlanFile.model_validate_json(text))
    except ValidationError as error:
        raise UnreadableFile(f"{path}: {plain_error(error, PlanFile)}") from None
    except ValueError as error:
        raise UnreadableFile(f"{path}: {error}") from None


def _shown(status: Status) -> Status:
    """The status as a file has it."""
    return Status.FEASIBLE if status is Status.DEADLINE else status


def plan_of(model: PlanFile) -> Plan:
    """The plan that a JSON form describes; ValueError if there is none, `InvalidPlan` if what it
    says of itself does not agree.
    """
    known = [status.value for status in Status if _shown(status) is status]
    if model.status not in known:
        raise ValueError(f"status is {model.status!r}; allowed: {', '.join(known)}")
    targets = np.asarray(model.targets_m, dtype=np.float64)
    if targets.ndim != 2:
        raise ValueError("targets_m is not a list of rows of numbers")
    certificate = certificate_of(model.certificate)
    targets.setflags(write=False)
    plan = Plan(
        targets=targets,
        status=Status(model.status),
        recovery_time_s=model.recovery_time_s,
        certificate=certificate,
        uavs=tuple(model.uavs),
    )
    _check_named(plan)
    # Written for people who read the file; what they read must be what the plan says.
    if model.lower_bound_s != plan.lower_bound_s:
        raise InvalidPlan(
            f"lower_bound_s is {model.lower_bound_s!r}, its certificate's {plan.lower_bound_s!r}"
        )
    if model.gap is not None and not plan.status.is_connected:
        status = plan.status.value
        raise InvalidPlan(f"gap is {model.gap!r}, but the status is {status!r}, which has none")
    if model.gap != _finite_gap(plan):
        raise InvalidPlan(f"gap is {model.gap!r}, that of time and bound {_finite_gap(plan)!r}")
    return plan


def _finite_gap(plan: Plan) -> float | None:
    return plan.gap if np.isfinite(plan.gap) else None


def certificate_file(certificate: Certificate) -> CertificateFile:
    """The JSON form of a certificate."""
    parting = certificate.parting
    return CertificateFile(
        bound_s=certificate.bound_s,
        trial_s=certificate.trial_s,
        cases=_pairs(certificate.cases),
        clashes=_clash_files(certificate.clashes),
        lost=certificate.lost,
        apart=certificate.apart,
        pulls=None if certificate.pulls is None else certificate.pulls.tolist(),
        hole=None if certificate.hole is None else certificate.hole.tolist(),
        windings=[
            _WindingFile(
                gaps=winding.gaps.tolist(),
                straight_rad=winding.straight_rad,
                weights=winding.weights.tolist(),
            )
            for winding in certificate.windings
        ],
        crowd=None if certificate.crowd is None else certificate.crowd.tolist(),
        bundles=[
            _BundleFile(
                weight=bundle.weight, nodes=bundle.nodes.tolist(), links=_pairs(bundle.links)
            )
            for bundle in certificate.bundles
        ],
        parting=None
        if parting is None
        else _PartingFile(
            cases=_pairs(parting.cases),
            cuts=_pairs(parting.cuts),
            clashes=_clash_files(parting.clashes),
        ),
        lemmas=[
            _LemmaFile(
                used=_pairs(lemma.used), unused=_pairs(lemma.unused), cases=_pairs(lemma.cases)
            )
            for lemma in certificate.lemmas
        ],
    )


def _clash_files(clashes: tuple[Clash, ...]) -> list[_ClashFile]:
    return [
        _ClashFile(links=_pairs(clash.links), forces=clash.forces.tolist()) for clash in clashes
    ]


def _clashes(files: list[_ClashFile]) -> tuple[Clash, ...]:
    return tuple(
        Clash(_rows(clash.links), np.asarray(clash.forces, dtype=np.float64)) for clash in files
    )


def _pairs(rows: IntArray) -> list[tuple[int, int]]:
    return [(int(i), int(j)) for i, j in rows]


def _rows(pairs: list[tuple[int, int]]) -> IntArray:
    return np.asarray(pairs, dtype=np.int64).reshape(-1, 2)


def certificate_of(model: CertificateFile) -> Certificate:
    """The certificate that a JSON form describes; ValueError if there is none."""
    parting = model.parting
    return Certificate(
        bound_s=model.bound_s,
        trial_s=model.trial_s,
        cases=_rows(model.cases),
        clashes=_clashes(model.clashes),
        lost=model.lost,
        apart=model.apart,
        pulls=None if model.pulls is None else np.asarray(model.pulls, dtype=np.float64),
        hole=None if model.hole is None else np.asarray(model.hole, dtype=np.float64),
        windings=tuple(
            Winding(
                np.asarray(winding.gaps, dtype=np.int64),
                winding.straight_rad,
                np.asarray(winding.weights, dtype=np.int64),
            )
            for winding in model.windings
        ),
        crowd=None if model.crowd is None else np.asarray(model.crowd, dtype=np.int64),
        bundles=tuple(
            Bundle(bundle.weight, np.asarray(bundle.nodes, dtype=np.int64), _rows(bundle.links))
            for bundle in model.bundles
        ),
        parting=None
        if parting is None
        else Parting(_rows(parting.cases), _rows(parting.cuts), _clashes(parting.clashes)),
        lemmas=tuple(
            Lemma(_rows(lemma.used), _rows(lemma.unused), _rows(lemma.cases))
            for lemma in model.lemmas
        ),
    )
