"""Means and shares with their 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit


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
