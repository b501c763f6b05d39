"""Training of the pulling net: the loss, resuming, and the shipped weights."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch

import reknit
from reknit.algorithms.descent import Descent
from reknit.algorithms.learned.common.checkpoint import Checkpoint, plain
from reknit.algorithms.learned.common.weights import read_manifest
from reknit.algorithms.learned.ml_dagl.curriculum import Curriculum
from reknit.algorithms.learned.ml_dagl.pull.net import PullShape
from reknit.algorithms.learned.ml_dagl.pull.survivors import PullGraph, Survivors
from reknit.algorithms.learned.ml_dagl.pull.training import PullRecipe, losses, pretrain_pulls
from reknit.algorithms.learned.ml_dagl.weight_files import weight_file
from reknit.base.errors import InvalidParameter, InvalidWeights

TINY = PullRecipe(
    shape=PullShape(hidden=8, blocks=2, repeats=1),
    steps=12,
    batch=3,
    pool=6,
    checkpoint_every=4,
    curricula=(
        Curriculum(2, size_range=(10, 20), largest=20),
        Curriculum(3, size_range=(10, 20), largest=20),
    ),
)


def test_the_loss_is_that_of_descent() -> None:
    """On targets that are somewhere, in units of the need and with its margin and lambda."""
    scenario = reknit.generate(40, 25, seed=8, split=True)
    swarm = Survivors.of(scenario, 1, np.random.default_rng(0), attention=False)
    graph = PullGraph.of([swarm], [0])
    place = graph.start * 0.8 + 0.05
    place[:, 2] = 0.0
    own = losses(place, graph, penalty=3.0, power=30.0)
    descent = Descent(power=30.0, margin=0.01, penalty=6.0)  # lambda is half of it, times 1
    loss_m, _ = descent.loss(scenario, swarm.metres(place[None]), swarm.trees[:1])
    need_m = swarm.need * swarm.unit_m
    np.testing.assert_allclose(float(own[0]) * need_m, loss_m[0], rtol=1e-4)


def test_training_lowers_the_loss(tmp_path: Path) -> None:
    """A few dozen steps on a handful of swarms are enough to see it fall by a third."""
    recipe = replace(TINY, steps=80, learning_rate=5e-3, warmup=1)
    path = pretrain_pulls(recipe, tmp_path)
    curve = [loss for _, loss in read_manifest(path)["loss_curve"]]
    assert np.mean(curve[-10:]) < 0.67 * np.mean(curve[:10])


def test_a_run_that_is_stopped_ends_as_one_that_is_not(tmp_path: Path) -> None:
    """The weights are the same to the bit, whatever the moment."""
    whole = pretrain_pulls(TINY, tmp_path / "whole")
    pretrain_pulls(TINY, tmp_path / "parts", stop_after=7)
    parts = pretrain_pulls(TINY, tmp_path / "parts")
    assert whole.read_bytes() == parts.read_bytes()


def test_another_recipe_does_not_go_on_in_the_same_folder(tmp_path: Path) -> None:
    """A checkpoint is continued by its own recipe alone."""
    pretrain_pulls(TINY, tmp_path, stop_after=4)
    with pytest.raises(InvalidWeights, match="another recipe"):
        pretrain_pulls(replace(TINY, seed=2), tmp_path)


def test_the_pool_has_every_kind_of_swarm() -> None:
    """Plane and space, equal and unequal speeds, with and without an anchor."""
    recipe = replace(TINY, uneven_share=0.5, anchored_share=0.5)
    swarms = [recipe.draw(number) for number in range(16)]
    assert {len(swarm.centre_m) for swarm in swarms} == {2, 3}
    assert {bool(swarm.delay.max() > 1.0) for swarm in swarms} == {False, True}
    assert {int(swarm.fixed.sum()) for swarm in swarms} == {0, 1}


@pytest.mark.parametrize("name", ["steps", "batch", "pool", "learning_rate"])
def test_wrong_recipes_are_refused(name: str) -> None:
    """Each number that must be above 0 is named in the error."""
    with pytest.raises(InvalidParameter, match=name):
        replace(TINY, **cast(dict[str, Any], {name: 0}))


def test_shipped_weights_are_of_the_recipe() -> None:
    """`reknit pretrain --preset default` has what decides the shipped file."""
    manifest = read_manifest(weight_file("default", 2))
    recipe = PullRecipe()
    assert manifest["recipe"] == json.loads(json.dumps(plain(recipe)))
    assert manifest["steps_trained"] == recipe.steps
    assert manifest["threads"] == 1


@pytest.mark.long
def test_the_shipped_run_comes_again(tmp_path: Path) -> None:
    """The first point of its loss curve, on one thread."""
    steps, loss = read_manifest(weight_file("default", 2))["loss_curve"][0]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        pretrain_pulls(PullRecipe(), tmp_path, stop_after=steps)
    finally:
        torch.set_num_threads(threads)
    assert round(float(np.mean(Checkpoint.load(tmp_path).losses)), 4) == loss
