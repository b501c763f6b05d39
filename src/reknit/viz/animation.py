"""The recovery as a GIF, which opens anywhere."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from reknit.base.files import replacing
from reknit.base.progress import Progress, silent
from reknit.flight.flight import Flight
from reknit.network.links import links, subnets
from reknit.swarm.scenario import Scenario
from reknit.viz.style import (
    LINK,
    LOST,
    RC,
    draw_points,
    draw_segments,
    map_axes,
    marker_size,
    subnet_colours,
)

_FRAMES = 48
_HOLD = 12
_FRAME_MS = 80


def save_animation(
    scenario: Scenario, flight: Flight, path: Path, progress: Progress = silent
) -> None:
    """Write the flight as a GIF of about 48 frames that ends with a pause."""
    last = len(flight.times_s) - 1
    frames = np.unique(np.round(np.linspace(0, last, min(_FRAMES, last + 1))).astype(int))
    images: list[Image.Image] = []
    with mpl.rc_context(RC):
        for number, frame in enumerate(frames.tolist()):
            progress(number / len(frames), "drawing the animation")
            images.append(_image(scenario, flight, frame))
    durations = [_FRAME_MS] * len(images)
    durations[0] = durations[-1] = _FRAME_MS * _HOLD
    with replacing(path) as temporary:
        images[0].save(
            temporary,
            format="GIF",
            save_all=True,
            append_images=images[1:],
            duration=durations,
            loop=0,
            optimize=False,
        )


def _image(scenario: Scenario, flight: Flight, frame: int) -> Image.Image:
    figure = Figure(figsize=(5.6, 5.8), dpi=90, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    points = flight.positions[frame]
    count = int(flight.subnets[frame])
    pieces = "one network" if count == 1 else f"{count} sub-nets"
    title = f"{flight.times_s[frame]:6.2f} s   {pieces}"
    axes = map_axes(figure, 111, scenario, title)
    size = marker_size(scenario.uavs)
    pairs = links(points, scenario.radio_range_m)
    if 0 < len(pairs) <= 50_000:
        ends = points[pairs[:, 0]], points[pairs[:, 1]]
        draw_segments(axes, *ends, colors=LINK, linewidths=0.6, alpha=0.35, zorder=1)
    if len(scenario.destroyed):
        draw_points(axes, scenario.destroyed_positions, s=size, marker="x", color=LOST)
    colours = subnet_colours(subnets(points, scenario.radio_range_m))
    draw_points(axes, points, s=size, color=colours, edgecolors="white", linewidths=0.3, zorder=3)
    canvas.draw()
    image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    return image.quantize(colors=64, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
