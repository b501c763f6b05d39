"""How long work tells how far it is."""

from __future__ import annotations

from collections.abc import Callable

from reknit.base.types import FloatArray

Progress = Callable[[float, str], None]
"""Told how much is done (0 to 1) and what is being done; the text may be a `Report`."""


class Report(str):
    """A message of a planner at work, with what a picture of that moment needs.

    Attributes
    ----------
    targets
        (N_R, dim) where the survivors would fly, metres; None where nothing is known.
    recovery_time_s
        Planned time of the best plan so far, seconds; None while there is none.
    lower_bound_s
        What is proved so far: no plan takes less, seconds; None where nothing is proved.
    """

    __slots__ = ("lower_bound_s", "recovery_time_s", "targets")
    targets: FloatArray | None
    recovery_time_s: float | None
    lower_bound_s: float | None

    def __new__(
        cls,
        text: str,
        targets: FloatArray | None = None,
        recovery_time_s: float | None = None,
        lower_bound_s: float | None = None,
    ) -> Report:
        report = super().__new__(cls, text)
        report.targets = targets
        report.recovery_time_s = recovery_time_s
        report.lower_bound_s = lower_bound_s
        return report


def silent(fraction: float, message: str) -> None:
    """A `Progress` that nobody looks at."""
