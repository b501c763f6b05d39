"""Where the UAVs of a generated swarm are before the damage.

Every layout is a sampler of single positions inside a box; `connected_swarm` redraws the UAVs
that are not attached to the largest sub-net until all are, since for a large swarm the chance
that a whole draw happens to be connected is nil.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from reknit.base.errors import NotConnectable
from reknit.base.types import FloatArray
from reknit.network.links import in_range_of, subnets

Sampler = Callable[[np.random.Generator, int], FloatArray]
"""Draws the given number of positions."""

_ROUNDS = 2_000
_IDLE_ROUNDS = 10
"""Rounds of redrawing without any new UAV attached after which they are placed by a neighbour."""


@dataclass(frozen=True)
class Box:
    """The mission area: its sides in metres, from the origin."""

    sides_m: tuple[float, ...]

    @property
    def longest_m(self) -> float:
        """D of the allowed time ``D / (2 v_max)``."""
        return max(self.sides_m)


def square_box(uavs: int, density_per_km2: float, range_m: float, dim: int) -> Box:
    """The square (cube) that holds the UAVs at the given density.

    In 3-D the density is the one at which a UAV has as many neighbours on average as in the
    plane at `density_per_km2`: ``rho_3 = rho_2 * 3 / (4 range)``.
    """
    per_m2 = density_per_km2 * 1e-6
    per_unit = per_m2 if dim == 2 else per_m2 * 3.0 / (4.0 * range_m)
    return Box(((uavs / per_unit) ** (1.0 / dim),) * dim)


def corridor_box(uavs: int, density_per_km2: float, range_m: float, dim: int) -> Box:
    """A strip eight times as long as it is wide (and high), of the same area or volume."""
    size = math.prod(square_box(uavs, density_per_km2, range_m, dim).sides_m)
    width = (size / 8.0) ** (1.0 / dim)
    return Box((8.0 * width,) + (width,) * (dim - 1))


def uniform_sampler(box: Box) -> Sampler:
    """Every position in the box is as likely as any other."""
    sides = np.asarray(box.sides_m)
    return lambda rng, count: rng.random((count, len(sides))) * sides


def clusters_sampler(box: Box, rng: np.random.Generator, uavs: int) -> Sampler:
    """Normal clouds about random centres, kept inside the box; one UAV in five roams freely.

    There are ``sqrt(N) / 3`` clouds, two at least.
    """
    sides = np.asarray(box.sides_m)
    clusters = max(2, round(math.sqrt(uavs) / 3))
    centres = rng.random((clusters, len(sides))) * sides
    spread = sides / (2.5 * clusters ** (1.0 / len(sides)))

    def draw(rng: np.random.Generator, count: int) -> FloatArray:
        centre = centres[rng.integers(clusters, size=count)]
        points = np.clip(centre + rng.standard_normal((count, len(sides))) * spread, 0.0, sides)
        roams = rng.random(count) < 0.2
        points[roams] = rng.random((int(roams.sum()), len(sides))) * sides
        return np.asarray(points)

    return draw


def jittered_grid(box: Box, uavs: int, rng: np.random.Generator) -> FloatArray:
    """One UAV in each cell of a square grid, up to a quarter cell from the cell's centre."""
    dim = len(box.sides_m)
    cells = math.ceil(uavs ** (1.0 / dim) - 1e-9)
    axes = np.meshgrid(*[np.arange(cells)] * dim, indexing="ij")
    corner = np.stack([axis.ravel() for axis in axes], axis=1)[:uavs]
    jitter = rng.random((uavs, dim)) - 0.5
    return np.asarray((corner + 0.5 + 0.5 * jitter) * np.asarray(box.sides_m) / cells)


@dataclass(frozen=True)
class Layout:
    """How a swarm is laid out.

    Parameters
    ----------
    box
        (N, density, range, dim) to the mission area.
    sampler
        (box, generator, N) to what draws single positions.
    start
        (box, N, generator) to the first positions, where these are not drawn singly.
    """

    box: Callable[[int, float, float, int], Box] = square_box
    sampler: Callable[[Box, np.random.Generator, int], Sampler] = lambda box, rng, uavs: (
        uniform_sampler(box)
    )
    start: Callable[[Box, int, np.random.Generator], FloatArray] | None = None

    def swarm(
        self, uavs: int, density_per_km2: float, range_m: float, dim: int, rng: np.random.Generator
    ) -> tuple[FloatArray, Box]:
        """A connected swarm of this layout, and its mission area."""
        box = self.box(uavs, density_per_km2, range_m, dim)
        draw = self.sampler(box, rng, uavs)
        start = draw(rng, uavs) if self.start is None else self.start(box, uavs, rng)
        return connected_swarm(start, draw, box, range_m, rng), box


LAYOUTS: dict[str, Layout] = {
    "uniform": Layout(),
    "grid": Layout(start=jittered_grid),
    "clusters": Layout(sampler=clusters_sampler),
    "corridor": Layout(box=corridor_box),
}


def connected_swarm(
    start: FloatArray, draw: Sampler, box: Box, range_m: float, rng: np.random.Generator
) -> FloatArray:
    """Redraw what is not attached to the largest sub-net until the swarm is connected.

    UAVs that stay unattached round after round (a box so large that a draw hardly ever lands
    near the others) are placed in range of a random attached one instead.
    """
    points = start
    idle = 0
    for _ in range(_ROUNDS):
        label = subnets(points, range_m)
        sizes = np.bincount(label)
        if len(sizes) == 1:
            return points
        attached = label == np.argmax(sizes)
        loose = np.flatnonzero(~attached)
        if idle < _IDLE_ROUNDS:
            new = draw(rng, len(loose))
        else:
            near = rng.choice(np.flatnonzero(attached), size=len(loose))
            step = rng.uniform(-1.0, 1.0, (len(loose), points.shape[1]))
            step *= range_m / math.sqrt(points.shape[1]) * 0.99
            new = np.clip(points[near] + step, 0.0, np.asarray(box.sides_m))
        idle = 0 if in_range_of(new, points[attached], range_m).any() else idle + 1
        points = points.copy()
        points[loose] = new
    raise NotConnectable(
        f"no connected swarm of {len(points)} UAVs found in a box of "
        f"{' x '.join(f'{side:.0f}' for side in box.sides_m)} m at a range of {range_m:g} m; "
        "raise the density or the range"
    )
