"""Moving, rotating, renumbering or scaling a scenario changes nothing but the units."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import reknit
from reknit.base.types import FloatArray


def _rotated(points: FloatArray, angle: float) -> FloatArray:
    turn = np.eye(points.shape[1])
    turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return np.asarray(points @ turn.T)


_CHANGES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "moved": lambda points: points + 12_345.678,
    "rotated": lambda points: _rotated(points, 0.7),
    "mirrored": lambda points: points * np.where(np.arange(points.shape[1]) == 0, -1.0, 1.0),
    "renumbered": lambda points: points[np.random.default_rng(5).permutation(len(points))],
}


def _figures(points: FloatArray, range_m: float) -> tuple[float, float, float]:
    scenario = reknit.Scenario(points, (), range_m)
    plan = reknit.plan(scenario, "certified")
    return plan.recovery_time_s, plan.lower_bound_s, reknit.lower_bound(scenario).bound_s


@pytest.mark.parametrize(
    ("uavs", "destroyed", "dim"), [(40, 20, 2), (40, 20, 3), (200, 100, 2), (200, 150, 2)]
)
@pytest.mark.parametrize("seed", range(3))
def test_time_and_bound_stay(uavs: int, destroyed: int, dim: int, seed: int) -> None:
    """The time and both bounds stay the same to one part in a million, whatever the change."""
    scenario = reknit.generate(uavs=uavs, destroyed=destroyed, dim=dim, seed=seed, split=True)
    points = scenario.survivor_positions
    before = _figures(points, 120.0)
    for name, change in _CHANGES.items():
        assert _figures(change(points), 120.0) == pytest.approx(before, rel=1e-6), name
    scaled = _figures(3.7 * points, 3.7 * 120.0)
    assert scaled == pytest.approx([3.7 * figure for figure in before], rel=1e-6)


def test_the_optimum_stays_under_heavy_damage() -> None:
    """Where the search has to go through many cases the plan and its proof stay the same too."""
    for seed in range(3):
        scenario = reknit.generate(uavs=200, destroyed=180, seed=seed, split=True)
        points = scenario.survivor_positions
        before = _figures(points, 120.0)[:2]
        for name, change in _CHANGES.items():
            assert _figures(change(points), 120.0)[:2] == pytest.approx(before, rel=1e-6), name
