"""One picture of many planners on the same scenario."""

from __future__ import annotations

import math
from collections.abc import Sequence

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reknit.recovery.runs import Run
from reknit.viz.picture import draw_after, note_lengthened, note_nothing_to_fly, pieces_text
from reknit.viz.style import BOUND, LARGEST, LOST, PATH, RC, quiet


def comparison_figure(runs: Sequence[Run], lower_bound_s: float) -> Figure:
    """Times of every planner beside the bound, and a map of each recovery."""
    columns = min(4, len(runs))
    rows = math.ceil(len(runs) / columns)
    bars_height = 0.9 + 0.32 * len(runs)
    with mpl.rc_context(RC):
        # One map is too narrow for the words above the bars.
        size = 3.4 * max(2, columns), bars_height + 3.3 * rows
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.add_gridspec(rows + 1, columns, height_ratios=[bars_height] + [3.3] * rows)
        _bars(figure.add_subplot(grid[0, :]), runs, lower_bound_s)
        is_lengthened = False
        for number, run in enumerate(runs):
            cell = grid[1 + number // columns, number % columns]
            is_lengthened |= draw_after(figure, cell, run.scenario, run.flight, _title(run))
        if is_lengthened:
            note_lengthened(figure)
        scenario = runs[0].scenario
        figure.suptitle(
            f"{scenario.uavs:,} UAVs, {len(scenario.destroyed):,} destroyed, "
            f"{pieces_text(scenario.subnet_count)}",
            x=0.01,
            ha="left",
            fontsize=12,
        )
    return figure


def _title(run: Run) -> str:
    at = run.flight.reconnected_at_s
    return f"{run.planner}: " + ("not reconnected" if at is None else f"{at:.2f} s")


def _bars(axes: Axes, runs: Sequence[Run], lower_bound_s: float) -> None:
    """Flown time as a bar, planned time as a tick, the bound as a line."""
    if all(run.flight.duration_s == 0.0 for run in runs):
        note_nothing_to_fly(axes)
        return
    for row, run in enumerate(runs):
        flown_s = run.metrics.flown_time_s
        if flown_s is None:
            axes.barh(row, run.scenario.allowed_time_s, color="white", edgecolor=LOST, hatch="///")
        else:
            axes.barh(row, flown_s, color=LARGEST, height=0.7)
        if run.plan is not None and run.plan.status.is_connected:
            time_s = run.plan.recovery_time_s
            axes.plot([time_s, time_s], [row - 0.35, row + 0.35], color=PATH, linewidth=2.0)
    if lower_bound_s > 0:
        axes.axvline(lower_bound_s, color=BOUND, linestyle="--", linewidth=1.0)
    axes.set_yticks(range(len(runs)), [run.planner for run in runs])
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel("recovery time (s)")
    axes.set_title(
        "bar: flown, orange: planned, hatched: not within the allowed time, dashed: lower bound",
        fontsize=8,
        fontweight="normal",
    )
    quiet(axes)
