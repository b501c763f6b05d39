"""A plain search for recovery plans, to compare planners with: trees, exchanges, another solver.

It shares nothing with the `certified` planner but the problem: the least time on a tree is found by
SCS, a first-order solver, a tree is changed by taking away a link that carries force and joining
the two parts by another that is short, and what is faster is kept. After some failures a few
links are exchanged at random.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
import scs
from scipy.sparse import csc_matrix

import reknit
from reknit.base.types import FloatArray, IntArray
from reknit.network.emst import emst
from reknit.network.links import components, lengths

_SHORTER = 1.0 - 2e-5
"""Links are asked to be shorter by this much, so that they hold in spite of the solver's error."""

_ACROSS = 10
_PATIENCE, _KICKS = 60, 3


class _Tree(NamedTuple):
    links: IntArray
    moved: FloatArray
    forces: FloatArray
    time_s: float


def search(scenario: reknit.Scenario, seconds: float, seed: int = 0) -> float:
    """The time of the best plan that is found, in seconds.

    Parameters
    ----------
    scenario
        A split swarm in which everybody can fly, without demands beyond being connected.
    seconds
        Seconds of one core that the search may take.
    seed
        Of its choices.
    """
    rng = np.random.default_rng(seed)
    ends_at = time.process_time() + seconds
    best = here = _solved(scenario, emst(scenario.survivor_positions))
    failures = 0
    while time.process_time() < ends_at:
        other = _solved(scenario, _exchanged(here, rng))
        again = _solved(scenario, emst(other.moved)) if other.time_s < 1.05 * here.time_s else other
        other = min(other, again, key=lambda tree: tree.time_s)
        failures = 0 if other.time_s < here.time_s * (1.0 - 1e-5) else failures + 1
        if failures == 0:
            here = other
        elif failures > _PATIENCE:
            here, failures = best, 0
            for _ in range(_KICKS):
                here = _solved(scenario, _exchanged(here, rng))
        best = min(best, here, key=lambda tree: tree.time_s)
    return best.time_s


def _exchanged(tree: _Tree, rng: np.random.Generator) -> IntArray:
    """Its links but one, mostly one that carries force, and a short one in its place."""
    force = np.sqrt((tree.forces**2).sum(axis=1))
    weight = force / max(float(force.max()), 1e-300) + 1e-3
    row = int(rng.choice(len(tree.links), p=weight / weight.sum()))
    rest = np.delete(tree.links, row, axis=0)
    is_left = components(rest, len(tree.moved)) == 0
    left, right = np.flatnonzero(is_left), np.flatnonzero(~is_left)
    apart = np.sqrt(((tree.moved[left][:, None] - tree.moved[right][None]) ** 2).sum(axis=2))
    order = np.argsort(apart, axis=None)[: _ACROSS + 1]
    chosen = int(order[int(rng.integers(len(order)))])
    return np.concatenate([rest, [[left[chosen // len(right)], right[chosen % len(right)]]]])


def _solved(scenario: reknit.Scenario, links: IntArray) -> _Tree:
    """The least time on a tree; infinite where the solver's positions are not a plan."""
    start, range_m = scenario.survivor_positions, scenario.planning_range_m
    speeds = scenario.survivor_speeds_mps / float(scenario.survivor_speeds_mps.max())
    count, dim = start.shape
    wide, first = dim + 1, count * (dim + 1)
    axis = np.arange(dim)
    node, link = np.arange(count), np.arange(len(links))
    rows = [node * wide, (node[:, None] * wide + 1 + axis).ravel()]
    columns = [np.full(count, count * dim), (node[:, None] * dim + axis).ravel()]
    values = [-speeds, np.full(count * dim, -1.0)]
    for end, sign in ((0, -1.0), (1, 1.0)):
        rows.append((first + link[:, None] * wide + 1 + axis).ravel())
        columns.append((links[:, end][:, None] * dim + axis).ravel())
        values.append(np.full(len(links) * dim, sign))
    right = np.zeros((len(links), wide))
    right[:, 0] = _SHORTER
    right[:, 1:] = (start[links[:, 0]] - start[links[:, 1]]) / range_m
    shape = (first + right.size, count * dim + 1)
    matrix = csc_matrix(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=shape
    )
    cost = np.zeros(count * dim + 1)
    cost[-1] = 1.0
    data = {"A": matrix, "b": np.concatenate([np.zeros(first), right.ravel()]), "c": cost}
    cones = {"q": [wide] * (count + len(links))}
    solver = scs.SCS(data, cones, verbose=False, eps_abs=2e-6, eps_rel=2e-6, max_iters=4_000)
    result = solver.solve()
    moved = start + np.asarray(result["x"])[:-1].reshape(count, dim) * range_m
    forces = np.asarray(result["y"])[first:].reshape(-1, wide)[:, 1:]
    flown = np.sqrt(((moved - start) ** 2).sum(axis=1)) / scenario.survivor_speeds_mps
    holds = bool(lengths(moved, links).max() <= range_m)
    return _Tree(links, moved, forces, float(flown.max()) if holds else np.inf)
