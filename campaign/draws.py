"""Scenarios drawn from everything that the generator and the demands offer."""

from __future__ import annotations

from typing import Any

import numpy as np

import reknit
from reknit.swarm.damage import DAMAGE_MODELS
from reknit.swarm.layouts import LAYOUTS


def draw_scenario(
    rng: np.random.Generator, most_uavs: int, demands: bool = True
) -> reknit.Scenario:
    """A swarm of at most so many UAVs, any layout, damage and dimension.

    Parameters
    ----------
    rng
        Where everything random comes from.
    most_uavs
        Largest size before the damage.
    demands
        Whether half of the scenarios ask for more than links.

    Returns
    -------
    Scenario
        Split or not; may demand what is impossible.
    """
    uavs = int(np.exp(rng.uniform(np.log(3), np.log(most_uavs + 1))))
    swarm = reknit.generate(
        uavs,
        int(rng.integers(0, uavs)),
        seed=int(rng.integers(2**31)),
        layout=str(rng.choice(sorted(LAYOUTS))),
        damage=str(rng.choice(sorted(DAMAGE_MODELS))),
        dim=int(rng.integers(2, 4)),
    )
    speeds = rng.uniform(1.0, 20.0, uavs) if rng.random() < 0.3 else 10.0
    asked = _draw_demands(rng, swarm) if demands and rng.random() < 0.5 else {}
    # A wider swarm than the generator's leaves the survivors far apart.
    spread = float(rng.choice([1.0, 1.0, 1.5, 4.0]))
    return reknit.Scenario(
        swarm.positions * spread, swarm.destroyed.tolist(), swarm.radio_range_m, speeds, **asked
    )


def _draw_demands(rng: np.random.Generator, swarm: reknit.Scenario) -> Any:
    kind = int(rng.integers(6))
    if kind == 0:
        return {"link_margin": float(rng.uniform(0.0, 0.3))}
    if kind == 1:
        return {"position_sigma_m": float(rng.uniform(0.1, 3.0))}
    if kind == 2:
        return {"min_separation_m": float(rng.uniform(1.0, 30.0))}
    if kind == 3:
        count = min(len(swarm.survivors), int(rng.integers(1, 4)))
        return {"anchors": rng.choice(swarm.survivors, count, replace=False).tolist()}
    if kind == 4:
        return {"connectivity": 2}
    return {"allowed_time_s": float(rng.uniform(0.1, 60.0))}
