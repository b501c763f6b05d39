"""What a pre-training run is: all that decides its result."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from reknit.algorithms.learned.ml_dagl.curriculum import Curriculum
from reknit.algorithms.learned.ml_dagl.dgcn import Shape
from reknit.algorithms.learned.ml_dagl.settings import (
    PAPER,
    PAPER_SIZES,
    PUBLISHED,
    RELAXED,
    Settings,
)
from reknit.base.errors import InvalidParameter, UnknownName

STARTS = ("identity", "random")


@dataclass(frozen=True)
class PretrainConfig:
    """A recipe. The same recipe, versions and thread count give the same weights.

    Parameters
    ----------
    settings
        Loss, eps and online iterations that the weights are meant for.
    steps
        Updates of the shared weights.
    batch
        Scenarios per update.
    all_branches
        Every branch of a scenario at once, instead of one drawn at random.
    inner_iterations
        0: ordinary training by Adam. Otherwise each scenario makes so many online iterations of
        its own from the shared weights, which then move towards the mean of where the scenarios
        went (Reptile).
    learning_rate
        Of Adam, or the share of the way that the shared weights move; rises over `warmup` steps
        and falls to `final_share` of itself by the end.
    start
        "identity" (see `identity_start`) or "random".
    validate_every
        Steps between two looks at the validation set; 0: never.
    boundary
        Of the looks at which every validation case had a connected branch before any online
        iteration, keep the weights of the one with the shortest planned times, and stop after
        `patience` looks without a shorter one. The count term has no gradient, so training with
        it only shortens displacements, until swarms fall apart: beyond this boundary it destroys
        what it made.
    checkpoint_every
        Steps between two checkpoints.
    stored
        Number format of the weight file.
    """

    preset: str
    settings: Settings
    shape: Shape
    curriculum: Curriculum
    seed: int = 1
    steps: int = 250
    batch: int = 4
    all_branches: bool = False
    inner_iterations: int = 15
    learning_rate: float = 0.1
    final_share: float = 0.1
    warmup: int = 1
    start: str = "identity"
    validate_every: int = 50
    boundary: bool = False
    patience: int = 4
    checkpoint_every: int = 10
    validation: tuple[tuple[int, int], ...] = ((50, 25), (200, 100), (200, 150))
    validation_cases: int = 3
    validation_iterations: tuple[int, ...] = field(default=(0, 5, 20))
    stored: str = "float32"

    def __post_init__(self) -> None:
        if self.start not in STARTS:
            raise UnknownName("start", self.start, STARTS)
        if self.shape.dim != self.curriculum.dim:
            raise InvalidParameter("curriculum.dim", self.curriculum.dim, f"{self.shape.dim}")
        if self.boundary and not (self.validate_every and 0 in self.validation_iterations):
            allowed = "with `boundary`, looks at the outputs of 0 iterations"
            raise InvalidParameter("validation_iterations", self.validation_iterations, allowed)
        for name in ("steps", "batch", "checkpoint_every"):
            if getattr(self, name) < 1:
                raise InvalidParameter(name, getattr(self, name), "a whole number of at least 1")
        if not (np.isfinite(self.learning_rate) and self.learning_rate > 0):
            raise InvalidParameter("learning_rate", self.learning_rate, "a number above 0")

    def rate(self, step: int) -> float:
        """The learning rate of a step."""
        rise = min(1.0, (step + 1) / max(1, self.warmup))
        fall = 1.0 - (1.0 - self.final_share) * step / self.steps
        return self.learning_rate * rise * fall


def relaxed_recipe(dim: int = 2) -> PretrainConfig:
    """How the weights of the preset "relaxed" were made.

    For 2-D swarms 120 steps, for 3-D ones 40.
    """
    plane = dim == 2
    return PretrainConfig(
        preset="relaxed",
        settings=RELAXED,
        shape=Shape(dim, hidden=RELAXED.hidden),
        curriculum=Curriculum(dim),
        steps=120 if plane else 40,
        inner_iterations=10,
        validate_every=60 if plane else 40,
        validation_cases=3 if plane else 2,
    )


def paper_recipe(
    uavs: int = 200, *, gco: str = "bipartite", residual: bool = True
) -> PretrainConfig:
    """How the weights of the preset "paper" for swarms of one size are made.

    Section V-A: Adam at 1e-4 for up to 500 iterations, the count term, fresh random half damage;
    one model per swarm size N. Its own validation swarms, of which half lost 75 %, say where
    to stop (`boundary`).

    Parameters
    ----------
    uavs : int
        N, one of `PAPER_SIZES`.
    gco, residual
        As of `Settings`: a net without one of its parts, for the ablation, in which every
        variant is trained for itself.

    Returns
    -------
    PretrainConfig
        The recipe.
    """
    if uavs not in PAPER_SIZES:
        raise InvalidParameter("uavs", uavs, f"one of {PAPER_SIZES}")
    return PretrainConfig(
        preset="paper",
        settings=replace(PAPER, gco=gco, residual=residual),
        shape=Shape(2),
        curriculum=Curriculum(2, sizes=(uavs,), damage_range=(0.5, 0.5), varied=False),
        steps=500,
        batch=1,
        all_branches=True,
        inner_iterations=0,
        learning_rate=1e-4,
        final_share=1.0,
        warmup=1,
        start="random",
        validate_every=5,
        boundary=True,
        checkpoint_every=5,
        validation=((uavs, uavs // 2), (uavs, 3 * uavs // 4)),
        validation_cases=8,
        validation_iterations=(0,),
        stored="float16",
    )


def published_recipe(uavs: int = 200) -> PretrainConfig:
    """How the weights of the preset "published" for swarms of one size are made.

    As those of the preset "paper", by its own settings.

    Parameters
    ----------
    uavs : int
        N, one of `PAPER_SIZES`.

    Returns
    -------
    PretrainConfig
        The recipe.
    """
    return replace(paper_recipe(uavs), preset="published", settings=PUBLISHED)
