"""What steers a flight."""

from __future__ import annotations

from typing import Protocol

from reknit.base.types import FloatArray


class Controller(Protocol):
    """Steers a flight: called once per step."""

    def __call__(self, positions: FloatArray, time_s: float, step_s: float) -> FloatArray:
        """(N_R, dim) velocities for the next step; none above the UAV's speed limit."""
        ...
