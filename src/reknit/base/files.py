"""Reading and writing files so that nothing is lost or half-written."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reknit.base.errors import InvalidParameter, UnreadableFile, UnwritableOutput

MAX_BYTES = 128 * 1024 * 1024


def checked_path(name: str, value: object) -> Path:
    """The path of a file that is given as text or as a path; a typed error otherwise."""
    allowed = "a path, or text that names one"
    if not isinstance(value, (str, os.PathLike)) or not str(value):
        raise InvalidParameter(name, value, allowed)
    try:
        path = Path(value)
        is_name = b"\0" not in os.fsencode(path)
    except (TypeError, ValueError):  # a path of bytes, or characters that no file name has
        is_name = False
    if not is_name:
        raise InvalidParameter(name, value, allowed + ", of characters that a file name may have")
    return path


def read_bytes(path: Path) -> bytes:
    """The content of a file; a typed error if it is missing or too large.

    No more than the limit is read, so that a device without an end is refused as well; a pipe
    that nobody writes to would be waited for without an end.
    """
    try:
        if path.is_fifo():
            raise UnreadableFile(f"{path}: a named pipe; allowed: a file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise UnreadableFile(_told(path, error)) from error
    return _within_limit(path, data)


def read_text(path: Path) -> str:
    """The text of a file, without a byte order mark; a typed error if it is none."""
    return _decoded(path, read_bytes(path))


def read_packed_text(path: Path) -> str:
    """The text that a .gz file holds; a typed error if it is none, cut off or too large."""
    try:
        with gzip.open(io.BytesIO(read_bytes(path))) as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableFile(f"{path}: not a whole .gz file ({error})") from error
    return _decoded(path, _within_limit(path, data))


def _decoded(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        packed = ": it is packed by gzip; unpack it" if data.startswith(b"\x1f\x8b") else ""
        raise UnreadableFile(f"{path}: not UTF-8 text{packed}") from error


def _within_limit(path: Path, data: bytes) -> bytes:
    if len(data) > MAX_BYTES:
        raise UnreadableFile(f"{path}: too large; allowed: at most {MAX_BYTES / 2**20:.3g} MiB")
    return data


def parse_json(path: Path | str, text: str) -> Any:
    """The value of a JSON text; a typed error if it is none or names a key twice."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        if len(set(keys)) < len(keys):
            twice = next(key for key in keys if keys.count(key) > 1)
            raise UnreadableFile(f"{path}: {twice} is there twice; allowed: each key once")
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise UnreadableFile(
            f"{path}: not JSON (line {error.lineno}, column {error.colno}: {error.msg})"
        ) from None
    except RecursionError:
        raise UnreadableFile(f"{path}: nested too deeply") from None
    except ValueError:  # Python reads no whole number of thousands of digits
        allowed = f"at most {sys.get_int_max_str_digits()}"
        raise UnreadableFile(f"{path}: a number has too many digits; allowed: {allowed}") from None


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
    except (OSError, ValueError) as error:
        raise UnwritableOutput(_told(path, error)) from error
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        raise UnwritableOutput(_told(path, error)) from error
    finally:
        temporary.unlink(missing_ok=True)


def check_room(folder: Path, files: Iterable[str]) -> None:
    """Raise `UnwritableOutput` if a folder is where one of these files must be, or anything else
    where a folder on the way to it must be.
    """
    for path in (folder / name for name in files):
        if path.is_dir():
            raise UnwritableOutput(f"{path}: a folder; allowed: a file, or nothing yet")
        between = path.parent
        if between != folder and between.exists() and not between.is_dir():
            raise UnwritableOutput(f"{between}: no folder; allowed: a folder, or nothing yet")


def remove_files(folder: Path, files: Iterable[str]) -> None:
    """Remove those of these files that are in a folder, and nothing else."""
    for path in (folder / name for name in files):
        if path.is_file():
            path.unlink(missing_ok=True)


def output_folder(path: Path) -> Path:
    """The folder, made if need be; a typed error if it cannot be written to."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except (OSError, ValueError) as error:
        raise UnwritableOutput(_told(path, error)) from error
    return path


def _told(path: Path, error: OSError | ValueError) -> str:
    """What the system says of a path; a ValueError is about the path's characters."""
    return f"{path}: {getattr(error, 'strerror', None) or error}"
