"""`train`: the pre-training of any planner that has one, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from reknit.base.errors import InvalidParameter, MissingExtra
from reknit.base.progress import Progress, silent
from reknit.base.values import check_known, check_seed

TRAINABLE = ("ml-dagl", "cr-mgc")
PRESETS = ("default", "relaxed", "paper", "published")


def train(
    planner: str,
    preset: str,
    dim: int,
    steps: int | None,
    seed: int,
    out_dir: Path,
    progress: Progress = silent,
    uavs: int | None = None,
    gco: str = "bipartite",
    residual: bool = True,
    attention: bool | None = None,
    links: bool | None = None,
) -> Path:
    """Train, or go on training, in a folder; returns the path of the weights.

    Parameters
    ----------
    preset, dim, steps
        For ML-DAGL; CR-MGC's recipe has its own stages.
    uavs
        N, for the presets "paper" and "published", which have one model per size; None: 200.
    gco, residual
        For the preset "paper" alone: a neural net with the ordinary convolution or without its skip
        connections, as of `ml-dagl`, trained for itself.
    attention, links
        For the preset "default" alone: a neural net with or without them, trained for itself; None:
        as shipped.
    """
    check_known("planner", planner, TRAINABLE)
    check_known("preset", preset, PRESETS)
    check_seed(seed)
    if dim not in (2, 3):
        raise InvalidParameter("dim", dim, "2 or 3")
    of_ml_dagl = {"preset": (preset, "default"), "dim": (dim, 2), "steps": (steps, None)}
    of_default = {"attention": (attention, None), "links": (links, None)}
    of_sizes = {"uavs": (uavs, None)}
    of_paper = {"gco": (gco, "bipartite"), "residual": (residual, True)}
    if planner == "cr-mgc":
        every = {**of_ml_dagl, **of_default, **of_sizes, **of_paper}
        _refuse_changes(every, "the planner 'ml-dagl'")
    if preset != "default":
        _refuse_changes(of_default, "the preset 'default'")
    if preset not in ("paper", "published"):
        _refuse_changes(of_sizes, "the preset 'paper' or 'published'")
    if preset != "paper":
        _refuse_changes(of_paper, "the preset 'paper'")
    if preset == "default" and dim != 2:
        raise InvalidParameter("dim", dim, "2 with the preset 'default': one model serves both")
    if preset in ("paper", "published") and dim != 2:
        raise InvalidParameter("dim", dim, f"2 with the preset {preset!r}: it has no 3-D swarms")
    try:
        from reknit.algorithms.learned.cr_mgc.pretrain import MetaRecipe
        from reknit.algorithms.learned.cr_mgc.pretrain import pretrain as meta_train
        from reknit.algorithms.learned.ml_dagl.pretrain import pretrain
        from reknit.algorithms.learned.ml_dagl.pull.training import PullRecipe, pretrain_pulls
        from reknit.algorithms.learned.ml_dagl.recipe import (
            paper_recipe,
            published_recipe,
            relaxed_recipe,
        )
    except ModuleNotFoundError as error:
        raise MissingExtra("training", "learn") from error
    if planner == "cr-mgc":
        return meta_train(MetaRecipe(seed=seed), out_dir, progress)
    if preset == "default":
        pull = PullRecipe(seed=seed)
        given = {"attention": attention, "links": links}
        switches = {name: value for name, value in given.items() if value is not None}
        shape = replace(pull.shape, **switches)
        pull = replace(pull, shape=shape, steps=pull.steps if steps is None else steps)
        return pretrain_pulls(pull, out_dir, progress)
    if preset == "relaxed":
        recipe = relaxed_recipe(dim)
    elif preset == "published":
        recipe = published_recipe(200 if uavs is None else uavs)
    else:
        recipe = paper_recipe(200 if uavs is None else uavs, gco=gco, residual=residual)
    recipe = replace(recipe, seed=seed, steps=recipe.steps if steps is None else steps)
    return pretrain(recipe, out_dir, progress)


def _refuse_changes(values: Mapping[str, tuple[object, object]], owner: str) -> None:
    """Refuse what has another value than it has when it is left out; it is somebody else's."""
    for name, (value, unset) in values.items():
        if value != unset:
            raise InvalidParameter(name, value, f"given with {owner} alone")
