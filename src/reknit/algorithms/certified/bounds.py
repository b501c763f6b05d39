"""Bounds that no plan can beat."""

from __future__ import annotations

import numpy as np

from reknit.network.emst import emst
from reknit.network.links import components, lengths
from reknit.plans.certificate import Certificate
from reknit.plans.check import certified_bound_s
from reknit.scenario.scenario import Scenario


def lower_bound(scenario: Scenario) -> Certificate:
    """The best bound known for a scenario, computed once and kept with it."""
    memo = scenario._memo
    if "lower_bound" not in memo:
        memo["lower_bound"] = emst_bound(scenario)
    bound: Certificate = memo["lower_bound"]
    return bound


def emst_bound(scenario: Scenario) -> Certificate:
    """``(l - d_tr) / (2 v_max)`` with l the longest EMST edge of the survivors.

    Across the cut that this edge closes every pair is at least l apart, and two UAVs approach
    each other at no more than 2 v_max.
    """
    start = scenario.survivor_positions
    edges = emst(start)
    if len(edges) == 0:
        return Certificate.trivial()
    longest = int(np.argmax(lengths(start, edges)))
    side = components(np.delete(edges, longest, axis=0), len(start))
    cut = np.flatnonzero(side == side[edges[longest, 0]])
    bound_s = certified_bound_s(Certificate(0.0, cut), scenario)
    return Certificate(bound_s, cut) if bound_s > 0 else Certificate.trivial()
