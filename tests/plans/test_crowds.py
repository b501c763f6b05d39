"""Crowds without room: the bound holds on packings that exist, and forgeries are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import reknit
from reknit.base.errors import InvalidPlan
from reknit.base.types import FloatArray
from reknit.plans.certificate import Certificate
from reknit.plans.checker.proof import prove

_NO_CASES = np.empty((0, 2), dtype=np.int64)


def _hexagonal(count: int, gap_m: float) -> FloatArray:
    """The densest places at least so far apart, about the origin."""
    steps = np.arange(-20, 21)
    a, b = np.meshgrid(steps, steps)
    sites = gap_m * np.stack([(a + 0.5 * b).ravel(), (np.sqrt(0.75) * b).ravel()], axis=1)
    return sites[np.argsort((sites**2).sum(axis=1), kind="stable")[:count]]


def _proved_s(points: FloatArray, gap_m: float) -> float:
    scenario = reknit.Scenario(points, (), 120.0, 10.0, min_separation_m=gap_m)
    rows = np.arange(len(points))
    return prove(Certificate(0.0, 0.0, _NO_CASES, crowd=rows), scenario).bound_s


@pytest.mark.parametrize("count", [7, 19, 37, 61, 100])
@pytest.mark.parametrize("shrunk", [0.2, 0.5, 0.8, 0.95])
def test_no_packing_beats_the_bound(count: int, shrunk: float) -> None:
    """A shrunk hexagonal packing flies back to itself in no less than the bound."""
    packed = _hexagonal(count, 100.0)
    points = shrunk * packed
    flown_s = float(np.linalg.norm(packed - points, axis=1).max()) / 10.0
    assert _proved_s(points, 100.0 * (1.0 - 1e-12)) <= flown_s


@pytest.mark.parametrize("seed", range(4))
def test_no_spread_beats_the_bound(seed: int) -> None:
    """Random packings, and the same after every point flew by chance: never below the bound."""
    rng = np.random.default_rng(seed)
    packed = np.empty((0, 2))
    for point in rng.random((4_000, 2)) * 600.0:
        if (np.linalg.norm(packed - point, axis=1) >= 60.0).all():
            packed = np.vstack([packed, point])
    towards = packed.mean(axis=0) - packed
    size = np.maximum(np.linalg.norm(towards, axis=1), 1e-9)[:, None]
    for reach_m in (20.0, 60.0, 120.0, 200.0):
        points = packed + towards / size * np.minimum(size, reach_m)
        assert _proved_s(points, 60.0) <= reach_m / 10.0
    assert _proved_s(points, 60.0) > 0.0


def test_full_hexagons_are_met() -> None:
    """Oler's inequality is sharp for hexagonal pieces: they have room, and just so."""
    packed = _hexagonal(37, 100.0)
    assert _proved_s(packed, 100.0 * (1.0 - 1e-6)) == 0.0
    assert _proved_s(packed, 100.5) > 0.0


def test_the_smallest_separations_prove_nothing() -> None:
    """A separation whose square is below the smallest number leaves room for everybody."""
    packed = _hexagonal(7, 100.0)
    for gap_m in (5e-324, 1e-200, 1e-162):
        assert _proved_s(packed, gap_m) == 0.0


def test_bounds_of_crowded_scenarios(tmp_path: Path) -> None:
    """Where many are crowded the bound of a scenario rests on them, in a file too."""
    scenario = reknit.generate(200, 100, seed=1, split=True, min_separation_m=119.0)
    bound = reknit.lower_bound(scenario)
    assert bound.crowd is not None
    nearest = np.linalg.norm(
        scenario.survivor_positions[:, None] - scenario.survivor_positions[None], axis=2
    )
    nearest[np.arange(100), np.arange(100)] = np.inf
    assert bound.bound_s > 1.2 * (119.0 - nearest.min()) / 20.0
    plan = replace(reknit.plan(scenario, "certified", budget_s=0.0), certificate=bound)
    plan.verify(scenario)
    path = f"{tmp_path}/plan.json"
    plan.save(path)
    again = reknit.Plan.load(path, scenario).certificate.crowd
    assert again is not None
    assert np.array_equal(again, bound.crowd)
    forged = np.append(bound.crowd[1:], bound.crowd[-1])
    for crowd in (forged, bound.crowd[::-1].copy(), bound.crowd + 100, bound.crowd.astype(float)):
        forged_plan = replace(plan, certificate=replace(bound, crowd=crowd))
        with pytest.raises(InvalidPlan):
            forged_plan.verify(scenario)
