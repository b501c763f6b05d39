"""Which UAVs are lost: by chance, by a strike, along a corridor, or the ones that hurt most."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reknit.base.types import FloatArray, IntArray
from reknit.network.cuts import cut_nodes_and_bridges
from reknit.network.links import degrees, links

DamageModel = Callable[[FloatArray, int, float, np.random.Generator], IntArray]
"""(positions, number to destroy, range, generator) -> ids."""


def random_damage(
    positions: FloatArray, count: int, range_m: float, rng: np.random.Generator
) -> IntArray:
    """The paper's model: any UAV is as likely to be lost as any other."""
    return np.sort(rng.permutation(len(positions))[:count])


def disc_damage(
    positions: FloatArray, count: int, range_m: float, rng: np.random.Generator
) -> IntArray:
    """A strike: the UAVs nearest to a random point of the swarm's bounding box."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    centre = low + rng.random(positions.shape[1]) * (high - low)
    return _nearest(np.linalg.norm(positions - centre, axis=1), count)


def corridor_damage(
    positions: FloatArray, count: int, range_m: float, rng: np.random.Generator
) -> IntArray:
    """A pass through the swarm: the UAVs nearest to a random line near its middle."""
    dim = positions.shape[1]
    low, high = positions.min(axis=0), positions.max(axis=0)
    through = low + (0.25 + 0.5 * rng.random(dim)) * (high - low)
    heading = np.asarray(rng.standard_normal(dim))
    direction = heading / np.linalg.norm(heading)
    offset = positions - through
    across = offset - np.outer(offset @ direction, direction)
    return _nearest(np.linalg.norm(across, axis=1), count)


def degree_damage(
    positions: FloatArray, count: int, range_m: float, rng: np.random.Generator
) -> IntArray:
    """The best connected UAVs, by number of links; ties at random."""
    degree = degrees(positions, range_m)
    return np.sort(np.lexsort((rng.random(len(positions)), -degree))[:count])


def articulation_damage(
    positions: FloatArray, count: int, range_m: float, rng: np.random.Generator
) -> IntArray:
    """Articulation points first, each of whose loss alone splits the swarm, then by degree."""
    cut, _ = cut_nodes_and_bridges(links(positions, range_m), len(positions))
    is_cut = np.zeros(len(positions), dtype=bool)
    is_cut[cut] = True
    degree = degrees(positions, range_m)
    return np.sort(np.lexsort((rng.random(len(positions)), -degree, ~is_cut))[:count])


DAMAGE_MODELS: dict[str, DamageModel] = {
    "random": random_damage,
    "disc": disc_damage,
    "corridor": corridor_damage,
    "degree": degree_damage,
    "articulation": articulation_damage,
}


def _nearest(distance_m: FloatArray, count: int) -> IntArray:
    return np.sort(np.argsort(distance_m, kind="stable")[:count])
