"""One picture of one recovery: before, after, and the number of sub-nets over time."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from reknit.base.files import replacing
from reknit.flight.flight import Flight
from reknit.network.links import links
from reknit.recovery.runs import Run
from reknit.swarm.scenario import Scenario
from reknit.viz.style import (
    BOUND,
    LARGEST,
    LINK,
    LOST,
    PATH,
    RC,
    draw_points,
    draw_segments,
    map_axes,
    marker_size,
    quiet,
    subnet_colours,
)

_MAX_LINKS_DRAWN = 200_000


def recovery_figure(run: Run) -> Figure:
    """Three panels: the damaged swarm, the restored one with its trajectories, N_s over time."""
    with mpl.rc_context(RC):
        figure = Figure(figsize=(11.0, 6.4), layout="constrained")
        grid = figure.add_gridspec(2, 2, height_ratios=[3.0, 1.0])
        _before(figure, grid[0, 0], run.scenario)
        draw_after(figure, grid[0, 1], run.scenario, run.flight, _after_title(run))
        _subnets_over_time(figure.add_subplot(grid[1, :]), run)
        figure.suptitle(_headline(run), x=0.01, ha="left", fontsize=12)
    return figure


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure; the format follows the name's ending."""
    with mpl.rc_context(RC), replacing(path) as temporary:
        figure.savefig(temporary, metadata={"Software": None} if path.suffix == ".png" else None)


def _headline(run: Run) -> str:
    scenario = run.scenario
    at = run.flight.reconnected_at_s
    result = (
        f"whole again after {at:.2f} s"
        if at is not None
        else f"not reconnected within {scenario.allowed_time_s:.1f} s"
    )
    return f"{run.planner}: {scenario.uavs} UAVs, {len(scenario.destroyed)} destroyed, {result}"


def _before(figure: Figure, cell: Any, scenario: Scenario) -> None:
    count = scenario.subnet_count
    pieces = "1 sub-net" if count == 1 else f"{count} sub-nets"
    axes = map_axes(figure, cell, scenario, f"After the damage: {pieces}")
    size = marker_size(scenario.uavs)
    _links(axes, scenario.survivor_positions, scenario.radio_range_m)
    if len(scenario.destroyed):
        draw_points(
            axes,
            scenario.destroyed_positions,
            s=size,
            marker="x",
            color=LOST,
            linewidths=0.9,
            label="destroyed",
        )
    draw_points(
        axes,
        scenario.survivor_positions,
        s=size,
        color=subnet_colours(scenario.subnets),
        edgecolors="white",
        linewidths=0.3,
        label="survivor, coloured by sub-net",
        zorder=3,
    )
    axes.legend(loc="upper left", bbox_to_anchor=(0.0, -0.12), ncols=2, fontsize=8)


def draw_after(figure: Figure, cell: Any, scenario: Scenario, flight: Flight, title: str) -> None:
    """The swarm at the end of a flight, with its links and how everyone got there."""
    axes = map_axes(figure, cell, scenario, title)
    end = flight.positions[-1]
    size = marker_size(scenario.uavs)
    _links(axes, end, scenario.radio_range_m)
    _paths(axes, flight)
    moved = flight.path_lengths_m > 0
    draw_points(axes, flight.positions[0][moved], s=size * 0.4, color=LOST, zorder=2, linewidths=0)
    colours: Any = LARGEST
    if flight.subnets[-1] > 1:
        from reknit.network.links import subnets

        colours = subnet_colours(subnets(end, scenario.radio_range_m))
    # Short paths hide behind their UAV, so those that moved at all wear the colour of paths.
    rims = [PATH if one else "white" for one in moved]
    widths = np.where(moved, 0.9, 0.3)
    draw_points(axes, end, s=size, color=colours, edgecolors=rims, linewidths=widths, zorder=4)


def _after_title(run: Run) -> str:
    at = run.flight.reconnected_at_s
    when = "At the end" if at is None else f"At {at:.2f} s"
    count = int(run.flight.subnets[-1])
    pieces = "one network" if count == 1 else f"{count} sub-nets"
    return f"{when}: {pieces}, flown paths in orange"


def _links(axes: Any, points: np.ndarray[Any, Any], range_m: float) -> None:
    pairs = links(points, range_m)
    if 0 < len(pairs) <= _MAX_LINKS_DRAWN:
        faint = float(np.clip(400.0 / len(pairs), 0.08, 0.5))
        ends = points[pairs[:, 0]], points[pairs[:, 1]]
        draw_segments(axes, *ends, colors=LINK, linewidths=0.7, alpha=faint, zorder=1)


def _paths(axes: Any, flight: Flight) -> None:
    """Trajectories, thinned to at most 60 vertices."""
    every = max(1, len(flight.times_s) // 60)
    frames = np.unique(np.append(np.arange(0, len(flight.times_s), every), len(flight.times_s) - 1))
    moved = flight.path_lengths_m > 0
    for a, b in pairwise(frames):
        starts, ends = flight.positions[a][moved], flight.positions[b][moved]
        draw_segments(axes, starts, ends, colors=PATH, linewidths=1.0, alpha=0.8, zorder=3)


def _subnets_over_time(axes: Any, run: Run) -> None:
    flight = run.flight
    axes.step(flight.times_s, flight.subnets, where="post", color=LARGEST, linewidth=1.6)
    axes.set_title("Sub-nets over time")
    axes.set_xlabel("time since the damage (s)")
    axes.set_ylabel("sub-nets $N_s$")
    axes.set_ylim(0, max(2, int(flight.subnets.max()) + 1))
    axes.yaxis.get_major_locator().set_params(integer=True)
    quiet(axes)
    bound_s = 0.0 if run.plan is None else run.plan.lower_bound_s
    right_s = max(flight.duration_s, bound_s, 1e-9) * 1.03
    axes.set_xlim(0, right_s)
    if flight.reconnected_at_s is not None:
        axes.plot([flight.reconnected_at_s], [1], "o", color=PATH, zorder=4)
        _note(axes, "reconnected", flight.reconnected_at_s, 1.0, right_s)
    if bound_s > 0:
        axes.axvline(bound_s, color=BOUND, linestyle="--", linewidth=1.0)
        _note(axes, "no plan arrives sooner", bound_s, 0.85 * axes.get_ylim()[1], right_s)


def _note(axes: Any, text: str, x: float, y: float, right: float) -> None:
    """A word beside a point, on the side where there is room."""
    on_left = x > 0.6 * right
    axes.annotate(
        text,
        (x, y),
        xytext=(-7 if on_left else 7, 0),
        textcoords="offset points",
        ha="right" if on_left else "left",
        va="center",
        fontsize=8,
    )
