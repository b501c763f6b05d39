"""The recovery as a GIF, which opens anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

from reknit.base.files import replacing
from reknit.base.progress import Progress, silent
from reknit.base.types import IntArray
from reknit.flight.flight import Flight
from reknit.network.links import links, subnets
from reknit.swarm.scenario import Scenario
from reknit.viz.style import (
    LINK,
    LOST,
    LOST_FAINT,
    MANY,
    RC,
    SUBNETS,
    draw_floor,
    draw_labels,
    draw_lost,
    draw_points,
    draw_segments,
    followed_ranks,
    map_axes,
    rank_colours,
    subnet_ranks,
    survivor_sizes,
)

FRAMES = 48
MOST_UAVS = 50_000
"""Beyond, an animation takes longer than everything else and shows a cloud."""

_HOLD = 12
_FRAME_MS = 80
_DRAWN_UAVS = 100_000
"""UAVs drawn in all frames together; larger swarms get fewer frames."""

_FEWEST = 8
_SHADES = 16
_COLOURS = 255
"""Of the 256 of a GIF one is left for pixels that stay as they are."""


def frame_count(uavs: int) -> int:
    """How many frames the animation of a swarm of this size has at most; 0 for none."""
    return 0 if uavs > MOST_UAVS else int(np.clip(_DRAWN_UAVS // uavs, _FEWEST, FRAMES))


def thinning_note(uavs: int) -> str:
    """A word on an animation that is thinned or left out for the swarm's size; else empty."""
    frames = frame_count(uavs)
    if frames == 0:
        return f"no animation: it is drawn up to {MOST_UAVS:,} UAVs"
    return "" if frames == FRAMES else f"animation of {frames} frames, not {FRAMES}, for its size"


def save_animation(
    scenario: Scenario, flight: Flight, path: Path, progress: Progress = silent
) -> None:
    """Write the flight as a GIF that ends with a pause.

    All frames share one palette, which holds the colours of the picture exactly, and a sub-net
    keeps its colour from frame to frame.
    """
    last = len(flight.times_s) - 1
    count = min(frame_count(scenario.uavs), last + 1)
    frames = np.unique(np.round(np.linspace(0, last, count)).astype(int))
    palette = gif_palette()
    images: list[Image.Image] = []
    rank = subnet_ranks(scenario.subnets)
    with mpl.rc_context(RC):
        for number, frame in enumerate(frames.tolist()):
            progress(number / len(frames), "drawing the animation")
            rank = followed_ranks(rank, subnets(flight.positions[frame], scenario.radio_range_m))
            images.append(indexed(_drawn(scenario, flight, frame, rank), palette))
    save_gif(images, path, _FRAME_MS, palette=palette.astype(np.uint8).tobytes())


def save_gif(images: Sequence[Image.Image], path: Path, frame_ms: int, **more: Any) -> None:
    """Write frames as a GIF that holds its first and its last one.

    Parameters
    ----------
    images
        The frames, in order.
    path
        Where to; an old file stays until the new one is whole.
    frame_ms
        How long a frame is shown; the first and the last one longer.
    more
        Further options of Pillow, such as the palette.
    """
    durations = [frame_ms] * len(images)
    durations[0] = durations[-1] = frame_ms * _HOLD
    with replacing(path) as temporary:
        images[0].save(
            temporary,
            format="GIF",
            save_all=True,
            append_images=images[1:],
            duration=durations,
            loop=0,
            optimize=False,
            **more,
        )


def _drawn(scenario: Scenario, flight: Flight, frame: int, rank: IntArray) -> IntArray:
    """(height, width, 3) one frame in full colour."""
    figure = Figure(figsize=(5.6, 5.8), dpi=90, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    points = flight.positions[frame]
    count = int(flight.subnets[frame])
    pieces = "one network" if count == 1 else f"{count:,} sub-nets"
    title = f"{flight.times_s[frame]:6.2f} s   {pieces}"
    axes = map_axes(figure, 111, scenario, title)
    if scenario.uavs < MANY:
        pairs = links(points, scenario.radio_range_m)
        if len(pairs):
            ends = points[pairs[:, 0]], points[pairs[:, 1]]
            draw_segments(axes, *ends, colors=LINK, linewidths=0.6, alpha=0.35, zorder=1)
    draw_floor(axes, scenario, points)
    draw_lost(axes, scenario)
    draw_points(
        axes,
        points,
        s=survivor_sizes(rank, scenario.uavs),
        color=rank_colours(rank),
        edgecolors="white",
        linewidths=0.3 if scenario.uavs < MANY else 0.0,
        # A dot of about one pixel is the colour of its sub-net only without a soft edge.
        antialiased=scenario.uavs < MANY,
        zorder=3,
    )
    draw_labels(axes, scenario, scenario.survivors, points)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].astype(np.int64)


def gif_palette() -> IntArray:
    """(255, 3) the colours that are drawn, each in shades towards white, then greys."""
    pure = [np.array(to_rgb(name)) for name in (*SUBNETS, LINK, LOST, LOST_FAINT)]
    shades = [
        np.round(255 * (colour + (1.0 - colour) * k / _SHADES)).astype(np.int64)
        for colour in pure
        for k in range(_SHADES)
    ]
    greys = [(level, level, level) for level in [255, 0, *range(1, 255, 2), *range(2, 255, 2)]]
    unique = dict.fromkeys([*(tuple(row.tolist()) for row in shades), *greys])
    return np.asarray(list(unique)[:_COLOURS])


def indexed(pixels: IntArray, palette: IntArray) -> Image.Image:
    """An image in the palette's nearest colours; a colour that is in it stays itself."""
    packed = pixels @ np.array([65536, 256, 1])
    colours, where = np.unique(packed, return_inverse=True)
    rgb = np.stack([colours // 65536, colours // 256 % 256, colours % 256], axis=1)
    distance = ((rgb[:, None, :] - palette[None, :, :]) ** 2).sum(axis=2)
    index = distance.argmin(axis=1).astype(np.uint8)[where].reshape(pixels.shape[:2])
    image: Any = Image.fromarray(index, mode="P")
    image.putpalette(palette.astype(np.uint8).tobytes())
    return image  # type: ignore[no-any-return]
