"""The flight of a run in a few kilobytes, so that a report can draw its map without a planner."""

from __future__ import annotations

import io
from itertools import pairwise

import numpy as np

from reknit.base.types import FloatArray, IntArray
from reknit.flight.flight import Flight
from reknit.swarm.scenario import Scenario

MAX_TRACKED_UAVS = 5_000
"""Of larger swarms no track is kept: a map of them in a report shows nothing."""

_NEAR_M = 1.0
_FRAMES = (2, 3, 5, 9, 17, 33, 65)


def packed(scenario: Scenario, flight: Flight) -> bytes | None:
    """What a map needs of a flight: the swarm, its damage, and where the survivors flew.

    Kept are as few instants as show every path to within a metre (two, if all fly straight). The
    last is exact, because links at the limit of the range are to be drawn.

    Returns
    -------
    bytes or None
        A compressed NumPy archive; None for more than `MAX_TRACKED_UAVS` UAVs.
    """
    if scenario.uavs > MAX_TRACKED_UAVS:
        return None
    frames = _frames(flight.positions)
    out = io.BytesIO()
    np.savez_compressed(
        out,
        positions=scenario.positions,
        destroyed=scenario.destroyed.astype(np.int32),
        radio_range_m=np.float64(scenario.radio_range_m),
        times_s=flight.times_s[frames],
        subnets=flight.subnets[frames],
        largest_subnet=flight.largest_subnet[frames],
        between=flight.positions[frames[1:-1]].astype(np.float32),
        end=flight.positions[-1],
        path_lengths_m=flight.path_lengths_m.astype(np.float32),
        reconnected_at_s=np.float64(np.nan if (at := flight.reconnected_at_s) is None else at),
    )
    return out.getvalue()


def unpacked(track: bytes) -> tuple[Scenario, Flight]:
    """The scenario and the thinned flight of a stored track."""
    with np.load(io.BytesIO(track), allow_pickle=False) as kept:
        scenario = Scenario(
            kept["positions"], kept["destroyed"].tolist(), float(kept["radio_range_m"])
        )
        start = scenario.survivor_positions
        frames = [start, *kept["between"].astype(np.float64), kept["end"]]
        at_s = float(kept["reconnected_at_s"])
        flight = Flight(
            times_s=kept["times_s"],
            positions=np.stack(frames[-len(kept["times_s"]) :]),
            subnets=kept["subnets"],
            largest_subnet=kept["largest_subnet"],
            reconnected_at_s=None if np.isnan(at_s) else at_s,
            reconnected_at_step_s=None,
            min_separation_m=float("nan"),
            path_lengths_m=kept["path_lengths_m"].astype(np.float64),
        )
    return scenario, flight


def _frames(positions: FloatArray) -> IntArray:
    """Which instants to keep; always the first and the last."""
    last = len(positions) - 1
    for count in _FRAMES:
        chosen = np.unique(np.linspace(0, last, count).round().astype(np.int64))
        if len(chosen) > last or _furthest_m(positions, chosen) <= _NEAR_M:
            return chosen
    return chosen


def _furthest_m(positions: FloatArray, chosen: IntArray) -> float:
    """How far a recorded position is from the straight line between the kept ones around it."""
    worst = 0.0
    for first, last in pairwise(chosen):
        start, way = positions[first], positions[last] - positions[first]
        square = np.maximum((way * way).sum(axis=1), 1e-12)
        offset = positions[first + 1 : last] - start
        share = np.clip((offset * way).sum(axis=2) / square, 0.0, 1.0)
        beside = offset - share[..., None] * way
        worst = max(worst, float((beside * beside).sum(axis=2).max(initial=0.0)))
    return float(np.sqrt(worst))
