"""Means with intervals, over runs and over paired differences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from reknit.base.types import JsonDict
from reknit.study.library.instances import instance


@dataclass(frozen=True)
class Estimate:
    """A mean of n values with its standard deviation and the half width of its 95 % interval."""

    mean: float
    deviation: float
    half_width: float
    count: int

    def __str__(self) -> str:
        if self.count == 0:
            return "-"
        if self.count == 1:
            return plain(self.mean)
        return f"{plain(self.mean)} ± {plain(self.half_width, 2)}"


def plain(number: float, digits: int = 3) -> str:
    """A number to so many digits, without an exponent; no minus before a zero."""
    if abs(number) >= 10 ** (digits - 1):
        return f"{number:.0f}"
    return f"{number:.{digits}g}" if abs(number) >= 1e-4 else "0"


def estimate(values: Iterable[float | None]) -> Estimate:
    """Student's t interval of the mean, over the values that are there."""
    numbers = np.array([value for value in values if value is not None], dtype=np.float64)
    count = len(numbers)
    if count == 0:
        return Estimate(math.nan, math.nan, math.nan, 0)
    deviation = float(numbers.std(ddof=1)) if count > 1 else 0.0
    width = float(stdtrit(count - 1, 0.975)) * deviation / math.sqrt(count) if count > 1 else 0.0
    return Estimate(float(numbers.mean()), deviation, width, count)


def share_interval(share: float, count: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share: within 0 and 1, and not empty at either end."""
    z = 1.959964
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    spread = share * (1 - share) / count + z * z / (4 * count * count)
    half = z * math.sqrt(spread) / (1 + z * z / count)
    return min(share, middle - half), max(share, middle + half)


def value(row: JsonDict, measure: str) -> float | None:
    """A measure of one stored run; some are made of others.

    gap_to_bound        charged time / lower bound - 1.
    planned_gap         planned time / lower bound - 1, of connected plans.
    best_known_s        planned time of the library's best plan.
    over_best_known     charged time / that time - 1.
    time_to_reconnect_s computing and flying, what an operator waits for.
    """
    if not row["ok"]:
        return None
    bound_s = row["lower_bound_s"]
    if measure == "gap_to_bound":
        return row["charged_time_s"] / bound_s - 1 if bound_s else None
    if measure == "planned_gap":
        planned_s = row["planned_time_s"]
        connected = row["status"] not in (None, "not connected", "not found")
        return planned_s / bound_s - 1 if bound_s and planned_s and connected else None
    if measure == "time_to_reconnect_s":
        return float(row["charged_time_s"] + row["compute_s"])
    if measure in ("best_known_s", "over_best_known"):
        if not row["instance"]:
            return None
        best_s = instance(row["instance"]).best().recovery_time_s
        return best_s if measure == "best_known_s" else row["charged_time_s"] / best_s - 1
    if measure in ("replans", "connected_share"):
        found = (row["details"] or {}).get(measure)
        return None if found is None else float(found)
    found = row[measure]
    return None if found is None else float(found)


def shared(
    rows: Sequence[JsonDict], measure: str, label: str, other: str
) -> list[tuple[float, float]]:
    """A measure of two planners on every scenario that both were run on."""
    by_case: dict[tuple[object, ...], dict[str, float]] = {}
    for row in rows:
        found = value(row, measure)
        if found is not None:
            case = tuple(row[name] for name in CASE_COLUMNS)
            by_case.setdefault(case, {})[row["label"]] = found
    return [
        (case[label], case[other]) for case in by_case.values() if label in case and other in case
    ]


def paired(rows: Sequence[JsonDict], measure: str, label: str, other: str) -> Estimate:
    """The mean difference `label` - `other` over the scenarios that both were run on."""
    return estimate(mine - theirs for mine, theirs in shared(rows, measure, label, other))


CASE_COLUMNS = ("uavs", "destroyed", "layout", "damage", "dim", "instance", "seed")
