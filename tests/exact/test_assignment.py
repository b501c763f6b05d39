"""Who goes to which place, beside all permutations."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from reknit.exact.model.assignment import assign, assign_some
from reknit.exact.model.problem import Problem


@pytest.mark.parametrize("seed", range(3))
def test_assignment_is_the_best_of_all(seed: int) -> None:
    """No permutation of six survivors over six sites has a shorter longest flight."""
    rng = np.random.default_rng(seed)
    start, sites = rng.random((2, 6, 2)) * 300.0
    speeds = rng.uniform(5.0, 15.0, 6)
    time_s, choice = assign(Problem(start, speeds, 120.0), sites)
    times_s = np.linalg.norm(start[:, None] - sites[None], axis=2) / speeds[:, None]
    rows = np.arange(6)
    best_s = min(times_s[rows, list(order)].max() for order in permutations(range(6)))
    assert time_s == pytest.approx(best_s, rel=1e-12)
    assert times_s[rows, choice].max() == time_s


@pytest.mark.parametrize("has_anchor", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_some_are_assigned_so_that_all_long_flights_are_short(seed: int, has_anchor: bool) -> None:
    """Of five survivors among eight no permutation has a smaller sum of the 16th powers of the
    times; an anchor stays where it is.
    """
    rng = np.random.default_rng(seed)
    start, speeds = rng.random((8, 2)) * 300.0, rng.uniform(5.0, 20.0, 8)
    rows = np.sort(rng.permutation(8)[:5])
    sites = rng.random((5, 2)) * 300.0
    if has_anchor:
        speeds[rows[2]] = 0.0
        sites[4] = start[rows[2]]
    choice = assign_some(Problem(start, speeds, 120.0), rows, sites)
    assert sorted(choice.tolist()) == list(range(5))
    assert not has_anchor or choice[2] == 4

    def cost(order: tuple[int, ...]) -> float:
        flown_m = np.linalg.norm(sites[list(order)] - start[rows], axis=1)
        moves = speeds[rows] > 0.0
        if flown_m[~moves].any():
            return np.inf
        return float(((flown_m[moves] / speeds[rows][moves]) ** 16).sum())

    best = min(map(cost, permutations(range(5))))
    assert cost(tuple(choice.tolist())) == pytest.approx(best)
