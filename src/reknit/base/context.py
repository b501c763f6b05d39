"""What a planner is given beside the scenario."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from reknit.base.budget import Budget
from reknit.base.errors import InvalidParameter
from reknit.base.progress import Progress, silent
from reknit.base.types import FloatArray
from reknit.base.values import check_callable, check_seed

Cancel = Callable[[], bool]
"""Asked now and then while work is done; true: stop at once with what there is."""


def never() -> bool:
    """A `Cancel` that never asks to stop."""
    return False


@dataclass(frozen=True)
class Context:
    """Seed, limits and listeners of one call of a planner.

    Parameters
    ----------
    seed
        Of everything random.
    budget
        Limit on computing time.
    progress
        Told how far the work is.
    cancel
        Asked whether to stop; see `is_over`.
    warm_start
        (N_R, dim) targets of an earlier plan to begin from, in metres, or None.
    """

    seed: int = 0
    budget: Budget = field(default_factory=Budget)
    progress: Progress = silent
    cancel: Cancel = never
    warm_start: FloatArray | None = None

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if not isinstance(self.budget, Budget):
            raise InvalidParameter("budget", self.budget, "a reknit.Budget")
        check_callable(progress=self.progress, cancel=self.cancel)
        if self.warm_start is not None and not isinstance(self.warm_start, np.ndarray):
            raise InvalidParameter("warm_start", self.warm_start, "None or an array of targets")

    @cached_property
    def rng(self) -> np.random.Generator:
        """The only source of randomness: one stream that starts from the seed."""
        return np.random.default_rng(self.seed)

    def with_changes(self, **changes: Any) -> Context:
        """Another context for part of the same call: what is random in it goes on in the stream
        of this one, rather than repeat its beginning.

        Parameters
        ----------
        changes
            Fields that differ; another `seed` begins a stream of its own.

        Returns
        -------
        Context
            The changed one; this one stays as it is.
        """
        changed = replace(self, **changes)
        if "seed" not in changes:
            changed.__dict__["rng"] = self.rng  # where the cached property keeps it
        return changed

    @property
    def has_limits(self) -> bool:
        """Whether the call may end by time or by the caller, and so need not be reproducible."""
        return self.budget.seconds is not None or self.cancel is not never

    @property
    def is_over(self) -> bool:
        """Whether to stop now: the budget has passed or the caller has cancelled."""
        return self.budget.is_over or self.cancel()
