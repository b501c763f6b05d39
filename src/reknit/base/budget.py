"""A limit on computing time."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from reknit.base.errors import InvalidParameter
from reknit.base.values import is_finite


@dataclass(frozen=True)
class Budget:
    """A limit on computing time, from the moment it is made.

    Parameters
    ----------
    seconds
        How long, in seconds of wall time; None: no limit.
    """

    seconds: float | None = None
    _started_s: float = field(default_factory=lambda: time.perf_counter(), repr=False)

    def __post_init__(self) -> None:
        if self.seconds is not None and not (is_finite(self.seconds) and self.seconds >= 0):
            allowed = "None or a finite number of at least 0"
            raise InvalidParameter("budget_s", self.seconds, allowed)

    @property
    def elapsed_s(self) -> float:
        """Time since the budget was made, seconds."""
        return time.perf_counter() - self._started_s

    @property
    def left_s(self) -> float:
        """Time left, seconds; infinite without a limit, negative once it is over."""
        return np.inf if self.seconds is None else self.seconds - self.elapsed_s

    @property
    def is_over(self) -> bool:
        """Whether the limit has passed."""
        return self.left_s <= 0
