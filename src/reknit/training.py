"""`train`: the pre-training of any planner that has one, by name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reknit.algorithms.base import Progress, silent
from reknit.errors import InvalidParameter, MissingExtra, UnknownName

TRAINABLE = ("ml-dagl",)
PRESETS = ("default", "paper")


def train(
    planner: str,
    preset: str,
    dim: int,
    steps: int | None,
    seed: int,
    out_dir: Path,
    progress: Progress = silent,
) -> Path:
    """Train, or go on training, in a folder; returns the path of the weights."""
    if planner not in TRAINABLE:
        raise UnknownName("planner", planner, TRAINABLE)
    if preset not in PRESETS:
        raise UnknownName("preset", preset, PRESETS)
    if dim not in (2, 3):
        raise InvalidParameter("dim", dim, "2 or 3")
    try:
        from reknit.algorithms.ml_dagl.pretrain import pretrain
        from reknit.algorithms.ml_dagl.recipe import default_recipe, paper_recipe
    except ModuleNotFoundError as error:
        raise MissingExtra("training", "learn") from error
    recipe = default_recipe(dim) if preset == "default" else paper_recipe(dim)
    recipe = replace(recipe, seed=seed, steps=recipe.steps if steps is None else steps)
    return pretrain(recipe, out_dir, progress)
