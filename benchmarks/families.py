"""Split swarms on which planners are compared: the paper's kind, and where it is hard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import reknit
from reknit.base.types import FloatArray
from reknit.swarm.radio import DEFAULT_RANGE_M
from reknit.swarm.scenario import DEFAULT_SPEED_MPS

SPEED_MPS = DEFAULT_SPEED_MPS
RANGE_M = DEFAULT_RANGE_M


@dataclass(frozen=True)
class Family:
    """Scenarios of one kind, one for each seed.

    Parameters
    ----------
    name
        As printed in tables.
    make
        From a seed to a split swarm.
    goal
        The mean gap to the bound that is aimed at, as a fraction.
    """

    name: str
    make: Callable[[int], reknit.Scenario]
    goal: float


def _damaged(uavs: int, lost: float, layout: str = "uniform") -> Callable[[int], reknit.Scenario]:
    def make(seed: int) -> reknit.Scenario:
        destroyed = round(uavs * lost)
        return reknit.generate(uavs, destroyed, seed=seed, layout=layout, split=True)

    return make


def _mixed_speeds(seed: int) -> reknit.Scenario:
    speeds = np.random.default_rng(seed).uniform(1.0, 20.0, 200)
    swarm = reknit.generate(200, 180, seed=seed, split=True)
    return reknit.Scenario(swarm.positions, swarm.destroyed, RANGE_M, speeds)


def _turned(points: FloatArray, seed: int) -> reknit.Scenario:
    """The points turned and renumbered, so that no two seeds are the same input."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0.0, 2.0 * np.pi)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return reknit.Scenario(rng.permutation(points @ turn.T), (), RANGE_M, SPEED_MPS)


def _lattice(spacing: float) -> Callable[[int], reknit.Scenario]:
    cells = np.stack(np.meshgrid(np.arange(10.0), np.arange(10.0)), axis=-1).reshape(-1, 2)
    return lambda seed: _turned(cells * spacing * RANGE_M, seed)


def _line(count: int) -> Callable[[int], reknit.Scenario]:
    points = np.stack([np.arange(count) * 1.5 * RANGE_M, np.zeros(count)], axis=1)
    return lambda seed: _turned(points, seed)


def _ring(seed: int) -> reknit.Scenario:
    angle = 2.0 * np.pi * np.arange(40) / 40.0
    radius_m = 1.5 * RANGE_M / (2.0 * np.sin(np.pi / 40.0))
    return _turned(radius_m * np.stack([np.cos(angle), np.sin(angle)], axis=1), seed)


def _star(seed: int) -> reknit.Scenario:
    angle = 2.0 * np.pi * np.repeat(np.arange(6), 4) / 6.0
    radius_m = 1.5 * RANGE_M * np.tile(np.arange(1.0, 5.0), 6)
    return _turned(np.stack([np.cos(angle), np.sin(angle)], axis=1) * radius_m[:, None], seed)


def _sparse(seed: int) -> reknit.Scenario:
    points = np.random.default_rng(seed).random((30, 2)) * 25.0 * RANGE_M
    return reknit.Scenario(points, (), RANGE_M, SPEED_MPS)


HARD = (
    Family("N=500, 90 % lost", _damaged(500, 0.9), 0.005),
    Family("N=500, 95 % lost", _damaged(500, 0.95), 0.05),
    Family("N=1000, 90 % lost", _damaged(1000, 0.9), 0.03),
    Family("N=1000, 95 % lost", _damaged(1000, 0.95), 0.10),
    Family("N=2000, 90 % lost", _damaged(2000, 0.9), 0.04),
    Family("N=5000, 90 % lost", _damaged(5000, 0.9), 0.10),
    Family("N=5000, 98 % lost", _damaged(5000, 0.98), 0.50),
    Family("corridor 200, 90 % lost", _damaged(200, 0.9, layout="corridor"), 0.04),
    Family("corridor 200, 95 % lost", _damaged(200, 0.95, layout="corridor"), 0.04),
    Family("speeds 1 to 20 m/s, 200, 90 %", _mixed_speeds, 0.05),
    Family("lattice 10 x 10, 1.2 d", _lattice(1.2), 0.25),
    Family("lattice 10 x 10, 2 d", _lattice(2.0), 0.25),
    Family("line of 20, 1.5 d", _line(20), 0.0),
    Family("line of 100, 1.5 d", _line(100), 0.0),
    Family("ring of 40, 1.5 d", _ring, 0.0),
    Family("star of 6 x 4, 1.5 d", _star, 0.30),
    Family("uniform 30, very sparse", _sparse, 0.30),
)
"""Connected results (k = 1) where the gap is widest."""

USUAL = tuple(
    Family(f"N={uavs}, {destroyed} lost", _damaged(uavs, destroyed / uavs), 0.001)
    for uavs, destroyed in (
        (20, 10), (50, 25), (100, 50), (200, 50), (200, 100), (200, 150), (200, 180),
        (500, 250), (1_000, 500), (1_000, 800),
    )
)  # fmt: skip
"""The paper's kind of swarms, which are solved to proof."""
