"""The map of a case, planner by planner, drawn from stored tracks alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from reknit.base.types import JsonDict
from reknit.study.measures import value
from reknit.study.run.track import unpacked
from reknit.study.spec.cases import CASE_COLUMNS
from reknit.viz.picture import draw_after
from reknit.viz.style import BOUND, LARGEST, LOST, PATH, RC, quiet

_COLUMNS = 4
_MAP_INCHES = 3.3


def maps_figure(rows: Sequence[JsonDict]) -> Figure | None:
    """Every planner's flight on the first scenario, and its times beside the bound.

    Parameters
    ----------
    rows
        Stored runs; those of the first repetition have a track.

    Returns
    -------
    Figure or None
        None if no run of them has a track.
    """
    tracked = [row for row in rows if row["track"]]
    if not tracked:
        return None
    case = _case(tracked[0])
    shown = [row for row in tracked if _case(row) == case]
    columns = min(_COLUMNS, len(shown))
    lines = math.ceil(len(shown) / columns)
    bars_inches = 0.9 + 0.32 * len(shown)
    with mpl.rc_context(RC):
        size = (3.4 * columns, bars_inches + _MAP_INCHES * lines)
        figure = Figure(figsize=size, layout="constrained")
        ratios = [bars_inches] + [_MAP_INCHES] * lines
        grid = figure.add_gridspec(lines + 1, columns, height_ratios=ratios)
        _times(figure.add_subplot(grid[0, :]), shown)
        for number, row in enumerate(shown):
            scenario, flight = unpacked(row["track"])
            flown_s = row["flown_time_s"]
            time = "not reconnected" if flown_s is None else f"{flown_s:.2f} s"
            cell = grid[1 + number // columns, number % columns]
            draw_after(figure, cell, scenario, flight, f"{row['label']}: {time}")
        title = (
            f"{scenario.uavs} UAVs, {len(scenario.destroyed)} destroyed, "
            f"{scenario.subnet_count} sub-nets"
        )
        figure.suptitle(title, x=0.01, ha="left", fontsize=12)
    return figure


def _case(row: JsonDict) -> tuple[object, ...]:
    """What runs on the same scenario have in common."""
    return (row["seed"], *(row[name] for name in CASE_COLUMNS))


def _times(axes: Any, rows: Sequence[JsonDict]) -> None:
    """Flown time as a bar, planned time as a tick, the bound as a line."""
    for place, row in enumerate(rows):
        if row["flown_time_s"] is None:
            allowed_s = row["allowed_time_s"]
            axes.barh(place, allowed_s, color="white", edgecolor=LOST, hatch="///")
        else:
            axes.barh(place, row["flown_time_s"], color=LARGEST, height=0.7)
        if value(row, "planned_gap") is not None:
            planned_s = row["planned_time_s"]
            ends = [place - 0.35, place + 0.35]
            axes.plot([planned_s, planned_s], ends, color=PATH, linewidth=2.0)
    bound_s = max(row["lower_bound_s"] or 0.0 for row in rows)
    if bound_s > 0:
        axes.axvline(bound_s, color=BOUND, linestyle="--", linewidth=1.0)
    axes.set_yticks(range(len(rows)), [row["label"] for row in rows])
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel("recovery time (s)")
    legend = "bar: flown, orange: planned, hatched: not within the allowed time, dashed: bound"
    axes.set_title(legend, fontsize=8, fontweight="normal")
    quiet(axes)
