"""No information crosses a gap."""

from __future__ import annotations

import numpy as np
import pytest

import reknit
from reknit.knowledge.channels.loss import Bernoulli, GilbertElliott
from reknit.knowledge.channels.protocols import Channel
from reknit.knowledge.channels.radio import Radio
from reknit.knowledge.simulator import operate
from reknit.network.links import links

POLICIES = [
    "hedge+deadline",
    "believe:certified+deadline",
    "believe:center-fly+deadline",
    "believe:hero+deadline",
    "believe:sidr+deadline",
    "rendezvous",
]


def _twin(scenario: reknit.Scenario, seed: int) -> tuple[reknit.Scenario, np.ndarray]:
    """Another damage that looks the same to the largest sub-net, and that sub-net's ids.

    Whoever it or its former neighbours are, lives or dies as before; of the rest others die.
    """
    label = scenario.subnets
    ids = scenario.survivors[label == np.bincount(label).argmax()]
    pairs = scenario.links
    is_ours = np.isin(np.arange(scenario.uavs), ids)
    near = np.unique(pairs[is_ours[pairs].any(axis=1)])
    rng = np.random.default_rng(seed)
    alive = scenario.alive.copy()
    beyond = np.setdiff1d(np.arange(scenario.uavs), near)
    alive[beyond] = rng.random(len(beyond)) < 0.6
    return (
        reknit.Scenario(
            scenario.positions,
            np.flatnonzero(~alive).tolist(),
            scenario.radio_range_m,
            allowed_time_s=scenario.allowed_time_s,
        ),
        ids,
    )


def _until_contact(operation: reknit.Operation, ids: np.ndarray) -> int:
    """Number of frames before the sub-net has met anybody, by its links alone."""
    is_ours = np.zeros(operation.struck.uavs, dtype=bool)
    is_ours[ids] = True
    for frame, positions in enumerate(operation.positions):
        alive = np.flatnonzero(operation.alive[frame])
        pairs = alive[links(positions[alive], operation.struck.radio_range_m)].reshape(-1, 2)
        if (is_ours[pairs[:, 0]] != is_ours[pairs[:, 1]]).any():
            return frame
    return len(operation.times_s)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    "channel",
    [Radio(), Radio(loss=Bernoulli(0.3), noise_m=2.0), Radio(loss=GilbertElliott(0.2, 4.0))],
    ids=["clean", "lossy", "bursts"],
)
def test_nothing_beyond_the_gap_changes_a_byte_before_contact(
    policy: str, channel: Channel
) -> None:
    """Two damages that differ only beyond a sub-net's former neighbours: until contact the
    sub-net flies and believes the same to the byte.
    """
    scenario = reknit.generate(60, 30, seed=8, split=True)
    twin, ids = _twin(scenario, seed=1)
    assert twin.destroyed.tolist() != scenario.destroyed.tolist()
    observer = int(ids[0])
    first, second = (
        operate(one, policy, channel, seed=5, observer=observer, until="end", end_s=4.0)
        for one in (scenario, twin)
    )
    frames = min(_until_contact(first, ids), _until_contact(second, ids))
    assert frames > 1
    same_s = first.times_s[:frames] == second.times_s[:frames]
    # The instant at which others reconnect is a frame of its own, and no news to the sub-net.
    frames = frames if same_s.all() else int(np.argmin(same_s))
    assert first.positions[:frames, ids].tobytes() == second.positions[:frames, ids].tobytes()
    seen = [operation.observation for operation in (first, second)]
    assert seen[0].status[:frames].tobytes() == seen[1].status[:frames].tobytes()
    assert seen[0].positions[:frames].tobytes() == seen[1].positions[:frames].tobytes()


def test_the_test_would_notice_a_leak() -> None:
    """Under the global channel the same two damages do differ at once."""
    scenario = reknit.generate(60, 30, seed=8, split=True)
    twin, ids = _twin(scenario, seed=1)
    first, second = (
        operate(one, "believe:certified", "global", until="end", end_s=1.0, observer=int(ids[0]))
        for one in (scenario, twin)
    )
    assert first.observation.status[0].tobytes() != second.observation.status[0].tobytes()
