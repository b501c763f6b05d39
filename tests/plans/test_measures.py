"""What a UAV covers of a way around a hole: held against the definition, place by place."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reknit.base.errors import InvalidProof
from reknit.base.types import FloatArray
from reknit.plans.certificate import Winding
from reknit.plans.checker.measures import Measure, Places

HALF_M, NEAREST_M, LENGTH = 60.0, 700.0, 5.9


def _measure_of(straight: float, weights: FloatArray, angle: float, distance: float) -> float:
    """How much lies before one place, by the definition."""
    low, high = straight, LENGTH - straight
    if angle < low:
        is_far = low - angle >= 0.5 * math.pi
        far = -math.inf if is_far else low - distance * math.sin(low - angle) / NEAREST_M
    elif angle > high:
        is_far = angle - high >= 0.5 * math.pi
        far = math.inf if is_far else high + distance * math.sin(angle - high) / NEAREST_M
    else:
        far = angle
    margin = 1.0 - 2.0 * HALF_M / NEAREST_M
    part = (far - low + margin) / (high - low + 2.0 * margin) * len(weights)
    part = min(max(part, 0.0), float(len(weights)))
    whole = int(part)
    return float(weights[:whole].sum() + (part - whole) * (weights[whole] if part > whole else 0))


def _covered(
    straight: float, weights: FloatArray, start: tuple[float, float, float]
) -> tuple[float, float, float]:
    """The most between the farthest and the nearest place about a UAV, the farthest and the
    nearest of all, over a grid of where it can be.
    """
    angle, distance, reach = start
    origin = distance * np.exp(1j * angle)
    most, farthest, nearest = -math.inf, -math.inf, math.inf
    for share in (0.0, 0.5, 1.0):
        for turn in np.linspace(0.0, 2.0 * math.pi, 48, endpoint=False):
            place = origin + share * reach * np.exp(1j * turn)
            around = place + HALF_M * np.exp(1j * np.linspace(0.0, 2.0 * math.pi, 60))
            off = np.angle(around / origin)
            counts = [
                _measure_of(straight, weights, angle + a, abs(p))
                for a, p in zip(off, around, strict=True)
            ]
            most = max(most, max(counts) - min(counts))
            farthest, nearest = max(farthest, max(counts)), min(nearest, min(counts))
    return most, farthest, nearest


def _places(
    winding: Winding, start: tuple[float, float, float], gain: float, loss: float
) -> Places:
    measure = Measure.of(winding, LENGTH, 2.0 * HALF_M, NEAREST_M)
    angle, distance, reach = (np.array([value]) for value in start)
    return Places(
        measure,
        group=np.zeros(1, dtype=np.int64),
        angle=angle,
        distance=distance,
        reach=reach,
        gain=np.array([gain]),
        loss=np.array([loss]),
    )


@pytest.mark.parametrize("seed", range(12))
def test_no_place_covers_more_than_is_said(seed: int) -> None:
    """Wherever a UAV is within reach, the places about it count no more than `most`; and no less
    than `most` somewhere, but for the grid's steps.
    """
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 1000, 24)
    straight = float(rng.uniform(0.0, 0.9))
    reach = float(rng.uniform(50.0, 500.0))
    distance = float(NEAREST_M + reach + rng.uniform(0.0, 200.0))
    start = (float(rng.uniform(-0.5, LENGTH + 0.5)), distance, reach)
    winding = Winding(np.arange(3), straight, weights)
    brute = _covered(straight, weights.astype(float), start)
    for gain, loss, wanted in (
        (1.0, 1.0, brute[0]),
        (1.0, 0.0, brute[1]),
        (0.0, 1.0, -brute[2]),
    ):
        places = _places(winding, start, gain, loss)
        for _ in range(12):
            places.halve()
        most = float(places.most[0])
        assert most >= wanted - 1e-6 * weights.sum()
        assert most <= wanted + 0.01 * weights.sum()
        assert float(places.least[0]) <= most


def test_halving_only_tightens() -> None:
    """The longer the parts are halved, the closer what is covered is known from both sides."""
    rng = np.random.default_rng(5)
    winding = Winding(np.arange(3), 0.7, rng.integers(0, 1000, 60))
    places = _places(winding, (2.0, 1000.0, 290.0), 1.0, 1.0)
    before = float(places.most[0] - places.least[0])
    assert before > 0.0
    for _ in range(14):
        most, least = float(places.most[0]), float(places.least[0])
        places.halve()
        assert places.most[0] <= most * (1.0 + 1e-12)
        assert places.least[0] >= least
    assert places.most[0] - places.least[0] < 1e-3 * before


def test_a_way_needs_a_round_part() -> None:
    """A way that is straight from both ends to its middle measures nothing."""
    winding = Winding(np.arange(3), 0.5 * LENGTH, np.ones(4, dtype=np.int64))
    with pytest.raises(InvalidProof, match="straight"):
        Measure.of(winding, LENGTH, 2.0 * HALF_M, NEAREST_M)
