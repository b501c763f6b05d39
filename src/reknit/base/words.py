"""Numbers with their nouns."""

from __future__ import annotations


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """``1 run``, ``2 runs``, ``20,000 UAVs``; `plural` where it is not the noun with an s."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def seconds_text(value: float | None) -> str:
    """Such as ``2.06 s`` or ``0.00691 s``; a dash for None."""
    if value is None:
        return "-"
    return f"{value:.2f} s" if value == 0.0 or value >= 0.1 else f"{value:.3g} s"
