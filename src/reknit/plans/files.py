"""Plans in JSON files, exact both ways."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from reknit.errors import UnreadableFile
from reknit.files import plain_error, read_text, write_text
from reknit.plans.certificate import Certificate
from reknit.plans.plan import Plan
from reknit.plans.status import Status


class _CertificateFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    bound_s: float
    cut: list[int]


class PlanFile(BaseModel):
    """The JSON form of a plan, version 1."""

    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal["reknit-plan"] = "reknit-plan"
    version: Literal[1] = 1
    planner: str
    status: str
    recovery_time_s: float
    lower_bound_s: float
    gap: float | None
    compute_s: float
    seed: int
    parameters: dict[str, Any]
    versions: dict[str, str]
    details: dict[str, Any]
    targets_m: list[list[float]]
    certificate: _CertificateFile


def plan_json(plan: Plan) -> str:
    """The text of a plan file."""
    certificate = plan.certificate
    model = PlanFile(
        planner=plan.planner,
        status=plan.status.value,
        recovery_time_s=plan.recovery_time_s,
        lower_bound_s=plan.lower_bound_s,
        gap=plan.gap if np.isfinite(plan.gap) else None,
        compute_s=plan.compute_s,
        seed=plan.seed,
        parameters=plan.parameters,
        versions=plan.versions,
        details=plan.details,
        targets_m=plan.targets.tolist(),
        certificate=_CertificateFile(bound_s=certificate.bound_s, cut=certificate.cut.tolist()),
    )
    return model.model_dump_json(indent=1) + "\n"


def save_plan(plan: Plan, path: str | Path) -> None:
    """Write a plan; nothing is left behind if that fails."""
    write_text(Path(path), plan_json(plan))


def load_plan(path: str | Path) -> Plan:
    """Read a plan. It is as good as its file: `Plan.verify` checks it against a scenario."""
    path = Path(path)
    try:
        model = PlanFile.model_validate_json(read_text(path))
        status = Status(model.status)
        targets = np.asarray(model.targets_m, dtype=np.float64)
        if targets.ndim != 2:
            raise ValueError("targets_m is not a list of rows of numbers")
    except ValidationError as error:
        raise UnreadableFile(f"{path}: {plain_error(error)}") from None
    except ValueError as error:
        raise UnreadableFile(f"{path}: {error}") from None
    targets.setflags(write=False)
    return Plan(
        targets=targets,
        status=status,
        recovery_time_s=model.recovery_time_s,
        certificate=Certificate(
            model.certificate.bound_s, np.asarray(model.certificate.cut, dtype=np.int64)
        ),
        compute_s=model.compute_s,
        planner=model.planner,
        seed=model.seed,
        parameters=model.parameters,
        versions=model.versions,
        details=model.details,
    )
