"""Prose whose numbers come from stored runs.

``{charged_time_s | ml-dagl | uavs=200}`` stands for the mean of a measure of a planner over the
runs with those values, ``{paper | ml-dagl | uavs=200}`` for the paper's time, and
``{charged_time_s | ml-dagl / demd}`` for how much more or less the first takes than the second, on
the scenarios that both were run on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from reknit.base.statistics import estimate, plain
from reknit.base.types import JsonDict
from reknit.study.measures import MEASURES, value
from reknit.study.report.paper import reported_figure
from reknit.study.report.stats import shared

_SLOT = re.compile(r"\{([^{}|]+)\|([^{}|]+)(?:\|([^{}|]*))?\}")
NOT_RUN = "(not run)"


@dataclass(frozen=True)
class Slot:
    """One place in the text that a number belongs in."""

    measure: str
    labels: tuple[str, ...]
    only: dict[str, str]

    @staticmethod
    def of(match: re.Match[str]) -> Slot:
        """The slot that was matched in a text."""
        measure, labels, filters = (part.strip() for part in match.groups(""))
        names = tuple(part.strip() for part in labels.split(" / "))
        pairs = (part.partition("=") for part in filters.split(",") if part.strip())
        return Slot(measure, names, {name.strip(): text.strip() for name, _, text in pairs})

    def text(self, rows: Sequence[JsonDict]) -> str:
        """What the runs say, in words."""
        mine = [row for row in rows if row["ok"] and self.covers(row)]
        if len(self.labels) == 2:
            return _compared(shared(mine, self.measure, *self.labels))
        if self.measure == "paper":
            figures = {
                reported_figure(row["planner"], row["uavs"], row["destroyed"], "charged_time_s")
                for row in mine
            }
            return f"{figures.pop():g} s" if len(figures) == 1 and None not in figures else NOT_RUN
        summary = estimate(value(row, self.measure) for row in mine)
        if summary.count == 0:
            return NOT_RUN
        line = MEASURES[self.measure]
        digits = 2 if line.percent else 3
        return f"{plain(line.scale * summary.mean, digits)} {line.unit}".strip()

    def covers(self, row: JsonDict) -> bool:
        """Whether a run is one of those that the slot is about."""
        return row["label"] in self.labels and all(
            _same(row[name], wanted) for name, wanted in self.only.items()
        )


def slots(text: str) -> list[Slot]:
    """All slots of a text."""
    return [Slot.of(match) for match in _SLOT.finditer(text)]


def fill(text: str, rows: Sequence[JsonDict]) -> str:
    """The text in one paragraph, every slot filled from the runs."""
    return " ".join(_SLOT.sub(lambda match: Slot.of(match).text(rows), text).split())


def _compared(pairs: Sequence[tuple[float, float]]) -> str:
    mine, other = (sum(pair[side] for pair in pairs) for side in (0, 1))
    if not pairs or other == 0:
        return NOT_RUN
    change = mine / other - 1
    return f"{plain(100 * abs(change), 2)} % {'more' if change > 0 else 'less'}"


def _same(held: object, wanted: str) -> bool:
    if isinstance(held, (int, float)):
        return float(held) == float(wanted)
    return str(held) == wanted
