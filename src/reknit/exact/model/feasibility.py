"""Demands that no plan can meet, told apart before any search."""

from __future__ import annotations

import math

import numpy as np

from reknit.base.errors import ImpossibleDemands
from reknit.base.types import IntArray
from reknit.network.connectivity import separating_nodes
from reknit.network.emst import emst
from reknit.network.links import lengths, links
from reknit.swarm.scenario import Scenario


def check_possible(scenario: Scenario) -> None:
    """Raise `ImpossibleDemands` if the demands contradict each other or the anchors' places."""
    range_m, gap_m = scenario.planning_range_m, scenario.min_separation_m
    if len(scenario.survivors) < 2:
        return
    if gap_m > range_m:
        raise ImpossibleDemands(
            ("min_separation_m", "radio_range_m"),
            f"UAVs at least {gap_m:g} m apart cannot have links of at most {range_m:g} m",
        )
    fixed = scenario.survivors[np.isin(scenario.survivors, scenario.anchors)]
    if len(fixed) < 2:
        return
    places = scenario.positions[fixed]
    tree = emst(places)
    length = lengths(places, tree)
    if length.min() < gap_m:
        i, j = (scenario.label(int(row)) for row in fixed[tree[int(length.argmin())]])
        raise ImpossibleDemands(
            ("anchors", "min_separation_m"),
            f"anchors {i} and {j} are {length.min():g} m apart and must not move; "
            f"at least {gap_m:g} m are asked",
        )
    _check_relays(scenario, fixed.tolist(), float(length.max()), tree[int(length.argmax())])
    everyone = len(fixed) == len(scenario.survivors)
    if everyone and scenario.connectivity > 1:
        lost = separating_nodes(links(places, range_m), len(places), scenario.connectivity)
        if lost is not None:
            names = ", ".join(str(scenario.label(int(fixed[row]))) for row in lost)
            raise ImpossibleDemands(
                ("anchors", "connectivity"),
                f"every survivor is an anchor, and the loss of {names} would split them",
            )


def _check_relays(
    scenario: Scenario,
    fixed: list[int],
    gap_m: float,
    ends: IntArray,
) -> None:
    """A gap of l between anchors needs ``ceil(l / d) - 1`` UAVs that can move, and for a
    k-connected result k times as many, on k paths with nothing in common.
    """
    paths = scenario.connectivity if len(scenario.survivors) > 2 else 1
    # A hair is taken off the gap so that rounding never makes a possible demand impossible.
    needed = paths * max(0, math.ceil(gap_m / scenario.planning_range_m * (1.0 - 1e-12)) - 1)
    free = len(scenario.survivors) - len(fixed)
    if free < needed:
        demands = ("anchors",) if paths == 1 else ("anchors", "connectivity")
        names = [scenario.label(int(fixed[int(end)])) for end in ends]
        raise ImpossibleDemands(
            demands,
            f"anchors {names[0]} and {names[1]} are on two sides of a gap of "
            f"{gap_m:g} m, which needs {needed} UAVs that can move; there are {free}",
        )
