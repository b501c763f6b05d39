"""Bodies of requests and responses. Scenarios, plans and certificates are the files' own models."""

from __future__ import annotations

from enum import StrEnum
from inspect import signature
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from reknit.algorithms.registry import DEFAULT_PLANNER
from reknit.base.version import VERSION
from reknit.flight.metrics import Metrics
from reknit.plans.files import CertificateFile, PlanFile
from reknit.serve.problems import Problem
from reknit.swarm.damage import DAMAGE_MODELS
from reknit.swarm.files import ScenarioFile
from reknit.swarm.generate import generate
from reknit.swarm.layouts import LAYOUTS
from reknit.swarm.radio import DEFAULT_RANGE_M

if TYPE_CHECKING:
    ScenarioModel: TypeAlias = Any  # its fields are those of the demands, known when it runs
else:
    ScenarioModel = ScenarioFile

_LARGEST_SEED = 2**63 - 1
Seed = Annotated[int, Field(ge=0, le=_LARGEST_SEED, description="Of everything random.")]
Name = Annotated[str, Field(min_length=1, max_length=120)]
BudgetS = Annotated[
    float | None,
    Field(ge=0, description="Seconds of computing; the best so far is returned after that."),
]
Frames = Annotated[
    int | None, Field(ge=2, description="Instants of the flight to return; None: every step.")
]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


_BROKEN: dict[str, Any] = {
    "positions_m": [[0, 0], [90, 10], [180, 0], [270, 10], [360, 0]],
    "destroyed": [2],
    "radio_range_m": 120,
}


def _example(**fields: Any) -> ConfigDict:
    return ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [fields]})


class PlanRequest(_Request):
    """A scenario and who shall plan its recovery."""

    model_config = _example(scenario=_BROKEN, planner="certified")

    scenario: ScenarioModel
    planner: Name = Field(DEFAULT_PLANNER, description="See /v1/planners; combine by a plus sign.")
    seed: Seed = 0
    budget_s: BudgetS = None
    parameters: dict[str, JsonValue] = Field({}, description="The planner's own parameters.")


class RecoveryRequest(PlanRequest):
    """A scenario and who shall plan or steer its recovery, which is then flown."""

    model_config = _example(scenario=_BROKEN, planner="hero", frames=3)

    frames: Frames = None


class ComparisonRequest(_Request):
    """A scenario and the planners to run on it."""

    model_config = _example(scenario=_BROKEN, planners=["certified", "hero"], frames=2)

    scenario: ScenarioModel
    planners: list[Name] = Field(min_length=1, max_length=16)
    seed: Seed = 0
    budget_s: BudgetS = None
    frames: Frames = None


class BoundRequest(_Request):
    """A scenario whose fastest possible recovery is to be bounded."""

    model_config = _example(scenario=_BROKEN)

    scenario: ScenarioModel
    budget_s: BudgetS = None


class VerificationRequest(_Request):
    """A plan, and the scenario to hold it against."""

    scenario: ScenarioModel
    plan: PlanFile


_DEFAULTS = {name: field.default for name, field in signature(generate).parameters.items()}


class GenerationRequest(_Request):
    """Which swarm to generate and how to damage it; the defaults are those of `reknit.generate`."""

    model_config = _example(uavs=50, destroyed=20, seed=7)

    uavs: int = Field(_DEFAULTS["uavs"], ge=2)
    destroyed: int | float | list[int] = Field(
        _DEFAULTS["destroyed"], description="A number, a ratio below 1, or the ids themselves."
    )
    seed: Seed = _DEFAULTS["seed"]
    layout: str = Field(_DEFAULTS["layout"], json_schema_extra={"enum": list(LAYOUTS)})
    damage: str = Field(_DEFAULTS["damage"], json_schema_extra={"enum": list(DAMAGE_MODELS)})
    split: bool = Field(
        _DEFAULTS["split"], description="Redraw the damage until it splits the swarm."
    )
    dim: int = Field(_DEFAULTS["dim"], ge=2, le=3)
    density_per_km2: float = Field(_DEFAULTS["density_per_km2"], gt=0)
    radio_range_m: float = Field(DEFAULT_RANGE_M, gt=0)
    max_speed_mps: float = Field(_DEFAULTS["max_speed_mps"], gt=0)
    layout_seed: Seed | None = Field(
        _DEFAULTS["layout_seed"], description="Of the layout alone; left out: the seed."
    )


class FlightFile(BaseModel):
    """A flight of the survivors, in the order of their ids."""

    times_s: list[float]
    positions_m: list[list[list[float]]] = Field(description="Time, survivor, coordinate.")
    subnets: list[int] = Field(description="N_s at each time.")
    largest_subnet: list[int]
    reconnected_at_s: float | None
    reconnected_at_step_s: float | None
    path_lengths_m: list[float]


class Provenance(BaseModel):
    """How a plan came about; none of it can be checked, so plan files do not hold it."""

    planner: str
    seed: int | None
    parameters: dict[str, Any]
    versions: dict[str, str]
    details: dict[str, Any]
    cut_short: bool = Field(description="Whether the time was over before the search was.")
    compute_s: float = Field(description="What the planner took, without bound and check.")
    timings_s: dict[str, float] = Field(description="What loading, bound, planner and check took.")


class Planned(BaseModel):
    """A plan, as in plan.json, and how it came about."""

    plan: PlanFile
    provenance: Provenance


class Recovery(BaseModel):
    """One recovery: planned (None for planners that steer), flown and measured."""

    planner: str
    compute_s: float
    plan: PlanFile | None
    provenance: Provenance | None
    flight: FlightFile
    metrics: Metrics


class ComparisonRow(BaseModel):
    """What one planner made of the scenario, or why it could not."""

    planner: str
    recovery: Recovery | None = None
    problem: Problem | None = None


class Comparison(BaseModel):
    """Several planners on one scenario."""

    lower_bound_s: float
    rows: list[ComparisonRow]


class Bound(BaseModel):
    """No plan takes less than this, and what proves it."""

    bound_s: float
    certificate: CertificateFile


class Verification(BaseModel):
    """Whether every claim of a plan holds, and if not, which does not."""

    valid: bool
    reason: str | None = None


def _answer_example(**fields: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [fields]})


class PlannerRow(BaseModel):
    """One planner as it is listed."""

    model_config = _answer_example(
        name="gcn",
        summary="Graph convolution, one of the peers",
        steers=False,
        polishes=False,
        ready=True,
        needs="learn",
    )

    name: str
    summary: str
    steers: bool = Field(description="It steers at every step and makes no plan.")
    polishes: bool = Field(description="It can stand after a plus sign.")
    ready: bool = Field(description="What it needs is installed.")
    needs: str | None = Field(description="The extra it needs.")


class Planners(BaseModel):
    """Every planner of this service."""

    model_config = _answer_example(
        planners=PlannerRow.model_json_schema()["examples"], default=DEFAULT_PLANNER
    )

    planners: list[PlannerRow]
    default: str


class JobState(StrEnum):
    """Where a job is."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Preview(BaseModel):
    """What a planner at work has so far; any part may be missing."""

    targets_m: list[list[float]] | None = Field(
        None, description="Where the survivors would fly, in the order of their ids."
    )
    recovery_time_s: float | None = Field(None, description="Of the best plan so far.")
    lower_bound_s: float | None = Field(None, description="No plan is faster: proved so far.")


class JobStatus(BaseModel):
    """A job and how far it is."""

    model_config = _answer_example(
        id="mW9r0qX1cV3b5n7L8kJ2hg",
        operation="plans",
        state="running",
        fraction=0.4,
        message="proving",
        preview={"recovery_time_s": 3.2, "lower_bound_s": 2.9},
    )

    id: str
    operation: str
    state: JobState
    fraction: float = Field(description="How much is done, 0 to 1.")
    message: str
    preview: Preview | None = Field(None, description="While a planner tells what it has.")
    problem: Problem | None = None


class Health(BaseModel):
    """Whether the service takes work, and its limits."""

    model_config = _answer_example(
        status="ok",
        version=VERSION,
        workers=2,
        workers_ready=2,
        busy=1,
        waiting=0,
        queue=64,
        max_uavs=10_000,
        max_body_bytes=16 * 2**20,
        max_budget_s=60.0,
    )

    status: str = Field(description="ok or draining.")
    version: str
    workers: int
    workers_ready: int
    busy: int
    waiting: int
    queue: int
    max_uavs: int
    max_body_bytes: int
    max_budget_s: float
