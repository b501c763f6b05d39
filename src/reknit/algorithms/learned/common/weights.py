"""Weight files: safetensors with a manifest beside them, checked before a number is used."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from reknit.base.errors import InvalidWeights, UnreadableFile
from reknit.base.files import parse_json, read_bytes, read_text, replacing, write_text
from reknit.base.types import JsonDict

STORED = {"float32": torch.float32, "float16": torch.float16}


def save_weights(
    path: Path, tensors: Mapping[str, Tensor], facts: JsonDict, stored: str = "float32"
) -> None:
    """Write ``path`` (safetensors) and its manifest ``path`` with the ending .json.

    Parameters
    ----------
    stored
        The number format of the file; float16 halves it. Weights are used as float32.
    """
    kind = STORED[stored]
    data = save({name: tensor.detach().to(kind).contiguous() for name, tensor in tensors.items()})
    manifest = {
        "file": path.name,
        "sha256": hashlib.sha256(data).hexdigest(),
        "stored_as": stored,
        "parameters": sum(tensor.numel() for tensor in tensors.values()),
        "tensors": {name: list(tensor.shape) for name, tensor in tensors.items()},
        **facts,
    }
    with replacing(path) as temporary:
        temporary.write_bytes(data)
    write_text(path.with_suffix(".json"), json.dumps(manifest, indent=2) + "\n")


def load_weights(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Tensor]:
    """The tensors of a weight file as float32.

    Names, shapes, number formats and finiteness are checked, and the hash when there is a
    manifest; anything foreign or damaged raises `InvalidWeights`.
    """
    data = _bytes(path)
    manifest = path.with_suffix(".json")
    if manifest.exists():
        expected = read_manifest(path).get("sha256")
        if expected != hashlib.sha256(data).hexdigest():
            raise InvalidWeights(f"{path}: its hash is not the one in {manifest.name}")
    try:
        tensors = load(data)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise InvalidWeights(f"{path}: not a safetensors file ({error})") from error
    check_tensors(path, tensors, shapes)
    return {name: tensors[name].float() for name in shapes}


def check_tensors(
    path: Path, tensors: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]]
) -> None:
    """Raise `InvalidWeights` unless names, shapes, formats and values are as they must be."""
    for name in sorted(set(shapes) ^ set(tensors)):
        fault = "is missing" if name in shapes else "is not a weight of this one"
        raise InvalidWeights(
            f"{path}: weights of another neural net than these parameters ask for: {name} {fault}"
        )
    for name, shape in shapes.items():
        tensor = tensors[name]
        if tuple(tensor.shape) != shape:
            raise InvalidWeights(
                f"{path}: {name} has shape {tuple(tensor.shape)}; allowed: {shape}"
            )
        if tensor.dtype not in STORED.values():
            kinds = ", ".join(STORED)
            raise InvalidWeights(f"{path}: {name} holds {tensor.dtype}; allowed: {kinds}")
        if not torch.isfinite(tensor).all():
            raise InvalidWeights(f"{path}: {name} holds numbers that are not finite")


def read_manifest(path: Path) -> JsonDict:
    """The manifest of a weight file."""
    beside = path.with_suffix(".json")
    try:
        manifest = parse_json(beside, read_text(beside))
    except UnreadableFile as error:
        raise InvalidWeights(str(error)) from error
    if not isinstance(manifest, dict):
        raise InvalidWeights(f"{beside}: not a manifest")
    return manifest


def _bytes(path: Path) -> bytes:
    try:
        return read_bytes(path)
    except UnreadableFile as error:
        raise InvalidWeights(str(error)) from error


def file_stamp(path: Path) -> tuple[int, int]:
    """Changes when the file does, so that a cache keyed by it never serves old weights."""
    try:
        facts = path.stat()
    except OSError:
        return 0, 0
    return facts.st_mtime_ns, facts.st_size
