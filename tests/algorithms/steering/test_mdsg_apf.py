"""MDSG-APF on swarms small enough to work out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import reknit
from reknit.algorithms.steering.mdsg_apf import MdsgApf
from reknit.base.context import Context
from reknit.base.errors import InvalidParameter


def test_the_pull_by_hand() -> None:
    """A survivor at the origin with its one neighbour 100 m to the left and the destroyed UAVs'
    centroid 100 m up is pulled along 0.1 (-100, 0) + 0.9 (0, 100), at v_max.
    """
    points = [[0.0, 0.0], [-100.0, 0.0], [0.0, 90.0], [0.0, 110.0]]
    scenario = reknit.Scenario(points, [2, 3], 120.0)
    steer = MdsgApf().controller(scenario, Context())
    velocity = steer(scenario.survivor_positions, 0.0, 0.1)
    pull = np.array([-10.0, 90.0])
    assert velocity[0] == pytest.approx(10.0 * pull / np.linalg.norm(pull))
    other = 0.1 * np.array([100.0, 0.0]) + 0.9 * np.array([100.0, 100.0])
    assert velocity[1] == pytest.approx(10.0 * other / np.linalg.norm(other))


def test_the_neighbourhood_reaches_three_hops() -> None:
    """With weight 1 the end of a chain is pulled towards the mean of the next three, not of the
    fourth; one without a neighbour stays.
    """
    points = [[100.0 * k, 0.0] for k in range(5)] + [[200.0, 1000.0]]
    scenario = reknit.Scenario(points, [], 120.0)
    steer = MdsgApf(weight=1.0).controller(scenario, Context())
    bent = scenario.survivor_positions.copy()
    bent[4] = [400.0, 999.0]
    velocity = steer(bent, 0.0, 0.1)
    assert velocity[0] == pytest.approx([10.0, 0.0])
    assert velocity[5] == pytest.approx([0.0, 0.0])


def test_it_hovers_at_the_minimum() -> None:
    """Where the pull is zero nobody moves, and nobody overshoots."""
    scenario = reknit.Scenario([[0.0, 0.0], [100.0, 0.0], [200.0, 0.0]], [1], 120.0)
    steer = MdsgApf(weight=0.0).controller(scenario, Context())
    near = np.array([[99.5, 0.0], [100.0, 0.0]])
    velocity = steer(near, 0.0, 0.1)
    assert velocity[0] == pytest.approx([5.0, 0.0])
    assert velocity[1] == pytest.approx([0.0, 0.0])


def test_kept_velocities_by_hand() -> None:
    """As published: the destroyed count as neighbours, the strongest pull flies at v_max and the
    others in proportion, and nothing changes on the way.
    """
    points = [[0.0, 0.0], [-100.0, 0.0], [0.0, 90.0], [0.0, 110.0]]
    scenario = reknit.Scenario(points, [2, 3], 120.0)
    steer = MdsgApf(hops=1, velocities="kept", neighbours="all").controller(scenario, Context())
    velocity = steer(scenario.survivor_positions, 0.0, 0.1)
    near = np.array([-100.0, 200.0]) / 3.0  # the mean of its three neighbours
    pulls = [
        0.1 * near + 0.9 * np.array([0.0, 100.0]),
        0.1 * np.array([100.0, 0.0]) + 0.9 * np.array([100.0, 100.0]),
    ]
    strongest = max(np.linalg.norm(pull) for pull in pulls)
    for row, pull in enumerate(pulls):
        assert velocity[row] == pytest.approx(10.0 * pull / strongest)
    assert steer(scenario.survivor_positions + 50.0, 9.0, 0.1) is velocity


def test_the_paper_preset_flies_the_best_reach() -> None:
    """It connects as early as the earliest of the four reaches flown one by one."""
    scenario = reknit.generate(50, 25, seed=3, split=True)
    single = [
        reknit.recover(
            scenario, "mdsg-apf", hops=reach, velocities="kept", neighbours="all"
        ).metrics.charged_time_s
        for reach in (1, 2, 3, 4)
    ]
    best = reknit.recover(scenario, "mdsg-apf", preset="paper").metrics.charged_time_s
    assert best == pytest.approx(min(single), abs=1e-9)
    assert max(single) > min(single)


def test_it_needs_no_learning_library() -> None:
    """It reconnects an ordinary swarm, and its entry asks for no extra."""
    from reknit.algorithms.registry import registered

    assert registered()["mdsg-apf"].extra is None
    run = reknit.recover(reknit.generate(50, 25, seed=3, split=True), "mdsg-apf")
    assert run.plan is None
    assert run.metrics.converged


def test_parameters_are_checked() -> None:
    """A weight outside 0 to 1 and a reach below 1 are refused."""
    with pytest.raises(InvalidParameter, match="weight"):
        MdsgApf(weight=-0.1)
    with pytest.raises(InvalidParameter, match="hops"):
        MdsgApf(hops=0)
    with pytest.raises(InvalidParameter, match=r"hops .* unless velocities are kept"):
        MdsgApf(hops=(1, 2))
    with pytest.raises(InvalidParameter, match=r"neighbours .* unless velocities are kept"):
        MdsgApf(neighbours="all")
