"""Contraction: connected by construction, and no more than needed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy.optimize import minimize

import reknit
from reknit.algorithms.contraction import Contraction
from reknit.algorithms.protocols import Proposal
from reknit.base.context import Context
from reknit.base.geometry import enclosing_ball_centre
from reknit.base.types import FloatArray
from reknit.exact.demands.contraction import contract
from reknit.network.emst import longest_edge_m
from reknit.network.links import count_subnets
from tests.strategies import point_sets, scenarios


@given(scenarios())
def test_it_always_connects(scenario: reknit.Scenario) -> None:
    """Whatever the swarm, the contracted positions are connected by the exact comparison."""
    targets = contract(scenario, scenario.survivor_positions)
    assert count_subnets(targets, scenario.planning_range_m) == 1


@given(scenarios())
def test_it_contracts_no_more_than_needed(scenario: reknit.Scenario) -> None:
    """The longest EMST edge of the result is the range itself, not less."""
    if not scenario.is_split:
        assert contract(scenario, scenario.survivor_positions) is scenario.survivor_positions
        return
    targets = contract(scenario, scenario.survivor_positions)
    assert longest_edge_m(targets) == pytest.approx(120.0, rel=1e-9)


@given(point_sets(max_size=25))
def test_the_ball_is_the_smallest(points: FloatArray) -> None:
    """No centre has a smaller farthest distance: compared with a numerical minimiser that
    starts at the found centre and elsewhere.
    """
    centre = enclosing_ball_centre(points)

    def radius(place: FloatArray) -> float:
        return float(np.linalg.norm(points - place, axis=1).max())

    found = radius(centre)
    for start in (centre, points.mean(axis=0)):
        best = minimize(radius, start, method="Nelder-Mead", options={"xatol": 1e-6}).fun
        assert found <= best + 1e-6


def test_polishing_leaves_connected_targets_alone() -> None:
    """As a polisher it only touches what is not connected, and says which."""
    scenario = reknit.generate(30, 15, seed=1, split=True)
    point = np.zeros_like(scenario.survivor_positions)
    kept = Contraction().polish(scenario, Proposal(point), Context())
    assert kept.targets is point
    assert kept.details == {"contracted": False}
    split = Proposal(scenario.survivor_positions)
    assert Contraction().polish(scenario, split, Context()).details == {"contracted": True}
