"""Values in and out of the command line: parameters, folders, JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from reknit.base.errors import InvalidParameter


def parameters(planner: str, given: list[str] | None) -> dict[str, Any]:
    """The planner's parameters from ``name=value`` texts."""
    values: dict[str, Any] = {}
    for item in given or []:
        name, equals, text = (part.strip() for part in item.partition("="))
        if not equals or not name:
            raise InvalidParameter("--param", item, "name=value")
        if name in values:
            raise InvalidParameter("--param", item, "each name once")
        values[name] = _value(text)
    return values


_WORDS = {"false": False, "no": False, "true": True, "yes": True}


def _value(text: str) -> Any:
    """JSON where it can be read as such; the usual words for a truth value; else the text."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def output_path(out: str | None) -> Path | None:
    """The folder of ``--out``, tried before anything is computed."""
    from reknit.base.files import output_folder

    if out is None:
        return None
    if not out.strip():
        raise InvalidParameter("--out", out, "the name of a folder")
    return output_folder(Path(out))


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
        out.print(f"Written to {folder}: " + ", ".join(file.name for file in files), soft_wrap=True)
