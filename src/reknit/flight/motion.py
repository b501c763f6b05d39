"""How survivors move: piecewise linear in time, one leg per step.

Inertia is neglected, as in the paper, unless an acceleration limit is set; then the velocity
changes by at most ``a dt`` from one step to the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from reknit.base.errors import InvalidParameter
from reknit.base.types import FloatArray, IntArray
from reknit.base.values import finite_numbers
from reknit.flight.controller import Controller
from reknit.swarm.scenario import Scenario


@dataclass(frozen=True, eq=False)
class Leg:
    """Motion during one step: from `start` at `velocity`, each UAV until its `stop_s`.

    Times count from the beginning of the leg. `end` is where everyone is after `duration_s`.
    """

    start: FloatArray
    velocity: FloatArray
    stop_s: FloatArray
    duration_s: float
    end: FloatArray

    def at(self, time_s: float) -> FloatArray:
        """Positions at a time within the leg."""
        if time_s >= self.duration_s:
            return self.end
        moving = self.start + self.velocity * time_s
        return np.where((self.stop_s <= time_s)[:, None], self.end, moving)

    def until(self, time_s: float) -> Leg:
        """The beginning of this leg, up to a time within it."""
        return Leg(self.start, self.velocity, self.stop_s, time_s, self.at(time_s))

    def pieces(self, pairs: IntArray) -> Iterator[PairPiece]:
        """The relative motion of pairs: linear until one of the two stops, then until the other
        does, then at rest; three pieces, some of no length.
        """
        left, right = pairs[:, 0], pairs[:, 1]
        stop_left = np.minimum(self.stop_s[left], self.duration_s)
        stop_right = np.minimum(self.stop_s[right], self.duration_s)
        low = np.zeros(len(pairs))
        ends = np.minimum(stop_left, stop_right), np.maximum(stop_left, stop_right)
        for high in (*ends, np.full(len(pairs), self.duration_s)):
            if (high <= low).all() and low.any():
                continue
            here = self.start[left] + self.velocity[left] * np.minimum(low, stop_left)[:, None]
            there = self.start[right] + self.velocity[right] * np.minimum(low, stop_right)[:, None]
            v_left = np.where((stop_left > low)[:, None], self.velocity[left], 0.0)
            v_right = np.where((stop_right > low)[:, None], self.velocity[right], 0.0)
            yield PairPiece(low, high, here - there, v_left - v_right)
            low = high

    @property
    def path_lengths_m(self) -> FloatArray:
        """Metres flown by each UAV."""
        return _norm(self.velocity) * np.minimum(self.stop_s, self.duration_s)

    @property
    def is_still(self) -> bool:
        """Whether nobody moves."""
        return not self.velocity.any()


@dataclass(frozen=True, eq=False)
class PairPiece:
    """Pairs of UAVs, each with its own time span, in which the offset between the two is
    ``offset + velocity (t - low_s)``.
    """

    low_s: FloatArray
    high_s: FloatArray
    offset: FloatArray
    velocity: FloatArray


class Motion(Protocol):
    """Something that yields one leg after the other."""

    @property
    def is_over(self) -> bool:
        """Whether everyone has arrived for good."""
        ...

    def next_leg(self, duration_s: float) -> Leg:
        """Move on by one step."""
        ...


class StraightFlight:
    """Every survivor flies straight to its target at v_max, then hovers."""

    def __init__(self, scenario: Scenario, targets: FloatArray) -> None:
        self._origin = scenario.survivor_positions
        self._targets = targets
        distance = _norm(targets - self._origin)
        speed = scenario.max_speed_mps[scenario.survivors]
        self._arrival_s = distance / speed
        scale = np.divide(speed, distance, out=np.zeros_like(speed), where=distance > 0)
        self._velocity = (targets - self._origin) * scale[:, None]
        self._time_s = 0.0
        self._here = self._origin

    @property
    def is_over(self) -> bool:
        return bool((self._arrival_s <= self._time_s).all())

    def next_leg(self, duration_s: float) -> Leg:
        before_s = self._time_s
        after_s = before_s + duration_s
        flying = self._arrival_s > before_s
        end = np.where(
            (self._arrival_s <= after_s)[:, None],
            self._targets,
            self._origin + self._velocity * after_s,
        )
        leg = Leg(
            start=self._here,
            velocity=np.where(flying[:, None], self._velocity, 0.0),
            stop_s=np.maximum(self._arrival_s - before_s, 0.0),
            duration_s=duration_s,
            end=end,
        )
        self._time_s, self._here = after_s, end
        return leg


class SteeredFlight:
    """A controller sets the velocities of every step; the speed limits cap them."""

    def __init__(self, scenario: Scenario, controller: Controller) -> None:
        self._controller = controller
        self._limit_mps = scenario.survivor_speeds_mps
        self._here = scenario.survivor_positions
        self._time_s = 0.0

    @property
    def is_over(self) -> bool:
        return False

    def next_leg(self, duration_s: float) -> Leg:
        wish = wished_mps(self._controller, self._here, self._time_s, duration_s)
        velocity = capped(wish, self._limit_mps)
        leg = _straight_leg(self._here, velocity, duration_s)
        self._time_s, self._here = self._time_s + duration_s, leg.end
        return leg


class GentleFlight:
    """Flies to targets, or as a controller wishes, with an acceleration limit."""

    def __init__(
        self,
        scenario: Scenario,
        goal: FloatArray | Controller,
        max_acceleration_mps2: float,
    ) -> None:
        self._goal = goal
        self._limit_mps = scenario.survivor_speeds_mps
        self._acceleration = max_acceleration_mps2
        self._here = scenario.survivor_positions
        self._velocity = np.zeros_like(self._here)
        self._time_s = 0.0

    @property
    def is_over(self) -> bool:
        if not isinstance(self._goal, np.ndarray):
            return False
        return bool(np.array_equal(self._here, self._goal))

    def next_leg(self, duration_s: float) -> Leg:
        change_limit = np.full(len(self._here), self._acceleration * duration_s)
        wish = self._wish(duration_s)
        velocity = self._velocity + capped(wish - self._velocity, change_limit)
        velocity = capped(velocity, self._limit_mps)
        leg = _straight_leg(self._here, velocity, duration_s)
        if isinstance(self._goal, np.ndarray):
            # A landing leg ends on the target itself, not a rounding error beside it.
            landing = _norm(leg.end - self._goal) <= 1e-9
            leg = Leg(
                leg.start,
                velocity,
                leg.stop_s,
                duration_s,
                np.where(landing[:, None], self._goal, leg.end),
            )
        self._time_s, self._here, self._velocity = self._time_s + duration_s, leg.end, velocity
        return leg

    def _wish(self, duration_s: float) -> FloatArray:
        """Towards the target, no faster than can be braked: ``v (v / a + dt) / 2 <= rest``."""
        if not isinstance(self._goal, np.ndarray):
            return wished_mps(self._goal, self._here, self._time_s, duration_s)
        rest = self._goal - self._here
        rest_m = _norm(rest)
        half = self._acceleration * duration_s / 2.0
        brake_mps = np.sqrt(half * half + 2.0 * self._acceleration * rest_m) - half
        speed = np.minimum(np.minimum(brake_mps, rest_m / duration_s), self._limit_mps)
        scale = np.divide(speed, rest_m, out=np.zeros_like(rest_m), where=rest_m > 0)
        return np.asarray(rest * scale[:, None])


def wished_mps(
    controller: Controller, positions: FloatArray, time_s: float, step_s: float
) -> FloatArray:
    """(N_R, dim) velocities that a controller asks for, checked: it may be anybody's code."""
    wish = controller(positions, time_s, step_s)
    try:
        return finite_numbers(wish, positions.shape)
    except ValueError as fault:
        told = f"velocities {fault} at {time_s:g} s"
        allowed = f"finite numbers of shape {positions.shape}"
        raise InvalidParameter("controller", told, allowed) from None


def capped(vectors: FloatArray, limit: FloatArray) -> FloatArray:
    """Rows shortened to their limit."""
    size = _norm(vectors)
    scale = np.ones_like(size)
    np.divide(limit, size, out=scale, where=size > limit)
    return np.asarray(vectors * scale[:, None])


def _straight_leg(here: FloatArray, velocity: FloatArray, duration_s: float) -> Leg:
    never = np.full(len(here), np.inf)
    return Leg(here, velocity, never, duration_s, here + velocity * duration_s)


def _norm(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=1)))
