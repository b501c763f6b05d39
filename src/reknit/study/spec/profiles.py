"""Who takes part in a study, and how much of it a profile asks for."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from reknit.study.spec.base import Count, SpecPart, Uavs
from reknit.study.spec.cases import Lost


class PlannerSpec(SpecPart):
    """A planner of a study.

    Parameters
    ----------
    name
        As of `reknit.planners`, combined by plus signs.
    label
        What it is called in tables; its name if left out.
    parameters
        Its own; each left out has its default.
    budget_s
        Seconds that a plan may take; no limit if left out.
    """

    name: str
    label: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    budget_s: Annotated[float, Field(ge=0)] | None = None

    @property
    def shown(self) -> str:
        """The label, or the name if there is none."""
        return self.label or self.name


class FewerSpec(SpecPart):
    """Fewer repetitions of costly runs: those of some planners (of all, if none is named) on
    swarms of at least so many UAVs, at some damages (at all, if none is listed). None for 0.

    Parameters
    ----------
    repetitions
        How many of each at most.
    planners
        Labels of the planners that it is about; none: of all.
    from_uavs
        The smallest N that it is about.
    destroyed
        The N_D that it is about, as the cases have them; none: all.
    """

    repetitions: Annotated[int, Field(ge=0, strict=True)]
    planners: list[str] = Field(default_factory=list)
    from_uavs: Uavs = 2
    destroyed: list[Lost] = Field(default_factory=list)

    def covers(self, label: str, uavs: int, destroyed: float) -> bool:
        """Whether it holds for a planner on a swarm of this size under this damage.

        Parameters
        ----------
        label
            What the planner is called in the study.
        uavs
            N, the size of the swarm.
        destroyed
            N_D, a number or a share, as the case has it.

        Returns
        -------
        bool
            Whether fewer repetitions are run.
        """
        return (
            uavs >= self.from_uavs
            and (not self.planners or label in self.planners)
            and (not self.destroyed or destroyed in self.destroyed)
        )


class ProfileSpec(SpecPart):
    """What a profile changes: fewer repetitions, smaller swarms, fewer planners.

    Parameters
    ----------
    repetitions
        Of every case, in the place of the study's own number.
    max_uavs
        The largest N that is run.
    destroyed
        The N_D that are run; None: all.
    planners
        Labels of the planners that are run; None: all.
    fewer
        Costly runs with fewer repetitions yet.
    """

    repetitions: Count | None = None
    max_uavs: Uavs | None = None
    destroyed: list[Lost] | None = None
    planners: list[str] | None = None
    fewer: list[FewerSpec] = Field(default_factory=list)
