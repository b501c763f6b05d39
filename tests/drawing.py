"""What figures show besides axes, grid and words."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from reknit.base.types import FloatArray, IntArray


def pixels_of(figure: Figure) -> IntArray:
    """(height, width, 3) what is drawn."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].astype(np.int64)


def drawn_pixels(figure: Figure) -> list[int]:
    """For each axes of a figure, how many pixels within them show data: those that change when
    lines, marks, areas and arrows are hidden. The figure is without them afterwards.
    """
    full = pixels_of(figure)
    figure.set_layout_engine("none")  # what is left must stay where it is
    for axes in figure.axes:
        for artist in (*axes.lines, *axes.collections, *axes.patches, *axes.artists):
            artist.set_visible(False)
    is_changed = (pixels_of(figure) != full).any(axis=2)[::-1]  # rows from below, as axes count
    boxes = [
        np.asarray(axes.get_window_extent().extents).astype(int).tolist() for axes in figure.axes
    ]
    return [int(is_changed[low:high, left:right].sum()) for left, low, right, high in boxes]


def places(points: FloatArray) -> set[tuple[float, ...]]:
    """Points that can be compared."""
    return {tuple(point) for point in np.asarray(points).round(6).tolist()}


def marked(axes: Any) -> set[tuple[float, ...]]:
    """Where the visible marks of a map are."""
    found = [art for art in axes.collections if isinstance(art, PathCollection)]
    return set().union(
        *(
            places(np.asarray(art.get_offsets(), dtype=np.float64))
            for art in found
            if art.get_visible()
        )
    )
