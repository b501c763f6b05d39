"""Center-fly, HERO and SIDR on swarms small enough to work out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import reknit
from reknit.algorithms.registry import build
from reknit.algorithms.steering.center_fly import CenterFly
from reknit.algorithms.steering.hero import Hero
from reknit.algorithms.steering.sidr import Sidr
from reknit.base.context import Context
from reknit.base.errors import InvalidParameter, NoPlan


def test_center_fly_heads_for_the_centroid() -> None:
    """Survivors at 0 and 200 both fly at v_max towards 100; one closer than a step hovers."""
    scenario = reknit.Scenario([[0.0, 0.0], [100.0, 0.0], [200.0, 0.0]], [1], 120.0)
    steer = CenterFly().controller(scenario, Context())
    velocity = steer(scenario.survivor_positions, 0.0, 0.1)
    assert velocity.tolist() == [[10.0, 0.0], [-10.0, 0.0]]
    near = np.array([[99.5, 0.0], [100.5, 0.0]])
    assert steer(near, 0.0, 0.1).tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_hero_heads_for_its_lost_neighbours() -> None:
    """With weight 1 a survivor flies to the mean of its destroyed neighbours; one with none
    follows its surviving neighbours.
    """
    points = [[0.0, 0.0], [100.0, 40.0], [100.0, -40.0], [-100.0, 0.0]]
    scenario = reknit.Scenario(points, [1, 2], 120.0)
    steer = Hero(weight=1.0).controller(scenario, Context())
    first = steer(scenario.survivor_positions, 0.0, 0.1)
    assert first[0] == pytest.approx([10.0, 0.0])  # towards (100, 0), the mean of the two lost
    assert first[1] == pytest.approx([0.0, 0.0])  # its neighbour has not moved yet
    moved = scenario.survivor_positions + first * 0.1
    second = steer(moved, 0.1, 0.1)
    assert second[1] == pytest.approx([10.0, 0.0])  # follows its neighbour's move


def test_hero_blends_with_center_fly() -> None:
    """Velocity is v_max (0.8 HERO + 0.2 center-fly) of the two headings."""
    points = [[0.0, 0.0], [0.0, 100.0], [-100.0, 0.0]]
    scenario = reknit.Scenario(points, [1], 120.0)
    velocity = Hero().controller(scenario, Context())(scenario.survivor_positions, 0.0, 0.1)
    assert velocity[0] == pytest.approx([10 * 0.2 * -1.0, 10 * 0.8])


def test_sidr_moves_subnets_as_bodies() -> None:
    """Members of a sub-net fly with the same velocity, at the speed of the slowest, towards the
    middle of the area; links within it are never lost.
    """
    points = [[0.0, 0.0], [100.0, 0.0], [200.0, 0.0], [300.0, 0.0], [400.0, 0.0]]
    scenario = reknit.Scenario(points, [2], 120.0, [10.0, 6.0, 10.0, 10.0, 10.0])
    steer = Sidr().controller(scenario, Context())
    velocity = steer(scenario.survivor_positions, 0.0, 0.1)
    assert velocity.tolist() == [[6.0, 0.0], [6.0, 0.0], [-10.0, 0.0], [-10.0, 0.0]]


def test_sidr_keeps_every_link_on_the_way() -> None:
    """No link present at the start is lost during the flight."""
    scenario = reknit.generate(60, 30, seed=4, split=True)
    flight = reknit.recover(scenario, "sidr").flight
    start = flight.positions[0]
    i, j = np.triu_indices(len(start), k=1)
    linked = np.linalg.norm(start[i] - start[j], axis=1) <= 120.0
    for positions in flight.positions:
        apart = np.linalg.norm(positions[i] - positions[j], axis=1)
        assert (apart[linked] <= 120.0 + 1e-6).all()


def test_steering_planners_make_no_plan() -> None:
    """Asking them for one is a typed error that says what to do instead."""
    scenario = reknit.generate(20, 10, seed=0)
    for name in ("center-fly", "hero", "sidr"):
        with pytest.raises(NoPlan, match=r"reknit\.recover"):
            reknit.plan(scenario, name)


def test_parameters_are_checked() -> None:
    """A weight outside 0 to 1 and an unknown parameter are refused by name."""
    scenario = reknit.generate(20, 10, seed=0)
    with pytest.raises(InvalidParameter, match=r"hero\.weight"):
        reknit.recover(scenario, "hero", weight=1.5)
    with pytest.raises(InvalidParameter, match=r"hero\.wait"):
        reknit.recover(scenario, "hero", wait=1.5)
    with pytest.raises(InvalidParameter, match="no parameters"):
        reknit.recover(scenario, "center-fly", wait=1.5)


def test_the_published_centroid_of_sidr_flies_on_the_diagonal() -> None:
    """One mean over x and y moves a body along the diagonal; the default goes straight."""
    points = [[0.0, 0.0], [100.0, 0.0], [400.0, 0.0], [400.0, 300.0]]
    scenario = reknit.Scenario(points, [2, 3], 120.0)
    where = scenario.survivor_positions
    straight = build("sidr", {}).controller(scenario, reknit.Context())  # type: ignore[union-attr]
    mixed = build("sidr", {"preset": "paper"}).controller(scenario, reknit.Context())  # type: ignore[union-attr]
    for velocity in mixed(where, 0.0, 0.1):
        # The centroid (50, 0) becomes (25, 25), and the meeting point is (200, 150).
        assert velocity == pytest.approx(10.0 * np.array([175.0, 125.0]) / np.hypot(175.0, 125.0))
    for velocity in straight(where, 0.0, 0.1):
        assert velocity == pytest.approx(10.0 * np.array([150.0, 150.0]) / np.hypot(150.0, 150.0))
