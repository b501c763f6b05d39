"""How UAVs follow orders: straight to a target and hover, or at a velocity for one step."""

from __future__ import annotations

import numpy as np

from reknit.base.types import BoolArray, FloatArray, IntArray
from reknit.flight.motion import Leg


class Motion:
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

    def begin_phase(self, time_s: float) -> None:
        """Count times from now on from this time of the phase before."""
        self._begin_s -= time_s

    def leg(self, alive: BoolArray, time_s: float, duration_s: float) -> Leg:
        """The motion of the living from a time of the phase on."""
        ids = np.flatnonzero(alive)
        begin_s, arrival_s = self._begin_s[ids], self._arrival_s[ids]
        before_s = time_s - begin_s
        after_s = np.where(before_s == 0.0, duration_s, (time_s + duration_s) - begin_s)
        flying = arrival_s > before_s
        moved = self._origin[ids] + self._velocity[ids] * after_s[:, None]
        end = np.where((arrival_s <= after_s)[:, None], self._target[ids], moved)
        return Leg(
            start=self.positions[ids],
            velocity=np.where(flying[:, None], self._velocity[ids], 0.0),
            stop_s=np.maximum(arrival_s - before_s, 0.0),
            duration_s=duration_s,
            end=end,
        )

    def advance(self, alive: BoolArray, end: FloatArray) -> None:
        """The living are here now."""
        self.positions[alive] = end
