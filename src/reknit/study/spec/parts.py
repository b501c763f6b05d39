"""The parts that a study is described by: planners, cases, views and profiles."""

from __future__ import annotations

from itertools import product
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from reknit.study.library.instances import instances

Count = Annotated[int, Field(ge=1)]


def each(value: Any) -> list[Any]:
    """A list as it is, anything else as a list of itself."""
    return value if isinstance(value, list) else [value]


class Model(BaseModel):
    """Checked on creation, never changed, and without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PlannerSpec(Model):
    """A planner of a study, with the name it has in tables."""

    name: str
    label: str = ""
    parameters: dict[str, Any] = {}
    budget_s: Annotated[float, Field(ge=0)] | None = None

    @property
    def shown(self) -> str:
        """The label, or the name if there is none."""
        return self.label or self.name


class CaseSpec(Model):
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
                each(self.uavs), each(self.destroyed), each(self.layout), each(self.damage)
            )
        ]


class ViewSpec(Model):
    """One figure or table of the report."""

    kind: Literal["lines", "bars", "dots", "degrees", "curves", "training", "subnets", "maps"]
    title: str = ""
    x: str = "uavs"
    y: str = "charged_time_s"
    log: bool = False
    only: dict[str, Any] = {}


class FewerSpec(Model):
    """Fewer repetitions of costly runs: those of some planners (of all, if none is named) on
    swarms of at least so many UAVs. None at all for 0.
    """

    repetitions: Annotated[int, Field(ge=0)]
    planners: list[str] = []
    from_uavs: Annotated[int, Field(ge=2)] = 2

    def covers(self, label: str, uavs: int) -> bool:
        """Whether it holds for a planner on a swarm of this size."""
        return uavs >= self.from_uavs and (not self.planners or label in self.planners)


class ProfileSpec(Model):
    """What a profile changes: fewer repetitions, smaller swarms, fewer planners."""

    repetitions: Count | None = None
    max_uavs: Annotated[int, Field(ge=2)] | None = None
    destroyed: list[int | float] | None = None
    planners: list[str] | None = None
    fewer: list[FewerSpec] = []
