"""`ViewSpec`: one figure of a study's report, and what it may show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from reknit.base.errors import InvalidParameter, ReknitError, UnknownName
from reknit.study.measures import NUMBERS
from reknit.study.spec.base import SpecPart
from reknit.study.spec.cases import CASE_COLUMNS

WITH_AXES = ("lines", "bars", "dots")
ROW_COLUMNS = ("label", "planner", "seed", "repetition", *CASE_COLUMNS)
"""What a figure may have along its axis, and what it may choose runs by."""


class ViewSpec(SpecPart):
    """One figure of the report.

    Parameters
    ----------
    kind
        lines, bars and dots show `y` over `x`; degrees, curves, training, subnets and maps have
        axes of their own.
    title
        What stands above it.
    x
        A property of the case, ``label``, or a parameter of a planner.
    y
        A measure.
    log
        Logarithmic `y`.
    only
        Properties that a run must have to be shown, each a value or a list of them.
    """

    kind: Literal["lines", "bars", "dots", "degrees", "curves", "training", "subnets", "maps"]
    title: str = ""
    x: str = "uavs"
    y: str = "charged_time_s"
    log: bool = False
    only: dict[str, Any] = Field(default_factory=dict)

    def fault(
        self, parameters: Sequence[str], values: Mapping[str, set[Any]]
    ) -> tuple[ReknitError, str] | None:
        """What is wrong with it, and the key at fault.

        Parameters
        ----------
        parameters
            Names of the parameters that the study gives to its planners.
        values
            The values that every column of `ROW_COLUMNS` has in the study.

        Returns
        -------
        tuple or None
            The error and the key; None if nothing is wrong.
        """
        axes = (*ROW_COLUMNS, *parameters)
        if self.kind in WITH_AXES and self.x not in axes:
            return UnknownName("x", self.x, axes), "x"
        if self.y not in NUMBERS:
            return UnknownName("y", self.y, NUMBERS), "y"
        for name, wanted in self.only.items():
            if name not in ROW_COLUMNS:
                return UnknownName("filter", name, ROW_COLUMNS), "only"
            for value in wanted if isinstance(wanted, list) else [wanted]:
                if value not in values[name]:
                    held = ", ".join(sorted(map(str, values[name])))
                    return InvalidParameter(f"only.{name}", value, held), "only"
        return None
