"""Train one small policy that all UAVs share, with plain PPO, and compare it with center-fly.

    python examples/ppo.py --minutes 10 --weights ppo.safetensors

Every UAV sees its own belief alone and chooses a velocity, by weighing pulls towards what it sees.
Untrained it hovers, so whatever it can was learned. Needs the extras `learn` and `environment`.
"""

from __future__ import annotations

import argparse
import copy
import time
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn

import reknit
from reknit.base.files import replacing
from reknit.knowledge import reknit_v0

FloatArray = NDArray[np.float64]
UAVS, NEAREST, DIM = 20, 6, 2
PULLS = 4
GAMMA = 0.97
STEPS = 256
"""Decisions of the swarm in one round."""

MAX_STEPS = 20
"""Decisions until an episode is cut in training."""

CENTER_FLY, BELIEF = "center-fly, full knowledge", "center-fly, on the belief"
NEAREST_RULE = "to the nearest unknown UAV, no learning"
HEDGE, BEST = "hedge", "certified optimum, full knowledge"
LATE_S = 15
"""Who is not whole by then has failed, and counts as that late."""

UNSEEN = 900_000
"""Seeds from here on are for the comparison alone."""


class Policy(nn.Module):
    """Mean velocity and value from an observation.

    The velocity is a sum of pulls: to the rendezvous, and to the nearest UAV in touch, the nearest
    unknown and the nearest dead one, ``sum_k w_k u_k`` with unit vectors u_k. From all that is
    seen the network chooses the weights w_k, which may be negative; all are 0 at first, so an
    untrained swarm hovers.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.weights = nn.Linear(64, PULLS)
        self.value = nn.Linear(64, 1)
        self.spread = nn.Parameter(torch.full((DIM,), -0.5))
        nn.init.zeros_(self.weights.weight)
        nn.init.zeros_(self.weights.bias)

    def forward(self, seen: torch.Tensor) -> tuple[torch.distributions.Normal, torch.Tensor]:
        """Distribution of the action, and the value."""
        hidden = self.body(seen)
        mean = (self.weights(hidden)[:, :, None] * directions(seen)).sum(dim=1)
        return torch.distributions.Normal(mean, self.spread.exp()), self.value(hidden)[:, 0]


def directions(seen: torch.Tensor) -> torch.Tensor:
    """(rows, PULLS, DIM) unit vectors to the rendezvous and to the nearest of each kind."""
    others = seen[:, 3 + DIM :].reshape(len(seen), 3, NEAREST, DIM + 1)[:, :, 0, :DIM]
    ways = torch.cat([seen[:, None, 3 : 3 + DIM], others], dim=1)
    return ways / ways.norm(dim=2, keepdim=True).clamp(min=1e-6)


class Nearest(nn.Module):
    """A rule without learning, for comparison: to the nearest unknown UAV, else the rendezvous."""

    def forward(self, seen: torch.Tensor) -> tuple[torch.distributions.Normal, torch.Tensor]:
        """The rule's velocity as a distribution, and no value."""
        to = directions(seen)
        first = to[:, 2]
        is_there = (first != 0.0).any(dim=1, keepdim=True)
        mean = torch.where(is_there, first, to[:, 0])
        return torch.distributions.Normal(mean, 1.0), torch.zeros(len(seen))


def collect(
    environment: reknit_v0.SwarmVector, policy: Policy, steps: int
) -> tuple[dict[str, torch.Tensor], str]:
    """Fly and remember, with advantages by GAE (gamma 0.97, lambda 0.95); and how it went."""
    rows: dict[str, list[torch.Tensor]] = {name: [] for name in ("seen", "act", "log", "value")}
    rewards, ends, wholes, counts = [], [], [], []
    seen, info = environment.reset()
    is_over = np.zeros(UAVS, dtype=bool)
    for _ in range(steps):
        here = torch.as_tensor(seen)
        with torch.no_grad():
            chance, value = policy(here)
            action = chance.sample()
        # The step after an episode's end only begins the next one.
        counts.append(torch.as_tensor(info["alive"] & ~is_over))
        seen, reward, whole, cut, info = environment.step(action.numpy())
        for name, item in zip(
            rows, (here, action, chance.log_prob(action).sum(1), value), strict=True
        ):
            rows[name].append(item)
        rewards.append(torch.as_tensor(reward, dtype=torch.float32))
        is_over = whole | cut
        ends.append(torch.as_tensor(is_over, dtype=torch.float32))
        wholes.append(torch.as_tensor(whole, dtype=torch.float32))
    with torch.no_grad():
        after = policy(torch.as_tensor(seen))[1]
    gain, advantages = torch.zeros(UAVS), []
    for k in reversed(range(steps)):
        # An episode that was cut would have gone on: its last state keeps its value.
        error = rewards[k] + GAMMA * after * (1.0 - wholes[k]) - rows["value"][k]
        gain = error + GAMMA * 0.95 * (1.0 - ends[k]) * gain
        after = rows["value"][k]
        advantages.append(gain)
    batch = {name: torch.cat(items) for name, items in rows.items()}
    batch["gain"] = torch.cat(advantages[::-1])
    keep = torch.cat(counts)
    kept = {name: item[keep] for name, item in batch.items()}
    over, whole_ones = (int(torch.stack(marks)[:, 0].sum()) for marks in (ends, wholes))
    return kept, f"{whole_ones} of {over} episodes whole, {steps / max(over, 1):.1f} decisions each"


def improve(
    policy: Policy, optimiser: torch.optim.Optimizer, batch: dict[str, torch.Tensor]
) -> None:
    """Four passes of the clipped objective."""
    aim = batch["gain"] + batch["value"]
    gain = (batch["gain"] - batch["gain"].mean()) / (batch["gain"].std() + 1e-8)
    for _ in range(4):
        for part in torch.randperm(len(gain)).split(512):
            chance, value = policy(batch["seen"][part])
            ratio = (chance.log_prob(batch["act"][part]).sum(1) - batch["log"][part]).exp()
            clipped = ratio.clamp(0.8, 1.2)
            loss = -torch.min(ratio * gain[part], clipped * gain[part]).mean()
            loss = loss + 0.5 * (value - aim[part]).pow(2).mean()
            loss = loss - 0.001 * chance.entropy().mean()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
            optimiser.step()


def save(path: Path, policy: Policy, optimiser: torch.optim.Optimizer, rounds: int) -> None:
    """Keep weights and optimiser; a run that is stopped goes on from here."""
    tensors = {f"policy.{name}": value for name, value in policy.state_dict().items()}
    for number, state in optimiser.state_dict()["state"].items():
        tensors |= {f"adam.{number}.{name}": value for name, value in state.items()}
    tensors = {name: value.detach().clone() for name, value in tensors.items()}
    with replacing(path) as temporary:
        save_file(tensors, temporary, {"rounds": str(rounds)})


def load(path: Path, policy: Policy, optimiser: torch.optim.Optimizer) -> int:
    """Go on where a run stopped; the number of rounds it has had."""
    with safe_open(path, "pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        rounds = int(file.metadata()["rounds"])
    policy.load_state_dict(
        {name.removeprefix("policy."): tensors[name] for name in tensors if "policy." in name}
    )
    adam: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in tensors.items():
        if name.startswith("adam."):
            _, number, field = name.split(".")
            adam.setdefault(int(number), {})[field] = value
    whole = optimiser.state_dict()
    optimiser.load_state_dict({"state": adam, "param_groups": whole["param_groups"]})
    return rounds


def flown_s(policy: nn.Module, seeds: range) -> FloatArray:
    """Times of the policy, without exploring, on cases it has not seen; a failure at 15 s."""
    environment = reknit_v0.vector_env(uavs=UAVS, nearest=NEAREST, max_steps=2 * LATE_S)
    times = []
    for seed in seeds:
        seen, _ = environment.reset(seed=seed)
        whole = cut = np.zeros(1, dtype=bool)
        while not (whole.any() or cut.any()):
            with torch.no_grad():
                action = policy(torch.as_tensor(seen))[0].mean
            seen, _, whole, cut, _ = environment.step(action.numpy())
        at = environment.swarm.simulation.reconnected_s
        times.append(LATE_S if at is None else at)
    return np.asarray(times)


def others_s(seeds: range) -> dict[str, FloatArray]:
    """The same cases by others; a failure at 15 s."""
    environment = reknit_v0.vector_env(uavs=UAVS)
    times: dict[str, list[float | None]] = {name: [] for name in (CENTER_FLY, BELIEF, HEDGE, BEST)}
    for seed in seeds:
        environment.reset(seed=seed)
        scenario = environment.swarm.scenario
        times[CENTER_FLY].append(reknit.recover(scenario, "center-fly").flight.reconnected_at_s)
        for name, policy in ((BELIEF, "believe:center-fly"), (HEDGE, "hedge")):
            flown = reknit.operate(scenario, policy, end_s=LATE_S)
            times[name].append(flown.reconnected_at_s)
        times[BEST].append(environment.swarm.optimum_s)
    return {
        name: np.asarray([LATE_S if time_s is None else min(time_s, LATE_S) for time_s in values])
        for name, values in times.items()
    }


def interval(values: FloatArray) -> str:
    """Mean and its 95 % interval."""
    half = 1.96 * float(np.std(values, ddof=1)) / len(values) ** 0.5
    return f"{np.mean(values):.2f} +- {half:.2f} s"


def main() -> None:
    """Train for a while, then compare."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--minutes", type=float, default=10.0, help="of computing")
    options.add_argument(
        "--cases", type=int, default=100, help="unseen ones to compare on; 0: none"
    )
    options.add_argument("--weights", type=Path, help="kept after every round, and gone on from")
    given = options.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    environment = reknit_v0.vector_env(uavs=UAVS, nearest=NEAREST, max_steps=MAX_STEPS)
    policy = Policy(environment.single_observation_space.shape[0])
    optimiser = torch.optim.Adam(policy.parameters(), lr=1e-3)
    untrained, rounds = copy.deepcopy(policy), 0
    if given.weights is not None and given.weights.exists():
        rounds = load(given.weights, policy, optimiser)
    torch.manual_seed(rounds)
    environment.reset(seed=rounds)
    begun_s = time.process_time()
    while time.process_time() - begun_s < 60.0 * given.minutes:
        batch, told = collect(environment, policy, STEPS)
        improve(policy, optimiser, batch)
        rounds += 1
        if given.weights is not None:
            save(given.weights, policy, optimiser, rounds)
        print(f"round {rounds}: {told}", flush=True)
    if given.cases == 0:
        return
    seeds = range(UNSEEN, UNSEEN + given.cases)
    times = {f"{rounds} rounds of PPO": flown_s(policy, seeds)}
    times |= {"the same, untrained": flown_s(untrained, seeds)}
    times |= {NEAREST_RULE: flown_s(Nearest(), seeds), **others_s(seeds)}
    trained, *_ = times.values()
    print(f"Mean time over {given.cases} unseen cases at N = {UAVS}, 95 % intervals:")
    for name, values in times.items():
        print(f"{name}: {interval(values)}; PPO less this, case by case: ", end="")
        print(interval(trained - values), flush=True)


if __name__ == "__main__":
    main()
