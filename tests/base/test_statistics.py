"""Means and shares with their intervals, against textbook figures and by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from reknit.base import statistics as stats


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    """Of 2,000 intervals of small normal samples about 95 % hold the true mean."""
    rng = np.random.default_rng(0)
    found = [stats.estimate(rng.normal(3.0, 2.0, 6).tolist()) for _ in range(2000)]
    covered = np.mean([abs(one.mean - 3.0) <= one.half_width for one in found])
    assert covered == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize(
    ("number", "digits", "text"),
    [
        (1.234, 3, "1.23"),
        (152.3, 2, "152"),
        (0.0456, 2, "0.046"),
        (-3e-8, 2, "0"),
        (-2.5, 2, "-2.5"),
    ],
)
def test_numbers_have_no_exponent(number: float, digits: int, text: str) -> None:
    """As a reader expects them in a table."""
    assert stats.plain(number, digits) == text


def test_intervals_of_shares_stay_within_bounds() -> None:
    """The textbook's figures for 8 of 10, and something is left open at 0 and at 1."""
    assert stats.share_interval(0.8, 10) == pytest.approx((0.490, 0.943), abs=0.001)
    low, high = stats.share_interval(1.0, 10)
    assert high == 1.0
    assert low == pytest.approx(0.722, abs=0.001)
    assert stats.share_interval(0.0, 10)[0] == 0.0
