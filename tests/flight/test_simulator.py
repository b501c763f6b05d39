"""Flights: exact instants against a fine grid of time, and what no flight may break."""

from __future__ import annotations

import itertools
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reknit
from reknit.algorithms.steering.center_fly import CenterFly
from reknit.base.context import Context
from reknit.base.errors import InvalidParameter, UnknownName
from reknit.base.types import FloatArray
from reknit.flight import simulator
from reknit.network.links import count_subnets, links
from reknit.plans.certificate import Certificate
from reknit.plans.status import Status
from reknit.swarm.objective import planned_time_s
from tests.strategies import scenarios


def plan_to(scenario: reknit.Scenario, targets: FloatArray) -> reknit.Plan:
    """A plan that nobody checked, for flying anywhere."""
    time_s = planned_time_s(scenario, targets)
    return reknit.Plan(targets, Status.FEASIBLE, time_s, Certificate.trivial())


def straight_at(scenario: reknit.Scenario, targets: FloatArray, time_s: float) -> FloatArray:
    """Positions at a time, one UAV after the other, from the definition of straight flight."""
    rows = []
    for start, target, uav in zip(
        scenario.survivor_positions, targets, scenario.survivors, strict=True
    ):
        distance = float(np.linalg.norm(target - start))
        speed = float(scenario.max_speed_mps[uav])
        flown = min(time_s * speed, distance)
        rows.append(start if distance == 0 else start + (target - start) * (flown / distance))
    return np.array(rows)


@st.composite
def flights(draw: st.DrawFn) -> tuple[reknit.Scenario, FloatArray]:
    """A scenario and targets: random places, or the swarm contracted."""
    scenario = draw(scenarios(max_uavs=14))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    start = scenario.survivor_positions
    if draw(st.booleans()):
        targets = start.mean(axis=0) + draw(st.floats(0.0, 1.0)) * (start - start.mean(axis=0))
    else:
        targets = start + rng.normal(0.0, 150.0, start.shape)
    return scenario, targets


@given(flights())
def test_the_instant_is_the_first_of_a_fine_grid(case: tuple[reknit.Scenario, FloatArray]) -> None:
    """No instant of a fine grid before reconnected_at_s is connected, and the instant itself is;
    if there is none, no instant of the grid is connected at all.
    """
    scenario, targets = case
    flight = reknit.fly(scenario, plan_to(scenario, targets))
    at = flight.reconnected_at_s
    end = scenario.allowed_time_s if at is None else at - 1e-8
    for time_s in np.linspace(0.0, max(end, 0.0), 250) if at is None or at > 1e-8 else ():
        assert count_subnets(straight_at(scenario, targets, time_s), 120.0 - 1e-9) > 1
    if at is not None:
        assert count_subnets(flight.positions[-1], scenario.radio_range_m) == 1
        expected = straight_at(scenario, targets, at)
        assert np.abs(flight.positions[-1] - expected).max() < 1e-6


@settings(max_examples=25)
@given(flights())
def test_positions_follow_straight_lines(case: tuple[reknit.Scenario, FloatArray]) -> None:
    """Every recorded frame is where straight flight at v_max puts everyone; energy, monotone
    displacement and the speed limit follow.
    """
    scenario, targets = case
    flight = reknit.fly(scenario, plan_to(scenario, targets), until="arrived")
    for time_s, positions in zip(flight.times_s, flight.positions, strict=True):
        assert positions == pytest.approx(straight_at(scenario, targets, time_s), abs=1e-6)
    assert np.array_equal(flight.positions[-1], targets)
    displacement = np.linalg.norm(flight.positions - flight.positions[0], axis=2)
    assert (np.diff(displacement, axis=0) >= -1e-9).all()
    assert flight.path_lengths_m == pytest.approx(displacement[-1], abs=1e-6)
    steps_m = np.linalg.norm(np.diff(flight.positions, axis=0), axis=2)
    assert (steps_m <= 10.0 * np.diff(flight.times_s)[:, None] + 1e-9).all()
    for count, positions in zip(flight.subnets, flight.positions, strict=True):
        assert count == count_subnets(positions, scenario.radio_range_m)


@given(flights())
def test_flown_is_never_later_than_planned(case: tuple[reknit.Scenario, FloatArray]) -> None:
    """A plan whose targets are connected reconnects no later than its last arrival, and the
    paper's stepped figure is at most one step later.
    """
    scenario, targets = case
    if count_subnets(targets, scenario.radio_range_m) > 1:
        return
    plan = plan_to(scenario, targets)
    if plan.recovery_time_s + 0.1 > scenario.allowed_time_s:
        return
    flight = reknit.fly(scenario, plan)
    assert flight.reconnected_at_s is not None
    assert flight.reconnected_at_step_s is not None
    assert flight.reconnected_at_s <= plan.recovery_time_s + 1e-9
    assert flight.reconnected_at_s <= flight.reconnected_at_step_s
    assert flight.reconnected_at_step_s <= plan.recovery_time_s + 0.1 + 1e-9


@settings(max_examples=30)
@given(flights())
def test_separation_is_the_least_of_a_fine_grid(case: tuple[reknit.Scenario, FloatArray]) -> None:
    """The smallest separation is no more than on any instant of a fine grid, and no less than
    the grid's by more than anyone flies between two of its instants; and it is that of the two
    that are named.
    """
    scenario, targets = case
    if len(scenario.survivors) < 2:
        return
    flight = reknit.fly(scenario, plan_to(scenario, targets), until="arrived")
    times = np.linspace(0.0, flight.duration_s, 300)
    least = of_named = np.inf
    assert flight.closest_rows is not None
    for time_s in times:
        points = straight_at(scenario, targets, time_s)
        apart = np.linalg.norm(points[:, None] - points[None], axis=2)
        least = min(least, float(apart[np.triu_indices(len(points), k=1)].min()))
        of_named = min(of_named, float(apart[flight.closest_rows]))
    between_m = 20.0 * float(times[1] - times[0])
    assert flight.min_separation_m <= max(least, 0.01) + 1e-9
    assert flight.min_separation_m >= least - between_m - 1e-9
    assert flight.min_separation_m >= of_named - between_m - 1e-9


def test_connecting_and_parting_within_one_step_is_seen() -> None:
    """Two UAVs that pass each other inside a step: the exact instant exists, no step sees it."""
    scenario = reknit.Scenario([[0.0, 0.0], [1.0, 0.0]], [], 0.3, 10.0, allowed_time_s=0.1)
    targets = np.array([[1.0, 0.0], [0.0, 0.0]])
    flight = reknit.fly(scenario, plan_to(scenario, targets), step_s=0.1)
    assert flight.reconnected_at_s == pytest.approx(0.035, abs=1e-9)
    assert flight.reconnected_at_step_s is None


def test_a_known_instant() -> None:
    """Two UAVs 200 m apart fly towards each other at 10 m/s: in range (120 m) after 4 s."""
    scenario = reknit.Scenario([[0.0, 0.0], [100.0, 5.0], [200.0, 0.0]], [1], 120.0)
    flight = reknit.fly(scenario, plan_to(scenario, np.array([[90.0, 0.0], [110.0, 0.0]])))
    assert flight.reconnected_at_s == pytest.approx(4.0, abs=1e-9)
    assert flight.reconnected_at_step_s == pytest.approx(4.0, abs=0.1 + 1e-9)
    assert flight.subnets[0] == 2
    assert flight.subnets[-1] == 1


def test_too_late_is_none() -> None:
    """A swarm that connects only after the allowed time did not reconnect."""
    scenario = reknit.Scenario([[0.0, 0.0], [200.0, 0.0]], [], 120.0, 10.0, allowed_time_s=3.9)
    plan = plan_to(scenario, np.array([[90.0, 0.0], [110.0, 0.0]]))
    assert reknit.fly(scenario, plan).reconnected_at_s is None
    assert reknit.fly(scenario, plan, until="arrived").reconnected_at_s is None
    assert reknit.fly(scenario, plan, until="arrived").duration_s >= 9.0


@pytest.mark.parametrize("until", ["reconnected", "allowed"])
def test_steered_flights_end_as_asked(until: str) -> None:
    """A steered flight ends at reconnection, or goes on for the allowed time."""
    scenario = reknit.generate(40, 20, seed=3, split=True)
    flight = reknit.fly(scenario, CenterFly().controller(scenario, Context()), until=until)
    expected = scenario.allowed_time_s if until == "allowed" else flight.reconnected_at_s
    assert flight.duration_s == pytest.approx(expected)


@settings(max_examples=20)
@given(flights(), st.floats(0.5, 50.0))
def test_acceleration_is_limited(case: tuple[reknit.Scenario, FloatArray], limit: float) -> None:
    """With a limit, velocities change by at most a dt a step, and everyone still arrives."""
    scenario, targets = case
    flight = reknit.fly(
        scenario, plan_to(scenario, targets), until="arrived", max_acceleration_mps2=limit
    )
    velocity = np.diff(flight.positions, axis=0) / 0.1
    from_rest = np.concatenate([np.zeros_like(velocity[:1]), velocity])
    change = np.linalg.norm(np.diff(from_rest, axis=0), axis=2)
    assert (change <= limit * 0.1 + 1e-6).all()
    assert (np.linalg.norm(velocity, axis=2) <= 10.0 + 1e-6).all()
    assert np.array_equal(flight.positions[-1], targets)


def test_a_controller_cannot_break_the_speed_limit() -> None:
    """What a controller wishes above v_max is cut to v_max; anchors stay."""
    scenario = reknit.Scenario(
        [[0.0, 0.0], [400.0, 0.0], [0.0, 400.0]], [], 120.0, 10.0, anchors=[2]
    )

    def reckless(positions: FloatArray, time_s: float, step_s: float) -> FloatArray:
        return np.full_like(positions, 1e6)

    flight = reknit.fly(scenario, reckless, until="allowed")
    speed = (
        np.linalg.norm(np.diff(flight.positions, axis=0), axis=2) / np.diff(flight.times_s)[:, None]
    )
    assert speed.max() == pytest.approx(10.0)
    assert (flight.positions[:, 2] == flight.positions[0, 2]).all()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"until": "later"}, "until"),
        ({"step_s": 0.0}, "step_s"),
        ({"step_s": float("nan")}, "step_s"),
        ({"max_acceleration_mps2": -1.0}, "max_acceleration_mps2"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], told: str) -> None:
    """Wrong options give a typed error."""
    scenario = reknit.generate(10, 5, seed=0)
    with pytest.raises((InvalidParameter, UnknownName), match=told):
        reknit.fly(scenario, plan_to(scenario, scenario.survivor_positions), **options)


def test_a_flight_refuses_a_demand_it_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    """A demand that nobody taught the flight is refused by name, not ignored."""
    monkeypatch.setattr(simulator, "DEMANDS_KEPT", ("allowed time", "link length"))
    scenario = reknit.Scenario([[0.0, 0.0], [50.0, 0.0], [0.0, 50.0]], (), connectivity=2)
    with pytest.raises(InvalidParameter, match=r"connectivity is 2; .*fly keeps allowed time"):
        reknit.fly(scenario, plan_to(scenario, scenario.survivor_positions))


def test_a_controller_never_arrives() -> None:
    """until="arrived" needs a plan."""
    scenario = reknit.generate(10, 5, seed=0)
    with pytest.raises(InvalidParameter, match="until"):
        reknit.fly(scenario, CenterFly().controller(scenario, Context()), until="arrived")


def test_empty_time_is_not_stepped_through() -> None:
    """A UAV a thousand kilometres away takes a few thousand steps, not half a million, and the
    exact instant is that of the formula.
    """
    scenario = reknit.Scenario([[0.0, 0.0], [100.0, 0.0], [1e6, 0.0]], ())
    run = reknit.recover(scenario, "certified")
    assert len(run.flight.times_s) < 5_000
    assert run.flight.reconnected_at_s == pytest.approx((1e6 - 100.0 - 120.0) / 20.0, rel=0.01)
    steered = reknit.recover(scenario, "center-fly")
    assert len(steered.flight.times_s) < 5_000
    assert steered.flight.reconnected_at_s is not None


@pytest.mark.parametrize("order", [2, 3])
def test_a_flight_is_over_when_the_demanded_network_is_there(order: int) -> None:
    """With k-connectivity demanded, the instant is the first of a fine grid that is k-connected,
    and not one at which the swarm is merely connected.
    """
    scenario = reknit.generate(14, 6, seed=3, split=True, connectivity=order)
    flight = reknit.recover(scenario, "center-fly").flight
    at_s = flight.reconnected_at_s
    assert at_s is not None

    def node_connectivity(positions: FloatArray) -> int:
        graph = nx.Graph(links(positions, 120.0).tolist())
        graph.add_nodes_from(range(len(positions)))
        return int(nx.node_connectivity(graph))

    assert node_connectivity(flight.positions[-1]) >= order
    for before, after in itertools.pairwise(flight.positions[:-1]):
        for part in (0.0, 0.25, 0.5, 0.75):
            assert node_connectivity(before + part * (after - before)) < order


def test_a_margin_is_a_margin_in_flight_too() -> None:
    """A network within range but beyond the planned length is not yet what is demanded, so that
    no flight is shorter than the bound.
    """
    scenario = reknit.Scenario([[0.0, 0.0], [110.0, 0.0]], (), 120.0, link_margin=0.5)
    run = reknit.recover(scenario, "certified")
    assert run.plan is not None
    at_s = run.flight.reconnected_at_s
    assert at_s is not None
    assert at_s == pytest.approx((110.0 - 60.0) / 20.0)
    assert at_s >= run.plan.lower_bound_s


def test_another_scenarios_plan_is_refused() -> None:
    """A plan for other survivors, and a plan of the wrong size, are told apart from one's own."""
    scenario = reknit.generate(20, 10, seed=1, split=True)
    plan = reknit.plan(scenario, "contraction")
    with pytest.raises(InvalidParameter, match="shape"):
        reknit.fly(reknit.generate(20, 9, seed=1), plan)
    with pytest.raises(InvalidParameter, match="other UAVs"):
        reknit.fly(reknit.generate(20, 10, seed=2), plan)
    with pytest.raises(InvalidParameter, match="controller"):
        reknit.fly(scenario, 3)  # type: ignore[arg-type]


@pytest.mark.parametrize("answer", [np.nan, None, [[1.0]], "up"])
def test_a_controllers_nonsense_is_named(answer: object) -> None:
    """Velocities that are no finite numbers of the right shape end in one typed error."""
    scenario = reknit.generate(20, 10, seed=1, split=True)

    def steer(positions: FloatArray, time_s: float, step_s: float) -> Any:
        return positions * np.nan if answer is np.nan else answer

    with pytest.raises(InvalidParameter, match="controller"):
        reknit.fly(scenario, steer)


def test_a_flight_can_be_cancelled() -> None:
    """Once the caller asks to stop, no further step is flown."""
    scenario = reknit.generate(30, 15, seed=1, split=True)
    asked: list[int] = []

    def cancel() -> bool:
        asked.append(1)
        return len(asked) > 3

    flight = reknit.fly(
        scenario, CenterFly().controller(scenario, Context()), until="allowed", cancel=cancel
    )
    assert len(flight.times_s) == 4


@pytest.mark.parametrize("planner", ["certified", "contraction", "sidr", "center-fly"])
def test_no_flight_beats_a_bound_that_knows_the_separation(planner: str) -> None:
    """Whoever is too close is not reconnected yet: what counts as such is a plan itself, so no
    flight is whole before the bound on plans, and where it is, all are apart.
    """
    for seed in range(3):
        scenario = reknit.generate(24, 10, seed=seed, split=True, min_separation_m=60.0)
        run = reknit.recover(scenario, planner)
        if run.flight.reconnected_at_s is not None:
            assert run.flight.reconnected_at_s >= reknit.lower_bound(scenario).bound_s * (1 - 1e-9)
            ends = run.flight.positions[-1]
            apart = np.linalg.norm(ends[:, None] - ends[None], axis=2)
            assert apart[np.triu_indices(len(ends), 1)].min() >= 60.0
        elif run.plan is not None:
            assert not run.plan.status.is_connected or planner == "contraction"


def test_two_that_start_too_close_fly_apart() -> None:
    """A network that is whole from the start is not yet what is demanded."""
    scenario = reknit.Scenario(
        [[0.0, 0.0], [1.0, 0.0]], (), 120.0, 10.0, min_separation_m=10.0, allowed_time_s=5.0
    )
    run = reknit.recover(scenario, "certified")
    assert run.flight.reconnected_at_s == pytest.approx(0.45, rel=1e-6)
    assert np.linalg.norm(run.flight.positions[-1][0] - run.flight.positions[-1][1]) >= 10.0


@pytest.mark.parametrize(
    "wrong", [{"step_s": 1e-12}, {"max_acceleration_mps2": 1e-300}, {"step_s": 10**400}]
)
def test_flights_that_would_never_end_are_refused(wrong: dict[str, float]) -> None:
    """A step or an acceleration next to nothing gets one typed error at once."""
    scenario = reknit.generate(10, 5, seed=1)
    with pytest.raises(InvalidParameter, match=next(iter(wrong))):
        reknit.fly(scenario, reknit.plan(scenario, "contraction"), **wrong)  # type: ignore[arg-type]


def test_a_plan_of_another_swarm_is_not_flown() -> None:
    """Not even one of the same UAVs, which start elsewhere now."""
    scenario = reknit.generate(30, 12, seed=2, split=True)
    plan = reknit.plan(scenario)
    moved = reknit.Scenario(scenario.positions + 1.0, scenario.destroyed, scenario.radio_range_m)
    with pytest.raises(InvalidParameter, match="a plan of this scenario"):
        reknit.fly(moved, plan)
