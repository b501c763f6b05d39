"""Changed certificates and plan files: what passes the checker must still be true."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import reknit
from campaign.mutations import mutate, mutate_text
from campaign.naive import Judge
from campaign.outcome import Outcome
from reknit.errors import ReknitError
from reknit.plans.files import parse_plan, plan_json

_CHANGES = 100
_RINGS = 0.1
"""Of the swarms, that stand around a hole."""


def _ring(rng: np.random.Generator) -> reknit.Scenario:
    """A bent ring, whose bound is one by a hole as a rule."""
    count = int(rng.integers(12, 41))
    angle = 2.0 * np.pi * np.arange(count) / count
    points = np.stack([np.cos(angle), np.sin(angle)], axis=1) * 30.0 * count
    return reknit.Scenario(points + rng.normal(0.0, 15.0, points.shape), (), 120.0, 10.0)


def forgeries(seed: int, _: Path) -> Outcome:
    """A hundred changes of one honest plan; three in four of its certificate, the rest of its
    file.
    """
    rng = np.random.default_rng([5, seed])
    dim = int(rng.integers(2, 4))
    swarm = reknit.generate(60, 48, seed=int(rng.integers(2**31)), dim=dim)
    # Of far spread survivors the proofs are forces on all of them, or a hole.
    spread = float(rng.choice([1.0, 1.0, 6.0]))
    scenario = reknit.Scenario(swarm.positions * spread, swarm.destroyed.tolist(), 120.0, 10.0)
    if rng.random() < _RINGS:
        scenario = _ring(rng)
    plan = reknit.plan(scenario, "certified", effort=500)
    text, judge = plan_json(plan), Judge(scenario)
    of_forces = _CHANGES * (plan.certificate.pulls is not None)
    accepted, findings = 0, []
    for number in range(_CHANGES):
        try:
            if rng.random() < 0.75:
                certificate = mutate(plan.certificate, rng, len(plan.targets))
                forged = replace(plan, certificate=certificate)
            else:
                forged = parse_plan(mutate_text(text, rng), "forged")
            forged.verify(scenario)
        except ReknitError:
            continue
        accepted += 1
        if forged.lower_bound_s > plan.recovery_time_s or not judge.is_true(forged):
            findings.append(f"change {number} claims something false and passes: {forged}")
    return Outcome(
        _CHANGES, tuple(findings), {"true_after_change": accepted, "of_forces": of_forces}
    )
