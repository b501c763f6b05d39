"""One picture of one recovery: before, after, and the number of sub-nets over time."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.transforms import offset_copy

from reknit.base.files import replacing
from reknit.base.types import FloatArray, IntArray
from reknit.flight.flight import Flight
from reknit.network.links import links, subnets
from reknit.plans.plan import Plan
from reknit.recovery.runs import Run
from reknit.swarm.scenario import Scenario
from reknit.viz.style import (
    BOUND,
    CROWDED,
    LARGEST,
    LINK,
    MANY,
    PATH,
    RC,
    Picture,
    draw_arrows,
    draw_floor,
    draw_labels,
    draw_lost,
    draw_points,
    draw_segments,
    map_axes,
    moved,
    quiet,
    rank_colours,
    subnet_ranks,
    survivor_sizes,
)

_MAX_ARROWS = 400
"""The longest moves get an arrow, of a large swarm a quarter as many; the others a line."""

_BELOW_AXIS_POINTS = -34.0
"""Where the legend of a flat map begins: under the numbers and the name of the axis."""

_SHORTEST_ARROW = 0.035
"""Of the swarm's extent: shorter moves are drawn this long, or nobody would see them."""


def recovery_figure(run: Run) -> Picture:
    """Three panels: the damaged swarm, the restored one with its trajectories, N_s over time."""
    with mpl.rc_context(RC):
        figure = Picture(figsize=(11.0, 6.4), layout="constrained")
        grid = figure.add_gridspec(2, 2, height_ratios=[3.0, 1.0])
        draw_before(figure, grid[0, 0], run.scenario)
        if draw_after(figure, grid[0, 1], run.scenario, run.flight, _after_title(run)):
            note_lengthened(figure)
        _subnets_over_time(figure.add_subplot(grid[1, :]), run)
        figure.suptitle(_headline(run), x=0.01, ha="left", fontsize=12)
    return figure


def scenario_figure(scenario: Scenario) -> Picture:
    """One panel: the swarm right after the damage."""
    with mpl.rc_context(RC):
        figure = Picture(figsize=(5.6, 5.6), layout="constrained")
        draw_before(figure, 111, scenario)
    return figure


def flight_figure(scenario: Scenario, flight: Flight) -> Picture:
    """One panel: the swarm at the end of a flight and how everyone got there."""
    at = flight.reconnected_at_s
    title = "Not reconnected" if at is None else f"Reconnected after {at:.2f} s"
    with mpl.rc_context(RC):
        figure = Picture(figsize=(5.6, 5.6), layout="constrained")
        draw_after(figure, 111, scenario, flight, title)
    return figure


def targets_figure(scenario: Scenario, plan: Plan) -> Picture:
    """One panel: where a plan sends everyone."""
    positions = np.stack([scenario.survivor_positions, plan.targets])
    planner = f"{plan.planner}: " if plan.planner else ""
    title = f"{planner}{plan.status.value}, arrived after {plan.recovery_time_s:.2f} s"
    with mpl.rc_context(RC):
        figure = Picture(figsize=(5.6, 5.6), layout="constrained")
        _draw_moves(figure, 111, scenario, positions, title)
    return figure


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure; the format follows the name's ending."""
    with mpl.rc_context(RC), replacing(path) as temporary:
        figure.savefig(temporary, metadata={"Software": None} if path.suffix == ".png" else None)


def _headline(run: Run) -> str:
    scenario = run.scenario
    at = run.flight.reconnected_at_s
    if len(scenario.survivors) == 1:
        result = "one survivor, which is a network by itself"
    elif at == 0.0 and run.flight.duration_s == 0.0:
        result = "still one network, nobody has to move"
    elif at is not None:
        result = f"whole again after {at:.2f} s"
    else:
        result = f"not reconnected within {scenario.allowed_time_s:.1f} s"
    if at is not None and run.plan is not None and not run.plan.status.is_connected:
        result += ", demands not met"
    return f"{run.planner}: {scenario.uavs:,} UAVs, {len(scenario.destroyed):,} destroyed, {result}"


def draw_before(figure: Figure, cell: Any, scenario: Scenario) -> None:
    """The swarm right after the damage: links, the lost, the survivors by sub-net."""
    axes = map_axes(
        figure, cell, scenario, f"After the damage: {pieces_text(scenario.subnet_count)}"
    )
    points = scenario.survivor_positions
    rank = subnet_ranks(scenario.subnets)
    _links(axes, scenario, points)
    draw_floor(axes, scenario, points)
    draw_lost(axes, scenario)
    _survivors(axes, scenario, points, rank, label="survivor, coloured by sub-net")
    draw_labels(axes, scenario, np.arange(scenario.uavs), scenario.positions)
    if scenario.dim == 2:
        # Below the name of the axis, however low the map is.
        below = offset_copy(axes.transAxes, figure, y=_BELOW_AXIS_POINTS, units="points")
        legend = axes.legend(
            loc="upper left",
            bbox_to_anchor=(0.0, 0.0),
            bbox_transform=below,
            borderaxespad=0.0,
            ncols=2,
            fontsize=8,
        )
    else:
        # Left of the box, whose corner reaches above the middle of the axes.
        legend = axes.legend(loc="upper right", bbox_to_anchor=(0.12, 1.0), fontsize=7)
    for handle in legend.legend_handles:
        handle.set_sizes([25.0])
        handle.set_alpha(1.0)
    legend.legend_handles[-1].set_facecolor(LARGEST)  # not that of the first survivor's sub-net


def draw_after(figure: Figure, cell: Any, scenario: Scenario, flight: Flight, title: str) -> bool:
    """The swarm at the end of a flight, with its links and how everyone got there.

    Returns
    -------
    bool
        Whether some arrow is longer than the way it stands for.
    """
    return _draw_moves(figure, cell, scenario, flight.positions, title)


def _draw_moves(
    figure: Figure, cell: Any, scenario: Scenario, positions: FloatArray, title: str
) -> bool:
    """(T, N_R, dim) positions over time: the last ones, and how everyone got there; whether some
    arrow is longer than its way.
    """
    axes = map_axes(figure, cell, scenario, title)
    end = positions[-1]
    label = subnets(end, scenario.radio_range_m)
    _links(axes, scenario, end)
    draw_floor(axes, scenario, end)
    if scenario.uavs >= MANY:
        draw_lost(axes, scenario)
    _survivors(axes, scenario, end, subnet_ranks(label))
    is_lengthened = _paths(axes, scenario, positions)
    draw_labels(axes, scenario, scenario.survivors, end)
    return is_lengthened


def _survivors(
    axes: Any, scenario: Scenario, points: FloatArray, rank: IntArray, **style: Any
) -> None:
    draw_points(
        axes,
        points,
        s=survivor_sizes(rank, scenario.uavs),
        color=rank_colours(rank),
        edgecolors="white",
        linewidths=0.3 if scenario.uavs < MANY else 0.0,
        zorder=3,
        **style,
    )


def note_lengthened(figure: Figure) -> None:
    """Say in the corner that some arrow is longer than its way."""
    note = "arrows of short ways are drawn longer"
    figure.text(0.995, 0.985, note, ha="right", va="top", fontsize=8, color="#555555")


def note_nothing_to_fly(axes: Any) -> None:
    """Instead of a diagram of times that are all 0."""
    axes.set_axis_off()
    axes.text(0.0, 0.8, "Connected from the start: nothing to fly.", va="top", fontsize=10)


def pieces_text(count: int) -> str:
    """In how many sub-nets a swarm is, in words."""
    return "one network" if count == 1 else f"{count:,} sub-nets"


def _after_title(run: Run) -> str:
    at = run.flight.reconnected_at_s
    if not moved(run.flight.path_lengths_m).any():
        return "Nobody moved"
    when = "At the end" if at is None else f"At {at:.2f} s"
    return f"{when}: {pieces_text(int(run.flight.subnets[-1]))}; who flew, in orange"


def _links(axes: Any, scenario: Scenario, points: FloatArray) -> None:
    if scenario.uavs >= MANY:
        return
    pairs = links(points, scenario.radio_range_m)
    if len(pairs):
        faint = float(np.clip(400.0 / len(pairs), 0.1, 0.5))
        ends = points[pairs[:, 0]], points[pairs[:, 1]]
        draw_segments(axes, *ends, colors=LINK, linewidths=0.7, alpha=faint, zorder=1)


def _paths(axes: Any, scenario: Scenario, positions: FloatArray) -> bool:
    """Trajectories, thinned to at most 60 vertices, and arrows for the longest moves; whether one
    of those is longer than its way.
    """
    last = len(positions) - 1
    frames = np.unique(np.append(np.arange(0, last, max(1, last // 60)), last))
    kept = positions[frames]
    steps = np.linalg.norm(np.diff(kept, axis=0), axis=2)
    flown_m = steps.sum(axis=0)
    flew = np.flatnonzero(flown_m > 0)
    if len(flew) == 0:
        return False
    for before, after in pairwise(kept[:, flew]):
        draw_segments(axes, before, after, colors=PATH, linewidths=1.0, alpha=0.8, zorder=4)
    most = _MAX_ARROWS if scenario.uavs < CROWDED else _MAX_ARROWS // 4
    longest = flew[np.argsort(-flown_m[flew], kind="stable")[:most]]
    moves = steps[:, longest] > 0
    leg = len(moves) - 1 - np.argmax(moves[::-1], axis=0)
    extent_m = float(np.ptp(scenario.positions, axis=0).max())
    least_m = _SHORTEST_ARROW * extent_m
    draw_arrows(axes, kept[leg, longest], kept[leg + 1, longest], least_m)
    return bool(flown_m[longest].min() < least_m)


def _subnets_over_time(axes: Any, run: Run) -> None:
    flight = run.flight
    if flight.duration_s == 0.0:
        note_nothing_to_fly(axes)
        return
    axes.step(flight.times_s, flight.subnets, where="post", color=LARGEST, linewidth=1.6)
    axes.set_title("Sub-nets over time")
    axes.set_xlabel("time since the damage (s)")
    axes.set_ylabel("sub-nets $N_s$")
    axes.set_ylim(0, max(2, int(flight.subnets.max()) * 1.1 + 1))
    axes.yaxis.get_major_locator().set_params(integer=True)
    quiet(axes)
    bound_s = 0.0 if run.plan is None else run.plan.lower_bound_s
    # Room for a word to the right of the last change; to the left the curve would strike it.
    room = 1.03 if flight.reconnected_at_s is None else 1.1
    right_s = max(flight.duration_s, bound_s, 1e-9) * room
    axes.set_xlim(0, right_s)
    if flight.reconnected_at_s is not None:
        axes.plot([flight.reconnected_at_s], [1], "o", color=PATH, zorder=4)
        _note(axes, "reconnected", flight.reconnected_at_s, 1.0, raised=7)
    if bound_s > 0:
        axes.axvline(bound_s, color=BOUND, linestyle="--", linewidth=1.0)
        is_late = bound_s > 0.6 * right_s
        _note(axes, "no plan arrives sooner", bound_s, 0.85 * axes.get_ylim()[1], on_left=is_late)


def _note(axes: Any, text: str, x: float, y: float, raised: int = 0, on_left: bool = False) -> None:
    """A word beside a point."""
    axes.annotate(
        text,
        (x, y),
        xytext=(-7 if on_left else 7, raised),
        textcoords="offset points",
        ha="right" if on_left else "left",
        va="center",
        fontsize=8,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.0},
        zorder=1.5,  # under the curve
    )
