"""Figures of a study's results, drawn to be printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from reknit.base.types import JsonDict
from reknit.study.report.curves import draw_degrees, draw_losses, draw_subnets, training_figure
from reknit.study.report.palette import by_label, plain_log, styles
from reknit.study.report.paper import reported_converged, reported_time_s
from reknit.study.report.stats import Estimate, estimate, share_interval, value
from reknit.study.run.task import Task
from reknit.study.spec.parts import ViewSpec
from reknit.study.spec.study import Study
from reknit.viz.comparison import comparison_figure
from reknit.viz.style import RC, quiet

NAMES = {
    "uavs": "swarm size $N$",
    "destroyed": "destroyed UAVs $N_D$",
    "damage": "damage",
    "layout": "layout",
    "label": "",
    "charged_time_s": "mean recovery time $T_{rc}$ (s)",
    "converged": "convergent ratio $R_c$",
    "mean_degree": "mean degree $E(d)$",
    "compute_s": "computing time (s)",
    "gap_to_bound": "flown time over the bound (%)",
    "planned_gap": "planned time over the bound (%)",
    "time_to_reconnect_s": "computing and flying (s)",
    "connected_share": "share of time connected",
    "over_best_known": "flown time over the best known plan (%)",
    "instance": "instance",
    "iterations": "online iterations",
    "planned_time_s": "mean planned time (s)",
}
LOGARITHMIC = ("compute_s", "time_to_reconnect_s")
PAPERS = "the paper's figure"
_ENOUGH = 5
PERCENT = ("gap_to_bound", "planned_gap", "over_best_known")


def view_figure(study: Study, view: ViewSpec, rows: Sequence[JsonDict]) -> Figure | None:
    """The figure of one view, or None when there is nothing to draw yet."""
    wanted = [row for row in rows if row["ok"] and _is_wanted(row, view.only)]
    chosen = [_placed(row, view.x) for row in wanted]
    if not chosen:
        return None
    if view.kind == "maps":
        return _maps(chosen)
    if view.kind == "training":
        return training_figure(view.title or study.title)
    draw: dict[str, Callable[[Any, ViewSpec, list[JsonDict]], None]] = {
        "lines": _lines,
        "bars": _bars,
        "dots": _dots,
        "degrees": draw_degrees,
        "curves": draw_losses,
        "subnets": draw_subnets,
    }
    with mpl.rc_context(RC):
        height = 4.0
        if view.kind == "dots":
            height = 1.2 + 0.19 * len({row[view.x] for row in chosen})
        figure = Figure(figsize=(7.6, height), layout="constrained")
        axes = figure.add_subplot()
        draw[view.kind](axes, view, chosen)
        axes.set_title(view.title or study.title)
        quiet(axes)
        _legend(figure, axes)
    return figure


def _legend(figure: Figure, axes: Any) -> None:
    """Beside the data, because with ten planners there is no free corner; the paper's last."""
    found = list(zip(*axes.get_legend_handles_labels(), strict=True))
    found.sort(key=lambda pair: pair[1] == PAPERS)
    if found:
        handles, labels = zip(*found, strict=True)
        figure.legend(handles, labels, loc="outside right upper", fontsize=8)


def _is_wanted(row: JsonDict, only: JsonDict) -> bool:
    """Whether a row has the values that a view asks for; a list is any of its values."""
    return all(
        row[name] in wanted if isinstance(wanted, list) else row[name] == wanted
        for name, wanted in only.items()
    )


def _placed(row: JsonDict, axis: str) -> JsonDict:
    """The row with a value for the axis; where that is a planner's parameter, one line goes
    through all labels that are the same up to " @ ".
    """
    if axis in row or axis not in row["parameters"]:
        return row
    return {**row, axis: row["parameters"][axis], "label": row["label"].split(" @ ")[0]}


def _lines(axes: Any, view: ViewSpec, rows: list[JsonDict]) -> None:
    """Mean and 95 % interval of a measure over an axis, one line per planner; the paper's
    figures as crosses in the same colour.
    """
    labelled = by_label(rows)
    logarithmic_x = view.x == "uavs" and len({row["uavs"] for row in rows}) > 3
    marked = False
    highest = 0.0
    for number, (label, members) in enumerate(labelled.items()):
        style = styles(number)
        places = sorted({row[view.x] for row in members})
        found = [
            estimate(value(row, view.y) for row in members if row[view.x] == place)
            for place in places
        ]
        scale = 100.0 if view.y in PERCENT else 1.0
        means = scale * np.array([one.mean for one in found])
        widths = scale * np.array([_width(one) for one in found])
        low, high = widths, widths
        if view.y == "converged":
            ends = np.array([share_interval(one.mean, one.count) for one in found])
            low, high = means - ends[:, 0], ends[:, 1] - means
        highest = max(highest, float(means.max()))
        axes.errorbar(
            _beside(places, number, len(labelled), logarithmic_x),
            means,
            (low, high),
            **style,
            markersize=4,
            linewidth=1.3,
            elinewidth=0.7,
            capsize=2,
            label=label,
        )
        marked |= _paper_marks(axes, view, members, style["color"])
    if marked:
        axes.plot([], [], "x", color="#444444", markersize=7, label=PAPERS)
    axes.set_xlabel(_axis_name(view.x, rows))
    axes.set_ylabel(NAMES.get(view.y, view.y))
    if logarithmic_x:
        axes.set_xscale("log")
        sizes = sorted({row["uavs"] for row in rows})
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.minorticks_off()
    elif view.x == "destroyed":
        lost = sorted({row["destroyed"] for row in rows})
        axes.set_xticks(lost, [_plain(one) for one in lost])
    _scale_y(axes, view, highest)


def _width(one: Estimate) -> float:
    """Half of the interval; that of a few runs, many times the mean, is for the tables only."""
    return one.half_width if one.count >= _ENOUGH else 0.0


def _beside(places: list[Any], number: int, count: int, logarithmic: bool) -> Any:
    """Places moved a little, planner by planner, so that intervals do not cover one another."""
    shift = (number - (count - 1) / 2) / max(1, count)
    if logarithmic:
        return np.array(places) * (1 + 0.10 * shift)
    span = max(places) - min(places) if len(places) > 1 else 1.0
    return np.array(places) + 0.03 * shift * span


def _scale_y(axes: Any, view: ViewSpec, highest: float) -> None:
    if view.y in PERCENT:
        # From exactly 0 (proven optimal) to thousands of per cent.
        axes.set_yscale("symlog", linthresh=1.0)
        axes.set_ylim(bottom=-0.3)
        axes.yaxis.set_major_formatter(lambda number, _: f"{number:g}")
    elif view.log or view.y in LOGARITHMIC:
        plain_log(axes)
    elif view.y == "converged":
        axes.set_ylim(-0.03, 1.06)
    else:
        # The interval of few runs may be many times the mean; it is cut off.
        axes.set_ylim(0, min(axes.get_ylim()[1], 1.6 * highest))


def _paper_marks(axes: Any, view: ViewSpec, members: list[JsonDict], colour: Any) -> bool:
    """Crosses where the paper has a figure for the planner as it is; whether there are any."""
    papers = {"charged_time_s": reported_time_s, "converged": reported_converged}.get(view.y)
    if papers is None or members[0]["parameters"]:
        return False
    told = {
        row[view.x]: papers(row["planner"], row["uavs"], row["destroyed"])
        for row in members
        if (row["layout"], row["damage"], row["dim"]) == ("uniform", "random", 2)
    }
    known = [(place, figure) for place, figure in told.items() if figure is not None]
    if known:
        axes.plot(*zip(*known, strict=True), "x", color=colour, markersize=7, zorder=5)
    return bool(known)


def _bars(axes: Any, view: ViewSpec, rows: list[JsonDict]) -> None:
    """Mean and interval of a measure: planners side by side in groups, or a bar per planner."""
    labelled = by_label(rows)
    alone = view.x == "label"
    groups = list(labelled) if alone else list(dict.fromkeys(row[view.x] for row in rows))
    width = 0.8 if alone else 0.8 / len(labelled)
    for number, (label, members) in enumerate(labelled.items()):
        mine = [label] if alone else groups
        found = [
            estimate(value(row, view.y) for row in members if row[view.x] == group)
            for group in mine
        ]
        places = (
            np.array([number])
            if alone
            else np.arange(len(groups)) + width * (number - (len(labelled) - 1) / 2)
        )
        axes.bar(
            places,
            [one.mean for one in found],
            width,
            yerr=[_width(one) for one in found],
            color=styles(number)["color"],
            error_kw={"elinewidth": 0.8, "capsize": 2},
            label=None if alone else label,
        )
    axes.set_xticks(range(len(groups)), [_plain(group) for group in groups])
    if alone:
        axes.tick_params(axis="x", rotation=30)
    axes.set_xlabel(_axis_name(view.x, rows))
    axes.set_ylabel(NAMES.get(view.y, view.y))
    if view.log or view.y in LOGARITHMIC:
        plain_log(axes)
    else:
        axes.set_ylim(bottom=0)


def _dots(axes: Any, view: ViewSpec, rows: list[JsonDict]) -> None:
    """A line of the page per case, a mark per planner: for many cases that have no order."""
    groups = list(dict.fromkeys(row[view.x] for row in rows))
    scale = 100.0 if view.y in PERCENT else 1.0
    for number, (label, members) in enumerate(by_label(rows).items()):
        places = [groups.index(row[view.x]) for row in members]
        marks = [scale * (value(row, view.y) or 0.0) for row in members]
        style = styles(number) | {"linestyle": ""}
        axes.plot(marks, places, **style, markersize=5, label=label)
    axes.set_yticks(range(len(groups)), [_plain(group) for group in groups])
    axes.invert_yaxis()
    axes.set_xlabel(NAMES.get(view.y, view.y))
    if view.y in PERCENT:
        axes.set_xscale("symlog", linthresh=1.0)
        axes.set_xlim(left=-0.3)
        axes.xaxis.set_major_formatter(lambda number, _: f"{number:g}")


def _axis_name(name: str, rows: list[JsonDict]) -> str:
    if name == "destroyed" and all(row["destroyed"] < 1 for row in rows):
        return "share of UAVs destroyed"
    return NAMES.get(name, name)


def _plain(number: Any) -> str:
    if isinstance(number, float):
        return f"{number:.0%}" if 0 < number < 1 else f"{number:g}"
    return str(number)


def _maps(rows: list[JsonDict]) -> Figure:
    """Every planner's flight on the first scenario, made again from its seed."""
    first = rows[0]
    same = [
        row
        for row in rows
        if (row["seed"], row["destroyed"]) == (first["seed"], first["destroyed"])
    ]
    runs = [Task.of(row).recover() for row in same]
    return comparison_figure(runs, max(row["lower_bound_s"] or 0.0 for row in same))
