"""Pre-training: resumable, deterministic, and it learns."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reknit.algorithms.learned.common.checkpoint import FILE, Checkpoint
from reknit.algorithms.learned.common.weights import load_weights, read_manifest
from reknit.algorithms.learned.ml_dagl.curriculum import Curriculum
from reknit.algorithms.learned.ml_dagl.dgcn import Shape
from reknit.algorithms.learned.ml_dagl.pretrain import pretrain
from reknit.algorithms.learned.ml_dagl.recipe import (
    PretrainConfig,
    paper_recipe,
    published_recipe,
    relaxed_recipe,
)
from reknit.algorithms.learned.ml_dagl.settings import PUBLISHED
from reknit.algorithms.learned.ml_dagl.weight_files import tensor_shapes, weight_file
from reknit.base.errors import InvalidParameter, InvalidWeights, UnknownName

SMALL = replace(
    relaxed_recipe(),
    shape=Shape(2, hidden=16, blocks=1),
    curriculum=Curriculum(2, size_range=(12, 24), largest=30),
    steps=12,
    batch=2,
    inner_iterations=2,
    validate_every=6,
    checkpoint_every=1,
    validation=((20, 10),),
    validation_cases=2,
    validation_iterations=(0, 2),
)
"""A run of a second."""


def _weights(path: Path, config: PretrainConfig = SMALL) -> dict[str, np.ndarray]:
    return {k: v.numpy() for k, v in load_weights(path, tensor_shapes(config.shape)).items()}


def _same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return all(np.array_equal(one[name], other[name]) for name in one)


def test_a_run_is_repeatable_and_depends_on_its_seed(tmp_path: Path) -> None:
    """The same recipe gives the same weights; another seed gives others."""
    first = _weights(pretrain(SMALL, tmp_path / "a"))
    second = _weights(pretrain(SMALL, tmp_path / "b"))
    other = _weights(pretrain(replace(SMALL, seed=2), tmp_path / "c"))
    assert _same(first, second)
    assert not _same(first, other)


@pytest.mark.parametrize(("inner", "rate"), [(2, 0.1), (0, 1e-3)])
def test_a_run_that_stops_goes_on_as_if_it_had_not(tmp_path: Path, inner: int, rate: float) -> None:
    """Stopped after 5 steps and resumed, Reptile and Adam end with the same weights and curves."""
    config = replace(SMALL, inner_iterations=inner, learning_rate=rate)
    whole = pretrain(config, tmp_path / "whole")
    pretrain(config, tmp_path / "parts", stop_after=5)
    parts = pretrain(config, tmp_path / "parts")
    assert _same(_weights(whole), _weights(parts))
    for fact in ("loss_curve", "validation_curve", "steps_trained", "sha256"):
        assert read_manifest(whole)[fact] == read_manifest(parts)[fact]


_CHILD = """
import sys
from pathlib import Path
from typing import Any
from tests.algorithms.learned.ml_dagl.test_pretrain import SMALL
from reknit.algorithms.learned.ml_dagl.pretrain import pretrain
pretrain(SMALL, sys.argv[1], lambda fraction, message: print(message, flush=True))
"""


def test_a_killed_run_goes_on_as_if_it_had_not(tmp_path: Path) -> None:
    """After kill -9 in the middle, resuming ends with the weights of an undisturbed run."""
    folder = tmp_path / "killed"
    child = subprocess.Popen(
        [sys.executable, "-c", _CHILD, str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert child.stdout is not None
    for line in child.stdout:
        if line.startswith("step 7"):
            break
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert (folder / FILE).exists()
    assert not list(folder.glob("default*"))
    resumed: list[str] = []
    path = pretrain(SMALL, folder, lambda fraction, message: resumed.append(message))
    assert 0 < len(resumed) < SMALL.steps
    assert _same(_weights(path), _weights(pretrain(SMALL, tmp_path / "whole")))


def test_training_lowers_the_loss(tmp_path: Path) -> None:
    """Ordinary training of a small network from random weights makes clear progress."""
    config = replace(
        SMALL, start="random", steps=150, inner_iterations=0, learning_rate=5e-3, validate_every=0
    )
    curve = read_manifest(pretrain(config, tmp_path))["loss_curve"]
    losses = [loss for _, loss in curve]
    assert np.mean(losses[-10:]) < 0.7 * np.mean(losses[:10])


def test_another_recipe_does_not_touch_the_folder(tmp_path: Path) -> None:
    """A checkpoint of one recipe is not continued with another."""
    pretrain(SMALL, tmp_path, stop_after=1)
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(InvalidWeights, match="another recipe"):
        pretrain(replace(SMALL, learning_rate=1e-3), tmp_path)
    assert (tmp_path / FILE).read_bytes() == before


def test_a_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    """A checkpoint that is not one gives a typed error, not a fresh start."""
    (tmp_path / FILE).write_bytes(b"nothing")
    with pytest.raises(InvalidWeights, match="not a checkpoint"):
        pretrain(SMALL, tmp_path)


def test_manifest_tells_the_recipe(tmp_path: Path) -> None:
    """The manifest holds the recipe, versions, both curves and the number of steps."""
    manifest = read_manifest(pretrain(SMALL, tmp_path))
    assert manifest["recipe"]["steps"] == manifest["steps_trained"] == 12
    assert [point["step"] for point in manifest["validation_curve"]] == [0, 6, 12]
    assert set(manifest["validation_curve"][0]["2"]["20-10"]) == {"connected", "planned_s"}
    assert manifest["loss_curve"][-1][0] == 12
    assert "torch" in manifest["versions"]
    json.dumps(manifest)


@pytest.mark.parametrize("dim", [2, 3])
def test_curriculum_draws_many_kinds_of_split_swarms(dim: int) -> None:
    """Sizes, damage ratios and layouts vary, and every scenario is split."""
    curriculum = Curriculum(dim, size_range=(20, 60), largest=120, large_share=0.2)
    drawn = [curriculum.draw(np.random.default_rng([7, step])) for step in range(40)]
    assert all(one.is_split and one.dim == dim for one in drawn)
    assert len({one.uavs for one in drawn}) > 20
    ratios = [len(one.destroyed) / one.uavs for one in drawn]
    assert min(ratios) < 0.4
    assert max(ratios) > 0.7
    assert any(one.uavs > 60 for one in drawn)


def test_paper_recipe_is_the_papers() -> None:
    """At most 500 steps of Adam at 1e-4 under random half damage, count term, random start."""
    config = paper_recipe(50)
    assert (config.steps, config.batch, config.inner_iterations) == (500, 1, 0)
    assert {config.rate(step) for step in (0, 250, 499)} == {1e-4}
    assert config.settings.loss.disconnection == "count"
    assert config.start == "random"
    scenario = config.curriculum.draw(np.random.default_rng(0))
    assert (scenario.uavs, len(scenario.destroyed)) == (50, 25)
    with pytest.raises(InvalidParameter, match="uavs"):
        paper_recipe(60)


def test_published_recipe_is_the_papers_with_its_own_settings() -> None:
    """Nothing but what the neural net is like differs, and the name."""
    named = {"preset": "", "settings": PUBLISHED}
    assert replace(published_recipe(50), **named) == replace(paper_recipe(50), **named)  # type: ignore[arg-type]
    assert published_recipe(50).settings == PUBLISHED


def test_the_published_settings_are_trained_with(tmp_path: Path) -> None:
    """First weights within 1/sqrt(fan-out), and a file of its own name."""
    small = replace(_literal(steps=5), preset="published", settings=PUBLISHED)
    path = pretrain(small, tmp_path)
    assert path.stem == "published-2d-20"
    first, *_, last = _weights(path, small).values()
    assert np.abs(first).max() < 1.0 / np.sqrt(32) + 0.1
    assert np.abs(last).max() > 1.0 / np.sqrt(32)


def _literal(**values: Any) -> PretrainConfig:
    """The paper's training of a small network for 20 UAVs."""
    config = replace(
        paper_recipe(20),
        shape=Shape(2, hidden=32, blocks=1),
        learning_rate=3e-3,
        validation_cases=3,
    )
    return replace(config, **values)


def test_literal_training_keeps_the_fastest_weights_that_connect(tmp_path: Path) -> None:
    """Kept are those of the look with the shortest times of those with all cases connected, not
    those of the last step.
    """
    path = pretrain(_literal(), tmp_path)
    manifest = read_manifest(path)
    times_s = {
        look["step"]: sum(kind["planned_s"] for kind in look["0"].values())
        for look in manifest["validation_curve"]
        if all(kind["connected"] == 1.0 for kind in look["0"].values())
    }
    kept = manifest["kept_step"]
    assert times_s[kept] == min(times_s.values())
    assert 0 < kept < manifest["steps_trained"] == kept + 4 * 5
    assert manifest["stored_as"] == "float16"
    until_kept = Checkpoint.load(tmp_path).moments
    for name, one in _weights(path, _literal()).items():
        np.testing.assert_allclose(one, until_kept[f"kept/{name}"], rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(
    ("gco", "residual", "name"),
    [
        ("ordinary", True, "paper-2d-20-ordinary"),
        ("bipartite", False, "paper-2d-20-plain"),
        ("ordinary", False, "paper-2d-20-ordinary-plain"),
    ],
)
def test_a_network_without_a_part_is_trained_for_itself(
    tmp_path: Path, gco: str, residual: bool, name: str
) -> None:
    """Its weights have a name of their own and are not those of the whole network."""
    recipe = paper_recipe(20, gco=gco, residual=residual)
    assert (recipe.settings.gco, recipe.settings.residual) == (gco, residual)
    small = replace(_literal(steps=10), settings=recipe.settings)
    path = pretrain(small, tmp_path / "part")
    assert path.stem == name
    whole = pretrain(_literal(steps=10), tmp_path / "whole")
    assert read_manifest(path)["sha256"] != read_manifest(whole)["sha256"]


def test_literal_training_goes_on_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    """Stopped beyond the boundary and resumed, the same weights are kept."""
    whole = pretrain(_literal(), tmp_path / "whole")
    steps = read_manifest(whole)["steps_trained"]
    pretrain(_literal(), tmp_path / "parts", stop_after=steps - 7)
    parts = pretrain(_literal(), tmp_path / "parts")
    assert read_manifest(parts)["sha256"] == read_manifest(whole)["sha256"]
    assert read_manifest(parts)["loss_curve"] == read_manifest(whole)["loss_curve"]


def test_weights_that_never_connect_are_not_written(tmp_path: Path) -> None:
    """Without a look at which every case is connected there are no weights."""
    config = _literal(start="identity", patience=1)
    with pytest.raises(InvalidWeights, match="no step at which"):
        pretrain(config, tmp_path)
    assert not list(tmp_path.glob("paper*"))


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"start": "zero"}, UnknownName),
        ({"steps": 0}, InvalidParameter),
        ({"learning_rate": 0.0}, InvalidParameter),
        ({"shape": Shape(3)}, InvalidParameter),
    ],
)
def test_wrong_recipes_are_refused(values: dict[str, object], error: type[Exception]) -> None:
    """Each wrong value gets a typed error."""
    with pytest.raises(error):
        replace(SMALL, **values)  # type: ignore[arg-type]


def test_a_finished_run_is_not_trained_again(tmp_path: Path) -> None:
    """Resumed after its end, a run makes no step and leaves the weights as they are."""
    before = pretrain(SMALL, tmp_path).read_bytes()
    again = pretrain(SMALL, tmp_path, lambda fraction, message: pytest.fail("trained again"))
    assert again.read_bytes() == before


@pytest.mark.long
@pytest.mark.parametrize(
    ("preset", "uavs"), [("paper", 20), ("paper", 50), ("published", 100), ("published", 200)]
)
def test_shipped_weights_are_made_again_bit_for_bit(tmp_path: Path, preset: str, uavs: int) -> None:
    """`reknit pretrain` on one thread, with the versions that the manifest names, on the kind of
    processor that they were made on.
    """
    shipped = weight_file(preset, 2, uavs)
    versions = read_manifest(shipped)["versions"]
    if any(version(name) != told for name, told in versions.items()):
        pytest.skip(f"the weights were made with {versions}")
    arguments = ["pretrain", "--preset", preset, "--uavs", str(uavs), "--out", str(tmp_path)]
    subprocess.run(
        [sys.executable, "-m", "reknit", *arguments],
        env={**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
        check=True,
    )
    assert (tmp_path / shipped.name).read_bytes() == shipped.read_bytes()
