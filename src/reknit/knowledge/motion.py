"""How UAVs follow orders: straight to a target, at a velocity for one step, or on a course."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reknit.base.errors import InvalidParameter
from reknit.base.types import BoolArray, FloatArray, IntArray
from reknit.flight.motion import Leg

Course = Callable[[float], FloatArray]
"""(m, dim) metres: where some UAVs are so many seconds after they set out."""


class TrueMotion:
    """The true motion of all N UAVs. Times count from the beginning of a phase.

    A UAV that keeps its target keeps the origin of its flight as well, so that its position is
    always ``origin + velocity (t - begin)`` and no rounding errors add up.
    """

    def __init__(self, positions: FloatArray, speeds_mps: FloatArray) -> None:
        uavs = len(positions)
        self.positions = positions.copy()
        self._speeds = speeds_mps
        self._origin = positions.copy()
        self._target = positions.copy()
        self._velocity = np.zeros_like(positions)
        self._begin_s = np.zeros(uavs)
        self._arrival_s = np.zeros(uavs)
        self._course = np.full(uavs, -1, dtype=np.int64)
        self._courses: list[tuple[IntArray, Course, FloatArray, float]] = []

    def fly_to(self, ids: IntArray, targets: FloatArray, time_s: float) -> None:
        """New targets; who has this target already flies on."""
        changed = (self._target[ids] != targets).any(axis=1)
        ids, targets = ids[changed], targets[changed]
        if len(ids) == 0:
            return
        here = self.positions[ids]
        away = targets - here
        distance = np.sqrt((away * away).sum(axis=1))
        speed = self._speeds[ids]
        scale = np.divide(speed, distance, out=np.zeros_like(speed), where=distance > 0)
        self._course[ids] = -1
        self._origin[ids], self._target[ids] = here, targets
        self._velocity[ids] = away * scale[:, None]
        self._begin_s[ids] = time_s
        self._arrival_s[ids] = distance / speed

    def steer(self, ids: IntArray, velocities_mps: FloatArray, time_s: float) -> None:
        """Fly at these velocities until told otherwise."""
        self._origin[ids] = self.positions[ids]
        self._velocity[ids] = velocities_mps
        self._begin_s[ids] = time_s
        self._arrival_s[ids] = np.inf
        self._target[ids] = np.nan
        self._course[ids] = -1

    def follow(self, ids: IntArray, course: Course, errors: FloatArray, time_s: float) -> None:
        """Fly a course, which begins now, by a navigation with these errors; who is on it
        already flies on.
        """
        if self._courses and self._courses[-1][1] is course:
            return
        self.steer(ids, np.zeros_like(self.positions[ids]), time_s)
        self._course[ids] = len(self._courses)
        self._courses.append((ids, course, errors, time_s))

    def begin_phase(self, time_s: float) -> None:
        """Count times from now on from this time of the phase before."""
        self._begin_s -= time_s
        self._courses = [
            (ids, course, errors, begin_s - time_s)
            for ids, course, errors, begin_s in self._courses
        ]

    def leg(
        self, alive: BoolArray, time_s: float, duration_s: float, end_s: float | None = None
    ) -> Leg:
        """The motion of the living from a time of the phase on.

        Parameters
        ----------
        alive
            (N,) who flies.
        time_s, duration_s
            When the leg begins, and how long it lasts.
        end_s
            Its end, where that is known better than as the sum of the two.
        """
        ids = np.flatnonzero(alive)
        begin_s, arrival_s = self._begin_s[ids], self._arrival_s[ids]
        before_s = time_s - begin_s
        after_s = np.where(before_s == 0.0, duration_s, (time_s + duration_s) - begin_s)
        flying = arrival_s > before_s
        moved = self._origin[ids] + self._velocity[ids] * after_s[:, None]
        end = np.where((arrival_s <= after_s)[:, None], self._target[ids], moved)
        velocity = np.where(flying[:, None], self._velocity[ids], 0.0)
        for number in np.unique(self._course[ids]):
            if number >= 0:
                sailing, course, errors, set_out_s = self._courses[number]
                after_all_s = time_s + duration_s if end_s is None else end_s
                there = np.asarray(course(after_all_s - set_out_s), dtype=np.float64) - errors
                on_it = self._course[ids] == number
                end[on_it] = there[np.isin(sailing, ids[on_it])]
                moved_m = end[on_it] - self.positions[ids[on_it]]
                velocity[on_it] = moved_m / duration_s if duration_s > 0.0 else 0.0
                self._check_way(ids[on_it], moved_m, duration_s)
        return Leg(
            start=self.positions[ids],
            velocity=velocity,
            stop_s=np.maximum(arrival_s - before_s, 0.0),
            duration_s=duration_s,
            end=end,
        )

    def _check_way(self, ids: IntArray, moved_m: FloatArray, duration_s: float) -> None:
        way_m = np.sqrt((moved_m * moved_m).sum(axis=1))
        limit_m = self._speeds[ids] * duration_s
        bad = np.flatnonzero(~(way_m <= limit_m + 1e-6))
        if len(bad):
            where, allowed = f"course of UAV {ids[bad[0]]}", f"at most {limit_m[bad[0]]:g} m"
            shown = f"{way_m[bad[0]]:g} m in {duration_s:g} s"
            raise InvalidParameter(where, shown, allowed)

    def advance(self, alive: BoolArray, end: FloatArray) -> None:
        """The living are here now."""
        self.positions[alive] = end
