"""Meta-learning: what a step does, and that a run can be stopped and gone on with."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from reknit.algorithms.learned.cr_mgc.net import load_net
from reknit.algorithms.learned.cr_mgc.pretrain import MetaRecipe, pretrain
from reknit.base.errors import InvalidParameter, InvalidWeights, UnknownName

TINY = MetaRecipe(
    layers=3,
    hidden=8,
    stages=((4, 1e-2), (2, 1e-3)),
    batch=2,
    survivors=(6, 10),
    checkpoint_every=2,
)


def test_cases_come_in_pairs() -> None:
    """Support and query are different split swarms with the same number of survivors."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        support, query = TINY.pair(rng)
        assert len(support.survivors) == len(query.survivors)
        assert support.dim == query.dim
        assert support.is_split
        assert query.is_split
        assert support != query


def test_the_rate_falls_in_stages() -> None:
    """Each stage has its own, and the last one stays."""
    assert [TINY.rate(step) for step in (0, 3, 4, 5, 99)] == [1e-2, 1e-2, 1e-3, 1e-3, 1e-3]
    assert TINY.steps == 6


def test_a_stopped_run_ends_with_the_same_weights(tmp_path: Path) -> None:
    """Stopped at an odd step and resumed, the weights are those of a run that was not."""
    whole = pretrain(TINY, tmp_path / "whole")
    pretrain(TINY, tmp_path / "parts", stop_after=3)
    parts = pretrain(TINY, tmp_path / "parts")
    assert whole.read_bytes() == parts.read_bytes()
    first = pretrain(TINY, tmp_path / "first", stop_after=1)
    assert first.read_bytes() != whole.read_bytes()


def test_the_manifest_tells_how(tmp_path: Path) -> None:
    """Recipe, steps, versions and the loss curve stand beside weights that load."""
    told: list[float] = []
    path = pretrain(TINY, tmp_path, lambda fraction, message: told.append(fraction))
    manifest = json.loads(path.with_suffix(".json").read_text())
    assert manifest["recipe"]["stages"] == [[4, 1e-2], [2, 1e-3]]
    assert manifest["steps_trained"] == 6
    assert [point[0] for point in manifest["loss_curve"]] == [1, 2, 3, 4, 5, 6]
    assert "torch" in manifest["versions"]
    assert told == pytest.approx(np.arange(1, 7) / 6)
    weights = load_net(path, layers=3, hidden=8).state_dict()
    assert all(torch.isfinite(one).all() for one in weights.values())


def test_another_recipe_does_not_go_on(tmp_path: Path) -> None:
    """A folder with the checkpoint of another recipe, or with rubbish, is refused."""
    pretrain(TINY, tmp_path, stop_after=1)
    with pytest.raises(InvalidWeights, match="another recipe"):
        pretrain(replace(TINY, seed=2), tmp_path)
    (tmp_path / "checkpoint.safetensors").write_bytes(b"rubbish")
    with pytest.raises(InvalidWeights, match="not a checkpoint"):
        pretrain(TINY, tmp_path)


def test_learning_lowers_the_loss(tmp_path: Path) -> None:
    """Some steps on small swarms end with a lower loss than they began with."""
    recipe = replace(TINY, stages=((40, 1e-2),), hidden=16, batch=4, solid_share=0.0)
    path = pretrain(recipe, tmp_path)
    curve = [loss for _, loss in json.loads(path.with_suffix(".json").read_text())["loss_curve"]]
    assert np.mean(curve[-5:]) < 0.9 * np.mean(curve[:5])


@pytest.mark.parametrize(
    ("name", "value"),
    [("stages", ()), ("batch", 0), ("survivors", (1, 5)), ("damage", (0.5, 1.0))],
)
def test_recipes_are_checked(name: str, value: object) -> None:
    """Values that make no sense are refused on creation."""
    with pytest.raises(InvalidParameter, match=name):
        MetaRecipe(**{name: value})  # type: ignore[arg-type]
    with pytest.raises(UnknownName):
        MetaRecipe(disconnection="both")
