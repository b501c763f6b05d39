"""One look for all pictures: colours that colour-blind readers can tell apart, quiet axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from reknit.base.types import FloatArray, IntArray
from reknit.swarm.scenario import Scenario

LARGEST = "#4C78A8"
OTHERS = ("#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C6BB1", "#B8A200", "#5A5A5A")
LOST = "#B0B0B0"
LINK = "#4C78A8"
PATH = "#D55E00"
BOUND = "#222222"

RC: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#666666",
    "axes.linewidth": 0.8,
    "legend.frameon": False,
    "grid.color": "#E4E4E4",
    "figure.dpi": 100,
    "savefig.dpi": 200,
}


def subnet_colours(label: IntArray) -> list[str]:
    """A colour per UAV: the largest sub-net is blue, the others take turns."""
    sizes = np.bincount(label)
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    palette = [LARGEST, *(OTHERS[k % len(OTHERS)] for k in range(len(sizes) - 1))]
    return [palette[rank[one]] for one in label]


def marker_size(uavs: int) -> float:
    """Marker area that neither drowns a small swarm nor smears a large one."""
    return float(np.clip(4000.0 / max(uavs, 1), 0.5, 45.0))


def map_axes(figure: Figure, cell: Any, scenario: Scenario, title: str) -> Any:
    """Axes for a map of the swarm, in metres, the same extent for every map of a scenario."""
    if scenario.dim == 3:
        axes = figure.add_subplot(cell, projection="3d")
        axes.set_title(title)
        axes.tick_params(labelsize=7)
        axes.set_xlabel("x (m)")
        axes.set_ylabel("y (m)")
        axes.set_zlabel("z (m)")
        for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
            axis.set_pane_color("#FAFAFA")
            axis.line.set_color("#666666")
    else:
        axes = figure.add_subplot(cell)
        axes.set_title(title)
        axes.set_aspect("equal")
        axes.set_xlabel("x (m)")
        axes.set_ylabel("y (m)")
    low, high = scenario.positions.min(axis=0), scenario.positions.max(axis=0)
    pad = 0.04 * float(max((high - low).max(), scenario.radio_range_m / 4))
    axes.set_xlim(low[0] - pad, high[0] + pad)
    axes.set_ylim(low[1] - pad, high[1] + pad)
    if scenario.dim == 3:
        axes.set_zlim(low[2] - pad, high[2] + pad)
    return axes


def draw_points(axes: Any, points: FloatArray, **style: Any) -> Any:
    """Scatter in 2-D or 3-D."""
    return axes.scatter(*points.T, **style)


def draw_segments(axes: Any, starts: FloatArray, ends: FloatArray, **style: Any) -> Any:
    """Many line segments as one artist, in 2-D or 3-D."""
    segments = np.stack([starts, ends], axis=1)
    if segments.shape[2] == 3:
        from mpl_toolkits.mplot3d.art3d import Line3DCollection

        return axes.add_collection3d(Line3DCollection(segments, **style))
    return axes.add_collection(LineCollection(list(segments), **style))


def quiet(axes: Axes) -> None:
    """A light grid behind the data."""
    axes.grid(True, color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
