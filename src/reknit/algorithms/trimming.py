"""End a plan where it reconnects the swarm.

On the way to its targets the swarm is often connected before the last UAV has arrived. Where
everyone is at that instant is itself a connected plan, and a faster one: its planned time is the
time at which the longer plan would have reconnected.
"""

from __future__ import annotations

from reknit.base.types import FloatArray
from reknit.flight.motion import StraightFlight
from reknit.flight.reconnection import first_connected_s
from reknit.network.links import count_subnets
from reknit.swarm.scenario import Scenario


def trim(scenario: Scenario, targets: FloatArray, time_s: float) -> tuple[FloatArray, float]:
    """Connected targets whose planned time is `time_s`, and that time, shortened if possible."""
    if time_s <= 0:
        return targets, time_s
    leg = StraightFlight(scenario, targets).next_leg(time_s)
    limit_m = scenario.planning_range_m
    found_s = first_connected_s(leg, limit_m)
    if found_s is None or found_s >= time_s:
        return targets, time_s
    shorter = leg.at(found_s)
    return (shorter, found_s) if count_subnets(shorter, limit_m) == 1 else (targets, time_s)
