"""Further losses during the recovery."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import reknit
from reknit.base.errors import InvalidParameter
from reknit.knowledge.repeated import recover_repeatedly
from reknit.recovery.repeated import Strike


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
    """A strike that leaves one UAV leaves a connected network; one at more than there are, or
    when the recovery should be over, is refused.
    """
    left = len(scenario.survivors)
    run = recover_repeatedly(scenario, "sidr", [Strike(0.1, left - 1)])
    assert len(run.phases[-1].scenario.survivors) == 1
    assert run.reconnected_at_s == pytest.approx(0.1)
    with pytest.raises(InvalidParameter, match=f"fewer than the {left} survivors"):
        recover_repeatedly(scenario, "sidr", [Strike(0.1, left)])
    with pytest.raises(InvalidParameter, match="the time that the recovery may take"):
        recover_repeatedly(scenario, "sidr", [Strike(scenario.allowed_time_s + 1.0, 1)])


def _phases_by_hand(
    scenario: reknit.Scenario, planner: str, strikes: list[Strike], seed: int, **settings: float
) -> list[tuple[float, reknit.Run]]:
    """One `recover` after the other, each from where the one before was at the strike."""
    rng = np.random.default_rng([seed, 1])
    swarm, begin_s = scenario, 0.0
    runs = []
    for strike in [*strikes, None]:
        run = reknit.recover(swarm, planner, seed=seed, **settings)  # type: ignore[arg-type]
        runs.append((begin_s, run))
        if strike is None:
            return runs
        flight, at_s = run.flight, strike.time_s - begin_s
        positions = swarm.positions.copy()
        after = int(np.searchsorted(flight.times_s, at_s))
        if after in (0, len(flight.times_s)):
            positions[swarm.survivors] = flight.positions[0 if after == 0 else -1]
        else:
            part = (at_s - flight.times_s[after - 1]) / np.diff(flight.times_s)[after - 1]
            frames = flight.positions[after - 1 : after + 1]
            positions[swarm.survivors] = (1 - part) * frames[0] + part * frames[1]
        begin_s = strike.time_s
        here = replace(swarm, positions=positions)
        lost = np.union1d(swarm.destroyed, strike.lost(here, rng))
        left_s = max(0.0, scenario.allowed_time_s - begin_s)
        anchors = np.setdiff1d(scenario.anchors, lost)
        swarm = replace(here, destroyed=lost, anchors=anchors, allowed_time_s=left_s)
    raise AssertionError


@pytest.mark.parametrize(
    ("planner", "strikes", "settings"),
    [
        ("certified", [Strike(0.5, 5), Strike(1.25, 5)], {}),
        ("contraction", [Strike(0.0, 3), Strike(0.3, 2), Strike(0.3, 2)], {}),
        ("sidr", [Strike(0.57, 5), Strike(3.0, 4)], {}),
        ("center-fly", [Strike(0.7, 5)], {"max_acceleration_mps2": 3.0}),
        ("hero", [Strike(0.4, centre_m=(1e6, 1e6), radius_m=1.0), Strike(27.0, 3)], {}),
    ],
)
def test_it_is_a_chain_of_recoveries_to_the_bit(
    scenario: reknit.Scenario, planner: str, strikes: list[Strike], settings: dict[str, float]
) -> None:
    """Flown by the simulator of `operate`, the phases are those of one recovery after the other."""
    run = recover_repeatedly(scenario, planner, strikes, seed=2, **settings)  # type: ignore[arg-type]
    chain = _phases_by_hand(scenario, planner, strikes, 2, **settings)
    assert run.begins_s == tuple(begin_s for begin_s, _ in chain)
    for phase, (_, expected) in zip(run.phases, chain, strict=True):
        assert phase.scenario == expected.scenario
        assert phase.flight.positions.tobytes() == expected.flight.positions.tobytes()
        assert phase.flight.reconnected_at_s == expected.flight.reconnected_at_s


def test_demands_and_a_swarm_split_from_the_start_are_kept() -> None:
    """Anchors, a margin and a separation reach every phase; nobody need be lost at first."""
    points = [[0.0, 0.0], [100.0, 0.0], [230.0, 0.0], [330.0, 0.0], [430.0, 0.0]]
    swarm = reknit.Scenario(
        points, [], 120.0, anchors=[0], link_margin=0.05, min_separation_m=1.0, allowed_time_s=60.0
    )
    strikes = [Strike(0.4, uavs=(3,))]
    run = recover_repeatedly(swarm, "certified", strikes)
    chain = _phases_by_hand(swarm, "certified", strikes, 0)
    assert run.reconnected_at_s is not None
    for phase, (_, expected) in zip(run.phases, chain, strict=True):
        assert phase.scenario == expected.scenario
        assert phase.flight.positions.tobytes() == expected.flight.positions.tobytes()


@pytest.mark.parametrize(("time_s", "count"), [(-1.0, 3), (float("nan"), 3), (1.0, 0)])
def test_bad_strikes_are_named(time_s: float, count: int) -> None:
    """Negative times and empty strikes are refused."""
    with pytest.raises(InvalidParameter, match="strike"):
        Strike(time_s, count)
