"""HERO (Mi et al.): several meeting points, each survivor its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array

from reknit.algorithms.parameters import Share, check_fields
from reknit.algorithms.steering.heading import heading
from reknit.base.context import Context
from reknit.base.types import FloatArray
from reknit.flight.controller import Controller
from reknit.network.links import adjacency
from reknit.swarm.scenario import Scenario


@dataclass(frozen=True)
class Hero:
    """A survivor with destroyed 1-hop neighbours heads for the mean of their original positions;
    one without follows the change of the mean of its surviving neighbours' positions.

    The velocity is ``v_max (weight HERO + (1 - weight) center-fly)`` of the two headings. A
    survivor with no neighbour of either kind has only the center-fly part. Neighbours are
    those of the original network.

    Parameters
    ----------
    weight
        Share of the HERO heading; the rest is center-fly's.
    """

    weight: Share = 0.8

    def __post_init__(self) -> None:
        check_fields(self)

    def controller(self, scenario: Scenario, context: Context) -> Controller:
        """Remembers the positions of the step before."""
        links = adjacency(scenario.links, scenario.uavs).astype(np.float64)
        among_survivors = links[scenario.survivors][:, scenario.survivors]
        to_destroyed = links[scenario.survivors][:, scenario.destroyed]
        lost_mean = _row_means(to_destroyed)
        has_lost = lost_mean.sum(axis=1) > 0
        meeting = lost_mean @ scenario.destroyed_positions
        neighbour_mean = _row_means(among_survivors)
        speed_mps = scenario.survivor_speeds_mps
        before = scenario.survivor_positions

        def steer(positions: FloatArray, time_s: float, step_s: float) -> FloatArray:
            nonlocal before
            reach_m = speed_mps * step_s
            to_meeting = heading(meeting - positions, reach_m)
            following = heading(neighbour_mean @ (positions - before), reach_m)
            before = positions
            hero = np.where(has_lost[:, None], to_meeting, following)
            to_centre = heading(positions.mean(axis=0) - positions, reach_m)
            blend = self.weight * hero + (1.0 - self.weight) * to_centre
            return np.asarray(blend * speed_mps[:, None])

        return steer


def _row_means(weights: csr_array) -> csr_array:
    """Rows scaled to sum one; rows of zeros stay."""
    total = weights.sum(axis=1)
    inverse = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
    return csr_array(diags_array(inverse) @ weights)
