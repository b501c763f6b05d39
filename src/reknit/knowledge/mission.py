"""`Mission`: where the swarm is and how it moves before the damage."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from reknit.base.errors import InvalidParameter
from reknit.base.types import FloatArray
from reknit.base.values import is_finite, real_numbers
from reknit.swarm.scenario import Scenario


@dataclass(frozen=True, eq=False)
class Mission:
    """A formation that translates as one body until somebody falls silent.

    Parameters
    ----------
    swarm
        Positions at time 0, range and speeds. Whoever its `destroyed` lists is lost at time 0.
    velocity_mps
        Velocity of the formation, metres per second; None hovers.
    waypoints
        Offsets from the start, metres, that the formation visits one after the other at
        `speed_mps`, and hovers at the last; instead of a velocity.
    speed_mps
        Speed along the waypoints, metres per second; default: half of the slowest UAV's.
    area
        Corners (low, high) of the allowed area, metres; None: anywhere.
    """

    swarm: Scenario
    velocity_mps: tuple[float, ...] | None = None
    waypoints: tuple[tuple[float, ...], ...] = ()
    speed_mps: float | None = None
    area: tuple[tuple[float, ...], tuple[float, ...]] | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        if not isinstance(self.swarm, Scenario):
            raise InvalidParameter("mission.swarm", self.swarm, "a reknit.Scenario")
        slowest = float(self.swarm.max_speed_mps.min())
        put(self, "waypoints", _points("mission.waypoints", self.waypoints, self.swarm.dim))
        if self.velocity_mps is not None and self.waypoints:
            raise InvalidParameter(
                "mission.velocity_mps",
                self.velocity_mps,
                "a velocity or waypoints, not both",
            )
        if self.velocity_mps is not None:
            velocity = _vector("mission.velocity_mps", self.velocity_mps, self.swarm.dim)
            if math.hypot(*velocity) > slowest:
                allowed = f"at most the slowest UAV's {slowest:g} m/s"
                raise InvalidParameter("mission.velocity_mps", self.velocity_mps, allowed)
            put(self, "velocity_mps", velocity)
        speed = self.speed_mps
        if speed is not None and not (is_finite(speed) and 0.0 < speed <= slowest):
            allowed = f"a number above 0, at most the slowest UAV's {slowest:g} m/s"
            raise InvalidParameter("mission.speed_mps", speed, allowed)
        if self.area is not None:
            corners = _points("mission.area", self.area, self.swarm.dim)
            if len(corners) != 2 or (np.asarray(corners[0]) > np.asarray(corners[1])).any():
                raise InvalidParameter("mission.area", self.area, "a low and a high corner")
            put(self, "area", corners)
        if len(self.swarm.anchors) and (self.velocity_mps is not None or self.waypoints):
            anchors = self.swarm.anchors.tolist()
            raise InvalidParameter("anchors", anchors, "none, or a mission that hovers")

    @property
    def _cruise_mps(self) -> float:
        """Speed along the waypoints."""
        return self.speed_mps or 0.5 * float(self.swarm.max_speed_mps.min())

    def offset(self, time_s: float) -> FloatArray:
        """How far the mission has carried the formation by a time.

        Parameters
        ----------
        time_s
            Seconds since the start.

        Returns
        -------
        FloatArray
            (dim,) translation since time 0, metres.
        """
        if self.velocity_mps is not None:
            return np.asarray(self.velocity_mps, dtype=np.float64) * time_s
        here = np.zeros(self.swarm.dim)
        left_m = self._cruise_mps * time_s
        for point in self.waypoints:
            leg = np.asarray(point, dtype=np.float64) - here
            length = float(np.linalg.norm(leg))
            if length > left_m:
                return np.asarray(here + leg * (left_m / length))
            here, left_m = here + leg, left_m - length
        return here

    def check_area(self, until_s: float) -> None:
        """Refuse a mission that leaves its allowed area before this time.

        Between two waypoints the formation flies straight and the area is convex, so it is
        enough to look at the beginning, the waypoints and the end.

        Parameters
        ----------
        until_s
            Seconds since the start.

        Raises
        ------
        InvalidParameter
            A UAV is outside; says which, where and when.
        """
        if self.area is None:
            return
        way_m = np.diff(np.asarray([np.zeros(self.swarm.dim), *self.waypoints]), axis=0)
        at_s = np.cumsum(np.linalg.norm(way_m, axis=1)) / self._cruise_mps
        low, high = (np.asarray(corner) for corner in self.area)
        for time_s in [0.0, *at_s[at_s < until_s].tolist(), until_s]:
            points = self.swarm.positions + self.offset(time_s)
            outside = np.flatnonzero(((points < low) | (points > high)).any(axis=1))
            if len(outside):
                uav, point = outside[0], points[outside[0]].round(1).tolist()
                where = f"UAV {self.swarm.label(int(uav))} is at {point} after {time_s:g} s"
                allowed = f"an area that the mission does not leave; {where}"
                raise InvalidParameter("mission.area", self.area, allowed)


def mission_of(value: Any) -> Mission:
    """A mission as it is; a scenario as a mission that hovers."""
    if isinstance(value, Mission):
        return value
    if isinstance(value, Scenario):
        return Mission(value)
    raise InvalidParameter("mission", value, "a Scenario or a Mission")


def _points(name: str, value: Any, dim: int) -> tuple[tuple[float, ...], ...]:
    """Points that are given as a list or as the rows of an array."""
    if not isinstance(value, (list, tuple, np.ndarray)) or np.ndim(value) == 0:
        raise InvalidParameter(name, value, f"a list of points of {dim} finite numbers")
    return tuple(_vector(f"{name}[{number}]", point, dim) for number, point in enumerate(value))


def _vector(name: str, value: Any, dim: int) -> tuple[float, ...]:
    vector = real_numbers(value)
    if vector is None or vector.shape != (dim,) or not np.isfinite(vector).all():
        raise InvalidParameter(name, value, f"{dim} finite numbers")
    return tuple(vector.tolist())
