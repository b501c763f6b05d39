"""Comparisons of two planners on the scenarios that both were run on."""

from __future__ import annotations

from collections.abc import Sequence

from reknit.base.statistics import Estimate, estimate
from reknit.base.types import JsonDict
from reknit.study.measures import value
from reknit.study.spec.cases import CASE_COLUMNS


def shared(
    rows: Sequence[JsonDict], measure: str, label: str, other: str
) -> list[tuple[float, float]]:
    """A measure of two planners on every scenario that both were run on."""
    by_scenario: dict[tuple[object, ...], dict[str, float]] = {}
    for row in rows:
        figure = value(row, measure)
        if figure is not None:
            scenario = (row["seed"], *(row[name] for name in CASE_COLUMNS))
            by_scenario.setdefault(scenario, {})[row["label"]] = figure
    return [
        (values[label], values[other])
        for values in by_scenario.values()
        if label in values and other in values
    ]


def paired(rows: Sequence[JsonDict], measure: str, label: str, other: str) -> Estimate:
    """The mean difference `label` - `other` over the scenarios that both were run on."""
    return estimate(mine - theirs for mine, theirs in shared(rows, measure, label, other))
