"""The global channel is the paper's model; losses are what they say."""

from __future__ import annotations

import numpy as np
import pytest

import reknit
from reknit.knowledge.channels.loss import Bernoulli, GilbertElliott, Loss, uniform
from reknit.knowledge.channels.mixed import Mixed
from reknit.knowledge.channels.radio import RadioChannel
from reknit.knowledge.channels.station import Station
from reknit.knowledge.simulator import operate

PLANNERS = ["certified", "contraction", "center-fly", "hero", "sidr"]


@pytest.mark.parametrize("planner", [*PLANNERS, "ml-dagl"])
@pytest.mark.parametrize("seed", [3, 9])
def test_with_reports_at_every_step_it_is_an_ordinary_recovery(planner: str, seed: int) -> None:
    """Global channel, no delay: the flight of `recover`; bit for bit where it is planned, and to
    rounding where it is steered (a step is 0.1 s here, and the difference of two times there).
    """
    scenario = reknit.generate(60, 30, seed=seed, split=True)
    run = reknit.recover(scenario, planner, seed=seed)
    operation = operate(scenario, f"believe:{planner}", "global", seed=seed)
    # Without a reconnection `recover` ends with a short step at the allowed time.
    frames = len(run.flight.times_s) - (run.flight.reconnected_at_s is None)
    flown, expected = (
        operation.positions[:frames, scenario.survivors],
        run.flight.positions[:frames],
    )
    if run.plan is not None:
        assert flown.tobytes() == expected.tobytes()
        assert operation.reconnected_at_s == run.flight.reconnected_at_s
    else:
        assert flown == pytest.approx(expected, abs=1e-9)


def test_the_plan_is_that_of_recover() -> None:
    """The announced targets are the plan's, bit for bit."""
    scenario = reknit.generate(60, 30, seed=3, split=True)
    plan = reknit.plan(scenario, "certified", seed=3)
    until_arrived_s = plan.recovery_time_s + 0.2
    operation = operate(
        scenario, "believe:certified", "global", seed=3, until="end", end_s=until_arrived_s
    )
    whole = int(np.argmax(operation.subnets == 1))
    before = operation.positions[whole][scenario.survivors]
    heading = plan.targets - scenario.survivor_positions
    moved = before - scenario.survivor_positions
    along = np.linalg.norm(moved, axis=1) / np.maximum(np.linalg.norm(heading, axis=1), 1e-300)
    assert moved == pytest.approx(heading * along[:, None], abs=1e-9)


@pytest.mark.parametrize("planner", PLANNERS)
def test_repeated_damage_is_a_case_of_it(planner: str) -> None:
    """Global channel, no delay, strikes: the same losses and instant as `recover_repeatedly`."""
    scenario = reknit.generate(60, 30, seed=4, split=True)
    strikes = [reknit.Strike(0.5, 5), reknit.Strike(1.25, 5)]
    repeated = reknit.recover_repeatedly(scenario, planner, strikes, seed=2)
    operation = operate(
        scenario, f"believe:{planner}", "global", strikes=strikes, seed=2, end_s=60.0
    )
    last = repeated.phases[-1].scenario
    assert operation.struck.destroyed.tolist() == last.destroyed.tolist()
    assert operation.struck.positions == pytest.approx(last.positions, abs=1e-6)
    if repeated.reconnected_at_s is None:
        assert (operation.reconnected_at_s or np.inf) > scenario.allowed_time_s
    else:
        assert operation.reconnected_at_s == pytest.approx(repeated.reconnected_at_s, abs=1e-6)


def test_late_reports_cost_their_delay() -> None:
    """Three missed reports a second apart and half a second of latency: nobody moves before."""
    scenario = reknit.generate(40, 20, seed=2, split=True)
    channel = Station(report_period_s=1.0, latency_s=0.5, missed_reports=3)
    operation = operate(scenario, "believe:certified", channel, seed=2)
    moved = (operation.positions != operation.positions[0]).any(axis=(1, 2))
    assert operation.times_s[int(np.argmax(moved)) - 1] == pytest.approx(2.5)
    prompt = operate(scenario, "believe:certified", "global", seed=2)
    assert operation.reconnected_at_s is not None
    assert operation.reconnected_at_s - 2.5 == pytest.approx(prompt.reconnected_at_s, abs=1e-6)
    assert operation.false_done == 0


@pytest.mark.parametrize(
    "channel",
    [
        Station(latency_s=0.5),
        Station(missed_reports=3),
        Station(loss=Bernoulli(0.3), missed_reports=3),
    ],
    ids=["late", "patient", "lossy"],
)
def test_news_under_way_is_waited_for_step_by_step(channel: Station) -> None:
    """Who hovers because the news is still under way acts as soon as it comes."""
    scenario = reknit.generate(40, 20, seed=2, split=True)
    prompt = operate(scenario, "believe:certified+deadline", "global", seed=2)
    operation = operate(scenario, "believe:certified+deadline", channel, seed=2)
    assert operation.reconnected_at_s is not None
    assert prompt.reconnected_at_s is not None
    late_s = operation.reconnected_at_s - prompt.reconnected_at_s
    assert 0.2 - 1e-6 <= late_s <= 2.0
    assert operation.kept_promise
    assert operation.false_done == 0


def test_whose_reports_are_lost_is_missing_in_the_plan() -> None:
    """All plan by the station's table alone: a survivor that it holds to be off-line is left out,
    stays, and is planned for once its reports come again.
    """
    scenario = reknit.generate(40, 20, seed=2, split=True)
    channel = Station(loss=Bernoulli(0.5), missed_reports=2)
    operation = operate(scenario, "believe:certified+deadline", channel, seed=2)
    assert operation.false_dead.max() > 0.0
    assert operation.replans > 1
    assert operation.kept_promise
    assert operation.false_done == 0


def test_a_quiet_mission_over_the_global_channel_ends() -> None:
    """Nobody is lost and nobody moves: the flight ends at its end."""
    swarm = reknit.generate(20, [], seed=2)
    operation = operate(swarm, "believe:certified", "global", until="end", end_s=5.0)
    assert operation.times_s[-1] == 5.0
    assert operation.subnets[-1] == 1


def test_everybody_with_a_link_is_the_global_channel_and_nobody_the_radio() -> None:
    """The two ends of `mixed`."""
    scenario = reknit.generate(40, 20, seed=2, split=True)
    radio = operate(scenario, "hedge", RadioChannel(), seed=2)
    nobody = operate(scenario, "hedge", Mixed(uplinks=0.0), seed=2)
    assert nobody.positions.tobytes() == radio.positions.tobytes()
    everybody = operate(scenario, "believe:certified", Mixed(uplinks=1.0), seed=2)
    assert everybody.price_of_ignorance == pytest.approx(1.0, abs=0.2)
    assert everybody.false_done == 0


def test_some_links_help() -> None:
    """With a third of the UAVs linked to the station fewer of the lost are taken for alive."""
    scenario = reknit.generate(80, 40, seed=6, split=True)
    alone, linked = (
        operate(scenario, "hedge", Mixed(uplinks=share), seed=6, until="end", end_s=0.5)
        for share in (0.0, 0.33)
    )
    assert linked.false_alive[-1] < alone.false_alive[-1]
    assert linked.false_done == 0


@pytest.mark.parametrize("policy", ["hedge+deadline", "believe:certified+deadline"])
def test_a_slow_station_beside_the_radio_does_no_harm(policy: str) -> None:
    """A station that reports every 20 s: nobody waits for its orders or its next report."""
    for seed in range(4):
        scenario = reknit.generate(40, 20, seed=seed, split=True)
        channel = Mixed(station=Station(report_period_s=20.0), uplinks=0.3)
        operation = operate(scenario, policy, channel, seed=seed)
        assert operation.kept_promise
        assert operation.recovery_time_s is not None
        assert operation.recovery_time_s < 10.0
        assert operation.false_done == 0


def test_a_split_without_a_loss_is_noticed_through_the_station() -> None:
    """All live and report, and no link joins them: they come together."""
    swarm = reknit.Scenario([[0.0, 0.0], [100.0, 0.0], [300.0, 0.0]], [], 120.0)
    operation = operate(swarm, "believe:certified", Mixed(uplinks=1.0), end_s=20.0)
    assert operation.reconnected_at_s == pytest.approx(4.0, abs=0.2)


def test_losses_do_not_end_a_mission() -> None:
    """Nobody is lost: a formation flies on though a link loses three messages in ten; one that
    loses somebody ends its mission, and keeps its promise.
    """
    swarm = reknit.generate(40, [], seed=5)
    mission = reknit.Mission(swarm, velocity_mps=(3.0, -1.0))
    channel = RadioChannel(loss=Bernoulli(0.3))
    operation = operate(mission, channel=channel, until="end", end_s=6.0)
    moved = operation.positions[-1] - swarm.positions
    assert moved == pytest.approx(np.tile([18.0, -6.0], (40, 1)), abs=1e-9)
    struck = operate(mission, channel=channel, strikes=[reknit.Strike(2.0, 20)])
    assert struck.kept_promise


@pytest.mark.parametrize("model", [Bernoulli(0.3), GilbertElliott(0.3, 4.0)])
def test_losses_have_the_share_they_say(model: Loss) -> None:
    """Over many exchanges of many links the share of lost messages is the parameter's."""
    session = model.begin(7)
    links = np.arange(400)
    lost = np.array([session.lost(links, number) for number in range(500)])
    assert lost.mean() == pytest.approx(0.3, abs=0.01)
    again = lost[1:][lost[:-1]].mean()
    assert again == pytest.approx(model.repeat, abs=0.01)


@pytest.mark.parametrize("model", [GilbertElliott(0.3, 1.0), GilbertElliott(0.6, 1.5)])
def test_repeat_bounds_every_course_of_events(model: GilbertElliott) -> None:
    """Proofs of death rest on it: no history makes the next loss likelier than `repeat`."""
    session = model.begin(3)
    links = np.arange(400)
    lost = np.array([session.lost(links, number) for number in range(500)])
    after_loss, after_none = lost[1:][lost[:-1]].mean(), lost[1:][~lost[:-1]].mean()
    assert max(after_loss, after_none) == pytest.approx(model.repeat, abs=0.01)


def test_many_links_prove_a_death_sooner_than_one() -> None:
    """Nine neighbours of a lost UAV know it within two exchanges at 30 % loss (0.3^18 < 1e-9); a
    single neighbour needs eighteen.
    """
    angles = np.linspace(0.0, 2.0 * np.pi, 9, endpoint=False)
    ring = 30.0 * np.column_stack([np.cos(angles), np.sin(angles)])
    many = reknit.Scenario(np.vstack([[[0.0, 0.0]], ring]), [0], 120.0)
    single = reknit.Scenario([[0.0, 0.0], [30.0, 0.0]], [0], 120.0)
    channel = RadioChannel(loss=Bernoulli(0.3))
    seen = [operate(case, "rendezvous", channel, until="end", end_s=3.0) for case in (many, single)]
    proved_s = [flight.times_s[np.argmax(flight.observation.status[:, 0] == 3)] for flight in seen]
    assert proved_s[0] <= 0.4 < 1.6 <= proved_s[1] <= 1.8


def test_who_is_cut_off_is_out_of_touch_at_once() -> None:
    """A chain whose middle is lost: the far end is unknown as soon as the middle is presumed dead,
    long before the channel's patience is over.
    """
    middle = [[100.0, 0.0], [100.0, 20.0], [100.0, -20.0]]
    near = [[0.0, 0.0], [0.0, 20.0], [0.0, -20.0]]
    far = [[200.0, 0.0], [200.0, 20.0]]
    case = reknit.Scenario(near + middle + far, [3, 4, 5], 120.0)
    channel = RadioChannel(loss=GilbertElliott(0.3, 5.0))
    flight = operate(case, "rendezvous", channel, until="end", end_s=4.0)
    parted_s = flight.times_s[np.argmax(flight.observation.status[:, 6] != 0)]
    patience_s = channel.alarm_delay_s(8, 0.1)
    assert parted_s < 0.8 * patience_s


def test_a_link_does_not_feel_the_others() -> None:
    """The draws of a link are the same whichever other links there are."""
    for model in (Bernoulli(0.4), GilbertElliott(0.4, 3.0)):
        alone, among = model.begin(1), model.begin(1)
        many = np.arange(50)
        for number in range(20):
            assert alone.lost(many[[17]], number)[0] == among.lost(many, number)[17]


def test_draws_are_uniform() -> None:
    """Mean, spread and independence of neighbouring draws."""
    draws = uniform(3, np.arange(100_000), 5)
    assert draws.mean() == pytest.approx(0.5, abs=0.005)
    assert draws.var() == pytest.approx(1 / 12, abs=0.002)
    assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 0.01
    assert abs(np.corrcoef(draws, uniform(3, np.arange(100_000), 6))[0, 1]) < 0.01
