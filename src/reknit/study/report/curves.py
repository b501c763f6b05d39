"""Figures of what a run recorded step by step: degrees, losses, sub-nets over time."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from reknit.algorithms import learned
from reknit.base.types import FloatArray, JsonDict
from reknit.study.report.palette import Style, by_label, plain_log, styles
from reknit.viz.style import RC, quiet

_LEARNED = Path(learned.__file__).parent


def training_records() -> dict[str, JsonDict]:
    """The records of the training that made the shipped weights, by method and weights."""
    records = {}
    for path in sorted(_LEARNED.glob("*/weights/*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        if record.get("loss_curve"):
            method = path.parent.parent.name.replace("_", "-")
            records[f"{method}, {path.stem}"] = record
    return records


def draw_degrees(axes: Any, looks: Mapping[str, Style], rows: list[JsonDict]) -> None:
    """P_d: share of UAVs whose degree is at most d, over all runs."""
    for label, members in by_label(rows).items():
        mean = _mean_curve([row["degree_distribution"] for row in members])
        style = looks[label] | {"marker": ""}
        axes.step(range(len(mean)), mean, **style, where="post", linewidth=1.4, label=label)
    axes.set_xlabel("degree $d$")
    axes.set_ylabel("share of UAVs with degree at most $d$")
    axes.set_xscale("symlog", linthresh=10, linscale=2)
    ticks = [0, 2, 4, 6, 8, 10, 20, 50, 100, 200]
    right = axes.get_xlim()[1]
    axes.set_xticks([tick for tick in ticks if tick <= right])
    axes.xaxis.set_major_formatter(lambda number, _: f"{number:g}")
    axes.minorticks_off()
    axes.set_xlim(left=0)
    axes.set_ylim(0, 1.02)


def draw_losses(axes: Any, looks: Mapping[str, Style], rows: list[JsonDict]) -> None:
    """The mean loss curve of the online iterations, for planners that keep one."""
    for label, members in by_label(rows).items():
        curves = [(row["details"] or {}).get("losses_m") for row in members]
        kept = [curve for curve in curves if curve]
        if kept:
            style = looks[label] | {"marker": ""}
            axes.plot(
                _mean_curve(kept), **style, linewidth=1.4, label=f"{label} ({len(kept)} runs)"
            )
    axes.set_xlabel("online iteration")
    axes.set_ylabel("loss (m)")
    plain_log(axes)


def draw_subnets(axes: Any, looks: Mapping[str, Style], rows: list[JsonDict]) -> None:
    """N_s over the flight on the first scenario, a staircase per planner; a marker at its end."""
    first = rows[0]
    labelled = by_label([row for row in rows if row["seed"] == first["seed"]])
    for label, members in labelled.items():
        steps = (members[0]["details"] or {}).get("subnets")
        if not steps:
            continue
        times_s, counts = zip(*steps, strict=True)
        style = looks[label]
        at = members[0]["flown_time_s"]
        caption = f"{label}, {at:.2f} s" if at is not None else f"{label}, not whole"
        # The marker is at the end only: where the swarm is whole, or where time ran out.
        axes.step(
            times_s, counts, **style, where="post", linewidth=1.4, markevery=[-1], label=caption
        )
    axes.set_xlabel("time since the damage (s)")
    axes.set_ylabel("number of sub-nets $N_s$")
    # Most is decided in the first seconds, and the slowest take the whole allowed time.
    axes.set_xscale("symlog", linthresh=1.0)
    right = axes.get_xlim()[1]
    axes.set_xticks([tick for tick in (0, 0.5, 1, 2, 5, 10, 20, 50, 100) if tick <= right])
    axes.minorticks_off()
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter(lambda number, _: f"{number:g}")
    axes.set_ylim(bottom=0)
    axes.yaxis.get_major_locator().set_params(integer=True)


def training_figure(title: str) -> Figure:
    """Loss over the steps of the training that made the weights reknit comes with, and the
    running mean of ten recorded values.
    """
    with mpl.rc_context(RC):
        records = training_records()
        lines = math.ceil(len(records) / 2)
        figure = Figure(figsize=(7.6, 2.3 * lines), layout="constrained")
        for place, (label, record) in enumerate(records.items(), start=1):
            steps, losses = zip(*record["loss_curve"], strict=True)
            axes = figure.add_subplot(lines, 2, place)
            axes.plot(steps, losses, color=styles(0)["color"], linewidth=0.8, alpha=0.6)
            # Every step is other swarms of other sizes; the trend shows in the mean of ten.
            span = min(10, len(losses))
            smooth = np.convolve(losses, np.full(span, 1 / span), mode="valid")
            axes.plot(steps[span - 1 :], smooth, color=styles(5)["color"], linewidth=1.6)
            caption = (
                f"{label}: {record['steps_trained']} steps, {record['trained_s'] / 60:.0f} min"
            )
            axes.set_title(caption, fontsize=9, fontweight="normal")
            axes.set_xlabel("training step")
            axes.set_ylabel("training loss")
            axes.set_ylim(bottom=0)
            quiet(axes)
        figure.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold")
    return figure


def _mean_curve(curves: list[list[float]]) -> FloatArray:
    """The mean of curves of different lengths; one that ended early keeps its last value."""
    longest = max(len(curve) for curve in curves)
    whole = np.array([curve + [curve[-1]] * (longest - len(curve)) for curve in curves])
    mean: FloatArray = whole.mean(axis=0)
    return mean
