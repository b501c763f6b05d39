"""What targets are worth, in numpy: the two terms of the relaxed loss, with their gradients.

The paper's loss is ``T_rc + lambda (N_s - 1)``, eq. (loss1). The count has no gradient; the total
excess ``sum_e max(0, |e| - d)`` over the edges e of the EMST is zero exactly when it is, and has
one. The maximum in T_rc gives a gradient to one UAV alone; a p-norm gives one to every far UAV.
"""

from __future__ import annotations

import numpy as np

from reknit.base.types import FloatArray, IntArray
from reknit.exact.model.problem import Problem
from reknit.network.links import lengths
from reknit.swarm.scenario import Scenario

TINY_M = 1e-9
"""Stands in for lengths of zero where they divide."""


def largest(values: FloatArray, power: float | None) -> tuple[FloatArray, FloatArray]:
    """The maximum v of each row, or the p-norm that stands in for it, and its gradient.

    ``|v|_p = (sum_i v_i^p)^(1/p)`` has the gradient ``(v_i / |v|_p)^(p - 1)``; that of the
    maximum is shared by those that have it.

    Parameters
    ----------
    values
        (B, n) numbers of at least 0.
    power
        p, or None for the maximum itself.

    Returns
    -------
    tuple of array
        (B,) values and (B, n) gradients.
    """
    top = values.max(axis=1)
    if power is None:
        at_top = values == top[:, None]
        return top, at_top / at_top.sum(axis=1)[:, None]
    # Dividing by the maximum keeps the powers from under- and overflowing.
    unit = np.maximum(top, TINY_M)
    share = values / unit[:, None]
    powers = share ** (power - 1.0)
    norm = (powers * share).sum(axis=1) ** (1.0 / power)
    return unit * norm, powers / np.maximum(norm, 1.0)[:, None] ** (power - 1.0)


def add_excess(
    gradient: FloatArray, targets: FloatArray, trees: IntArray, limit_m: float, penalty: float
) -> FloatArray:
    """``penalty sum_e max(0, |e| - limit)`` over the edges of trees, its gradient added in place.

    Parameters
    ----------
    gradient
        (B, n, dim) of the losses so far; changed.
    targets
        (B, n, dim) metres.
    trees
        (B, n - 1, 2) edges.
    limit_m
        From where a length is in excess.
    penalty
        Loss per metre of excess.

    Returns
    -------
    array
        (B,) the terms, in metres.
    """
    batch, nodes, dim = targets.shape
    points = targets.reshape(-1, dim)
    edges = (trees + nodes * np.arange(batch)[:, None, None]).reshape(-1, 2)
    lengths_m = lengths(points, edges)
    excess_m = np.maximum(0.0, lengths_m - limit_m)
    pulls = np.flatnonzero(excess_m)
    near, far = edges[pulls].T
    towards = (points[near] - points[far]) / lengths_m[pulls][:, None]
    np.add.at(gradient, (near // nodes, near % nodes), penalty * towards)
    np.subtract.at(gradient, (far // nodes, far % nodes), penalty * towards)
    return np.asarray(penalty * excess_m.reshape(batch, -1).sum(axis=1))


def needed_move_m(scenario: Scenario) -> float:
    """How far UAVs must move at least, and a little to spare: the scale of a first step.

    Half of what the longest EMST edge has too much, and a sixth of the planning range.
    """
    limit_m = scenario.planning_range_m
    missing_m = Problem.of(scenario).longest_edge_m - limit_m
    return max(0.0, missing_m) / 2.0 + limit_m / 6.0
