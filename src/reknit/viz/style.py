"""One look for all pictures: colours that colour-blind readers can tell apart, quiet axes."""

from __future__ import annotations

import io
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import FancyArrowPatch
from mpl_toolkits.mplot3d.proj3d import proj_transform

from reknit.base.types import BoolArray, FloatArray, IntArray
from reknit.swarm.scenario import Scenario

LARGEST = "#4C78A8"
OTHERS = ("#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C6BB1", "#B8A200", "#5A5A5A")
SUBNETS = (LARGEST, *OTHERS)
LOST = "#B0B0B0"
LOST_FAINT = "#C6C6C6"
LINK = "#4C78A8"
PATH = "#D55E00"
BOUND = "#222222"

MANY = 3_000
"""From so many UAVs on, pictures leave out links."""

CROWDED = 600
"""From so many UAVs on, the lost ones are faint dots instead of crosses, the smaller sub-nets
are enlarged, and fewer moves get an arrow."""

FEW = 30
"""Up to so many UAVs, every one is labelled."""

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


class Picture(Figure):
    """A figure that notebooks show without being told to."""

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        with mpl.rc_context(RC):
            self.savefig(file, format="png", dpi=_NOTEBOOK_DPI)
        return file.getvalue()


_NOTEBOOK_DPI = 80


def subnet_ranks(label: IntArray) -> IntArray:
    """Rank of each UAV's sub-net by size, 0 for the largest."""
    sizes = np.bincount(label)
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return np.asarray(rank[label])


def rank_colours(rank: IntArray) -> list[str]:
    """A colour per rank: 0 is blue, the others take turns."""
    return [LARGEST if k == 0 else OTHERS[(k - 1) % len(OTHERS)] for k in rank.tolist()]


def subnet_colours(label: IntArray) -> list[str]:
    """A colour per UAV: the largest sub-net is blue, the others take turns."""
    return rank_colours(subnet_ranks(label))


def followed_ranks(before: IntArray, label: IntArray) -> IntArray:
    """Ranks (and so colours) of sub-nets that have merged or split since the frame before.

    A sub-net keeps the rank that most of its UAVs had; where two claim the same, the larger one
    keeps it and the other takes the first that nobody has.
    """
    sizes = np.bincount(label)
    rank = np.full(len(sizes), -1, dtype=np.int64)
    taken: set[int] = set()
    waiting: list[int] = []
    for subnet in np.argsort(-sizes, kind="stable").tolist():
        wanted = int(np.bincount(before[label == subnet]).argmax())
        if wanted in taken:
            waiting.append(subnet)
        else:
            rank[subnet] = wanted
            taken.add(wanted)
    free = (k for k in range(len(sizes) + len(taken)) if k not in taken)
    for subnet in waiting:
        rank[subnet] = next(free)
    return np.asarray(rank[label])


def marker_size(uavs: int) -> float:
    """Marker area that neither drowns a small swarm nor smears a large one."""
    return float(np.clip(9000.0 / max(uavs, 1), 1.0, 45.0))


def survivor_sizes(rank: IntArray, uavs: int) -> FloatArray:
    """Marker areas: in a large swarm the smaller sub-nets, which matter most, stand out."""
    size = marker_size(uavs)
    return np.where((rank > 0) & (uavs >= CROWDED), 3.0 * size, size)


_AXIS_NAME_INCHES = 0.3
"""How far the name of an axis in space stands out beyond its numbers."""


def map_axes(figure: Figure, cell: Any, scenario: Scenario, title: str) -> Any:
    """Axes for a map of the swarm, in metres, the same extent for every map of a scenario."""
    low, high = scenario.positions.min(axis=0), scenario.positions.max(axis=0)
    pad = 0.04 * float(max((high - low).max(), scenario.radio_range_m / 4))
    if scenario.dim == 3:
        # Order by what is drawn on purpose; by depth, the lost would cover survivors.
        axes = figure.add_subplot(cell, projection="3d", computed_zorder=False)
        axes.set_title(title)
        axes.set_facecolor("none")  # what a neighbour has written may reach into it
        axes.tick_params(labelsize=7, pad=0)
        axes.set_zlabel("z (m)", labelpad=-2)
        axes.set_zlim(low[2] - pad, high[2] + pad)
        sides = np.maximum(high - low, 0.35 * (high - low).max()) + 1e-9
        is_short = sides < 0.7 * sides.max()
        # A long box is scaled by its diagonal, and its ends would be cut.
        axes.set_box_aspect(sides, zoom=1.0 if is_short.any() else 1.12)
        axes.view_init(elev=24, azim=-62)
        engine = figure.get_layout_engine()
        if isinstance(engine, ConstrainedLayoutEngine):
            # It keeps room for the numbers of an axis in space, but not for its name, which
            # would lie over the words of the row below too; a pad is above and below each map.
            right, below = _AXIS_NAME_INCHES / figure.get_size_inches()
            engine.set(rect=(0.0, below, 1.0 - right, 1.0 - below), h_pad=_AXIS_NAME_INCHES / 3)
        for axis, short in zip((axes.xaxis, axes.yaxis, axes.zaxis), is_short, strict=True):
            # With more, numbers of four digits would lie over each other.
            axis.get_major_locator().set_params(nbins=3 if short else 4)
            axis.set_pane_color("#FAFAFA")
            axis.line.set_color("#666666")
            axis._axinfo["grid"].update(color="#E4E4E4", linewidth=0.5)
    else:
        axes = figure.add_subplot(cell)
        axes.set_title(title)
        axes.set_aspect("equal")
    close = {"labelpad": -3} if scenario.dim == 3 else {}  # to the numbers
    axes.set_xlabel("x (m)", **close)
    axes.set_ylabel("y (m)", **close)
    axes.set_xlim(low[0] - pad, high[0] + pad)
    axes.set_ylim(low[1] - pad, high[1] + pad)
    return axes


def draw_lost(axes: Any, scenario: Scenario) -> None:
    """The destroyed UAVs, under everything else: crosses, or faint dots in a large swarm."""
    if len(scenario.destroyed) == 0:
        return
    many = scenario.uavs >= CROWDED
    draw_points(
        axes,
        scenario.destroyed_positions,
        s=(0.5 if many else 1.0) * marker_size(scenario.uavs),
        marker="o" if many else "x",
        color=LOST_FAINT if many else LOST,
        linewidths=0 if many else 0.9,
        label="destroyed",
        zorder=1,
    )


def draw_floor(axes: Any, scenario: Scenario, points: FloatArray) -> None:
    """In 3-D, where each survivor stands above the ground: a stem, its shadow, or in a large swarm,
    where shadows would be a carpet, nothing.
    """
    if scenario.dim != 3 or scenario.uavs >= MANY:
        return
    below = points.copy()
    below[:, 2] = axes.get_zlim()[0]
    if scenario.uavs <= 100:
        draw_segments(axes, below, points, colors="#C8C8C8", linewidths=0.5, zorder=1)
    draw_points(axes, below, s=0.25 * marker_size(scenario.uavs), color="#DADADA", zorder=0)


def draw_labels(axes: Any, scenario: Scenario, rows: IntArray, points: FloatArray) -> None:
    """What the UAVs are called, in a small swarm."""
    if scenario.uavs > FEW:
        return
    labels = [str(scenario.label(row)) for row in rows.tolist()]
    if scenario.dim == 3:
        for label, point in zip(labels, points, strict=True):
            axes.text(*point, f"  {label}", fontsize=_LABEL_POINTS, zorder=6)
        return
    for label, point, (right, up) in zip(
        labels, points, _corners(axes, labels, points), strict=True
    ):
        axes.annotate(
            label,
            point,
            xytext=(4 * right, 4 * up),
            textcoords="offset points",
            ha="left" if right > 0 else "right",
            va="bottom" if up > 0 else "top",
            fontsize=_LABEL_POINTS,
            zorder=6,
        )


_LABEL_POINTS = 7


def _corners(axes: Any, labels: list[str], points: FloatArray) -> list[tuple[int, int]]:
    """At which corner of its point each label goes: the first that covers the fewest other points
    and labels placed before, as far as can be told before the figure has its layout.
    """
    box, (left, right), (low, high) = axes.bbox, axes.get_xlim(), axes.get_ylim()
    scale = min(box.width / (right - left), box.height / (high - low)) * 72.0 / axes.figure.dpi
    centres = points * scale
    half = np.array([[0.3 * len(label), 0.6] for label in labels]) * _LABEL_POINTS
    taken = [(centre, np.full(2, 3.0)) for centre in centres]
    chosen = []
    for centre, size in zip(centres, half, strict=True):
        middles = {corner: centre + corner * (size + 4.0) for corner in _CORNERS}
        covered = {
            corner: sum(bool((abs(middle - at) < size + of).all()) for at, of in taken)
            for corner, middle in middles.items()
        }
        chosen.append(min(_CORNERS, key=lambda corner: covered[corner]))
        taken.append((middles[chosen[-1]], size))
    return chosen


_CORNERS = ((1, 1), (1, -1), (-1, 1), (-1, -1))
"""To the right or left, above or below."""


def draw_points(axes: Any, points: FloatArray, **style: Any) -> Any:
    """Scatter in 2-D or 3-D."""
    if points.shape[1] == 3:
        style["depthshade"] = False
    return axes.scatter(*points.T, **style)


def draw_segments(axes: Any, starts: FloatArray, ends: FloatArray, **style: Any) -> Any:
    """Many line segments as one artist, in 2-D or 3-D."""
    segments = np.stack([starts, ends], axis=1)
    if segments.shape[2] == 3:
        from mpl_toolkits.mplot3d.art3d import Line3DCollection

        return axes.add_collection3d(Line3DCollection(segments, **style))
    return axes.add_collection(LineCollection(list(segments), **style))


_FORESHORTENED = 1.6
"""How much longer a short move is drawn in space, where the axes take less room."""


class _Arrow3D(FancyArrowPatch):
    """A flat arrow between the places where two points in space are seen, above all else."""

    def __init__(self, start: FloatArray, end: FloatArray) -> None:
        super().__init__(
            (0.0, 0.0),
            (0.0, 0.0),
            arrowstyle="-|>,head_length=0.5,head_width=0.25",
            mutation_scale=7.0,
            shrinkA=0.0,
            shrinkB=0.0,
            color=PATH,
            linewidth=1.2,
            joinstyle="miter",
            zorder=5,
        )
        self._ends = np.stack([start, end])

    def do_3d_projection(self) -> float:
        """Where the ends are seen; the smallest value is drawn last."""
        x, y, _ = proj_transform(*self._ends.T, self.axes.get_proj())  # type: ignore[union-attr]
        self.set_positions((x[0], y[0]), (x[1], y[1]))
        return -np.inf


def draw_arrows(axes: Any, starts: FloatArray, ends: FloatArray, least_m: float) -> None:
    """Arrows from starts to ends, none shorter than `least_m`, so that short moves show."""
    delta = ends - starts
    length = np.linalg.norm(delta, axis=1, keepdims=True)
    if starts.shape[1] == 3:
        least_m *= _FORESHORTENED
    shown = ends - delta / length * np.maximum(length, least_m)
    if starts.shape[1] == 3:
        for start, end in zip(shown, ends, strict=True):
            axes.add_artist(_Arrow3D(start, end))
        return
    axes.quiver(
        *shown.T,
        *(ends - shown).T,
        angles="xy",
        scale_units="xy",
        scale=1.0,
        units="inches",
        width=0.014,
        headwidth=4.5,
        headlength=5.5,
        headaxislength=5.0,
        minlength=0.0,
        color=PATH,
        zorder=5,
    )


def moved(paths_m: FloatArray) -> BoolArray:
    """Who flew at all."""
    return np.asarray(paths_m > 0)


def quiet(axes: Axes) -> None:
    """A light grid behind the data."""
    axes.grid(True, linewidth=0.6)
    axes.set_axisbelow(True)
