"""The random scenarios that pre-training learns from: never one layout, never one size."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from reknit.base.errors import InvalidParameter, NoSplitFound
from reknit.swarm.generate import generate
from reknit.swarm.scenario import Scenario

_LAYOUTS = {"uniform": 0.79, "clusters": 0.07, "grid": 0.07, "corridor": 0.07}
_DAMAGES = {"random": 0.86, "disc": 0.07, "corridor": 0.07}
_TRIES = 50


@dataclass(frozen=True)
class Curriculum:
    """What is drawn.

    Parameters
    ----------
    sizes
        N: a list to choose from, or empty for `size_range`.
    size_range
        N from here to there, small swarms more often (uniform in log N).
    large_share
        Share of swarms drawn from the upper end up to `largest`.
    damage_range
        N_D / N, uniform.
    varied
        All layouts and damage models, or the paper's (uniform, random) alone.
    """

    dim: int = 2
    sizes: tuple[int, ...] = ()
    size_range: tuple[int, int] = (20, 400)
    largest: int = 1000
    large_share: float = 0.04
    damage_range: tuple[float, float] = (0.15, 0.95)
    varied: bool = True

    def __post_init__(self) -> None:
        low, high = self.size_range
        if not 4 <= low <= high <= self.largest:
            raise InvalidParameter("size_range", self.size_range, "4 or more, rising")
        if not 0 < self.damage_range[0] <= self.damage_range[1] < 1:
            raise InvalidParameter("damage_range", self.damage_range, "above 0, rising, below 1")

    def draw(self, rng: np.random.Generator) -> Scenario:
        """One scenario that is split."""
        for _ in range(_TRIES):
            uavs = self._size(rng)
            lost = round(uavs * rng.uniform(*self.damage_range))
            seed = int(rng.integers(1 << 62))
            layout = _pick(_LAYOUTS, rng) if self.varied else "uniform"
            damage = _pick(_DAMAGES, rng) if self.varied else "random"
            try:
                return generate(
                    uavs,
                    min(max(1, lost), uavs - 2),
                    seed,
                    layout=layout,
                    damage=damage,
                    split=True,
                    dim=self.dim,
                )
            except NoSplitFound:
                continue
        raise NoSplitFound(f"no split swarm in {_TRIES} draws; raise damage_range")

    def _size(self, rng: np.random.Generator) -> int:
        if self.sizes:
            return int(rng.choice(self.sizes))
        low, high = self.size_range
        if rng.random() < self.large_share:
            low, high = high, self.largest
        return round(math.exp(rng.uniform(math.log(low), math.log(high))))


def _pick(shares: dict[str, float], rng: np.random.Generator) -> str:
    names = list(shares)
    weights = np.asarray(list(shares.values()))
    return names[int(rng.choice(len(names), p=weights / weights.sum()))]
