"""`generate`: a connected swarm, then damage."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from reknit.base.errors import InvalidParameter, NoSplitFound
from reknit.base.types import FloatArray, IntArray
from reknit.base.values import check_known, check_seed, is_finite, is_whole
from reknit.base.words import counted
from reknit.network.links import count_subnets
from reknit.swarm.damage import DAMAGE_MODELS
from reknit.swarm.demands.allowed_time import crossing_time_s
from reknit.swarm.layouts import LAYOUTS
from reknit.swarm.radio import DEFAULT_RANGE_M, Radio
from reknit.swarm.scenario import DEFAULT_SPEED_MPS, Scenario
from reknit.swarm.validation import MAX_UAVS, speeds_mps

DEFAULT_UAVS = 200
DEFAULT_DESTROYED = 0.5
DEFAULT_DENSITY_PER_KM2 = 200.0
_SPLIT_TRIES = 200
_SMALLEST, _LARGEST = 1e-9, 1e9
"""Of densities and ranges: beyond, the sides of the mission area overflow."""


def generate(
    uavs: int = DEFAULT_UAVS,
    destroyed: int | float | Iterable[int] = DEFAULT_DESTROYED,
    seed: int = 0,
    *,
    layout: str = "uniform",
    damage: str = "random",
    split: bool = False,
    dim: int = 2,
    density_per_km2: float = DEFAULT_DENSITY_PER_KM2,
    radio_range_m: float | None = None,
    max_speed_mps: float = DEFAULT_SPEED_MPS,
    layout_seed: int | None = None,
    radio: Radio | None = None,
    **demands: Any,
) -> Scenario:
    """A swarm that is connected before the damage, and the damage done to it.

    Parameters
    ----------
    uavs
        N, from 2 up.
    destroyed
        A number (int), a ratio (float below 1; to the nearest UAV), or the ids themselves.
    seed
        The same seed and parameters give the same scenario to the byte.
    layout
        uniform, grid (jittered), clusters or corridor.
    damage
        random, disc (a strike), corridor, degree or articulation (the most critical).
    split
        Redraw the damage until it splits the survivors' network, or raise `NoSplitFound`.
    dim
        2 or 3.
    density_per_km2
        UAVs per square kilometre of the mission area; in 3-D the density with as many neighbours
        in range. Where few are in range, a swarm that is connected leaves a part of the area
        empty; where it is less than one on average, the density is refused.
    radio_range_m
        d_tr, metres; None: that of the radio, or 120 m.
    max_speed_mps
        v_max, metres per second.
    layout_seed
        Of the layout alone: with another `seed` the same swarm is damaged otherwise. None: `seed`.
    radio
        A `Radio` instead of a range.
    demands
        Further fields of `Scenario`, such as min_separation_m.

    Returns
    -------
    Scenario
        Its allowed time is the paper's: the longest side of the mission area / (2 v_max).
    """
    range_m = radio_range_m
    if range_m is None:
        range_m = radio.range_m if isinstance(radio, Radio) else DEFAULT_RANGE_M
    _check(uavs, seed, layout, damage, dim, density_per_km2, range_m)
    if not isinstance(split, (bool, np.bool_)):
        raise InvalidParameter("split", split, "true or false")
    layout_rng, damage_rng = np.random.default_rng(seed).spawn(2)
    if layout_seed is not None:
        check_seed(layout_seed, "layout_seed")
        layout_rng = np.random.default_rng(layout_seed).spawn(2)[0]
    points, box = LAYOUTS[layout].swarm(uavs, density_per_km2, range_m, dim, layout_rng)
    fastest_mps = float(speeds_mps(max_speed_mps, uavs).max())
    demands.setdefault("allowed_time_s", crossing_time_s(box.longest_m, fastest_mps))
    demands["radio"] = radio
    if isinstance(destroyed, (int, float, np.integer, np.floating)):
        count = number_lost(destroyed, uavs)
        model = DAMAGE_MODELS[damage]
        for _ in range(_SPLIT_TRIES if split else 1):
            ids = model(points, count, range_m, damage_rng)
            if not split or _splits(points, ids, range_m):
                return Scenario(points, ids.tolist(), range_m, max_speed_mps, **demands)
        if uavs - count < 2:
            raise NoSplitFound("one survivor cannot be split; destroy fewer")
        raise NoSplitFound(
            f"no {damage} damage of {counted(count, 'UAV')} split this swarm of {uavs} in "
            f"{_SPLIT_TRIES} tries; destroy more, or choose another damage or seed"
        )
    scenario = Scenario(points, destroyed, range_m, max_speed_mps, **demands)
    if split and not scenario.is_split:
        few = len(scenario.survivors) < 2
        raise NoSplitFound(
            "one survivor cannot be split; list fewer"
            if few
            else "the listed UAVs do not split this swarm; list others"
        )
    return scenario


def _splits(points: FloatArray, ids: IntArray, range_m: float) -> bool:
    return count_subnets(np.delete(points, ids, axis=0), range_m) > 1


def number_lost(destroyed: int | float, uavs: int) -> int:
    """N_D of a swarm of `uavs`, given as a number (int) or as a ratio (float)."""
    allowed = f"a number from 0 to {uavs - 1}, or a ratio of at least 0 that leaves a survivor"
    if not is_finite(destroyed) or destroyed < 0:
        raise InvalidParameter("destroyed", destroyed, allowed)
    whole = is_whole(destroyed)
    count = int(destroyed) if whole else share_lost(destroyed, uavs)
    if count >= uavs or (not whole and destroyed >= 1):
        raise InvalidParameter("destroyed", destroyed, allowed)
    return count


def share_lost(ratio: float, uavs: int) -> int:
    """How many UAVs a ratio of a swarm is: the nearest whole number, a half counted up."""
    return math.floor(ratio * uavs + 0.5)


def _check(
    uavs: int,
    seed: int,
    layout: str,
    damage: str,
    dim: int,
    density_per_km2: float,
    range_m: float,
) -> None:
    if not is_whole(uavs) or not 2 <= uavs <= MAX_UAVS:
        raise InvalidParameter("uavs", uavs, f"a whole number from 2 to {MAX_UAVS}")
    check_seed(seed)
    check_known("layout", layout, LAYOUTS)
    check_known("damage", damage, DAMAGE_MODELS)
    if not is_whole(dim) or dim not in (2, 3):
        raise InvalidParameter("dim", dim, "2 or 3")
    for name, value in (("density_per_km2", density_per_km2), ("radio_range_m", range_m)):
        if not (is_finite(value) and _SMALLEST <= value <= _LARGEST):
            allowed = f"a number from {_SMALLEST:g} to {_LARGEST:g}"
            raise InvalidParameter(name, value, allowed)
    sparsest = 1e6 / (math.pi * range_m * range_m)
    if density_per_km2 < sparsest:
        allowed = (
            f"at least {sparsest:.3g} at a range of {range_m:g} m, where a UAV has one other in "
            "range on average; a connected swarm cannot be spread so thinly"
        )
        raise InvalidParameter("density_per_km2", density_per_km2, allowed)
