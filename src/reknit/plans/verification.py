"""What the checker looked at in a plan that passed."""

from __future__ import annotations

from dataclasses import dataclass

from reknit.base.words import counted
from reknit.plans.status import Status


@dataclass(frozen=True)
class Verification:
    """The account of a check that found nothing wrong.

    Attributes
    ----------
    status
        The plan's status, which its targets and its bound deserve.
    recovery_time_s, lower_bound_s
        Both recomputed from the scenario's positions, seconds.
    survivors
        How many targets there are.
    unmet
        Demands that the targets do not meet; empty unless the status says so.
    allowed_time_s
        How long a flight may take to count as a recovery, seconds; the status is about the
        targets, whose flight may be longer.
    kind
        What proves the bound, in words.
    cases, clashes, vectors
        Size of the proof: rows of its tree of cases, sets of links that take too long, and
        vectors that show it.
    exact
        How many of the proof's inequalities float64 could not decide and were evaluated in whole
        numbers.
    """

    status: Status
    recovery_time_s: float
    lower_bound_s: float
    survivors: int
    unmet: tuple[str, ...]
    allowed_time_s: float
    kind: str
    cases: int
    clashes: int
    vectors: int
    exact: int

    def lines(self) -> list[str]:
        """The account in sentences fit to show."""
        unmet = "not met: " + "; ".join(self.unmet)
        met = unmet if self.unmet else "every demand on targets is met"
        is_late = self.recovery_time_s > self.allowed_time_s
        limit = f"{'more than' if is_late else 'within'} the allowed {self.allowed_time_s:.6g} s"
        size = ", ".join(
            (
                counted(self.cases, "case"),
                counted(self.clashes, "clash", "clashes"),
                counted(self.vectors, "vector"),
            )
        )
        exact = counted(self.exact, "inequality", "inequalities")
        return [
            f"targets: {self.survivors}, finite and within the limits; {met}",
            f"time: {self.recovery_time_s:.6g} s, the farthest flight at full speed, {limit}",
            f"bound: {self.lower_bound_s:.6g} s, proved by {self.kind} ({size}; "
            f"{exact} in exact arithmetic)",
            f"status: {self.status.value}, as the targets and the bound deserve",
            "a plan file holds nothing else",
        ]
