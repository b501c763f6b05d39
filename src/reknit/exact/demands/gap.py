"""What a search for a demanding plan knows at one moment: plan, bound and what proves it."""

from __future__ import annotations

from dataclasses import dataclass

from reknit.base.types import FloatArray
from reknit.plans.certificate import Certificate


@dataclass(frozen=True, eq=False)
class GapState:
    """The best plan and the best bound so far.

    Parameters
    ----------
    time_s, targets
        The plan.
    bound_s
        No plan takes less, seconds.
    certificate
        What proves it, if this search does.
    """

    time_s: float
    targets: FloatArray
    bound_s: float
    certificate: Certificate | None = None

    def is_proved(self, closeness: float) -> bool:
        """Whether the bound is within this part of the plan's time, so that nothing is left to
        gain.
        """
        return self.bound_s >= self.time_s * (1.0 - closeness)
