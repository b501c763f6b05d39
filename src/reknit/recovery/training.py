"""`train`: the pre-training of any planner that has one, by name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reknit.base.errors import InvalidParameter, MissingExtra, UnknownName
from reknit.base.progress import Progress, silent
from reknit.swarm.validation import check_seed

TRAINABLE = ("ml-dagl", "cr-mgc")
PRESETS = ("default", "relaxed", "paper")


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
        N, for the preset "paper" alone, which has one model per size; None: 200.
    gco, residual
        For the preset "paper" alone: a network with the ordinary convolution or without its skip
        connections, as of `ml-dagl`, trained for itself.
    attention, links
        For the preset "default" alone: a network with or without them, trained for itself; None:
        as shipped.
    """
    if planner not in TRAINABLE:
        raise UnknownName("planner", planner, TRAINABLE)
    if preset not in PRESETS:
        raise UnknownName("preset", preset, PRESETS)
    check_seed(seed)
    if dim not in (2, 3):
        raise InvalidParameter("dim", dim, "2 or 3")
    if planner == "cr-mgc" and (steps is not None or preset != "default" or dim != 2):
        raise InvalidParameter("preset, dim, steps", (preset, dim, steps), "not for cr-mgc")
    if preset != "default" and (attention, links) != (None, None):
        allowed = "given with the preset 'default' alone"
        raise InvalidParameter("attention, links", (attention, links), allowed)
    if preset == "default" and dim != 2:
        raise InvalidParameter("dim", dim, "2 with the preset 'default': one model serves both")
    if preset == "paper" and dim != 2:
        raise InvalidParameter("dim", dim, "2 with the preset 'paper': it has no 3-D swarms")
    if preset != "paper" and uavs is not None:
        raise InvalidParameter("uavs", uavs, "given with the preset 'paper' alone")
    if preset != "paper" and (gco, residual) != ("bipartite", True):
        allowed = "'bipartite', True but with the preset 'paper'"
        raise InvalidParameter("gco, residual", (gco, residual), allowed)
    try:
        from reknit.algorithms.learned.cr_mgc.pretrain import MetaRecipe
        from reknit.algorithms.learned.cr_mgc.pretrain import pretrain as meta_train
        from reknit.algorithms.learned.ml_dagl.pretrain import pretrain
        from reknit.algorithms.learned.ml_dagl.pull.training import PullRecipe, pretrain_pulls
        from reknit.algorithms.learned.ml_dagl.recipe import paper_recipe, relaxed_recipe
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
    else:
        recipe = paper_recipe(uavs or 200, gco=gco, residual=residual)
    recipe = replace(recipe, seed=seed, steps=recipe.steps if steps is None else steps)
    return pretrain(recipe, out_dir, progress)
