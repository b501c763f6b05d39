"""MDSG-APF: an artificial potential field over multi-hop neighbourhoods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.sparse import csr_array, diags_array

from reknit.algorithms.parameters import Hops, Share, check_fields
from reknit.algorithms.steering.heading import heading
from reknit.base.context import Context
from reknit.base.errors import InvalidParameter
from reknit.base.types import FloatArray
from reknit.flight.controller import Controller
from reknit.flight.motion import SteeredFlight
from reknit.flight.reconnection import first_connected_s
from reknit.network.hops import hops_within
from reknit.network.links import adjacency
from reknit.swarm.scenario import Scenario

_LEG_S = 1.0
"""A trial flight is followed leg by leg; pairs that come into range are sought within one."""


@dataclass(frozen=True)
class MdsgApf:
    """Every survivor flies down the potential

        U_i = weight/2 |p_i - m_i|^2 + (1 - weight)/2 |p_i - c|^2

    that is, along ``weight (m_i - p_i) + (1 - weight) (c - p_i)``, with m_i the mean position of
    its neighbours, those at most `hops` hops from it in the original network (itself left out),
    and c the centroid of the destroyed UAVs. Where nobody was destroyed, or a survivor has no
    neighbour, that part of the pull is absent.

    By default it steers: the field is followed where it is, m_i moves with the neighbours, and
    everybody flies at v_max. The preset "paper" is the method as published: velocities are
    computed once, at the damage, and kept.

    Parameters
    ----------
    weight
        Share of the neighbourhood in the pull; the rest is that of the destroyed UAVs.
    hops
        Reach of the neighbourhood, in links. Several: the reach whose flight, known at once
        when velocities are kept, connects earliest within the allowed time.
    velocities
        "steered": anew at every step, at v_max. "kept": computed once from the original
        positions, in proportion to the pull, the strongest at v_max.
    neighbours
        "survivors" alone, where they are now, or "all", with the destroyed ones where they
        were (for velocities that are kept).
    """

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {"hops": (1, 2, 3, 4), "velocities": "kept", "neighbours": "all"}
    }

    weight: Share = 0.1
    hops: Hops | tuple[Hops, ...] = 3
    velocities: Literal["steered", "kept"] = "steered"
    neighbours: Literal["survivors", "all"] = "survivors"

    def __post_init__(self) -> None:
        check_fields(self)
        if not self._reaches:
            raise InvalidParameter("mdsg-apf.hops", self.hops, "at least one reach")
        if self.velocities == "steered" and len(self._reaches) > 1:
            allowed = "one reach unless velocities are kept"
            raise InvalidParameter("mdsg-apf.hops", self.hops, allowed)
        if self.velocities == "steered" and self.neighbours == "all":
            allowed = "survivors unless velocities are kept"
            raise InvalidParameter("mdsg-apf.neighbours", self.neighbours, allowed)

    @property
    def _reaches(self) -> tuple[int, ...]:
        return (self.hops,) if isinstance(self.hops, int) else self.hops

    def controller(self, scenario: Scenario, context: Context) -> Controller:
        """The same field at every step, or the same velocities."""
        if self.velocities == "steered":
            return self._steering(scenario)
        trials = [_constant(self._kept(scenario, reach)) for reach in self._reaches]
        if len(trials) == 1:
            return trials[0]
        best, best_s = trials[0], np.inf
        for trial in trials:
            time_s = _connects_at_s(scenario, trial, min(best_s, scenario.allowed_time_s), context)
            if time_s is not None and time_s < best_s:
                best, best_s = trial, time_s
        return best

    def _steering(self, scenario: Scenario) -> Controller:
        mean = _neighbours(scenario, self._reaches[0])[:, scenario.survivors]
        mean = _rows_to_one(csr_array(mean))
        has_neighbours = np.asarray(mean.sum(axis=1) > 0)[:, None]
        speed_mps = scenario.survivor_speeds_mps

        def steer(positions: FloatArray, time_s: float, step_s: float) -> FloatArray:
            near = np.where(has_neighbours, mean @ positions - positions, 0.0)
            pull = self._pull(scenario, near, positions)
            return np.asarray(heading(pull, speed_mps * step_s) * speed_mps[:, None])

        return steer

    def _kept(self, scenario: Scenario, reach: int) -> FloatArray:
        """(N_R, dim) velocities in proportion to the pull at the damage."""
        mean = _neighbours(scenario, reach)
        if self.neighbours == "survivors":
            mean = csr_array(mean @ diags_array(scenario.alive.astype(np.float64)))
        mean = _rows_to_one(mean)
        start = scenario.survivor_positions
        has_neighbours = np.asarray(mean.sum(axis=1) > 0)[:, None]
        near = np.where(has_neighbours, mean @ scenario.positions - start, 0.0)
        pull = self._pull(scenario, near, start)
        strongest = float(np.sqrt((pull * pull).sum(axis=1)).max())
        share = pull / strongest if strongest > 0 else pull
        return np.asarray(share * scenario.survivor_speeds_mps[:, None])

    def _pull(self, scenario: Scenario, near: FloatArray, positions: FloatArray) -> FloatArray:
        lost = scenario.destroyed_positions
        far = lost.mean(axis=0) - positions if len(lost) else np.zeros_like(positions)
        return np.asarray(self.weight * near + (1.0 - self.weight) * far)


def _constant(velocity: FloatArray) -> Controller:
    def steer(positions: FloatArray, time_s: float, step_s: float) -> FloatArray:
        return velocity

    return steer


def _connects_at_s(
    scenario: Scenario, controller: Controller, limit_s: float, context: Context
) -> float | None:
    """When a flight first connects the swarm; None if not by the limit."""
    flight = SteeredFlight(scenario, controller)
    before_s = 0.0
    while before_s < limit_s and not context.is_over:
        duration_s = min(_LEG_S, limit_s - before_s)
        found_s = first_connected_s(flight.next_leg(duration_s), scenario.planning_range_m)
        if found_s is not None:
            return before_s + found_s
        before_s += duration_s
    return None


def _neighbours(scenario: Scenario, hops: int) -> csr_array:
    """(N_R, N) ones at the neighbours of each survivor, by id; itself left out."""
    within = hops_within(adjacency(scenario.links, scenario.uavs), hops)
    near = within[scenario.survivors].tocoo()
    other = scenario.survivors[near.row] != near.col
    ones = np.ones(int(other.sum()))
    shape = (len(scenario.survivors), scenario.uavs)
    return csr_array((ones, (near.row[other], near.col[other])), shape=shape)


def _rows_to_one(weights: csr_array) -> csr_array:
    """Rows scaled to sum one; rows of zeros stay."""
    total = np.asarray(weights.sum(axis=1))
    inverse = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
    return csr_array(diags_array(inverse) @ weights)
