"""SIDR (Chen et al.): sub-nets move as bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from reknit.algorithms.parameters import check_fields
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

    Parameters
    ----------
    centroid
        "axes": the mean of each coordinate. "mixed": one mean over all coordinates together,
        taken for every axis, so that bodies fly along the diagonal only; the figures that were
        published for the method (R_c of 0.36 at N = 200) come about like this.
    """

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {"paper": {"centroid": "mixed"}}

    centroid: Literal["axes", "mixed"] = "axes"

    def __post_init__(self) -> None:
        check_fields(self)

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
            if self.centroid == "mixed":
                mixed = centroid.mean(axis=1, keepdims=True)
                centroid = np.broadcast_to(mixed, centroid.shape)
            slowest = np.full(len(size), np.inf)
            np.minimum.at(slowest, body, speed_mps)
            velocity = heading(meeting - centroid, slowest * step_s) * slowest[:, None]
            return np.asarray(velocity[body])

        return steer
