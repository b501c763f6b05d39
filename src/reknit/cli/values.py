"""Values in and out of the command line: parameters, folders, JSON."""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from reknit.base.errors import InvalidParameter

if TYPE_CHECKING:
    from reknit.algorithms.parameters import Parameter


def pairs(option: str, given: list[str] | None) -> Iterator[tuple[str, str]]:
    """The name and the text of the value of each ``name=value``; no name twice."""
    names: set[str] = set()
    for item in given or []:
        name, equals, text = (part.strip() for part in item.partition("="))
        if not equals or not name:
            raise InvalidParameter(option, item, "name=value")
        if name in names:
            raise InvalidParameter(option, item, "each name once")
        names.add(name)
        yield name, text


def parameters(planner: str, given: list[str] | None) -> dict[str, Any]:
    """The planner's parameters from ``name=value`` texts, read by what each one's type is."""
    if not given:
        return {}
    from reknit.algorithms.registry import parameters as parameters_of

    return typed(parameters_of(planner.split("+")[0]), given)


def prepared(planner: str, given: list[str] | None) -> dict[str, Any]:
    """The planner's parameters, as `parameters` reads them, of a planner that is made once.

    So a parameter that it does not have is refused, and its libraries are loaded before the
    seconds of a budget count: PyTorch alone takes more than a short one has.
    """
    from reknit.algorithms.registry import build

    values = parameters(planner, given)
    build(planner, values)
    for name in values:
        # Somebody else's planner may have one of this name, which would not reach it.
        if name in _arguments_of_recover():
            allowed = "parameters of the planner; recover() has an argument of this name"
            raise InvalidParameter(f"--param {name}", values[name], allowed)
    return values


def _arguments_of_recover() -> set[str]:
    from reknit.recovery.runs import recover

    arguments = inspect.signature(recover).parameters.values()
    return {item.name for item in arguments if item.kind is not item.VAR_KEYWORD}


def typed(known: Iterable[Parameter], given: list[str] | None) -> dict[str, Any]:
    """Values from ``name=value`` texts, read by what the type of each known one is."""
    from reknit.algorithms.parameters import type_text

    kinds = {item.name: item.type_text for item in known}
    values: dict[str, Any] = {}
    for name, text in pairs("--param", given):
        kind = kinds.get(name, "")
        if kind.startswith(type_text(bool)) and text in ("0", "1"):
            values[name] = text == "1"
        elif kind.split(" or ")[0] == type_text(str) and plain_value(text) is not None:
            values[name] = text
        elif kind.startswith(_LIST) and re.fullmatch(r"[(\d][\d,. )]*", text):
            values[name] = plain_value(f"[{text.strip('(), ')}]")  # (1, 2) and 1,2 for [1, 2]
        else:
            values[name] = plain_value(text)
    return values


_LIST = "a list"
"""How `type_text` begins for what holds several values."""

_WORDS: dict[str, bool | None] = {"none": None}
_WORDS |= dict.fromkeys(("false", "no", "off"), False) | dict.fromkeys(("true", "yes", "on"), True)


def plain_value(text: str) -> Any:
    """JSON where it can be read as such; the usual words for a truth value; else the text."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # no JSON, or a whole number of thousands of digits
        return text


def folder(text: str | Path) -> Path:
    """The folder that an option names; the empty text, which would be the current one, is none."""
    if not str(text).strip():
        raise typer.BadParameter("allowed: the name of a folder")
    return Path(text)


def output_path(out: str | None, files: Iterable[str] = ()) -> Path | None:
    """The folder of ``--out``, tried before anything is computed, and left as it was.

    `files` are those that will be written to it, which nothing else may be in the place of.
    """
    from reknit.base.files import check_room, output_folder

    if out is None:
        return None
    if not out.strip():
        raise InvalidParameter("--out", out, "the name of a folder")
    path = Path(out)
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    check_room(path, files)
    output_folder(path)
    for folder in missing:
        with suppress(OSError):  # somebody else may use it by now
            folder.rmdir()
    return path


def print_json(result: dict[str, Any], files: list[Path]) -> None:
    """One JSON object on standard output, with the files that were written."""
    if files:
        result = {**result, "files": [str(file) for file in files]}
    sys.stdout.write(json.dumps(result) + "\n")


def print_files(files: list[Path]) -> None:
    """Where everything was written, for people."""
    from reknit.cli.console import out

    if files:
        folder = files[0].parent
        names = ", ".join(file.name for file in files)
        out.print(f"Written to {folder}: {names}", markup=False, soft_wrap=True)
