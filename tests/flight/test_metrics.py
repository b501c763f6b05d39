"""Metrics on a recovery worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import reknit
from reknit.flight.metrics import coverage

POINTS = [[0.0, 0.0], [100.0, 0.0], [200.0, 0.0], [300.0, 0.0], [400.0, 0.0]]


def test_a_recovery_by_hand() -> None:
    """Two pairs 200 m apart fly together: in range after 4 s, 40 m flown by each of the four."""
    scenario = reknit.Scenario(POINTS, [2], 120.0)
    run = reknit.recover(scenario, "sidr")
    metrics = run.metrics
    assert metrics.converged
    assert metrics.flown_time_s == pytest.approx(4.0)
    assert metrics.charged_time_s == metrics.flown_time_s
    assert metrics.planned_time_s is None
    assert metrics.path_length_m == pytest.approx(160.0)
    assert metrics.longest_path_m == pytest.approx(40.0)
    assert (metrics.subnets_before, metrics.subnets_after) == (2, 1)
    assert (metrics.largest_subnet_share_before, metrics.largest_subnet_share_after) == (0.5, 1.0)
    assert metrics.mean_degree == 1.5
    assert metrics.max_degree == 2
    assert metrics.degree_distribution == (0.0, 0.5, 1.0)
    assert metrics.min_separation_m == pytest.approx(100.0)


def test_a_run_that_fails_is_charged_the_allowed_time() -> None:
    """As the paper's table counts it."""
    scenario = reknit.Scenario(POINTS, [2], 120.0, allowed_time_s=1.0)
    metrics = reknit.recover(scenario, "sidr").metrics
    assert not metrics.converged
    assert metrics.flown_time_s is None
    assert metrics.charged_time_s == 1.0


def test_coverage_is_the_share_of_the_box() -> None:
    """One survivor in the corner of a square of twice its range covers pi / 16 of it."""
    scenario = reknit.Scenario([[0.0, 0.0], [240.0, 240.0]], [1], 120.0)
    assert coverage(scenario, scenario.survivor_positions) == pytest.approx(np.pi / 16, abs=0.002)


def test_metrics_are_plain_values() -> None:
    """as_dict holds nothing that JSON cannot."""
    import json

    scenario = reknit.Scenario([[0.0, 0.0], [1.0, 0.0]], [1], 120.0)
    text = json.dumps(reknit.recover(scenario, "contraction").metrics.as_dict(), allow_nan=False)
    assert json.loads(text)["min_separation_m"] is None
