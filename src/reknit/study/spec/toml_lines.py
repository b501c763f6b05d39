"""Which line of a TOML text holds a value, so that a fault in a study can be pointed at."""

from __future__ import annotations

import re

_HEADER = re.compile(r"\s*(\[\[?)\s*([\w.\-]+)\s*\]")
_KEY = re.compile(r"\s*([\w\-]+)\s*=")


def line_of(text: str, where: tuple[int | str, ...]) -> int:
    """The line on which the value at `where` is set, or that of the table it belongs to.

    `where` is a path such as ("planner", 1, "name"); what it says beyond the keys of the text
    (the item of a list, say) does not matter. Line 1 if nothing of it is there.
    """
    best, depth = 1, 0
    counts: dict[tuple[str, ...], int] = {}
    section: tuple[int | str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        header, key = _HEADER.match(line), _KEY.match(line)
        if header:
            names = tuple(header.group(2).split("."))
            section = names
            if header.group(1) == "[[":
                counts[names] = counts.get(names, -1) + 1
                section = (*names, counts[names])
            here = section
        elif key:
            here = (*section, key.group(1))
        else:
            continue
        # A list of tables as a whole begins with the first of them.
        shared = min(len(here), len(where))
        if shared > depth and where[:shared] == here[:shared]:
            best, depth = number, shared
    return best
