"""The kinds of cases of every study of ignorance."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from reknit.base.types import JsonDict
from reknit.base.version import VERSION
from reknit.knowledge.channels.registry import build_channel
from reknit.knowledge.policies.registry import DEFAULT_POLICY, NamedPolicy
from reknit.knowledge.simulator import operate
from reknit.recovery.repeated import Strike
from reknit.swarm.generate import generate
from reknit.swarm.scenario import Scenario

BELIEVE = "believe:certified+deadline"
CENTER = "believe:center-fly+deadline"
RENDEZVOUS = "rendezvous"
Settings = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Kind:
    """One kind of case: who flies how in which swarm over which channel.

    Parameters
    ----------
    settings
        Of the channel, as of `build_channel`.
    panel, line, x
        Where it stands in the picture.
    parameters
        Of the policy.
    cases
        How many at most, whatever the profile asks for.
    """

    policy: str
    uavs: int
    destroyed: int
    channel: str = "radio"
    settings: Settings = field(default=())
    panel: str = ""
    line: str = ""
    x: float = 0.0
    parameters: Settings = field(default=())
    cases: int = 20

    @property
    def label(self) -> str:
        """What stands in the tables."""
        return " ".join([self.channel, *(f"{name}={value:g}" for name, value in self.settings)])

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What its rows have in common."""
        words = [self.policy, *(f"{name}={value:g}" for name, value in self.parameters)]
        return " ".join(words), str(self.uavs), str(self.destroyed), self.label

    @property
    def fingerprint(self) -> str:
        """Of every parameter that its runs have, the defaults included, and of the version: a
        stored row does not stand for a run with other ones.
        """
        policy = NamedPolicy.of(self.policy, **dict(self.parameters))
        settings: dict[str, Any] = dict(self.settings)
        text = f"{VERSION} {policy!r} {build_channel(self.channel, **settings)!r}"
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def run(self, seed: int) -> JsonDict:
        """Fly one case; what `Operation.as_dict` says of it.

        A station's reports are due at time 0 and every period after; the damage comes at any time
        of a period, drawn from the seed.
        """
        settings: dict[str, Any] = dict(self.settings)
        channel = build_channel(self.channel, **settings)
        swarm = _case(self.uavs, self.destroyed, seed)
        strikes: list[Strike] = []
        if settings.get("report_period_s"):
            part = float(np.random.default_rng(seed).random())
            lost = tuple(swarm.destroyed.tolist())
            strikes = [Strike(part * settings["report_period_s"], uavs=lost)]
            swarm = replace(swarm, destroyed=swarm.destroyed[:0])
        policy = NamedPolicy.of(self.policy, **dict(self.parameters))
        return operate(swarm, policy, channel, strikes=strikes, seed=seed).as_dict()


@lru_cache(maxsize=64)
def _case(uavs: int, destroyed: int, seed: int) -> Scenario:
    return generate(uavs, destroyed, seed, split=True)


def ignorance() -> Iterator[Kind]:
    """Price against swarm size at half damage, and against the damage at N = 200."""
    for policy in (DEFAULT_POLICY, BELIEVE, RENDEZVOUS):
        for uavs in (20, 50, 100, 200, 500):
            lost, x = uavs // 2, float(uavs)
            yield Kind(policy, uavs, lost, panel="N, half of them lost", line=policy, x=x)
        for lost in (50, 100, 150):
            yield Kind(policy, 200, lost, panel="lost of N = 200", line=policy, x=float(lost))


def report_period() -> Iterator[Kind]:
    """Time against T_report, latency and loss of the station's reports."""
    axes: tuple[tuple[str, str, tuple[float, ...]], ...] = (
        ("report_period_s", "T_report (s)", (0.0, 0.5, 1.0, 2.0, 5.0)),
        ("latency_s", "latency (s)", (0.0, 0.5, 1.0, 2.0)),
        ("loss", "share of reports lost", (0.0, 0.1, 0.3)),
    )
    for name, panel, values in axes:
        for value in values:
            settings = ((name, value),) + ((("missed_reports", 3),) if name == "loss" else ())
            yield Kind(BELIEVE, 100, 50, "global", settings, panel, BELIEVE, value)


def noise() -> Iterator[Kind]:
    """Price against navigation errors, sigma 0 to 30 m, with and without lost messages."""
    for loss in (0.0, 0.3):
        for sigma_m in (0.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0):
            named = (("loss", loss), ("noise_m", sigma_m))
            settings = tuple(item for item in named if item[1] > 0.0)
            panel, line = "sigma (m), N = 100", f"{loss:.0%} of messages lost"
            yield Kind(DEFAULT_POLICY, 100, 50, "radio", settings, panel, line, sigma_m)


def radio() -> Iterator[Kind]:
    """Price over radios that lose messages and with navigation errors, N = 50, 100, 200."""
    loss, burst, error = ("loss", 0.3), ("burst", 5.0), ("noise_m", 10.0)
    lines: tuple[tuple[Settings, str, int], ...] = (
        ((), "clean", 50),
        ((loss,), "30 % lost", 50),
        ((error,), "sigma = 10 m", 50),
        ((loss, error), "30 % lost, sigma = 10 m", 50),
        ((loss, burst), "30 % lost in bursts", 20),
    )
    for settings, line, cases in lines:
        for uavs in (50, 100, 200):
            lost, x = uavs // 2, float(uavs)
            kind = Kind(DEFAULT_POLICY, uavs, lost, "radio", settings, "N", line, x)
            yield replace(kind, cases=cases)


def hedge_ablation() -> Iterator[Kind]:
    """Price of hedge with one of its parts switched off, clean radio and 30 % loss."""
    lines: tuple[tuple[Settings, str], ...] = (
        ((), "hedge+deadline"),
        ((("nearer", 1.0),), "no second look"),
        ((("alive", 0.001),), "what is behind counts in full"),
        ((("decay_m", 1e6),), "distance does not count"),
        ((("decay_m", 1.0),), "the nearest place alone"),
        ((("window_m", 1e6),), "all places at once"),
        ((("every_s", 1e6),), "anew on news alone"),
    )
    channels: tuple[tuple[Settings, str], ...] = (
        ((), "N, clean radio"),
        ((("loss", 0.3),), "N, 30 % lost"),
    )
    for settings, panel in channels:
        for parameters, line in lines:
            for uavs in (50, 100):
                lost, x = uavs // 2, float(uavs)
                kind = Kind(DEFAULT_POLICY, uavs, lost, "radio", settings, panel, line, x)
                yield replace(kind, parameters=parameters)


def believing() -> Iterator[Kind]:
    """Price of planners, steering baselines and the rendezvous on the belief, half of N lost."""
    bad: Settings = (("loss", 0.3), ("noise_m", 10.0))
    planners = ("center-fly", "hero", "sidr", "contraction", "ml-dagl", "certified")
    believers = tuple(f"believe:{planner}+deadline" for planner in planners)
    for policy in (DEFAULT_POLICY, *believers, RENDEZVOUS):
        for uavs in (20, 50):
            yield Kind(policy, uavs, uavs // 2, panel="N, clean radio", line=policy, x=float(uavs))
    panel = "N, 30 % lost, sigma = 10 m"
    for policy in (DEFAULT_POLICY, CENTER, BELIEVE, RENDEZVOUS):
        for uavs in (20, 50):
            yield Kind(policy, uavs, uavs // 2, "radio", bad, panel, policy, float(uavs))


STUDIES: dict[str, Callable[[], Iterator[Kind]]] = {
    "ignorance": ignorance,
    "report-period": report_period,
    "noise": noise,
    "radio": radio,
    "hedge-ablation": hedge_ablation,
    "believing": believing,
}


def titles() -> dict[str, str]:
    """Every study's name and what it shows."""
    return {name: str(study.__doc__).rstrip(".") for name, study in STUDIES.items()}
