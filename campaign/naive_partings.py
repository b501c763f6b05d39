"""What cases of directions prove, judged by angles: written from docs/bounds.md alone."""

from __future__ import annotations

import math

import numpy as np

import reknit

_GENEROUS = 1.0 + 1e-9
"""What float64 may have lost here, in the claim's favour."""


def parting_s(certificate: reknit.Certificate, scenario: reknit.Scenario) -> float:
    """No more than this is proved by the cases of directions; 0 where they are no proof."""
    parting = certificate.parting
    if parting is None or scenario.dim != 2 or not scenario.min_separation_m > 0.0:
        return 0.0
    rows = list(zip(parting.cases.tolist(), parting.cuts.tolist(), strict=True))
    at = 0

    def case(arcs: dict[tuple[int, int], tuple[float, float]]) -> float:
        """The least time of the cases that follow; arcs are a first angle and a width."""
        nonlocal at
        (i, j), (x, y) = rows[at]
        at += 1
        if i < 0:
            return _end_s(parting.clashes[j], arcs, scenario)
        angle = math.atan2(y, x)
        if (i, j) not in arcs:
            return min(case({**arcs, (i, j): (angle + half, math.pi)}) for half in (0.0, math.pi))
        first, width = arcs[i, j]
        onwards = (angle - first) % (2.0 * math.pi)
        if not 0.0 < onwards < width:
            return 0.0
        parts = ((first, onwards), (first + onwards, width - onwards))
        return min(case({**arcs, (i, j): part}) for part in parts)

    proved_s = case({})
    return proved_s if at == len(rows) else 0.0


def _end_s(
    clash: reknit.Clash,
    arcs: dict[tuple[int, int], tuple[float, float]],
    scenario: reknit.Scenario,
) -> float:
    """The time of one end, with the least product along an arc found by looking at its angles."""
    start, speeds = scenario.survivor_positions, scenario.survivor_speeds_mps
    balance = np.zeros_like(start)
    lacking_m = scale_m = 0.0
    top = float(np.abs(clash.forces).max(initial=0.0))
    for (i, j), force in zip(clash.links.tolist(), clash.forces / max(top, 1e-300), strict=True):
        if (i, j) not in arcs or arcs[i, j][1] >= math.pi:
            return 0.0
        first, width = arcs[i, j]
        angle = first + width * np.linspace(0.0, 1.0, 101)
        least = float((np.cos(angle) * force[0] + np.sin(angle) * force[1]).min())
        if least < -1e-9:
            return 0.0
        lacking_m += scenario.min_separation_m * least - float(force @ (start[i] - start[j]))
        scale_m += float(np.hypot(*force)) * (
            scenario.min_separation_m + float(np.abs(start[i] - start[j]).max())
        )
        balance[i] += force
        balance[j] -= force
    give = float((speeds * np.sqrt((balance**2).sum(axis=1))).sum())
    lacking_m += 1e-9 * scale_m
    return lacking_m / give * _GENEROUS if give > 0.0 else math.inf
