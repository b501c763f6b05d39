"""How good a plan is; the text is fit to show."""

from __future__ import annotations

from enum import StrEnum

OPTIMALITY_GAP = 0.001
"""A plan within this of its bound counts as optimal."""


class Status(StrEnum):
    """What is known of a plan."""

    OPTIMAL = "optimal"
    """Every demand is met, within `OPTIMALITY_GAP` of the proved bound."""

    FEASIBLE = "feasible"
    """Every demand is met."""

    DEADLINE = "deadline"
    """Every demand is met, and the search ended by the budget or the caller."""

    ALREADY_CONNECTED = "already connected"
    """Nobody needs to move."""

    NOT_CONNECTED = "not connected"
    """The targets miss a demand."""

    NOT_FOUND = "not found"
    """No plan was found, and none is claimed: nobody moves."""

    INFEASIBLE = "infeasible (proved)"
    """No plan can meet the demands; the certificate proves it."""

    @property
    def is_connected(self) -> bool:
        """Whether the plan's targets form one network that meets the scenario's demands."""
        return self in _CONNECTED

    @property
    def is_plan(self) -> bool:
        """Whether there are targets at all; without any nobody moves, which takes no time."""
        return self not in (Status.NOT_FOUND, Status.INFEASIBLE)


_CONNECTED = frozenset({Status.OPTIMAL, Status.FEASIBLE, Status.DEADLINE, Status.ALREADY_CONNECTED})
