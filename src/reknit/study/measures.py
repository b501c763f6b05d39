"""Every measure that a study knows: those of the flight, those of a run, those made of others.

The measures of a flight are declared in `reknit.flight.metrics`; what is known of a run besides,
and what is computed from stored figures, is declared here. The columns of a results file, the
tables, the axes of figures and the documentation are derived from `MEASURES`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any

from reknit.base.types import JsonDict
from reknit.flight.measures import Measure, measured, measures_of
from reknit.flight.metrics import FLIGHT_MEASURES
from reknit.plans.status import Status
from reknit.study.library.instances import instance


@dataclass(frozen=True)
class RunFacts:
    """What the measures of a run are computed from, beside its flight's metrics.

    Parameters
    ----------
    compute_s
        Computing time of the planner, of all its plans together, seconds.
    lower_bound_s
        Proven lower bound of T_rc, seconds; None where the damage is repeated.
    allowed_time_s
        T_max, seconds.
    replans, connected_share
        Of a recovery under further losses; None otherwise.
    """

    compute_s: float
    lower_bound_s: float | None
    allowed_time_s: float
    replans: int | None = None
    connected_share: float | None = None


@dataclass(frozen=True)
class RunMeasures:
    """The table of what is stored of a run beside its flight's metrics, given `RunFacts`."""

    compute_s: float = measured(
        lambda run: run.compute_s,
        "computing time of the planner, of one thread",
        axis="computing time",
        heading="computing (s)",
        log=True,
    )
    lower_bound_s: float | None = measured(
        lambda run: run.lower_bound_s,
        "proven: no plan takes less",
        axis="lower bound",
        heading="bound (s)",
    )
    allowed_time_s: float = measured(
        lambda run: run.allowed_time_s, "T_max, the allowed time", axis="allowed time"
    )
    replans: int | None = measured(
        lambda run: run.replans,
        "how often the planner was asked again, with `strikes`",
        axis="replans",
        heading="replans",
        form="{:.1f}",
    )
    connected_share: float | None = measured(
        lambda run: run.connected_share,
        "share of the time until the last reconnection with a connected swarm, with `strikes`",
        axis="share of time connected",
        heading="connected share",
        form="{:.2f}",
    )


@dataclass(frozen=True)
class DerivedMeasures:
    """The table of what is computed from a stored run when it is read, given its row."""

    gap_to_bound: float | None = measured(
        lambda row: _over(row["charged_time_s"], row["lower_bound_s"]),
        "charged time over the lower bound",
        axis="flown time over the bound",
        heading="over the bound",
        form="{:.1f} %",
        percent=True,
    )
    planned_gap: float | None = measured(
        lambda row: (
            _over(row["planned_time_s"] or None, row["lower_bound_s"])
            if row["status"] is not None and Status(row["status"]).is_connected
            else None
        ),
        "planned time over the lower bound, of connected plans",
        axis="planned time over the bound",
        percent=True,
    )
    best_known_s: float | None = measured(
        lambda row: _best_known_s(row["instance"]),
        "planned time of the best plan that the library has",
        axis="best known plan",
        heading="best known (s)",
    )
    over_best_known: float | None = measured(
        lambda row: _over(row["charged_time_s"], _best_known_s(row["instance"])),
        "charged time over that of the library's best plan",
        axis="flown time over the best known plan",
        heading="over the best known",
        form="{:.1f} %",
        percent=True,
    )
    time_to_reconnect_s: float = measured(
        lambda row: row["charged_time_s"] + row["compute_s"],
        "computing and flying, what an operator waits for",
        axis="computing and flying",
        log=True,
    )


RUN_MEASURES = measures_of(RunMeasures)
STORED = (*FLIGHT_MEASURES, *RUN_MEASURES)
"""The measures that a results file has a column of."""

DERIVED = measures_of(DerivedMeasures)
MEASURES: dict[str, Measure] = {line.name: line for line in (*STORED, *DERIVED)}
NUMBERS = tuple(name for name, line in MEASURES.items() if line.is_number)
"""Names of the measures that can be averaged and drawn."""

_DERIVED_NAMES = frozenset(item.name for item in fields(DerivedMeasures))


def figures_of(facts: RunFacts) -> JsonDict:
    """The stored measures of a run beside its flight's."""
    return {line.name: line.of(facts) for line in RUN_MEASURES}


def value(row: Mapping[str, Any], measure: str) -> float | None:
    """A measure of one stored run.

    Parameters
    ----------
    row
        The stored run.
    measure
        A name of `NUMBERS`.

    Returns
    -------
    float or None
        As kept: a share is not in per cent. None where the run failed or has none.
    """
    if not row["ok"]:
        return None
    figure = MEASURES[measure].of(row) if measure in _DERIVED_NAMES else row[measure]
    return None if figure is None else float(figure)


def documented(names: Collection[str] | None = None) -> str:
    """The table of measures for the documentation, as Markdown: of all, or of those named."""
    lines = ["| measure | unit | meaning | column of tables |", "| --- | --- | --- | --- |"]
    lines += [
        f"| `{line.name}` | {line.unit} | {line.meaning} | {line.heading} |"
        for line in MEASURES.values()
        if names is None or line.name in names
    ]
    return "\n".join(lines) + "\n"


def _over(time_s: float | None, best_s: float | None) -> float | None:
    """By which share a time exceeds the best one; None if either is missing or the best is 0."""
    return time_s / best_s - 1 if time_s is not None and best_s else None


def _best_known_s(name: str | None) -> float | None:
    return instance(name).best().recovery_time_s if name else None
