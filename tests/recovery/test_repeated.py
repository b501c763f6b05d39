"""Further losses during the recovery."""

from __future__ import annotations

import numpy as np
import pytest

import reknit
from reknit.base.errors import InvalidParameter
from reknit.recovery.repeated import Strike, recover_repeatedly


@pytest.fixture
def scenario() -> reknit.Scenario:
    return reknit.generate(60, 30, seed=4, split=True)


@pytest.mark.parametrize("planner", ["contraction", "sidr", "center-fly"])
def test_without_strikes_it_is_an_ordinary_recovery(
    scenario: reknit.Scenario, planner: str
) -> None:
    """No further loss: one phase, the same instant."""
    run = recover_repeatedly(scenario, planner, [])
    assert run.replans == 0
    assert run.reconnected_at_s == reknit.recover(scenario, planner).flight.reconnected_at_s


@pytest.mark.parametrize("planner", ["contraction", "sidr", "center-fly"])
def test_every_strike_replans_from_where_the_swarm_is(
    scenario: reknit.Scenario, planner: str
) -> None:
    """After each strike there are fewer survivors, nobody has jumped, and the lost stay lost."""
    strikes = [Strike(0.5, 5), Strike(1.25, 5)]
    run = recover_repeatedly(scenario, planner, strikes, seed=2)
    assert run.begins_s == (0.0, 0.5, 1.25)
    before = scenario
    for phase, begin_s, earlier_s in zip(
        run.phases[1:], run.begins_s[1:], run.begins_s[:-1], strict=True
    ):
        now = phase.scenario
        assert len(now.destroyed) == len(before.destroyed) + 5
        assert set(before.destroyed.tolist()) <= set(now.destroyed.tolist())
        moved = np.linalg.norm(now.positions - before.positions, axis=1)
        assert moved.max() <= 10.0 * (begin_s - earlier_s) + 1e-9
        assert (moved[before.destroyed] == 0).all()
        assert now.allowed_time_s == pytest.approx(scenario.allowed_time_s - begin_s)
        before = now
    assert run.reconnected_at_s is not None
    assert run.reconnected_at_s >= 1.25


def test_the_same_seed_gives_the_same_losses(scenario: reknit.Scenario) -> None:
    """Strikes are drawn from the seed; all planners lose the same UAVs."""
    strikes = [Strike(0.5, 5)]
    a, b = (
        recover_repeatedly(scenario, planner, strikes, seed=9).phases[-1].scenario.destroyed
        for planner in ("sidr", "contraction")
    )
    other = recover_repeatedly(scenario, "sidr", strikes, seed=10).phases[-1].scenario.destroyed
    assert a.tolist() == b.tolist() != other.tolist()


def test_a_strike_after_reconnection_still_counts(scenario: reknit.Scenario) -> None:
    """A swarm that was whole is struck again: the time in between was spent connected."""
    first = reknit.recover(scenario, "sidr").flight.reconnected_at_s
    assert first is not None
    run = recover_repeatedly(scenario, "sidr", [Strike(first + 4.0, 10)], seed=1)
    assert run.reconnected_at_s is not None
    assert run.reconnected_at_s >= first + 4.0
    assert run.connected_share == pytest.approx(4.0 / run.reconnected_at_s, rel=1e-6)


def test_somebody_is_always_left(scenario: reknit.Scenario) -> None:
    """A strike of more UAVs than there are leaves one, which is connected."""
    run = recover_repeatedly(scenario, "sidr", [Strike(0.1, 999)])
    assert len(run.phases[-1].scenario.survivors) == 1
    assert run.reconnected_at_s == pytest.approx(0.1)


@pytest.mark.parametrize(("time_s", "count"), [(-1.0, 3), (float("nan"), 3), (1.0, 0)])
def test_bad_strikes_are_named(time_s: float, count: int) -> None:
    """Negative times and empty strikes are refused."""
    with pytest.raises(InvalidParameter, match="strike"):
        Strike(time_s, count)
