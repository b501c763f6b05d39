"""What one seed of one part of the campaign came to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from reknit.base.types import JsonDict


@dataclass(frozen=True)
class Outcome:
    """The result of one seed.

    Parameters
    ----------
    cases
        How many things were tried.
    findings
        What is wrong, one line each; empty if nothing is.
    figures
        What the summary is made from.
    """

    cases: int
    findings: tuple[str, ...] = ()
    figures: JsonDict = field(default_factory=dict)


Part = Callable[[int, Path], Outcome]
"""From a seed and an empty folder to what came of it."""
