"""Moving, turning, renumbering or scaling a swarm changes nothing but the obvious."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reknit
from reknit.base.types import FloatArray

PLANNERS = ["center-fly", "sidr", "contraction"]


def rotation(dim: int, rng: np.random.Generator) -> FloatArray:
    """A random rotation matrix."""
    q, r = np.linalg.qr(rng.standard_normal((dim, dim)))
    return np.asarray(q * np.sign(np.diag(r)))


@settings(max_examples=20)
@pytest.mark.parametrize("planner", PLANNERS)
@given(seed=st.integers(0, 10_000), dim=st.sampled_from([2, 3]))
def test_moving_and_turning_leave_times_alone(planner: str, seed: int, dim: int) -> None:
    """Bound and times are those of the swarm, not of its coordinates (SIDR's meeting point is
    the middle of an axis-parallel box, so it is moved but not turned).
    """
    scenario = reknit.generate(24, 12, seed=seed, dim=dim)
    rng = np.random.default_rng(seed)
    turn = np.eye(dim) if planner == "sidr" else rotation(dim, rng)
    other = reknit.Scenario(
        scenario.positions @ turn.T + rng.normal(0, 1e3, dim),
        scenario.destroyed.tolist(),
        120.0,
        allowed_time_s=scenario.allowed_time_s,
    )
    a, b = (reknit.recover(case, planner) for case in (scenario, other))
    assert reknit.lower_bound(other).bound_s == pytest.approx(
        reknit.lower_bound(scenario).bound_s, abs=1e-6
    )
    assert a.metrics.charged_time_s == pytest.approx(b.metrics.charged_time_s, abs=1e-4)


@settings(max_examples=20)
@pytest.mark.parametrize("planner", PLANNERS)
@given(seed=st.integers(0, 10_000))
def test_renumbering_permutes_the_answer(planner: str, seed: int) -> None:
    """The same UAVs under other numbers fly the same ways."""
    scenario = reknit.generate(24, 12, seed=seed)
    order = np.random.default_rng(seed).permutation(24)
    new_id = np.argsort(order)
    other = reknit.Scenario(
        scenario.positions[order],
        new_id[scenario.destroyed].tolist(),
        120.0,
        allowed_time_s=scenario.allowed_time_s,
    )
    a, b = (reknit.recover(case, planner) for case in (scenario, other))
    assert a.metrics.charged_time_s == pytest.approx(b.metrics.charged_time_s, abs=1e-6)
    assert a.metrics.mean_degree == pytest.approx(b.metrics.mean_degree)


@given(seed=st.integers(0, 10_000), factor=st.floats(0.01, 100.0))
def test_scaling_scales_the_contraction(seed: int, factor: float) -> None:
    """A swarm twice as large with twice the range takes twice as long."""
    scenario = reknit.generate(24, 12, seed=seed)
    other = reknit.Scenario(
        scenario.positions * factor, scenario.destroyed.tolist(), 120.0 * factor
    )
    a, b = (reknit.plan(case, "contraction") for case in (scenario, other))
    assert b.recovery_time_s == pytest.approx(a.recovery_time_s * factor, rel=1e-6, abs=1e-9)
    assert b.lower_bound_s == pytest.approx(a.lower_bound_s * factor, rel=1e-6, abs=1e-9)


@given(seed=st.integers(0, 10_000))
def test_the_same_seed_gives_the_same_bytes(seed: int) -> None:
    """Targets, status and bound do not differ between two runs."""
    a, b = (
        reknit.plan(reknit.generate(30, 15, seed=seed), "contraction", seed=5) for _ in range(2)
    )
    assert a.targets.tobytes() == b.targets.tobytes()
    assert (a.status, a.lower_bound_s) == (b.status, b.lower_bound_s)
