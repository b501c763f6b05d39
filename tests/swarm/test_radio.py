"""The Friis radio with Gamma fading."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reknit import Radio
from reknit.base.errors import InvalidRadio


def test_the_default_radio_has_the_papers_range() -> None:
    """d_tr is 120 m unless said otherwise."""
    assert Radio().range_m == pytest.approx(120.0, rel=1e-12)


def test_the_range_solves_the_link_equation() -> None:
    """At d_tr the received power is the sensitivity: P0 Gt Gr (lambda / 4 pi d)^2 = tau."""
    radio = Radio(0.5, 2.0, 3.0, 0.1, 1e-9)
    received = 0.5 * 2.0 * 3.0 * (0.1 / (4 * math.pi * radio.range_m)) ** 2
    assert received == pytest.approx(1e-9, rel=1e-12)


def test_outage_is_what_sampling_gives() -> None:
    """The outage formula against two hundred thousand drawn fadings."""
    radio = Radio(fading_shape=2.0)
    fading = np.random.default_rng(0).gamma(2.0, 1.0 / 2.0, 200_000)
    for distance_m in (60.0, 120.0, 150.0):
        down = (fading < (distance_m / radio.range_m) ** 2).mean()
        assert radio.outage_probability(distance_m) == pytest.approx(down, abs=0.005)


@pytest.mark.parametrize("reliability", [0.5, 0.9, 0.999])
def test_reliable_range_inverts_outage(reliability: float) -> None:
    """At the range for a reliability q the outage is 1 - q."""
    radio = Radio()
    range_m = radio.range_at_reliability_m(reliability)
    assert 1.0 - radio.outage_probability(range_m) == pytest.approx(reliability, rel=1e-9)


@pytest.mark.parametrize("field", Radio.__dataclass_fields__)
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, "x", True])
def test_bad_radios_are_refused(field: str, value: object) -> None:
    """Every parameter must be a finite number above zero."""
    with pytest.raises(InvalidRadio, match=field):
        Radio(**{field: value})  # type: ignore[arg-type]


def test_bad_questions_are_refused() -> None:
    """Negative distances and impossible probabilities get a typed error."""
    with pytest.raises(InvalidRadio, match="distance_m"):
        Radio().outage_probability(-1.0)
    with pytest.raises(InvalidRadio, match="reliability"):
        Radio().range_at_reliability_m(1.0)
