"""How good a plan is; the text is fit to show."""

from __future__ import annotations

from enum import StrEnum

OPTIMALITY_GAP = 0.001
"""A plan within this of its bound counts as optimal."""


class Status(StrEnum):
    """What is known of a plan."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    DEADLINE = "deadline"
    ALREADY_CONNECTED = "already connected"
    NOT_CONNECTED = "not connected"
    NOT_FOUND = "not found"
    INFEASIBLE = "infeasible (proved)"

    @property
    def is_connected(self) -> bool:
        """Whether the plan's targets form one network that meets the scenario's demands."""
        return self in _CONNECTED


_CONNECTED = frozenset({Status.OPTIMAL, Status.FEASIBLE, Status.DEADLINE, Status.ALREADY_CONNECTED})
