"""Bounds by a hole in the swarm: true, refused when forged, and near the optimum on rings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reknit
from reknit.base.errors import InvalidPlan
from reknit.exact.model.problem import Problem
from reknit.exact.proof.holes import hole_certificate
from reknit.plans.certificate import Certificate, Winding
from reknit.plans.checker.proof import prove
from tests.exact.brute import optimum_s


def _ring(count: int, spacing_m: float, wobble_m: float = 0.0, seed: int = 0) -> reknit.Scenario:
    angle = 2.0 * np.pi * np.arange(count) / count
    radius = spacing_m / (2.0 * np.sin(np.pi / count))
    points = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points += np.random.default_rng(seed).uniform(-wobble_m, wobble_m, points.shape)
    return reknit.Scenario(points, (), 120.0, 10.0)


@pytest.fixture(scope="module")
def wound() -> tuple[reknit.Scenario, reknit.Plan]:
    scenario = _ring(40, 180.0)
    return scenario, reknit.plan(scenario, "certified", effort=400)


def test_no_optimum_lies_below_the_bound() -> None:
    """Brute force over all trees of small rings, regular and bent."""
    proved = 0
    for number in range(6):
        scenario = _ring(4 + number % 2, 400.0 + 100.0 * number, 60.0 * (number % 3), number)
        best_s = optimum_s(scenario)
        for known_s in (np.inf, 2.0 * best_s):  # by the formula, and by measures of the ways
            certificate = hole_certificate(Problem.of(scenario), 0.0, known_s)
            if certificate is None:
                continue
            proved += 1
            bound_s = prove(certificate, scenario).bound_s
            assert certificate.bound_s <= bound_s <= best_s * (1.0 + 1e-7)
    assert proved > 6


def test_rings_have_a_bound_worth_having(wound: tuple[reknit.Scenario, reknit.Plan]) -> None:
    """On a ring of 40, where the cases prove less than half of the plan's time, the hole proves
    the plan optimal; with angles that count alike, it proves a tenth less.
    """
    scenario, plan = wound
    assert plan.certificate.hole is not None
    assert plan.status is reknit.Status.OPTIMAL
    assert "hole" in plan.verify(scenario).kind
    alike = hole_certificate(Problem.of(scenario), 0.0)
    assert alike is not None
    assert alike.bound_s < 0.92 * plan.lower_bound_s


def test_bent_rings_need_several_windings() -> None:
    """Of a bent ring, whose optimum the cases prove, the hole proves nine tenths, with
    other weights for other gaps.
    """
    scenario = _ring(24, 180.0, 20.0, 1)
    plan = reknit.plan(scenario, "certified", effort=400)
    assert plan.status is reknit.Status.OPTIMAL
    certificate = hole_certificate(Problem.of(scenario), 0.0, plan.recovery_time_s)
    assert certificate is not None
    assert len(certificate.windings) > 1
    bound_s = prove(certificate, scenario).bound_s
    assert 0.9 * plan.recovery_time_s < bound_s <= plan.recovery_time_s


def test_windings_come_back_from_a_file(
    wound: tuple[reknit.Scenario, reknit.Plan], tmp_path: Path
) -> None:
    """A plan whose bound rests on windings is the same after it was saved and read."""
    scenario, plan = wound
    plan.save(tmp_path / "plan.json")
    again = reknit.Plan.load(tmp_path / "plan.json", scenario)
    assert again.certificate.bound_s == plan.certificate.bound_s
    for read, made in zip(again.certificate.windings, plan.certificate.windings, strict=True):
        assert np.array_equal(read.gaps, made.gaps)
        assert np.array_equal(read.weights, made.weights)
        assert read.straight_rad == made.straight_rad


FORGED: dict[str, Any] = {
    "a later time": lambda c: replace(c, bound_s=1.02 * c.bound_s, trial_s=1.02 * c.trial_s),
    "a higher bound": lambda c: replace(c, bound_s=c.bound_s * (1.0 + 1e-9)),
    "beside the ring": lambda c: replace(c, hole=c.hole + 3_000.0),
    "off the middle": lambda c: replace(c, hole=c.hole + 100.0),
    "at a survivor": lambda c: replace(c, hole=_ring(40, 180.0).survivor_positions[3].copy()),
    "no place": lambda c: replace(c, hole=c.hole * np.nan),
    "in space": lambda c: replace(c, hole=np.zeros(3)),
    "single precision": lambda c: replace(c, hole=c.hole.astype(np.float32)),
    "no time": lambda c: replace(c, trial_s=0.0),
}


def _winding(**changed: Any) -> Any:
    """A forgery that changes the first winding."""
    return lambda c: replace(c, windings=(replace(c.windings[0], **changed), *c.windings[1:]))


WOUND: dict[str, Any] = FORGED | {
    "angles that count alike": lambda c: replace(c, windings=()),
    "no tuple": lambda c: replace(c, windings=list(c.windings)),
    "no windings": lambda c: replace(c, windings=(None,)),
    "twice": lambda c: replace(c, windings=c.windings * 2),
    "without a gap": _winding(gaps=np.arange(39)),
    "a gap too many": _winding(gaps=np.arange(41)),
    "no gap at all": _winding(gaps=np.arange(0)),
    "gaps that are no numbers": _winding(gaps=np.arange(40.0)),
    "rounder": _winding(straight_rad=0.2),
    "straighter": _winding(straight_rad=1.3),
    "straight beyond its end": _winding(straight_rad=3.1),
    "no angle": _winding(straight_rad=float("nan")),
    "a whole angle": _winding(straight_rad=1),
    "turned inside out": _winding(straight_rad=-0.7),
    "no weights": _winding(weights=np.zeros(240, dtype=np.int64)),
    "weights of nothing": _winding(weights=np.zeros(0, dtype=np.int64)),
    "one weight": _winding(weights=np.ones(1, dtype=np.int64)),
    "negative weights": _winding(weights=np.arange(-1, 239)),
    "heavy weights": _winding(weights=np.full(240, 2**62)),
    "too many weights": _winding(weights=np.ones(5_000, dtype=np.int64)),
    "broken weights": _winding(weights=np.ones(240)),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_forged_holes_are_refused(wound: tuple[reknit.Scenario, reknit.Plan], forge: Any) -> None:
    """The formula's bound of a ring does not survive another centre or time."""
    scenario, plan = wound
    honest = hole_certificate(Problem.of(scenario), 0.0)
    assert honest is not None
    feasible = replace(plan, status=reknit.Status.FEASIBLE)
    replace(feasible, certificate=honest).verify(scenario)
    with pytest.raises(InvalidPlan):
        replace(feasible, certificate=forge(honest)).verify(scenario)


@pytest.mark.parametrize("forge", WOUND.values(), ids=WOUND)
def test_forged_windings_are_refused(
    wound: tuple[reknit.Scenario, reknit.Plan], forge: Any
) -> None:
    """An optimal plan's bound does not survive other measures of the ways, either."""
    scenario, plan = wound
    with pytest.raises(InvalidPlan):
        replace(plan, certificate=forge(plan.certificate)).verify(scenario)


def test_random_windings_prove_nothing_false() -> None:
    """However ways are measured, and whenever the trial, no more is proved than a plan takes."""
    rng = np.random.default_rng(8)
    scenario = _ring(12, 300.0, 80.0)
    centre = scenario.survivor_positions.mean(axis=0)
    plan_s = reknit.plan(scenario, "certified", effort=40).recovery_time_s
    accepted = 0
    for _ in range(150):
        trial_s = float(rng.uniform(0.5, 1.2) * plan_s)
        weights = rng.integers(10, 20, int(rng.integers(1, 40)))
        winding = Winding(np.arange(12), float(rng.uniform(0.0, 1.0)), weights)
        cases = np.empty((0, 2), dtype=np.int64)
        forged = Certificate(0.0, trial_s, cases, hole=centre, windings=(winding,))
        try:
            assert prove(forged, scenario).bound_s <= plan_s
            accepted += 1
        except InvalidPlan:
            continue
    assert accepted > 10


def test_random_holes_prove_nothing_false() -> None:
    """Wherever the centre and whenever the trial, no more is proved than a plan takes."""
    rng = np.random.default_rng(4)
    scenario = _ring(12, 300.0, 80.0)
    plan_s = reknit.plan(scenario, "certified", effort=40).recovery_time_s
    accepted = 0
    for _ in range(200):
        trial_s = float(rng.uniform(0.0, 2.0 * plan_s))
        centre = rng.standard_normal(2) * 10.0 ** rng.uniform(-3.0, 3.0)
        forged = Certificate(0.0, trial_s, np.empty((0, 2), dtype=np.int64), hole=centre)
        try:
            assert prove(forged, scenario).bound_s <= plan_s
            accepted += 1
        except InvalidPlan:
            continue
    assert accepted > 10
