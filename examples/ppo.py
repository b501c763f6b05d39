"""Train one small policy that all UAVs share, with plain PPO, and compare it with center-fly.

    python examples/ppo.py --minutes 5

Every UAV sees its own belief alone and chooses a velocity. The policy is a residual on flying
towards the nearest unknown UAV (or, without one, to the rendezvous), so that training begins with
a flight that gets somewhere. Needs the extras `learn` and `environment`.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch
from torch import nn

import reknit
from reknit.knowledge import reknit_v0

UAVS, NEAREST, DIM = 20, 6, 2
UNSEEN = 900_000
"""Seeds from here on are for the comparison alone."""


class Policy(nn.Module):
    """Mean velocity and value from an observation."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.mean = nn.Linear(64, DIM)
        self.value = nn.Linear(64, 1)
        self.spread = nn.Parameter(torch.full((DIM,), -1.0))
        nn.init.zeros_(self.mean.weight)
        nn.init.zeros_(self.mean.bias)

    def forward(self, seen: torch.Tensor) -> tuple[torch.distributions.Normal, torch.Tensor]:
        """Distribution of the action, and the value."""
        hidden = self.body(seen)
        mean = prior(seen) + self.mean(hidden)
        return torch.distributions.Normal(mean, self.spread.exp()), self.value(hidden)[:, 0]


def prior(seen: torch.Tensor) -> torch.Tensor:
    """Towards the nearest unknown UAV, or the rendezvous where there is none."""
    start = 3 + DIM + NEAREST * (DIM + 1)
    nearest, mask = seen[:, start : start + DIM], seen[:, start + DIM : start + DIM + 1]
    goal = torch.where(mask > 0, nearest, seen[:, 3 : 3 + DIM])
    return goal / goal.norm(dim=1, keepdim=True).clamp(min=1e-6)


def collect(
    environment: reknit_v0.SwarmVector, policy: Policy, steps: int
) -> dict[str, torch.Tensor]:
    """Fly and remember, with advantages by GAE (gamma 0.99, lambda 0.95)."""
    rows: dict[str, list[torch.Tensor]] = {name: [] for name in ("seen", "act", "log", "value")}
    rewards, ends, alive = [], [], []
    seen, info = environment.reset()
    for _ in range(steps):
        here = torch.as_tensor(seen)
        with torch.no_grad():
            chance, value = policy(here)
            action = chance.sample()
        alive.append(torch.as_tensor(info["alive"]))
        seen, reward, whole, cut, info = environment.step(action.numpy())
        for name, item in zip(
            rows, (here, action, chance.log_prob(action).sum(1), value), strict=True
        ):
            rows[name].append(item)
        rewards.append(torch.as_tensor(reward, dtype=torch.float32))
        ends.append(torch.as_tensor(whole | cut, dtype=torch.float32))
    with torch.no_grad():
        after = policy(torch.as_tensor(seen))[1]
    gain, advantages = torch.zeros(UAVS), []
    for k in reversed(range(steps)):
        goes_on = 1.0 - ends[k]
        error = rewards[k] + 0.99 * after * goes_on - rows["value"][k]
        gain = error + 0.99 * 0.95 * goes_on * gain
        after = rows["value"][k]
        advantages.append(gain)
    batch = {name: torch.cat(items) for name, items in rows.items()}
    batch["gain"] = torch.cat(advantages[::-1])
    keep = torch.cat(alive)
    return {name: item[keep] for name, item in batch.items()}


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


def flown_s(policy: Policy, seeds: range) -> list[float]:
    """Times of the policy, without exploring, on cases it has not seen; a failure at 30 s."""
    environment = reknit_v0.vector_env(uavs=UAVS, nearest=NEAREST, max_steps=60)
    times = []
    for seed in seeds:
        seen, _ = environment.reset(seed=seed)
        whole = cut = np.zeros(1, dtype=bool)
        while not (whole.any() or cut.any()):
            with torch.no_grad():
                action = policy(torch.as_tensor(seen))[0].mean
            seen, _, whole, cut, _ = environment.step(action.numpy())
        at = environment.swarm.simulation.reconnected_s
        times.append(30.0 if at is None else at)
    return times


def center_fly_s(seeds: range) -> tuple[list[float], list[float]]:
    """Center-fly on the same cases: with full knowledge, and on the belief."""
    environment = reknit_v0.vector_env(uavs=UAVS)
    full, belief = [], []
    for seed in seeds:
        environment.reset(seed=seed)
        scenario = environment.swarm.scenario
        at = reknit.recover(scenario, "center-fly").flight.reconnected_at_s
        full.append(30.0 if at is None else at)
        at = reknit.operate(scenario, "believe:center-fly", end_s=30.0).reconnected_at_s
        belief.append(30.0 if at is None else at)
    return full, belief


def shown(name: str, times: list[float]) -> str:
    """Mean and its 95 % interval."""
    half = 1.96 * float(np.std(times, ddof=1)) / len(times) ** 0.5
    return f"{name}: {np.mean(times):.2f} +- {half:.2f} s over {len(times)} unseen cases\n"


def main() -> None:
    """Train for a while, then compare."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--minutes", type=float, default=5.0)
    options.add_argument("--cases", type=int, default=50)
    given = options.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    environment = reknit_v0.vector_env(uavs=UAVS, nearest=NEAREST, max_steps=60)
    environment.reset(seed=1)
    policy = Policy(environment.single_observation_space.shape[0])
    optimiser = torch.optim.Adam(policy.parameters(), lr=3e-4)
    seeds = range(UNSEEN, UNSEEN + given.cases)
    print(shown("before training", flown_s(policy, seeds)), end="")
    end_s, rounds = time.monotonic() + 60.0 * given.minutes, 0
    while time.monotonic() < end_s:
        improve(policy, optimiser, collect(environment, policy, 256))
        rounds += 1
    print(shown(f"after {rounds} rounds of PPO", flown_s(policy, seeds)), end="")
    full, belief = center_fly_s(seeds)
    print(shown("center-fly, full knowledge", full), end="")
    print(shown("center-fly, on the belief", belief), end="")


if __name__ == "__main__":
    main()
