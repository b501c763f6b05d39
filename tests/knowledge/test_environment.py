"""The environment for learners."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("pettingzoo")

from pettingzoo.test import parallel_api_test, parallel_seed_test, render_test

from reknit.base.errors import InvalidParameter, NoSplitFound
from reknit.knowledge import reknit_v0
from reknit.swarm.generate import generate


def test_it_passes_the_parallel_api_test() -> None:
    """PettingZoo's own test."""
    parallel_api_test(reknit_v0.parallel_env(uavs=12, max_steps=15), num_cycles=40)


def test_it_passes_the_seed_test() -> None:
    """The same seed gives the same episode."""
    parallel_seed_test(lambda: reknit_v0.parallel_env(uavs=12, max_steps=10), num_cycles=30)


def test_it_passes_the_render_test() -> None:
    """Images, text, and text on the standard output."""
    from pettingzoo.utils.conversions import parallel_to_aec

    def make(render_mode: str | None = None) -> object:
        return parallel_to_aec(reknit_v0.parallel_env(uavs=10, render_mode=render_mode))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        render_test(make)


def test_a_layout_that_no_damage_splits_is_drawn_again() -> None:
    """The first swarm of this seed stays whole whatever is lost; one that can't split is told."""
    environment = reknit_v0.parallel_env(uavs=10)
    environment.reset(seed=158)
    with pytest.raises(NoSplitFound):
        generate(10, 0.5, int(np.random.default_rng(158).integers(2**31)), split=True)
    assert environment.scenario.is_split
    with pytest.raises(NoSplitFound, match="one survivor"):
        reknit_v0.parallel_env(uavs=10, destroyed=9).reset(seed=0)


def test_the_lost_leave_and_the_rest_go_on() -> None:
    """The first step is the strike; whoever is lost is terminated and gone."""
    environment = reknit_v0.parallel_env(uavs=20, destroyed=10)
    environment.reset(seed=1)
    assert len(environment.agents) == 20
    actions = {agent: np.zeros(2, dtype=np.float32) for agent in environment.agents}
    _, _, gone, _, _ = environment.step(actions)
    assert sum(gone.values()) == 10
    assert len(environment.agents) == 10
    assert environment.state().shape == environment.state_space.shape


def test_observations_do_not_see_across_a_gap() -> None:
    """Right after the strike an agent sees its sub-net, its dead neighbours, and no more."""
    environment = reknit_v0.parallel_env(uavs=20, destroyed=10)
    environment.reset(seed=1)
    environment.step({})
    scenario = environment.scenario
    seen = environment._seen_now
    for subnet in range(scenario.subnet_count):
        ids = scenario.survivors[scenario.subnets == subnet]
        assert seen[ids, 1] == pytest.approx(len(ids) / 20)
    assert not seen[scenario.destroyed].any()


def test_flying_together_pays() -> None:
    """Rewards sum to progress, less time, plus 1 at the end: flying to the middle gets there."""
    environment = reknit_v0.parallel_env(uavs=20)
    environment.reset(seed=3)
    environment.step({})
    total = 0.0
    while environment.agents:
        simulation = environment.simulation
        points = simulation.world.reported
        middle = points[simulation.world.alive].mean(axis=0)
        away = middle - points
        unit = away / np.linalg.norm(away, axis=1, keepdims=True)
        _, rewards, _, _, _ = environment.step(
            {agent: unit[int(agent[4:])] for agent in environment.agents}
        )
        total += max(rewards.values())
    at = environment.simulation.reconnected_s
    assert at is not None
    scale_s = max(environment.optimum_s, 0.5)
    assert total == pytest.approx(2.0 - 0.1 * at / scale_s, abs=1e-6)


def test_a_tiny_gap_does_not_outweigh_the_others() -> None:
    """Time costs at most what a decision does where the optimum is shorter than one."""
    environment = reknit_v0.parallel_env(uavs=20, time_cost=1.0)
    least = []
    for seed in range(12):
        environment.reset(seed=seed)
        environment.step({})
        _, rewards, _, _, _ = environment.step({})
        least.append(min(rewards.values()))
    assert min(least) >= -1.0 - 1e-9


def test_the_vector_form_begins_anew() -> None:
    """One row a UAV; after the end a new episode."""
    environment = reknit_v0.vector_env(uavs=12, max_steps=5)
    seen, info = environment.reset(seed=2)
    assert seen.shape == environment.observation_space.shape
    assert info["alive"].sum() == 6
    ends = 0
    for _ in range(14):
        seen, _, whole, cut, info = environment.step(environment.action_space.sample())
        assert seen.shape == (12, seen.shape[1])
        ends += bool(whole.any() or cut.any())
    assert ends >= 2


def test_wrong_parameters_are_named() -> None:
    """Typed errors for what cannot be."""
    with pytest.raises(InvalidParameter, match="decision_s"):
        reknit_v0.parallel_env(decision_s=0.0)
    with pytest.raises(InvalidParameter, match="time_cost"):
        reknit_v0.parallel_env(time_cost=-1.0)
    with pytest.raises(InvalidParameter, match="render_mode"):
        reknit_v0.parallel_env(render_mode="film")
    environment = reknit_v0.parallel_env(uavs=8)
    environment.reset(seed=0)
    with pytest.raises(InvalidParameter, match="action"):
        environment.step({"uav_0": np.array([np.nan, 0.0])})
