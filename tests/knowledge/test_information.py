"""No information crosses a gap, and the shipped conformance tests."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reknit
from reknit.knowledge.channels.loss import Bernoulli, GilbertElliott
from reknit.knowledge.channels.protocols import Channel
from reknit.knowledge.channels.radio import RadioChannel
from reknit.knowledge.conformance import check_no_leak, kinds_of_damage
from reknit.knowledge.policies.protocols import Briefing, Orders, View
from reknit.testing import check_policy

POLICIES = [
    "hedge+deadline",
    "believe:certified+deadline",
    "believe:center-fly+deadline",
    "believe:hero+deadline",
    "believe:sidr+deadline",
    "rendezvous",
]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    "channel",
    [
        RadioChannel(),
        RadioChannel(loss=Bernoulli(0.3), noise_m=2.0),
        RadioChannel(loss=GilbertElliott(0.2, 4.0)),
        pytest.param(RadioChannel(hop_delay_s=0.05), marks=pytest.mark.long),
    ],
    ids=["clean", "lossy", "bursts", "slow"],
)
def test_nothing_beyond_the_gap_changes_a_byte_before_contact(
    policy: str, channel: Channel
) -> None:
    """Two damages that differ only beyond a sub-net's former neighbours: until contact the
    sub-net flies and believes the same to the byte.
    """
    scenario = reknit.generate(60, 36, seed=8, split=True)
    assert check_no_leak(scenario, policy, channel, end_s=3.0) > 10


@settings(max_examples=8, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10_000),
    lost=st.integers(10, 20),
    channel=st.sampled_from(
        [
            RadioChannel(),
            RadioChannel(loss=Bernoulli(0.4)),
            RadioChannel(period_s=0.3, hop_delay_s=0.1, noise_m=4.0),
        ]
    ),
)
def test_nothing_leaks_whatever_the_swarm(seed: int, lost: int, channel: Channel) -> None:
    """The same on swarms, damages and channels drawn at random."""
    scenario = reknit.generate(30, lost, seed=seed, split=True)
    assert check_no_leak(scenario, "hedge+deadline", channel, end_s=1.0) > 0


def test_the_test_notices_a_leak() -> None:
    """A policy that remembers across minds what it saw is found out."""

    class Leaky:
        replans = 0

        def brief(self, briefing: Briefing) -> Leaky:
            self.seen = 0
            return self

        def promised_s(self, briefing: Briefing) -> None:
            return None

        def act(self, view: View) -> Orders:
            self.seen += len(view.members) ** 2
            return Orders(targets=view.here + np.sin(self.seen))

    scenario = reknit.generate(60, 36, seed=8, split=True)
    with pytest.raises(AssertionError, match="beyond a gap"):
        check_no_leak(scenario, Leaky(), RadioChannel(), end_s=3.0)


@pytest.mark.parametrize("policy", ["hedge+deadline", "believe:contraction", "rendezvous"])
def test_our_policies_conform(policy: str) -> None:
    """Determinism, speed, soundness, promises and knowledge on every small kind of damage."""
    chosen = ("split", "collinear", "two survivors", "one survivor", "different speeds")
    cases = {name: case for name, case in kinds_of_damage().items() if name in chosen}
    check_policy(policy, cases, end_s=2.0)


@pytest.mark.long
@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_conforms_on_every_kind(policy: str) -> None:
    """The whole conformance test."""
    check_policy(policy)
