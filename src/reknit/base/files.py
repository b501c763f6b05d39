"""Reading and writing files so that nothing is lost or half-written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from reknit.base.errors import UnreadableFile, UnwritableOutput

MAX_BYTES = 256 * 1024 * 1024


def read_text(path: Path) -> str:
    """The text of a file; a typed error if it is missing, too large or not text."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise UnreadableFile(
                f"{path}: {size / 2**20:.0f} MiB; allowed: at most {MAX_BYTES // 2**20} MiB"
            )
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UnreadableFile(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"{path}: not UTF-8 text") from error


def write_text(path: Path, text: str) -> None:
    """Write a whole text file, or nothing."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place when the block ends well."""
    try:
        handle, name = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix
        )
        os.close(handle)
    except OSError as error:
        raise UnwritableOutput(f"{path}: {error.strerror or error}") from error
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        raise UnwritableOutput(f"{path}: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def output_folder(path: Path) -> Path:
    """The folder, made if need be; a typed error if it cannot be written to."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise UnwritableOutput(f"{path}: {error.strerror or error}") from error
    return path


def plain_error(error: ValidationError) -> str:
    """The first complaint of pydantic as: field, value, what is wrong with it."""
    return first_fault(error)[1]


def first_fault(error: ValidationError) -> tuple[tuple[int | str, ...], str]:
    """Where pydantic first found a fault, and which; misspelt fields before missing ones."""
    first = min(error.errors(), key=lambda one: one["type"] == "missing")
    where = ".".join(str(part) for part in first["loc"]) or "the file"
    if first["type"] == "missing":
        return first["loc"], f"{where} is missing"
    if first["type"] == "extra_forbidden":
        return first["loc"], f"{where} is not a field that is known here"
    value = repr(first.get("input"))
    value = value if len(value) <= 60 else value[:57] + "..."
    return first["loc"], f"{where} is {value}; {first['msg']}"
