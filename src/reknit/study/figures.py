"""Figures of a study's results, drawn to be printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from reknit.recovery import recover
from reknit.study.paper import reported_time_s
from reknit.study.spec import Study, ViewSpec
from reknit.study.stats import estimate, value
from reknit.study.task import Task
from reknit.types import JsonDict
from reknit.viz.comparison import comparison_figure
from reknit.viz.style import OTHERS, RC, quiet

COLOURS = ("#4C78A8", *OTHERS)
NAMES = {
    "uavs": "swarm size $N$",
    "destroyed": "destroyed UAVs $N_D$",
    "damage": "damage",
    "layout": "layout",
    "charged_time_s": "mean recovery time $T_{rc}$ (s)",
    "converged": "convergent ratio $R_c$",
    "mean_degree": "mean degree $E(d)$",
    "compute_s": "computing time (s)",
    "gap_to_bound": "flown time over the bound",
    "planned_gap": "planned time over the bound",
    "time_to_reconnect_s": "computing and flying (s)",
    "connected_share": "share of time connected",
    "over_best_known": "flown time over the best known plan",
    "instance": "instance",
    "iterations": "online iterations",
    "planned_time_s": "mean planned time (s)",
}
LOGARITHMIC = ("compute_s", "gap_to_bound", "planned_gap", "time_to_reconnect_s")


def view_figure(study: Study, view: ViewSpec, rows: Sequence[JsonDict]) -> Figure | None:
    """The figure of one view, or None when there is nothing to draw yet."""
    chosen = [
        _placed(row, view.x)
        for row in rows
        if row["ok"] and all(row[name] == wanted for name, wanted in view.only.items())
    ]
    if not chosen:
        return None
    draw: dict[str, Callable[[Any, ViewSpec, list[JsonDict]], None]] = {
        "lines": _lines,
        "bars": _bars,
        "degrees": _degrees,
        "curves": _curves,
    }
    if view.kind == "maps":
        return _maps(chosen)
    with mpl.rc_context(RC):
        figure = Figure(figsize=(7.0, 4.2), layout="constrained")
        axes = figure.add_subplot()
        draw[view.kind](axes, view, chosen)
        axes.set_title(view.title or study.title)
        quiet(axes)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=8, ncols=2)
    return figure


def _placed(row: JsonDict, axis: str) -> JsonDict:
    """The row with a value for the axis; where that is a planner's parameter, one line goes
    through all labels that are the same up to " @ ".
    """
    if axis in row:
        return row
    return {**row, axis: row["parameters"][axis], "label": row["label"].split(" @ ")[0]}


def _by_label(rows: list[JsonDict]) -> dict[str, list[JsonDict]]:
    grouped: dict[str, list[JsonDict]] = {}
    for row in rows:
        grouped.setdefault(row["label"], []).append(row)
    return grouped


def _lines(axes: Any, view: ViewSpec, rows: list[JsonDict]) -> None:
    """Mean and 95 % interval of a measure over an axis, one line per planner; the paper's
    figures as crosses in the same colour.
    """
    for number, (label, members) in enumerate(_by_label(rows).items()):
        colour = COLOURS[number % len(COLOURS)]
        places = sorted({row[view.x] for row in members})
        found = [
            estimate(value(row, view.y) for row in members if row[view.x] == place)
            for place in places
        ]
        means = np.array([one.mean for one in found])
        widths = np.array([one.half_width for one in found])
        axes.plot(places, means, "o-", color=colour, markersize=4, linewidth=1.4, label=label)
        axes.fill_between(places, means - widths, means + widths, color=colour, alpha=0.15, lw=0)
        _paper_marks(axes, view, members, colour)
    axes.set_xlabel(NAMES.get(view.x, view.x))
    axes.set_ylabel(NAMES.get(view.y, view.y))
    if view.x == "uavs" and len({row["uavs"] for row in rows}) > 3:
        axes.set_xscale("log")
    if view.y in LOGARITHMIC:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)


def _paper_marks(axes: Any, view: ViewSpec, members: list[JsonDict], colour: str) -> None:
    if view.y != "charged_time_s" or members[0]["parameters"]:
        return
    told = {
        row[view.x]: reported_time_s(row["planner"], row["uavs"], row["destroyed"])
        for row in members
    }
    known = [(place, time_s) for place, time_s in told.items() if time_s is not None]
    if known:
        axes.plot(*zip(*known, strict=True), "x", color=colour, markersize=7)


def _bars(axes: Any, view: ViewSpec, rows: list[JsonDict]) -> None:
    """Mean and interval of a measure, planners side by side in groups."""
    groups = list(dict.fromkeys(row[view.x] for row in rows))
    labelled = _by_label(rows)
    width = 0.8 / len(labelled)
    for number, (label, members) in enumerate(labelled.items()):
        found = [
            estimate(value(row, view.y) for row in members if row[view.x] == group)
            for group in groups
        ]
        places = np.arange(len(groups)) + (number - (len(labelled) - 1) / 2) * width
        axes.bar(
            places,
            [one.mean for one in found],
            width,
            yerr=[one.half_width for one in found],
            color=COLOURS[number % len(COLOURS)],
            error_kw={"elinewidth": 0.8, "capsize": 2},
            label=label,
        )
    axes.set_xticks(range(len(groups)), [str(group) for group in groups])
    axes.set_xlabel(NAMES.get(view.x, view.x))
    axes.set_ylabel(NAMES.get(view.y, view.y))
    if view.y in LOGARITHMIC:
        axes.set_yscale("log")


def _degrees(axes: Any, view: ViewSpec, rows: list[JsonDict]) -> None:
    """P_d: share of UAVs whose degree is at most d, over all runs."""
    for number, (label, members) in enumerate(_by_label(rows).items()):
        curves = [row["degree_distribution"] for row in members]
        longest = max(len(curve) for curve in curves)
        whole = np.array([curve + [1.0] * (longest - len(curve)) for curve in curves])
        colour = COLOURS[number % len(COLOURS)]
        axes.plot(range(longest), whole.mean(axis=0), color=colour, linewidth=1.4, label=label)
    axes.set_xlabel("degree $d$")
    axes.set_ylabel("share of UAVs with degree at most $d$")
    axes.set_xscale("symlog", linthresh=10)
    axes.set_ylim(0, 1.02)


def _curves(axes: Any, view: ViewSpec, rows: list[JsonDict]) -> None:
    """The mean loss curve of the online iterations, for planners that keep one."""
    for number, (label, members) in enumerate(_by_label(rows).items()):
        curves = [(row["details"] or {}).get("losses_m") for row in members]
        kept = [curve for curve in curves if curve]
        if not kept:
            continue
        longest = max(len(curve) for curve in kept)
        # A run that stopped early keeps its last loss.
        whole = np.array([curve + [curve[-1]] * (longest - len(curve)) for curve in kept])
        colour = COLOURS[number % len(COLOURS)]
        axes.plot(whole.mean(axis=0), color=colour, linewidth=1.4, label=label)
    axes.set_xlabel("online iteration")
    axes.set_ylabel("loss (m)")
    axes.set_yscale("log")


def _maps(rows: list[JsonDict]) -> Figure:
    """Every planner's flight on the first scenario, made again from its seed."""
    first = rows[0]
    runs = []
    bound_s = 0.0
    scenario = None
    for row in rows:
        if row["seed"] == first["seed"] and row["destroyed"] == first["destroyed"]:
            task = Task(
                planner=row["planner"],
                label=row["label"],
                parameters=row["parameters"] or {},
                budget_s=None,
                uavs=row["uavs"],
                destroyed=int(row["destroyed"]) if row["destroyed"] >= 1 else row["destroyed"],
                layout=row["layout"],
                damage=row["damage"],
                dim=row["dim"],
                strikes=(),
                repetition=row["repetition"],
                seed=row["seed"],
                instance=row["instance"],
            )
            scenario = scenario or task.scenario()
            runs.append(recover(scenario, task.planner, seed=task.seed, **task.parameters))
            bound_s = row["lower_bound_s"] or bound_s
    return comparison_figure(runs, bound_s)
