"""Targets on a lattice, for separations that leave the survivors little room.

A piece of a lattice whose nearest sites are between the separation and the range apart meets
both demands. It is laid over the swarm in a few ways, of the shape of the survivors' hull, and
the survivors are sent to its sites so that the longest flight is as short as it can be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from reknit.base.types import FloatArray
from reknit.exact.model.assignment import assign
from reknit.exact.model.problem import Problem
from reknit.network.connectivity import is_k_connected
from reknit.network.links import links

_HAIR = 1e-9
"""Room for rounding at both ends of what a pitch may be, relative."""

_PITCHES = (0.0, 0.25, 0.5, 1.0)
"""Pitches that are tried, from the separation (0) to the range (1)."""

_TURNS = 3
_MANY = 400
"""With more survivors than this a single placement is tried."""

_SWAPS = 20


def lattice_targets(
    problem: Problem, gap_m: float, order: int, is_over: Callable[[], bool]
) -> FloatArray | None:
    """The quickest targets on any of the lattices tried.

    Parameters
    ----------
    problem
        Survivors, speeds and the range d.
    gap_m
        The separation s, at most d.
    order
        k, for a k-connected result.
    is_over
        Asked between placements, of which at least one is tried.

    Returns
    -------
    (n, dim) targets at least s apart and k-connected by links of at most d; None with several
    anchors, where rounding leaves no pitch, or where the lattice has too few neighbours.
    """
    fixed = np.flatnonzero(problem.speeds == 0.0)
    low_m, high_m = gap_m * (1.0 + _HAIR), problem.range_m * (1.0 - _HAIR)
    if len(fixed) > 1 or low_m > high_m:
        return None
    origin = problem.start[fixed[0]] if len(fixed) else problem.start.mean(axis=0)
    best: tuple[float, FloatArray] | None = None
    for pitch_m, turn in _placements(problem, low_m, high_m):
        if best is not None and is_over():
            break
        sites = _sites(problem, pitch_m, turn, origin, order)
        if not is_k_connected(links(sites, problem.range_m), len(sites), order):
            continue
        time_s, choice = assign(problem, sites, is_over)
        if best is None or time_s < best[0]:
            best = time_s, sites[choice]
    return None if best is None else best[1]


def _placements(
    problem: Problem, low_m: float, high_m: float
) -> Iterator[tuple[float, FloatArray]]:
    """Pitches and rotations, the likeliest first: the pitch at which the lattice is as dense as
    the swarm, if that is allowed.
    """
    dim = problem.start.shape[1]
    shape = _hull(problem.start)
    fitting_m = high_m
    if shape is not None:
        cell = shape.volume / problem.count
        fitting_m = (cell * 2.0 / np.sqrt(3.0)) ** 0.5 if dim == 2 else (cell * 2.0**0.5) ** (1 / 3)
    pitches = [float(np.clip(fitting_m, low_m, high_m))]
    turns = [_turn(dim, 0.0)]
    if problem.count <= _MANY:
        pitches += [low_m + part * (high_m - low_m) for part in _PITCHES]
        turns += [_turn(dim, np.pi / 3.0 * k / _TURNS) for k in range(1, _TURNS)]
    for pitch_m in dict.fromkeys(pitches):
        for turn in turns:
            yield pitch_m, turn


def _turn(dim: int, angle: float) -> FloatArray:
    """A rotation in the plane of the first two axes."""
    turn = np.eye(dim)
    turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return turn


def _hull(points: FloatArray) -> ConvexHull | None:
    try:
        return ConvexHull(points)
    except (QhullError, ValueError):  # too few points, or all on a line
        return None


def _sites(
    problem: Problem, pitch_m: float, turn: FloatArray, origin: FloatArray, order: int
) -> FloatArray:
    """As many sites as survivors, those deepest in their hull (about `origin`, which is one), but
    none with fewer than k neighbours where others have more.
    """
    dim, count = problem.start.shape[1], problem.count
    if dim == 2:
        basis = np.array([[1.0, 0.0], [0.5, np.sqrt(0.75)]])
    else:
        basis = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]) / np.sqrt(2.0)
    reach_m = float(np.sqrt(((problem.start - origin) ** 2).sum(axis=1)).max())
    # The sites within a radius of R are at least (R / pitch - 1)^dim: enough for everybody.
    reach_m = max(reach_m, pitch_m * (count ** (1.0 / dim) + 1.0)) + pitch_m
    if reach_m / pitch_m > 6.0 * count ** (1.0 / dim) + 8.0:
        # Far wider than a compact lattice: a disc about the middle is what can be listed.
        reach_m = pitch_m * (2.0 * count ** (1.0 / dim) + 4.0)
    most = int(np.ceil(2.0 * reach_m / pitch_m))
    axis = np.arange(-most, most + 1)
    steps = np.stack(np.meshgrid(*[axis] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    offset = (steps @ basis) @ turn.T * pitch_m
    offset = offset[(offset**2).sum(axis=1) <= reach_m * reach_m]
    depth = np.sqrt((offset**2).sum(axis=1)) * 1e-6
    shape = _hull(problem.start - origin)
    if shape is None:
        depth = depth * 1e6
    else:
        depth += np.max(offset @ shape.equations[:, :-1].T + shape.equations[:, -1], axis=1)
    fixed = np.flatnonzero(problem.speeds == 0.0)
    if len(fixed):
        depth[int((offset**2).sum(axis=1).argmin())] = -np.inf  # the anchor's own site
    by_depth = np.argsort(depth, kind="stable")
    chosen = np.zeros(len(offset), dtype=bool)
    chosen[by_depth[:count]] = True
    if order > 1:
        pairs = links(offset, problem.range_m)
        for _ in range(_SWAPS):
            inner = pairs[chosen[pairs].all(axis=1)]
            degree = np.bincount(inner.ravel(), minlength=len(offset))
            poor = np.flatnonzero(chosen & (degree < order) & np.isfinite(depth))
            if len(poor) == 0:
                break
            across = pairs[chosen[pairs].sum(axis=1) == 1]
            outer = across[~chosen[across]]
            others = np.bincount(outer, minlength=len(offset))
            rich = by_depth[(others >= order)[by_depth] & ~chosen[by_depth]][: len(poor)]
            chosen[poor[: len(rich)]] = False
            chosen[rich] = True
    return np.asarray(origin + offset[chosen])
