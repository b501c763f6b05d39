"""What a policy is: what it is told in advance, what it sees, what it orders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from reknit.base.errors import InvalidParameter
from reknit.base.types import BoolArray, FloatArray, IntArray
from reknit.knowledge.belief import Belief, Knowledge, Mind, Patience
from reknit.knowledge.motion import Course
from reknit.swarm.scenario import Scenario

__all__ = [
    "Belief",
    "Briefing",
    "Course",
    "Knowledge",
    "Orders",
    "Patience",
    "Pilot",
    "Policy",
    "View",
]
"""What policies of one's own are made of; all else here may change."""


@dataclass(frozen=True, eq=False)
class Briefing:
    """What every UAV knows before the damage.

    Attributes
    ----------
    swarm
        The swarm at time 0 as everybody knows it, and what is demanded of it: reported
        positions, nobody lost.
    speeds_mps
        (N,) v_max; 0 for anchors.
    error_bound_m
        No UAV's navigation is wrong by more.
    alarm_delay_s
        Everybody has noticed a split within this time of it.
    patience
        Somebody not heard of for longer is out of touch.
    step_s
        Time between two looks at the orders.
    seed
        Of what a policy draws.
    offset
        Translation of the formation by the mission since time 0, metres, at a time.
    drift_m
        How far the mission may carry the formation while not everybody has noticed a split.
    is_told_all
        Whether all UAVs share what a station tells them (the global channel).
    has_station
        Whether somebody may be in touch through a station, without a link.
    """

    swarm: Scenario
    speeds_mps: FloatArray
    error_bound_m: float
    alarm_delay_s: float
    patience: Patience
    step_s: float
    seed: int
    offset: Callable[[float], FloatArray]
    drift_m: float = 0.0
    is_told_all: bool = False
    has_station: bool = False

    @property
    def snapshot(self) -> FloatArray:
        """(N, dim) reported positions of all UAVs at time 0, metres."""
        return self.swarm.positions

    @property
    def range_m(self) -> float:
        """d_tr: who is so near is heard."""
        return self.swarm.radio_range_m

    @property
    def link_m(self) -> float:
        """The length a link may have that counts: d_tr less what is demanded."""
        return self.swarm.planning_range_m

    @property
    def allowed_time_s(self) -> float:
        """T_max of the swarm."""
        return self.swarm.allowed_time_s


@dataclass(frozen=True, eq=False)
class View:
    """What one mind sees now. A policy may read this and its own memory, nothing else.

    Attributes
    ----------
    now_s
        Seconds since the start.
    members
        Ids of the UAVs that share the mind and get its orders.
    here
        (m, dim) where each member takes itself for being.
    belief
        The shared belief. A policy may note presumptions and announce targets in it.
    memory
        The policy's own, kept from step to step.
    crew
        Ids of all UAVs whose news come as quickly as over the radio, the members among them.
    status
        (N,) what is held of every UAV now, a `Knowledge` each.
    """

    now_s: float
    members: IntArray
    here: FloatArray
    belief: Belief
    memory: dict[str, Any]
    crew: IntArray
    status: IntArray

    @property
    def leads(self) -> bool:
        """Whether the UAV with the smallest id of all in touch is a member: it plans for all."""
        return len(self.crew) > 0 and bool((self.members == self.crew[0]).any())

    @property
    def is_in_touch(self) -> BoolArray:
        """(N,) who is in touch."""
        mask = np.zeros(self.belief.uavs, dtype=bool)
        mask[self.crew] = True
        return mask


def view_of(
    mind: Mind, here: FloatArray, now_s: float, patience: Patience, is_told_all: bool = False
) -> View:
    """What a mind sees. News of a slow station make nobody a member of the crew: it knows that
    they live, but orders for them would come as late as the news.

    Where all share what a station tells, nobody is known to live but by its table: whoever it
    holds to be off-line computes the same plan as the others, in which it is missing.
    """
    in_touch = mind.belief.in_touch(now_s, patience.as_by_radio)
    status = mind.belief.status(now_s, patience)
    if not is_told_all:
        in_touch[mind.members] = True
        status[mind.members] = 0
    crew = np.flatnonzero(in_touch)
    return View(now_s, mind.members, here, mind.belief, mind.memory, crew, status)


@dataclass(frozen=True, eq=False)
class Orders:
    """Where the members fly: one of targets, velocities and a course. Anchors stay in any case.

    Attributes
    ----------
    targets
        (m, dim) metres, in the order of the members, flown to straight at v_max.
    velocities_mps
        (m, dim), for the next step.
    course
        Where they are a time after it was first ordered; the same object goes on.
    is_at_rest
        Whether nobody moves by this order any more, until the belief changes: where every change
        is told at once, nobody need be asked before.
    """

    targets: FloatArray | None = None
    velocities_mps: FloatArray | None = None
    course: Course | None = None
    is_at_rest: bool = False


class Pilot(Protocol):
    """A policy at work. It must keep nothing but what follows from the briefing: what it learns
    on the way goes into the view's memory, which belongs to one mind.
    """

    @property
    def replans(self) -> int:
        """How often a plan was made; a count for the record."""
        ...

    def act(self, view: View) -> Orders:
        """Orders for the members.

        Parameters
        ----------
        view
            What their mind sees now.

        Returns
        -------
        Orders
            Where they fly until the next look.
        """
        ...


@runtime_checkable
class Policy(Protocol):
    """What UAVs do with what they know."""

    def brief(self, briefing: Briefing) -> Pilot:
        """Begin.

        Parameters
        ----------
        briefing
            What every UAV knows before the damage.

        Returns
        -------
        Pilot
            What gives the orders from now on.
        """
        ...

    def promised_s(self, briefing: Briefing) -> float | None:
        """The network is whole at most so long after the damage, whatever it was.

        Parameters
        ----------
        briefing
            What every UAV knows before the damage.

        Returns
        -------
        float or None
            Seconds; None: no promise.
        """
        ...


def checked(orders: Orders, name: str, members: IntArray, speeds_mps: FloatArray) -> Orders:
    """Orders that can be flown; raises `InvalidParameter` for others."""
    for field_name in ("targets", "velocities_mps"):
        value = getattr(orders, field_name)
        if value is None:
            continue
        array = np.asarray(value, dtype=np.float64)
        where = f"{field_name} of policy {name!r}"
        if array.ndim != 2 or len(array) != len(members):
            raise InvalidParameter(where, f"of shape {array.shape}", f"{len(members)} rows")
        bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
        if len(bad):
            allowed = f"finite numbers for UAV {members[bad[0]]}"
            raise InvalidParameter(where, array[bad[0]].tolist(), allowed)
        if field_name == "velocities_mps":
            speed = np.sqrt((array * array).sum(axis=1))
            fast = np.flatnonzero(speed > speeds_mps[members] * (1.0 + 1e-9))
            if len(fast):
                limit = float(speeds_mps[members[fast[0]]])
                raise InvalidParameter(where, f"{speed[fast[0]]:g} m/s", f"at most {limit:g} m/s")
    given = [item is not None for item in (orders.targets, orders.velocities_mps, orders.course)]
    if sum(given) != 1 or (orders.course is not None and not callable(orders.course)):
        allowed = "one of targets, velocities and a course"
        raise InvalidParameter(f"orders of policy {name!r}", orders, allowed)
    return orders
