"""Figures of a study's results, drawn to be printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from reknit.base.statistics import Estimate, estimate, share_interval
from reknit.base.types import JsonDict
from reknit.study.measures import MEASURES, value
from reknit.study.report.curves import draw_degrees, draw_losses, draw_subnets, training_figure
from reknit.study.report.maps import maps_figure
from reknit.study.report.palette import Style, by_label, looks, plain_log
from reknit.study.report.paper import reported_of
from reknit.study.spec.cases import CASE_COLUMNS
from reknit.study.spec.study import Study
from reknit.study.spec.views import ViewSpec
from reknit.viz.style import RC, quiet

PAPERS = "the paper's figure"
_ENOUGH = 5
"""From so many runs on a figure shows intervals."""


def view_figure(study: Study, view: ViewSpec, rows: Sequence[JsonDict]) -> Figure | None:
    """The figure of one view, or None when there is nothing to draw yet."""
    wanted = [row for row in rows if row["ok"] and _is_wanted(row, view.only)]
    chosen = [_placed(row, view.x) for row in wanted]
    if not chosen:
        return None
    if view.kind == "maps":
        return maps_figure(chosen)
    if view.kind == "training":
        return training_figure(view.title or study.title)
    look = looks(study)
    with mpl.rc_context(RC):
        height = 4.0
        if view.kind == "dots":
            height = 1.2 + 0.19 * len({row[view.x] for row in chosen})
        figure = Figure(figsize=(7.6, height), layout="constrained")
        axes = figure.add_subplot()
        if view.kind in _WITH_AXES:
            _WITH_AXES[view.kind](axes, view, look, chosen)
        else:
            _OVER_TIME[view.kind](axes, look, chosen)
        axes.set_title(view.title or study.title)
        quiet(axes)
        _legend(figure, axes)
    return figure


def _legend(figure: Figure, axes: Any) -> None:
    """Beside the data, because with ten planners there is no free corner; the paper's last."""
    entries = list(zip(*axes.get_legend_handles_labels(), strict=True))
    entries.sort(key=lambda entry: entry[1] == PAPERS)
    if entries:
        handles, labels = zip(*entries, strict=True)
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


def _lines(axes: Any, view: ViewSpec, look: Looks, rows: list[JsonDict]) -> None:
    """Mean and 95 % interval of a measure over an axis, one line per planner; the paper's
    figures as crosses in the same colour.
    """
    labelled = by_label(rows)
    logarithmic_x = view.x == "uavs" and len({row["uavs"] for row in rows}) > 3
    marked = False
    highest = 0.0
    for number, (label, members) in enumerate(labelled.items()):
        style = look[label]
        places = sorted({row[view.x] for row in members})
        summaries = [
            estimate(value(row, view.y) for row in members if row[view.x] == place)
            for place in places
        ]
        scale = MEASURES[view.y].scale
        means = scale * np.array([summary.mean for summary in summaries])
        widths = scale * np.array([_width(summary) for summary in summaries])
        low, high = widths, widths
        if view.y == "converged":
            ends = np.array([share_interval(summary.mean, summary.count) for summary in summaries])
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
    axes.set_ylabel(MEASURES[view.y].title)
    if logarithmic_x:
        axes.set_xscale("log")
        sizes = sorted({row["uavs"] for row in rows})
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.minorticks_off()
    elif view.x == "destroyed":
        lost = sorted({row["destroyed"] for row in rows})
        axes.set_xticks(lost, [_plain(number) for number in lost])
    _scale_y(axes, view, highest)


def _width(summary: Estimate) -> float:
    """Half of the interval; that of a few runs, many times the mean, is for the tables only."""
    return summary.half_width if summary.count >= _ENOUGH else 0.0


def _beside(places: list[Any], number: int, count: int, logarithmic: bool) -> Any:
    """Places moved a little, planner by planner, so that intervals do not cover one another."""
    shift = (number - (count - 1) / 2) / max(1, count)
    if logarithmic:
        return np.array(places) * (1 + 0.10 * shift)
    span = max(places) - min(places) if len(places) > 1 else 1.0
    return np.array(places) + 0.03 * shift * span


def _scale_y(axes: Any, view: ViewSpec, highest: float) -> None:
    if MEASURES[view.y].percent:
        # From exactly 0 (proven optimal) to thousands of per cent.
        axes.set_yscale("symlog", linthresh=1.0)
        axes.set_ylim(bottom=-0.3)
        axes.yaxis.set_major_formatter(lambda number, _: f"{number:g}")
    elif view.log or MEASURES[view.y].log:
        plain_log(axes)
    elif view.y == "converged":
        axes.set_ylim(-0.03, 1.06)
    else:
        # The interval of few runs may be many times the mean; it is cut off.
        axes.set_ylim(0, min(axes.get_ylim()[1], 1.6 * highest))


def _paper_marks(axes: Any, view: ViewSpec, members: list[JsonDict], colour: Any) -> bool:
    """Crosses where the paper has a figure for the planner as it is; whether there are any."""
    papers = {row[view.x]: reported_of(row, view.y) for row in members}
    known = [(place, figure) for place, figure in papers.items() if figure is not None]
    if known:
        axes.plot(*zip(*known, strict=True), "x", color=colour, markersize=7, zorder=5)
    return bool(known)


def _bars(axes: Any, view: ViewSpec, look: Looks, rows: list[JsonDict]) -> None:
    """Mean and interval of a measure: planners side by side in groups, or a bar per planner."""
    labelled = by_label(rows)
    alone = view.x == "label"
    groups = list(labelled) if alone else list(dict.fromkeys(row[view.x] for row in rows))
    width = 0.8 if alone else 0.8 / len(labelled)
    for number, (label, members) in enumerate(labelled.items()):
        mine = [label] if alone else groups
        summaries = [
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
            [summary.mean for summary in summaries],
            width,
            yerr=[_width(summary) for summary in summaries],
            color=look[label]["color"],
            error_kw={"elinewidth": 0.8, "capsize": 2},
            label=None if alone else label,
        )
    axes.set_xticks(range(len(groups)), [_plain(group) for group in groups])
    if alone:
        axes.tick_params(axis="x", rotation=30)
    axes.set_xlabel(_axis_name(view.x, rows))
    axes.set_ylabel(MEASURES[view.y].title)
    if view.log or MEASURES[view.y].log:
        plain_log(axes)
    else:
        axes.set_ylim(bottom=0)


def _dots(axes: Any, view: ViewSpec, look: Looks, rows: list[JsonDict]) -> None:
    """A line of the page per case, a mark per planner: for many cases that have no order."""
    groups = list(dict.fromkeys(row[view.x] for row in rows))
    scale = MEASURES[view.y].scale
    for label, members in by_label(rows).items():
        places = [groups.index(row[view.x]) for row in members]
        marks = [scale * (value(row, view.y) or 0.0) for row in members]
        style = look[label] | {"linestyle": ""}
        axes.plot(marks, places, **style, markersize=5, label=label)
    axes.set_yticks(range(len(groups)), [_plain(group) for group in groups])
    axes.invert_yaxis()
    axes.set_xlabel(MEASURES[view.y].title)
    if MEASURES[view.y].percent:
        axes.set_xscale("symlog", linthresh=1.0)
        axes.set_xlim(left=-0.3)
        axes.xaxis.set_major_formatter(lambda number, _: f"{number:g}")


def _axis_name(name: str, rows: list[JsonDict]) -> str:
    if name == "destroyed" and all(row["destroyed"] < 1 for row in rows):
        return "share of UAVs destroyed"
    if name in CASE_COLUMNS:
        return CASE_COLUMNS[name].axis
    return "" if name == "label" else name.replace("_", " ")


def _plain(number: Any) -> str:
    if isinstance(number, float):
        return f"{number:.0%}" if 0 < number < 1 else f"{number:g}"
    return str(number)


Looks = Mapping[str, Style]
_WITH_AXES: dict[str, Callable[[Any, ViewSpec, Looks, list[JsonDict]], None]] = {
    "lines": _lines,
    "bars": _bars,
    "dots": _dots,
}
_OVER_TIME: dict[str, Callable[[Any, Looks, list[JsonDict]], None]] = {
    "degrees": draw_degrees,
    "curves": draw_losses,
    "subnets": draw_subnets,
}
