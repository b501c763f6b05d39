"""`operate`: what is recorded is true, and promises are kept."""

from __future__ import annotations

import numpy as np
import pytest

import reknit
from reknit.base.errors import InvalidParameter, UnknownName
from reknit.knowledge.channels.loss import Bernoulli
from reknit.knowledge.channels.protocols import Channel
from reknit.knowledge.channels.radio import RadioChannel
from reknit.knowledge.channels.registry import build_channel
from reknit.knowledge.simulator import operate
from reknit.network.links import count_subnets


@pytest.fixture(scope="module")
def scenario() -> reknit.Scenario:
    return reknit.generate(50, 25, seed=4, split=True)


@pytest.fixture(scope="module")
def operation(scenario: reknit.Scenario) -> reknit.Operation:
    return operate(scenario, seed=4)


def test_reconnection_is_true_and_first(operation: reknit.Operation) -> None:
    """The last frame is connected, the frames before are not, and the count is right."""
    struck = operation.struck
    for positions, count in zip(operation.positions, operation.subnets, strict=True):
        assert count == count_subnets(positions[struck.survivors], struck.radio_range_m)
    assert operation.subnets[-1] == 1
    assert (operation.subnets[:-1] > 1).all()
    assert operation.reconnected_at_s == operation.times_s[-1]


def test_nobody_is_too_fast_and_the_lost_stay(operation: reknit.Operation) -> None:
    """Steps are within v_max; a lost UAV does not move."""
    struck = operation.struck
    moved = np.linalg.norm(np.diff(operation.positions, axis=0), axis=2)
    assert (moved <= 10.0 * np.diff(operation.times_s)[:, None] + 1e-9).all()
    assert not moved[:, struck.destroyed].any()


def test_no_recovery_beats_full_knowledge(operation: reknit.Operation) -> None:
    """The price of ignorance is at least 1, and the proved bound holds."""
    assert operation.price_of_ignorance is not None
    assert operation.price_of_ignorance >= 1.0 - 1e-9
    assert operation.recovery_time_s is not None
    assert operation.recovery_time_s >= reknit.lower_bound(operation.struck).bound_s - 1e-9


def test_the_same_seed_gives_the_same_bytes(scenario: reknit.Scenario) -> None:
    """Losses and errors come from the seed alone."""
    channel = RadioChannel(loss=Bernoulli(0.3), noise_m=5.0)
    first, second, other = (
        operate(scenario, "hedge+deadline", channel, seed=seed, until="end", end_s=2.0)
        for seed in (1, 1, 2)
    )
    assert first.positions.tobytes() == second.positions.tobytes()
    assert first.positions.tobytes() != other.positions.tobytes()


@pytest.mark.parametrize("policy", ["hedge+deadline", "believe:certified+deadline", "rendezvous"])
@pytest.mark.parametrize(
    "channel",
    [
        RadioChannel(),
        RadioChannel(loss=Bernoulli(0.3)),
        RadioChannel(noise_m=10.0),
        RadioChannel(hop_delay_s=0.1),
    ],
    ids=["clean", "lossy", "noisy", "slow"],
)
def test_promises_are_kept(policy: str, channel: Channel) -> None:
    """Whatever happens to the messages, the network is whole in the promised time."""
    for seed in (1, 2):
        case = reknit.generate(30, 18, seed=seed, split=True)
        operation = operate(case, policy, channel, seed=seed)
        assert operation.kept_promise is True
        assert operation.false_done == 0


def test_done_is_declared_and_true() -> None:
    """After the promised time silence proves death, so somebody can always say "done"."""
    case = reknit.generate(30, 18, seed=3, split=True)
    operation = operate(case, "hedge+deadline", seed=3, until="done", end_s=60.0)
    assert operation.done_at_s is not None
    assert operation.false_done == 0
    assert operation.subnets[-1] == 1


def test_the_living_are_never_certainly_dead(scenario: reknit.Scenario) -> None:
    """Certain death is sound in every frame, also with losses and errors."""
    for channel in (RadioChannel(), RadioChannel(loss=Bernoulli(0.3), noise_m=3.0)):
        operation = operate(scenario, "hedge+deadline", channel, until="end", end_s=6.0)
        certain = operation.observation.status == 3
        assert not (certain & operation.alive).any()
        assert certain[-1].any()


def test_a_swarm_that_is_not_split_stays_whole() -> None:
    """Nothing to do: reconnected at once."""
    case = reknit.Scenario([[0.0, 0.0], [100.0, 0.0], [100.0, 50.0]], [2], 120.0)
    operation = operate(case)
    assert operation.reconnected_at_s == 0.0
    assert operation.price_of_ignorance is None


def test_a_mission_moves_until_it_is_struck() -> None:
    """The formation flies its velocity, and the recovery begins where it was struck."""
    swarm = reknit.generate(40, [], seed=5)
    mission = reknit.Mission(swarm, velocity_mps=(3.0, -1.0))
    operation = operate(mission, strikes=[reknit.Strike(1.55, 20)], seed=3)
    at = int(np.searchsorted(operation.times_s, 1.55))
    moved = operation.positions[at] - swarm.positions
    assert moved == pytest.approx(np.tile([3.0 * 1.55, -1.55], (40, 1)), abs=1e-9)
    assert operation.struck_at_s == 1.55
    assert operation.kept_promise
    assert operation.false_done == 0


def test_strikes_add_up(scenario: reknit.Scenario) -> None:
    """Each strike takes more; the promise still counts from the first."""
    strikes = [reknit.Strike(0.3, 4), reknit.Strike(0.8, 4)]
    operation = operate(scenario, strikes=strikes, seed=1)
    assert len(operation.struck.survivors) == len(scenario.survivors) - 8
    assert operation.struck_at_s == 0.8
    assert operation.first_struck_at_s == 0.0
    assert operation.kept_promise


def test_a_strike_after_the_promise_breaks_nothing() -> None:
    """From the promised time on all are in range of all, so a later loss splits nobody."""
    case = reknit.generate(20, 10, seed=1, split=True)
    due_s = operate(case).promised_s
    assert due_s is not None
    operation = operate(case, strikes=[reknit.Strike(due_s + 2.0, 3)])
    assert operation.reconnected_at_s == due_s + 2.0
    assert operation.kept_promise


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"policy": "hegde"}, UnknownName, "hedge"),
        ({"policy": "believe:certifid"}, UnknownName, "certified"),
        ({"policy": "hedge+deadlin"}, UnknownName, "did you mean 'hedge\\+deadline'"),
        ({"policy": "hedge+deadline+deadline"}, UnknownName, "policy"),
        ({"policy": "believe:certified+dedline"}, UnknownName, "believe:certified\\+deadline"),
        ({"policy": 3}, InvalidParameter, "policy"),
        ({"channel": "raido"}, UnknownName, "radio"),
        ({"channel": 3}, InvalidParameter, "channel"),
        ({"until": "dusk"}, UnknownName, "until"),
        ({"seed": -1}, InvalidParameter, "seed"),
        ({"end_s": -1.0}, InvalidParameter, "end_s"),
        ({"end_s": 1e9}, InvalidParameter, "at most 10000 s"),
        ({"strikes": [reknit.Strike(1e9, 1)]}, InvalidParameter, "at most 10000 s"),
        ({"observer": 99}, InvalidParameter, "observer"),
        ({"end_s": 2.0, "strikes": [reknit.Strike(3.0, 1)]}, InvalidParameter, "before the end"),
    ],
)
def test_wrong_arguments_are_named(
    scenario: reknit.Scenario, arguments: dict[str, object], error: type, words: str
) -> None:
    """One typed error each, with the nearest name where a name is wrong."""
    with pytest.raises(error, match=words):
        operate(scenario, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"loss": 1.5}, "loss"),
        ({"loss": -0.1}, "loss"),
        ({"period_s": -1.0}, "period_s"),
        ({"report_period_s": -1.0}, "report_period_s"),
        ({"noise_m": float("nan")}, "noise_m"),
        ({"latency_s": float("inf")}, "latency_s"),
        ({"missed_reports": 0}, "missed_reports"),
        ({"uplinks": 2.0}, "uplinks"),
        ({"loss": 0.2, "burst": 0.1}, "burst"),
        ({"burst": 3.0}, "only together with a loss"),
        ({"period_s": 1.0, "hop_delay_s": 2.0}, "at most the period, 1 s"),
    ],
)
def test_wrong_channels_are_named(values: dict[str, float], words: str) -> None:
    """Negative periods, losses that are no probabilities and the like are refused."""
    with pytest.raises(InvalidParameter, match=words):
        build_channel("mixed", **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("radio", {"report_period_s": 2.0}),
        ("radio", {"latency_s": 0.5}),
        ("radio", {"missed_reports": 2}),
        ("global", {"period_s": 2.0}),
        ("global", {"hop_delay_s": 0.1}),
        ("global", {"uplinks": 0.5}),
    ],
)
def test_what_a_channel_does_not_have_is_refused(name: str, values: dict[str, float]) -> None:
    """Rather than left out in silence."""
    with pytest.raises(InvalidParameter, match="only together with channel"):
        build_channel(name, **values)  # type: ignore[arg-type]


def test_a_mission_may_not_leave_its_area() -> None:
    """A formation that flies out of its area is refused before it starts."""
    swarm = reknit.Scenario([[0.0, 0.0], [50.0, 0.0]], [], 120.0)
    mission = reknit.Mission(swarm, velocity_mps=(5.0, 0.0), area=((0.0, 0.0), (100.0, 10.0)))
    with pytest.raises(InvalidParameter, match="area"):
        operate(mission, strikes=[reknit.Strike(30.0, 1)])


@pytest.mark.parametrize(
    ("velocity", "words"), [((float("nan"), 0.0), "finite"), ((11.0, 0.0), "at most 10")]
)
def test_a_policy_that_cannot_be_flown_is_named(
    scenario: reknit.Scenario, velocity: tuple[float, float], words: str
) -> None:
    """NaN and too much speed: one typed error."""
    from reknit.knowledge.policies.protocols import Briefing, Orders, View

    class Wrong:
        replans = 0

        def brief(self, briefing: Briefing) -> Wrong:
            return self

        def promised_s(self, briefing: Briefing) -> None:
            return None

        def act(self, view: View) -> Orders:
            return Orders(velocities_mps=np.tile(velocity, (len(view.members), 1)))

    with pytest.raises(InvalidParameter, match=words):
        operate(scenario, Wrong())
