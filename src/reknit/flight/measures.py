"""`Measure`: one line of the table of measures, and all that is derived from such a line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

Summary = Literal["mean", "interval", "greatest"]
"""How many runs become one figure: the mean, the mean with its 95 % interval, or the greatest."""


@dataclass(frozen=True)
class Measure:
    """A figure of a run, declared once.

    From it come the field of `Metrics`, the column of a study's results file, the column of
    tables, the axis of figures and the line of the documentation.

    Parameters
    ----------
    of
        Computes the value; from what depends on where the measure is declared.
    meaning
        One line for the documentation; the unit is in the name (``_s`` seconds, ``_m`` metres).
    axis
        What stands at the axis of a figure, mathtext allowed.
    heading
        Title of the column in tables; a measure without one is left out of them.
    form
        How a figure is written in tables.
    summary
        What a table gives of several runs.
    percent
        Kept as a share, shown in per cent; figures have a symmetric logarithmic axis.
    log
        Figures have a logarithmic axis.
    name, kind
        Name, and the type of the value: bool, int, float or tuple.
    """

    of: Callable[[Any], Any]
    meaning: str
    axis: str = ""
    heading: str = ""
    form: str = "{:.3g}"
    summary: Summary = "mean"
    percent: bool = False
    log: bool = False
    name: str = ""
    kind: type = float

    @property
    def scale(self) -> float:
        """What a kept value is multiplied with before it is shown."""
        return 100.0 if self.percent else 1.0

    @property
    def unit(self) -> str:
        """Unit of the shown value: "s", "m", "%" or nothing."""
        if self.percent:
            return "%"
        suffix = self.name.rpartition("_")[2]
        return suffix if suffix in ("s", "m") else ""

    @property
    def title(self) -> str:
        """The axis of a figure, with its unit."""
        unit = f" ({self.unit})" if self.unit else ""
        return f"{self.axis or self.name.replace('_', ' ')}{unit}"

    @property
    def is_number(self) -> bool:
        """Whether a run has one value of it, so that it can be averaged and drawn."""
        return self.kind is not tuple


def measured(of: Callable[[Any], Any], meaning: str, **shown: Any) -> Any:
    """A field of a dataclass that is a table of measures; see `Measure` for the parameters."""
    return field(metadata={"measure": Measure(of, meaning, **shown)})


def measures_of(table: type[Any]) -> tuple[Measure, ...]:
    """The measures that a dataclass declares, in order; names and types are the fields'."""
    types = get_type_hints(table)
    return tuple(
        replace(item.metadata["measure"], name=item.name, kind=_plain_type(types[item.name]))
        for item in fields(table)
    )


def _plain_type(annotation: Any) -> type:
    """The type of a value that is there: ``float`` of ``float | None``."""
    if isinstance(annotation, UnionType):
        annotation = next(kind for kind in get_args(annotation) if kind is not type(None))
    plain: type = get_origin(annotation) or annotation
    return plain
