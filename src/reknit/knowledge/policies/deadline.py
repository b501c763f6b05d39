"""`POLICY+deadline`: any policy, with a promise behind it.

Every UAV knows the meeting place R_i of all (`rendezvous`) and the common time D at which it is to
be kept. It follows the policy in front as long as it can still be in time, and leaves when
``|R_i - p_i| / v >= D - t``. So at D everybody alive is in range of everybody else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from reknit.algorithms.parameters import Range, check_value
from reknit.knowledge.policies.protocols import Briefing, Orders, Pilot, Policy, View
from reknit.knowledge.policies.rendezvous import Meeting, meeting_of


@dataclass(frozen=True)
class Deadline:
    """A policy in front of the rendezvous.

    Parameters
    ----------
    policy
        What to do while there is time.
    patience
        D as a multiple of the rendezvous' own time, at least 1. More leaves the policy in front
        more freedom and promises less.
    """

    policy: Policy
    patience: Annotated[float, Range(least=1.0)] = 1.5

    def __post_init__(self) -> None:
        check_value("deadline.patience", self.patience, Annotated[float, Range(least=1.0)])

    def brief(self, briefing: Briefing) -> _DeadlinePilot:
        meeting = meeting_of(briefing)
        return _DeadlinePilot(
            self.policy.brief(briefing),
            briefing,
            meeting,
            self._due_s(briefing, meeting),
        )

    def promised_s(self, briefing: Briefing) -> float | None:
        meeting = meeting_of(briefing)
        if not meeting.is_sure:
            return None
        return briefing.alarm_delay_s + self._due_s(briefing, meeting)

    def _due_s(self, briefing: Briefing, meeting: Meeting) -> float:
        """From the alarm to D; a few steps more, since leaving waits for the next step."""
        return self.patience * meeting.time_s + 3.0 * briefing.step_s


class _DeadlinePilot:
    def __init__(self, pilot: Pilot, briefing: Briefing, meeting: Meeting, due_s: float) -> None:
        self._pilot, self._briefing = pilot, briefing
        self._meeting, self._due_s = meeting, due_s

    @property
    def replans(self) -> int:
        """Of the policy in front."""
        return self._pilot.replans

    def act(self, view: View) -> Orders:
        orders = self._pilot.act(view)
        belief, step_s = view.belief, self._briefing.step_s
        due_s = belief.alarm_s + self._due_s
        meet = self._meeting.targets + self._briefing.offset(belief.alarm_s)
        if view.now_s >= due_s + self._briefing.alarm_delay_s and self._meeting.is_sure:
            # Whoever lives is at its place now, so silence proves death again.
            silent = ~view.is_in_touch & (belief.position_s < due_s)
            belief.position_m[silent] = meet[silent]
            belief.position_s[silent] = view.now_s
        away = meet[view.members] - view.here
        speeds_mps = np.maximum(self._briefing.speeds_mps[view.members], 1e-9)  # anchors stay
        way_s = np.sqrt((away * away).sum(axis=1)) / speeds_mps
        leaves = way_s + 2.0 * step_s >= due_s - view.now_s
        if not leaves.any():
            return orders
        if orders.course is not None:  # flown by all or by none
            return Orders(meet[view.members])
        if orders.targets is not None:
            return Orders(np.where(leaves[:, None], meet[view.members], orders.targets))
        velocity = away / np.maximum(way_s, step_s)[:, None]
        wished = np.asarray(orders.velocities_mps)
        return Orders(velocities_mps=np.where(leaves[:, None], velocity, wished))
