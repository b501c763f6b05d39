"""What one seed of one part of the campaign came to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
        What the summary is made from: counts, and lists of measured values.
    """

    cases: int
    findings: tuple[str, ...] = ()
    figures: JsonDict = field(default_factory=dict)


def together(outcomes: Iterable[Outcome]) -> Outcome:
    """Several outcomes as one: counts are summed, lists are joined; findings name their case."""
    cases, findings = 0, []
    figures: dict[str, Any] = {}
    for number, outcome in enumerate(outcomes):
        cases += outcome.cases
        findings += [f"case {number}: {finding}" for finding in outcome.findings]
        for name, value in outcome.figures.items():
            figures[name] = figures[name] + value if name in figures else value
    return Outcome(cases, tuple(findings), figures)


Part = Callable[[int, Path], Outcome]
"""From a seed and an empty folder to what came of it."""
