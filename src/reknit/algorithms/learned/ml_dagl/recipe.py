"""What a pre-training run is: all that decides its result."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from reknit.algorithms.learned.ml_dagl.curriculum import Curriculum
from reknit.algorithms.learned.ml_dagl.dgcn import Shape
from reknit.algorithms.learned.ml_dagl.settings import DEFAULT, PAPER, Settings
from reknit.base.errors import InvalidParameter, UnknownName

STARTS = ("identity", "random")


@dataclass(frozen=True)
class PretrainConfig:
    """A recipe. The same recipe, versions and thread count give the same weights.

    settings            loss, eps and online iterations that the weights are meant for.
    steps               updates of the shared weights.
    batch               scenarios per update.
    all_branches        every branch of a scenario at once, instead of one drawn at random.
    inner_iterations    0: ordinary training by Adam. Otherwise each scenario makes so many
                        online iterations of its own from the shared weights, which then move
                        towards the mean of where the scenarios went (Reptile).
    learning_rate       of Adam, or the share of the way that the shared weights move; rises
                        over `warmup` steps and falls to `final_share` of itself by the end.
    start               "identity" (see `start`) or "random".
    validate_every      steps between two looks at the validation set; 0: never.
    checkpoint_every    steps between two checkpoints.
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
    checkpoint_every: int = 10
    validation: tuple[tuple[int, int], ...] = ((50, 25), (200, 100), (200, 150))
    validation_cases: int = 3
    validation_iterations: tuple[int, ...] = field(default=(0, 5, 20))

    def __post_init__(self) -> None:
        if self.start not in STARTS:
            raise UnknownName("start", self.start, STARTS)
        if self.shape.dim != self.curriculum.dim:
            raise InvalidParameter("curriculum.dim", self.curriculum.dim, f"{self.shape.dim}")
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


def default_recipe(dim: int = 2) -> PretrainConfig:
    """How the weights of the preset "default" are made."""
    return PretrainConfig(
        preset="default", settings=DEFAULT, shape=Shape(dim), curriculum=Curriculum(dim)
    )


def paper_recipe(dim: int = 2) -> PretrainConfig:
    """Section V-A: 500 iterations of Adam at 1e-4 under random half damage, count term.

    One model for all the paper's sizes, which its weights allow, instead of one for each.
    """
    curriculum = Curriculum(
        dim, sizes=(20, 50, 100, 200, 500, 1000), damage_range=(0.5, 0.5), varied=False
    )
    return PretrainConfig(
        preset="paper",
        settings=PAPER,
        shape=Shape(dim),
        curriculum=curriculum,
        steps=500,
        batch=1,
        all_branches=True,
        inner_iterations=0,
        learning_rate=1e-4,
        final_share=1.0,
        warmup=1,
        start="random",
        validate_every=250,
        validation_cases=2,
    )
