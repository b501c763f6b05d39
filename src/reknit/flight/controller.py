"""What steers a flight."""

from __future__ import annotations

from typing import Protocol

from reknit.base.types import FloatArray


class Controller(Protocol):
    """Steers a flight: called once per step."""

    def __call__(self, positions: FloatArray, time_s: float, step_s: float) -> FloatArray:
        """Velocities for the next step.

        Parameters
        ----------
        positions
            (N_R, dim) of the survivors now, metres.
        time_s
            Seconds since the damage.
        step_s
            Length of the step, seconds.

        Returns
        -------
        FloatArray
            (N_R, dim) metres per second; none above the UAV's speed limit.
        """
        ...
