"""MDSG-APF: an artificial potential field over multi-hop neighbourhoods."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array

from reknit.algorithms.parameters import Hops, Share, check_fields
from reknit.algorithms.steering.heading import heading
from reknit.base.context import Context
from reknit.base.types import FloatArray
from reknit.flight.controller import Controller
from reknit.network.hops import hops_within
from reknit.network.links import adjacency
from reknit.swarm.scenario import Scenario


@dataclass(frozen=True)
class MdsgApf:
    """Every survivor flies at v_max down the potential

        U_i = weight/2 |p_i - m_i|^2 + (1 - weight)/2 |p_i - c|^2

    that is, along ``weight (m_i - p_i) + (1 - weight) (c - p_i)``, with m_i the mean of the
    current positions of the survivors at most `hops` hops from it in the original network (itself
    left out) and c the centroid of the destroyed UAVs.

    It steers: a field is followed where one is, and m_i moves with the neighbours. The field's
    minimum, computed once as a target, would leave out the motion that makes it a field. Where
    nobody was destroyed, or a survivor has no neighbour left, that part of the pull is absent.
    Flying at v_max, not at a speed that falls with the force, is the choice that serves it best.

    Parameters
    ----------
    weight
        Share of the neighbourhood in the pull; the rest is that of the destroyed UAVs.
    hops
        Reach of the neighbourhood, in links.
    """

    weight: Share = 0.1
    hops: Hops = 3

    def __post_init__(self) -> None:
        check_fields(self)

    def controller(self, scenario: Scenario, context: Context) -> Controller:
        """The same field at every step."""
        mean = _neighbour_mean(scenario, self.hops)
        has_neighbours = np.asarray(mean.sum(axis=1) > 0)[:, None]
        lost = scenario.destroyed_positions
        speed_mps = scenario.survivor_speeds_mps

        def steer(positions: FloatArray, time_s: float, step_s: float) -> FloatArray:
            near = np.where(has_neighbours, mean @ positions - positions, 0.0)
            far = lost.mean(axis=0) - positions if len(lost) else np.zeros_like(positions)
            pull = self.weight * near + (1.0 - self.weight) * far
            return np.asarray(heading(pull, speed_mps * step_s) * speed_mps[:, None])

        return steer


def _neighbour_mean(scenario: Scenario, hops: int) -> csr_array:
    """(N_R, N_R) rows that average over each survivor's neighbourhood; zeros where it is empty."""
    within = hops_within(adjacency(scenario.links, scenario.uavs), hops)
    near = within[scenario.survivors][:, scenario.survivors].tocoo()
    other = near.row != near.col
    ones = np.ones(int(other.sum()))
    count = len(scenario.survivors)
    weights = csr_array((ones, (near.row[other], near.col[other])), shape=(count, count))
    total = weights.sum(axis=1)
    inverse = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
    return csr_array(diags_array(inverse) @ weights)
