"""SIDR (Chen et al.): sub-nets move as bodies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reknit.algorithms.steering.heading import heading
from reknit.base.context import Context
from reknit.base.types import FloatArray
from reknit.flight.controller import Controller
from reknit.network.links import subnets
from reknit.swarm.scenario import Scenario


@dataclass(frozen=True)
class Sidr:
    """Each sub-net flies as one body, from its centroid towards the centre of the mission area
    (the middle of the swarm's bounding box before the damage), so that no link is lost on the
    way. Sub-nets that meet go on as one. A body flies at the speed of its slowest member.
    """

    def controller(self, scenario: Scenario, context: Context) -> Controller:
        """Finds the sub-nets anew at every step."""
        meeting = (scenario.positions.min(axis=0) + scenario.positions.max(axis=0)) / 2.0
        speed_mps = scenario.survivor_speeds_mps

        def steer(positions: FloatArray, time_s: float, step_s: float) -> FloatArray:
            body = subnets(positions, scenario.radio_range_m)
            size = np.bincount(body)
            centroid = np.stack(
                [np.bincount(body, positions[:, axis]) / size for axis in range(scenario.dim)],
                axis=1,
            )
            slowest = np.full(len(size), np.inf)
            np.minimum.at(slowest, body, speed_mps)
            velocity = heading(meeting - centroid, slowest * step_s) * slowest[:, None]
            return np.asarray(velocity[body])

        return steer
