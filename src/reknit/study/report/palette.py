"""One look per planner in all figures of a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.ticker import LogLocator

from reknit.base.types import JsonDict
from reknit.viz.style import LARGEST, OTHERS

_COLOURS = (LARGEST, *OTHERS)
_MARKERS = "os^DvPX<>*hp"
_DASHES = ("-", "--", ":")


def styles(number: int) -> dict[str, Any]:
    """Colour, marker and dash of the n-th planner: told apart without colour too."""
    return {
        "color": _COLOURS[number % len(_COLOURS)],
        "marker": _MARKERS[number % len(_MARKERS)],
        "linestyle": _DASHES[number // len(_COLOURS) % len(_DASHES)],
    }


def plain_log(axes: Any) -> None:
    """A logarithmic y axis with plain numbers, also between the powers of ten."""
    axes.set_yscale("log")
    axis = axes.yaxis
    axis.set_major_formatter(lambda number, _: f"{number:g}")
    axis.set_minor_locator(LogLocator(subs=(2.0, 5.0)))
    axis.set_minor_formatter(lambda number, _: f"{number:g}")


def by_label(rows: Sequence[JsonDict]) -> dict[str, list[JsonDict]]:
    """The rows of every planner, in the order in which planners first appear."""
    grouped: dict[str, list[JsonDict]] = {}
    for row in rows:
        grouped.setdefault(row["label"], []).append(row)
    return grouped
