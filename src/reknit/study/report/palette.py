"""One look per planner in all figures of all reports."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count
from typing import Any

from matplotlib.ticker import LogLocator

from reknit.algorithms.registry import planners
from reknit.base.types import JsonDict
from reknit.study.spec.study import Study
from reknit.viz.style import LARGEST, OTHERS

_COLOURS = (LARGEST, *OTHERS)
_MARKERS = "os^DvPX<>*hp"
_DASHES = ("-", "--", ":")


Style = dict[str, Any]
"""Colour, marker and dash: planners are told apart without colour too."""


def styles(number: int) -> Style:
    """The n-th look."""
    return {
        "color": _COLOURS[number % len(_COLOURS)],
        "marker": _MARKERS[number % len(_MARKERS)],
        "linestyle": _DASHES[number // len(_COLOURS) % len(_DASHES)],
    }


def looks(study: Study) -> dict[str, Style]:
    """The look of every label of a study, the same in all its figures.

    A planner has the same look in all studies, by its place in the registry. A label such as
    "ml-dagl (paper preset)" or "gcn, shortest plan" has its planner's colour with another marker
    and dash. Other labels, such as those of an ablation, take what is left in their order.
    """
    known = planners()
    labels = dict.fromkeys(planner.shown.split(" @ ")[0] for planner in study.planner)
    chosen: dict[str, Style] = {}
    variants = dict.fromkeys(known, 0)
    for label in labels:
        base = re.split(r" \(|, ", label)[0]
        if base in known:
            look = styles(known.index(base))
            if label != base:
                variants[base] += 1
                marker = _MARKERS.index(look["marker"]) + 4 + variants[base]
                look["marker"] = _MARKERS[marker % len(_MARKERS)]
                look["linestyle"] = "-."
            chosen[label] = look
    free = (look for number in count() if (look := styles(number)) not in chosen.values())
    return chosen | {label: next(free) for label in labels if label not in chosen}


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
