"""Numbers with their nouns."""

from __future__ import annotations


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """``1 run``, ``2 runs``, ``20,000 UAVs``; `plural` where it is not the noun with an s."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
