"""The normalisation of positions."""

from __future__ import annotations

import numpy as np
import pytest

import reknit
from reknit.algorithms.learned.common.scaled import Scale, ScaledScenario


@pytest.mark.parametrize("dim", [2, 3])
def test_normalisation_is_the_papers(dim: int) -> None:
    """X_norm = (X - p_c) / (D + 1), with p_c and D over all N UAVs, survivors first."""
    scenario = reknit.generate(uavs=20, destroyed=8, seed=1, dim=dim, split=True)
    scaled = ScaledScenario.of(scenario)
    centre = sum(scenario.positions) / 20
    size = max(np.linalg.norm(centre - one) for one in scenario.positions)
    order = [*scenario.survivors, *scenario.destroyed]
    expected = [(scenario.positions[i] - centre) / (size + 1.0) for i in order]
    np.testing.assert_allclose(scaled.unit.numpy(), expected, atol=1e-6)
    assert scaled.unit.abs().max() < 1.0


def test_output_layer_inverts_the_input_layer() -> None:
    """Positions that go in and out unchanged come back in metres."""
    scenario = reknit.generate(uavs=20, destroyed=8, seed=1, split=True)
    scale = Scale.of(scenario)
    back = scale.to_metres(scale.to_unit(scenario.positions))
    np.testing.assert_allclose(back, scenario.positions, atol=1e-3)
