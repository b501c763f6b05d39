"""Center-fly, the paper's simplest rival: everyone to the centroid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reknit.base.context import Context
from reknit.base.types import FloatArray
from reknit.flight.controller import Controller
from reknit.swarm.scenario import Scenario


@dataclass(frozen=True)
class CenterFly:
    """Every survivor flies at v_max towards the centroid of the survivors' current positions,
    and hovers when it is closer to it than one step.
    """

    def controller(self, scenario: Scenario, context: Context) -> Controller:
        """The same rule at every step."""
        speed_mps = scenario.survivor_speeds_mps

        def steer(positions: FloatArray, time_s: float, step_s: float) -> FloatArray:
            offset = positions.mean(axis=0) - positions
            distance = np.sqrt((offset * offset).sum(axis=1))
            far = distance > speed_mps * step_s
            scale = np.divide(speed_mps, distance, out=np.zeros_like(distance), where=far)
            return np.asarray(offset * scale[:, None])

        return steer
