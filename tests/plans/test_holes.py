"""Bounds by a hole in the swarm: true, refused when forged, and near the optimum on rings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import reknit
from reknit.base.errors import InvalidPlan
from reknit.exact.model.problem import Problem
from reknit.exact.proof.holes import hole_certificate
from reknit.plans.certificate import Certificate
from reknit.plans.checker.proof import prove
from tests.exact.brute import optimum_s


def _ring(count: int, spacing_m: float, wobble_m: float = 0.0, seed: int = 0) -> reknit.Scenario:
    angle = 2.0 * np.pi * np.arange(count) / count
    radius = spacing_m / (2.0 * np.sin(np.pi / count))
    points = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points += np.random.default_rng(seed).uniform(-wobble_m, wobble_m, points.shape)
    return reknit.Scenario(points, (), 120.0, 10.0)


def test_no_optimum_lies_below_the_bound() -> None:
    """Brute force over all trees of small rings, regular and bent."""
    proved = 0
    for number in range(6):
        scenario = _ring(4 + number % 2, 400.0 + 100.0 * number, 60.0 * (number % 3), number)
        certificate = hole_certificate(Problem.of(scenario), 0.0)
        if certificate is None:
            continue
        proved += 1
        bound_s = prove(certificate, scenario).bound_s
        assert certificate.bound_s <= bound_s <= optimum_s(scenario) * (1.0 + 1e-7)
    assert proved > 3


def test_rings_have_a_bound_worth_having() -> None:
    """On a ring of 40, where the cases prove less than half of the plan's time, the hole proves
    more than nine tenths of it.
    """
    scenario = _ring(40, 180.0)
    plan = reknit.plan(scenario, "certified", effort=400)
    assert plan.certificate.hole is not None
    assert plan.gap < 0.12
    assert "hole" in plan.verify(scenario).kind


FORGED: dict[str, Any] = {
    "a later time": lambda c: replace(c, bound_s=1.01 * c.bound_s, trial_s=1.01 * c.trial_s),
    "a higher bound": lambda c: replace(c, bound_s=c.bound_s * (1.0 + 1e-9)),
    "beside the ring": lambda c: replace(c, hole=c.hole + 3_000.0),
    "off the middle": lambda c: replace(c, hole=c.hole + 100.0),
    "at a survivor": lambda c: replace(c, hole=_ring(40, 180.0).survivor_positions[3].copy()),
    "no place": lambda c: replace(c, hole=c.hole * np.nan),
    "in space": lambda c: replace(c, hole=np.zeros(3)),
    "single precision": lambda c: replace(c, hole=c.hole.astype(np.float32)),
    "no time": lambda c: replace(c, trial_s=0.0),
}


@pytest.fixture(scope="module")
def case() -> tuple[reknit.Scenario, reknit.Plan]:
    scenario = _ring(40, 180.0)
    return scenario, reknit.plan(scenario, "contraction")


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_forged_holes_are_refused(case: tuple[reknit.Scenario, reknit.Plan], forge: Any) -> None:
    """The bound of a ring does not survive another centre or time."""
    scenario, plan = case
    honest = hole_certificate(Problem.of(scenario), 0.0)
    assert honest is not None
    replace(plan, certificate=honest).verify(scenario)
    with pytest.raises(InvalidPlan):
        replace(plan, certificate=forge(honest)).verify(scenario)


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
