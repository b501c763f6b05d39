"""How long work tells how far it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[float, str], None]
"""Told how much is done (0 to 1) and what is being done."""


def silent(fraction: float, message: str) -> None:
    """A `Progress` that nobody looks at."""
