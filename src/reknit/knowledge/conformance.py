"""What every policy must pass; `reknit.testing.check_policy` is this."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from reknit.base.types import IntArray
from reknit.knowledge.belief import Knowledge
from reknit.knowledge.channels.loss import Bernoulli
from reknit.knowledge.channels.protocols import Channel
from reknit.knowledge.channels.radio import RadioChannel
from reknit.knowledge.operation import Operation
from reknit.knowledge.policies.protocols import Policy
from reknit.knowledge.simulator import operate
from reknit.network.links import links
from reknit.swarm.generate import generate
from reknit.swarm.scenario import Scenario, check_scenarios


def kinds_of_damage() -> dict[str, Scenario]:
    """One small damaged swarm of every kind a policy may meet, by name."""
    line = np.array([[0.0, 0.0], [100.0, 0.0], [200.0, 0.0], [300.0, 0.0], [400.0, 0.0]])
    return {
        "split": generate(30, 15, seed=1, split=True),
        "heavy damage": generate(30, 24, seed=2, split=True),
        "three-dimensional": generate(30, 15, seed=3, split=True, dim=3),
        "collinear": Scenario(line, [2], 120.0),
        "two survivors": Scenario([[0.0, 0.0], [100.0, 0.0], [200.0, 0.0]], [1], 120.0),
        "one survivor": Scenario([[0.0, 0.0], [100.0, 0.0]], [0], 120.0),
        "already connected": Scenario([[0.0, 0.0], [100.0, 0.0], [100.0, 50.0]], [2], 120.0),
        "different speeds": Scenario(line, [2], 120.0, [5.0, 10.0, 10.0, 20.0, 10.0]),
    }


def check_policy(
    policy: str | Policy,
    scenarios: Mapping[str, Scenario] | None = None,
    *,
    end_s: float = 6.0,
) -> None:
    """Run a policy on every kind of damage; raise AssertionError at the first fault.

    Checked, over a clean radio and over one that loses 30 % of the messages with navigation
    errors of 2 m: the same seed gives the same bytes; nobody is too fast; nobody alive is held
    for certainly dead; no false "done"; a promise is kept; and a damage that differs only beyond
    a gap changes no byte of a sub-net's behaviour before contact.

    Parameters
    ----------
    policy
        A name, or a policy object.
    scenarios
        Cases by name; default: `kinds_of_damage`.
    end_s
        How long each flight is looked at; a promise is flown to its end.
    """
    channels: dict[str, Channel] = {
        "clean": RadioChannel(),
        "lossy": RadioChannel(loss=Bernoulli(0.3), noise_m=2.0),
    }
    scenarios = kinds_of_damage() if scenarios is None else scenarios
    check_scenarios(scenarios)
    for name, scenario in scenarios.items():
        for kind, channel in channels.items():
            where = f"{policy} on {name!r}, {kind} radio"
            first, second = (
                operate(scenario, policy, channel, seed=3, until="end", end_s=end_s)
                for _ in range(2)
            )
            same = first.positions.tobytes() == second.positions.tobytes()
            assert same, f"{where}: the same seed gave two different flights"
            _check_truth(first, where)
            if first.promised_s is not None:
                promised = operate(scenario, policy, channel, seed=3)
                assert promised.kept_promise, f"{where}: a broken promise"
                _check_truth(promised, where)
            if scenario.is_split:
                check_no_leak(scenario, policy, channel, end_s, where)


def _check_truth(operation: Operation, where: str) -> None:
    steps_s = np.diff(operation.times_s)[:, None]
    moved_m = np.linalg.norm(np.diff(operation.positions, axis=0), axis=2)
    limit_m = operation.struck.max_speed_mps * steps_s * (1.0 + 1e-9) + 1e-6
    assert (moved_m <= limit_m).all(), f"{where}: a UAV flew faster than it may"
    certain = operation.observation.status == Knowledge.CERTAINLY_DEAD
    assert not (certain & operation.alive).any(), f"{where}: alive and held for certainly dead"
    assert operation.false_done == 0, f"{where}: a false 'done'"


def check_no_leak(
    scenario: Scenario,
    policy: str | Policy,
    channel: Channel,
    end_s: float,
    where: str = "",
) -> int:
    """Compare every sub-net's flight under two damages that look the same to it.

    Returns
    -------
    int
        How many frames of sub-nets were compared.
    """
    compared = 0
    for number in range(min(3, scenario.subnet_count)):
        ids = scenario.survivors[scenario.subnets == number]
        twin = _twin(scenario, ids)
        observer = int(ids[0])
        first, second = (
            operate(
                case,
                policy,
                channel,
                seed=5,
                until="end",
                end_s=end_s,
                observer=observer,
            )
            for case in (scenario, twin)
        )
        frames = min(_frames_alone(first, ids), _frames_alone(second, ids))
        # The instant at which all reconnect is a frame of its own, and no news to a sub-net.
        shared = first.times_s[:frames] == second.times_s[:frames]
        frames = frames if shared.all() else int(np.argmin(shared))
        flights = [case.positions[:frames, ids].tobytes() for case in (first, second)]
        assert flights[0] == flights[1], f"{where}: flew by what is beyond a gap"
        seen = [case.observation.status[:frames].tobytes() for case in (first, second)]
        assert seen[0] == seen[1], f"{where}: believed what is beyond a gap"
        compared += frames
    return compared


def _twin(scenario: Scenario, ids: IntArray) -> Scenario:
    """Another damage: whoever a sub-net or its former neighbours are, lives or dies as before."""
    is_ours = np.isin(np.arange(scenario.uavs), ids)
    near = scenario.links[is_ours[scenario.links].any(axis=1)]
    beyond = np.setdiff1d(np.arange(scenario.uavs), np.append(np.unique(near), ids))
    alive = scenario.alive.copy()
    alive[beyond] = np.random.default_rng(0).random(len(beyond)) < 0.6
    return Scenario(
        scenario.positions,
        np.flatnonzero(~alive).tolist(),
        scenario.radio_range_m,
        scenario.max_speed_mps,
        allowed_time_s=scenario.allowed_time_s,
    )


def _frames_alone(operation: Operation, ids: IntArray) -> int:
    """Number of frames before the sub-net has met anybody, by its true links."""
    is_ours = np.isin(np.arange(operation.struck.uavs), ids)
    for frame, positions in enumerate(operation.positions):
        alive = np.flatnonzero(operation.alive[frame])
        pairs = alive[links(positions[alive], operation.struck.radio_range_m)].reshape(-1, 2)
        if (is_ours[pairs[:, 0]] != is_ours[pairs[:, 1]]).any():
            return frame
    return len(operation.times_s)
