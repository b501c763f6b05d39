"""What a UAV believes, beside what is true: a picture and an animation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from reknit.base.progress import Progress, silent
from reknit.base.types import IntArray
from reknit.knowledge.belief import Knowledge
from reknit.knowledge.operation import Operation
from reknit.network.links import links, subnets
from reknit.viz.animation import gif_palette, indexed, save_gif
from reknit.viz.style import (
    BOUND,
    LARGEST,
    LINK,
    LOST,
    PATH,
    RC,
    draw_points,
    draw_segments,
    followed_ranks,
    map_axes,
    marker_size,
    quiet,
    rank_colours,
    subnet_ranks,
)

_STATES = {
    Knowledge.ALIVE: ("in touch", {"color": LARGEST, "marker": "o"}),
    Knowledge.UNKNOWN: ("unknown", {"facecolors": "none", "edgecolors": "#CC79A7"}),
    Knowledge.PRESUMED_DEAD: ("presumed dead", {"color": "#E69F00", "marker": "x"}),
    Knowledge.CERTAINLY_DEAD: ("certainly dead", {"color": LOST, "marker": "x"}),
}
_FRAMES = 40
_FRAME_MS = 90


def belief_figure(operation: Operation) -> Figure:
    """Truth and belief right after the last strike and at the end, and both over time."""
    with mpl.rc_context(RC):
        figure = Figure(figsize=(10.5, 12.0), layout="constrained")
        grid = figure.add_gridspec(3, 2, height_ratios=[3.0, 3.0, 1.2])
        first = int(np.searchsorted(operation.times_s, operation.struck_at_s))
        for row, frame in enumerate((first, len(operation.times_s) - 1)):
            draw_truth(figure, grid[row, 0], operation, frame)
            draw_belief(figure, grid[row, 1], operation, frame)
        _over_time(figure.add_subplot(grid[2, :]), operation)
        figure.suptitle(_headline(operation), x=0.01, ha="left", fontsize=12)
    return figure


def save_belief_animation(operation: Operation, path: Path, progress: Progress = silent) -> None:
    """Write truth and belief side by side as a GIF of about 40 frames."""
    first = int(np.searchsorted(operation.times_s, operation.struck_at_s))
    last = len(operation.times_s) - 1
    frames = np.unique(np.round(np.linspace(first, last, min(_FRAMES, last - first + 1))))
    images: list[Image.Image] = []
    palette = gif_palette()
    rank = subnet_ranks(_labels(operation, first))
    with mpl.rc_context(RC):
        for number, frame in enumerate(frames.astype(int).tolist()):
            progress(number / len(frames), "drawing the animation")
            figure = Figure(figsize=(10.0, 5.6), dpi=80, layout="constrained")
            canvas = FigureCanvasAgg(figure)
            grid = figure.add_gridspec(1, 2)
            rank = followed_ranks(rank, _labels(operation, frame))
            draw_truth(figure, grid[0, 0], operation, frame, rank)
            draw_belief(figure, grid[0, 1], operation, frame)
            canvas.draw()
            pixels = np.asarray(canvas.buffer_rgba())[..., :3].astype(np.int64)
            images.append(indexed(pixels, palette))
    save_gif(images, path, _FRAME_MS, palette=palette.astype(np.uint8).tobytes())


def draw_truth(
    figure: Figure, cell: Any, operation: Operation, frame: int, rank: IntArray | None = None
) -> None:
    """Who lives, where, and in which sub-net; ranks keep the colours of an earlier frame."""
    count = int(operation.subnets[frame])
    pieces = "one network" if count == 1 else f"{count} sub-nets"
    title = f"True at {operation.times_s[frame]:.2f} s: {pieces}"
    axes = map_axes(figure, cell, operation.mission.swarm, title)
    points, alive = operation.positions[frame], operation.alive[frame]
    range_m, size = operation.struck.radio_range_m, marker_size(len(points))
    pairs = links(points[alive], range_m)
    if len(pairs):
        ends = points[alive][pairs[:, 0]], points[alive][pairs[:, 1]]
        draw_segments(axes, *ends, colors=LINK, linewidths=0.6, alpha=0.3, zorder=1)
    draw_points(axes, points[~alive], s=size, marker="x", color=LOST, linewidths=0.9)
    if rank is None:
        rank = subnet_ranks(_labels(operation, frame))
    colours = rank_colours(rank)
    draw_points(axes, points[alive], s=size, color=colours, edgecolors="white", linewidths=0.3)
    _mark(axes, operation, frame, points)


def _labels(operation: Operation, frame: int) -> IntArray:
    """The sub-net of every survivor."""
    alive = operation.alive[frame]
    return subnets(operation.positions[frame][alive], operation.struck.radio_range_m)


def draw_belief(figure: Figure, cell: Any, operation: Operation, frame: int) -> None:
    """What the observed UAV holds of everybody, where it believes them to be."""
    seen = operation.observation
    swarm = operation.mission.swarm
    axes = map_axes(figure, cell, swarm, f"What UAV {swarm.label(seen.uav)} believes")
    points, status = seen.positions[frame], seen.status[frame]
    size = marker_size(len(points))
    for state, (name, style) in _STATES.items():
        which = status == state
        label = f"{name}: {int(which.sum())}"
        draw_points(axes, points[which], s=size, label=label, linewidths=0.9, **style)
    _mark(axes, operation, frame, points)
    axes.legend(loc="upper left", bbox_to_anchor=(0.0, -0.1), ncols=2, fontsize=8)


def _mark(axes: Any, operation: Operation, frame: int, points: Any) -> None:
    here = points[[operation.observation.uav]]
    size = 4.0 * marker_size(len(points)) + 30.0
    draw_points(axes, here, s=size, facecolors="none", edgecolors=PATH, linewidths=1.4, zorder=5)


def _over_time(axes: Any, operation: Operation) -> None:
    times_s = operation.times_s
    style = {"where": "post", "linewidth": 1.5}
    axes.step(times_s, operation.subnets, color=LARGEST, label="sub-nets", **style)
    axes.step(
        times_s,
        operation.false_alive,
        color="#CC79A7",
        label="lost, held alive",
        **style,
    )
    axes.step(
        times_s,
        operation.false_dead,
        color="#E69F00",
        label="alive, held dead",
        **style,
    )
    optimum_s = operation.struck_at_s + operation.optimum_s
    axes.axvline(optimum_s, color=BOUND, linestyle="--", linewidth=1.0, label="full knowledge")
    axes.set_xlabel("time (s)")
    axes.set_ylabel("number")
    axes.set_ylim(bottom=0)
    note = "mean over survivors"
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0), title=note)
    quiet(axes)


def _headline(operation: Operation) -> str:
    at, price = operation.reconnected_at_s, operation.price_of_ignorance
    result = "not reconnected" if at is None else f"whole again at {at:.2f} s"
    cost = "" if price is None else f", {price:.2f} times the optimum with full knowledge"
    return f"{operation.policy} over {operation.channel}: {result}{cost}"
