"""Weight files: what is written comes back, and nothing foreign or damaged is let in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from reknit.algorithms.learned.common.weights import load_weights, read_manifest, save_weights
from reknit.base.errors import InvalidWeights

SHAPES: dict[str, tuple[int, ...]] = {"a": (2, 3), "b": (3,)}


def _tensors() -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return {name: torch.randn(shape, generator=generator) for name, shape in SHAPES.items()}


@pytest.mark.parametrize(("stored", "tolerance"), [("float32", 0.0), ("float16", 1e-3)])
def test_weights_come_back(tmp_path: Path, stored: str, tolerance: float) -> None:
    """What was saved is loaded as float32, exactly or to the precision of the file."""
    path = tmp_path / "net.safetensors"
    save_weights(path, _tensors(), {"preset": "x"}, stored)
    loaded = load_weights(path, SHAPES)
    for name, one in _tensors().items():
        assert loaded[name].dtype == torch.float32
        torch.testing.assert_close(loaded[name], one, atol=tolerance, rtol=0)
    manifest = read_manifest(path)
    assert manifest["stored_as"] == stored
    assert manifest["parameters"] == 9
    assert manifest["preset"] == "x"


def _missing(path: Path) -> None:
    path.unlink()


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-4])


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))


def _noise(path: Path) -> None:
    path.with_suffix(".json").unlink()
    path.write_bytes(b"\xff" * 100)


def _empty(path: Path) -> None:
    path.with_suffix(".json").unlink()
    path.write_bytes(b"")


def _foreign(change: Callable[[dict[str, torch.Tensor]], object]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.with_suffix(".json").unlink()
        tensors = _tensors()
        change(tensors)
        save_file(tensors, path)

    return write


def _broken_manifest(path: Path) -> None:
    path.with_suffix(".json").write_text("{")


def _other_manifest(path: Path) -> None:
    path.with_suffix(".json").write_text(json.dumps({"sha256": "0" * 64}))


@pytest.mark.parametrize(
    "damage",
    [
        _missing,
        _cut,
        _flip,
        _noise,
        _empty,
        _broken_manifest,
        _other_manifest,
        _foreign(lambda tensors: tensors.pop("a")),
        _foreign(lambda tensors: tensors.update(c=torch.zeros(1))),
        _foreign(lambda tensors: tensors.update(a=torch.zeros(3, 2))),
        _foreign(lambda tensors: tensors.update(b=torch.zeros(3, dtype=torch.int64))),
        _foreign(lambda tensors: tensors.update(b=torch.full((3,), float("nan")))),
        _foreign(lambda tensors: tensors.update(b=torch.full((3,), float("inf")))),
    ],
)
def test_damaged_and_foreign_files_are_refused(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    """Whatever is wrong with the file, it is one typed error that names it."""
    path = tmp_path / "net.safetensors"
    save_weights(path, _tensors(), {})
    damage(path)
    with pytest.raises(InvalidWeights, match=r"net\.(safetensors|json)"):
        load_weights(path, SHAPES)
