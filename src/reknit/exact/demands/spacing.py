"""Targets that keep a separation, pushed apart and then improved step by step.

*Pushing*: from where the survivors are, pairs that are too close move apart, links that are too
long pull together, and nobody leaves the ball that it can reach within a trial time; again and
again until all three agree. Whether they do tells which trial times are possible, more or less.

*Improving*: from targets that meet the demands, every pair that is near keeps apart along the
direction it has now, and the links that are there hold. What remains is a cone program of which
the targets are one solution, so the best one is no slower; its directions and links are the next
ones. Where that ends, a push from there with a little less time starts it again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from reknit.base.types import FloatArray, IntArray
from reknit.exact.demands.lattice import lattice_targets
from reknit.exact.model.assignment import assign
from reknit.exact.model.cone import Apart, apart_forces, solve_apart
from reknit.exact.model.problem import Problem
from reknit.network.emst import emst, lightest_tree
from reknit.network.links import lengths, links
from reknit.swarm.demands import meets_demands
from reknit.swarm.scenario import Scenario

RANGE_HAIR = 1.0 - 1e-8
GAP_HAIR = 1.0 + 1e-7
"""Margins for the solver's rounding; the result is held against the demands exactly."""

_SWEEPS = 300
_TRIALS = 6
_SETTLED = 3e-3
"""A push has come to its end when no pair and no link is off by more than this part of the gap."""

_PUSH = 1.6
"""Over-relaxation of the pushes, which makes them settle sooner."""

_LOOK_EVERY, _LOOK_SELDOM = 5, 25
"""Sweeps between looks at who is near whom and which links there should be."""

_NEAR = 1.4
"""Pairs up to so many separations apart are kept apart in a cone program from the start."""

_CARRIES = 1e-4
"""Of the largest force between two survivors; smaller ones are the solver's rounding."""

_ROUNDS = 30
_GAIN = 2e-3
_FIRST_CUT, _LAST_CUT = 0.05, 0.004
_WORK = 9_000
"""Survivors times cone programs in one descent."""


@dataclass(frozen=True, eq=False)
class Spacer:
    """Finds and improves targets that keep the separation of a scenario.

    Parameters
    ----------
    scenario, problem
        What is asked, and the survivors.
    rng
        Parts survivors that are in one place.
    is_over
        Asked between steps; what is found by then is used.
    bound_s
        Nothing is sought below this time, seconds.
    redundant
        Links of a k-connected network on given positions; None where a tree is enough.
    """

    scenario: Scenario
    problem: Problem
    rng: np.random.Generator
    is_over: Callable[[], bool]
    bound_s: float
    redundant: Callable[[FloatArray], IntArray] | None = None

    def best(self, known: list[FloatArray]) -> FloatArray | None:
        """The quickest targets found, by pushing, from a lattice or from targets known already."""
        ends = [self.descend(targets) for targets in known]
        if not (ends and self._is_best(min(map(self.time_s, ends)))):
            order = self.scenario.connectivity
            lattice = lattice_targets(self.problem, self._gap_m, order, self.is_over)
            if lattice is not None and meets_demands(self.scenario, lattice):
                ends.append(lattice)
            if ends and self.is_over():
                return min(ends, key=self.time_s)
            ceiling_s = min(map(self.time_s, ends), default=self.problem.horizon_s)
            pushed = self._pushed(ceiling_s)
            if pushed is not None:
                ends.append(self.descend(pushed))
        if not ends:
            return None
        targets = min(ends, key=self.time_s)
        return self._push_on(self.descend(targets))

    def time_s(self, targets: FloatArray) -> float:
        """Seconds until the last has arrived."""
        size = np.sqrt(((targets - self.problem.start) ** 2).sum(axis=1))
        speeds = self.problem.speeds
        return float(np.divide(size, speeds, out=np.zeros_like(size), where=speeds > 0).max())

    def descend(self, targets: FloatArray) -> FloatArray:
        """Cone programs from targets that meet the demands, while they make them faster."""
        time_s, stalled = self.time_s(targets), 0
        for turn in range(max(4, min(_ROUNDS, _WORK // self.problem.count))):
            if stalled == 2 or self.is_over() or self._is_best(time_s):
                break
            # The shortest tree leaves most room; the tree of pairs that started near pulls least.
            step = self._step(targets, turn % 2 == 1)
            if step is None:
                break
            step_s = self.time_s(step)
            stalled = 0 if step_s < time_s * (1.0 - _GAIN) else stalled + 1
            if step_s < time_s:
                targets, time_s = step, step_s
        return targets

    def shaped(self, positions: FloatArray, limit_s: float) -> FloatArray | None:
        """Targets of a plan within a time, next to positions that nearly are one; None if a push
        from there does not settle.
        """
        pushed, is_settled = self._push(positions, limit_s)
        targets = self._repaired(pushed) if is_settled else None
        return None if targets is None else self.descend(targets)

    def holding(self, targets: FloatArray) -> IntArray:
        """Survivors between which forces act in the cone program with the directions and links of
        the targets, ascending.
        """
        kept = self._links(targets, by_start=False)
        pairs = self.near(targets, _NEAR * self._gap_m)
        apart = Apart(pairs, self.directions(targets, pairs), self._gap_m * GAP_HAIR)
        within_m = self.problem.range_m * RANGE_HAIR
        forces = apart_forces(self.problem, kept, apart, within_m, self.is_over)
        carries = forces > _CARRIES * forces.max(initial=0.0)
        return np.unique(np.concatenate([pairs, kept])[carries])

    def _push_on(self, targets: FloatArray) -> FloatArray:
        """Send everybody to the nearest of the same targets, or push on with less time."""
        cut = _FIRST_CUT
        while cut > _LAST_CUT and not self.is_over() and not self._is_best(self.time_s(targets)):
            trial_s = self.time_s(targets) * (1.0 - cut)
            better = self._swapped(targets, trial_s)
            if better is None:
                pushed, is_settled = self._push(targets, trial_s)
                better = self._repaired(pushed) if is_settled else None
            if better is not None:
                better = self.descend(better)
                if self.time_s(better) < self.time_s(targets) * (1.0 - _GAIN):
                    targets = better
                    continue
            cut /= 2.0
        return targets

    def _swapped(self, targets: FloatArray, limit_s: float) -> FloatArray | None:
        if (self.problem.speeds == 0.0).any():
            return None
        time_s, choice = assign(self.problem, targets, self.is_over)
        return targets[choice] if time_s < limit_s else None

    def _pushed(self, ceiling_s: float) -> FloatArray | None:
        """Targets by pushing within the least trial time that allows it; None if none does."""
        noise = self.rng.standard_normal(self.problem.start.shape)
        still = (self.problem.speeds == 0.0)[:, None]
        begin = self.problem.start + np.where(still, 0.0, 1e-3 * self._gap_m * noise)
        low_s, high_s = max(self.bound_s, 1e-3 * ceiling_s), ceiling_s
        pushed = None
        for _ in range(_TRIALS):
            if self.is_over():
                break
            trial_s = float(np.sqrt(low_s * high_s))
            positions, is_settled = self._push(begin, trial_s)
            if is_settled:
                high_s, pushed = trial_s, positions
            else:
                low_s = trial_s
        return None if pushed is None else self._repaired(pushed)

    def _push(self, positions: FloatArray, limit_s: float) -> tuple[FloatArray, bool]:
        """Positions after pushing, and whether they nearly meet all demands."""
        start, gap_m, range_m = self.problem.start, self._gap_m * 1.002, self.problem.range_m
        range_m *= 0.998
        if gap_m > range_m:
            gap_m = range_m = 0.5 * (self._gap_m + self.problem.range_m)
        reach_m = (self.problem.speeds * limit_s)[:, None]
        count, dim = start.shape
        look_every = _LOOK_EVERY if self.redundant is None else _LOOK_SELDOM
        for sweep in range(_SWEEPS):
            if sweep % look_every == 0:
                if self.is_over():
                    return positions, False
                close = self.near(positions, gap_m * 1.15)
                joined = np.concatenate([close, self._links(positions, by_start=False)])
                one, two = joined[:, 0], joined[:, 1]
                is_close = np.arange(len(joined)) < len(close)
            delta = positions[one] - positions[two]
            size = np.maximum(np.sqrt((delta * delta).sum(axis=1)), 1e-9 * gap_m)
            too_far = np.where(is_close, np.minimum(0.0, size - gap_m),
                               np.maximum(0.0, size - range_m))  # fmt: skip
            if np.abs(too_far).max(initial=0.0) < _SETTLED * gap_m:
                return positions, True
            move = (-0.5 * _PUSH * too_far / size)[:, None] * delta
            acting = (too_far != 0.0).astype(np.float64)
            number = np.bincount(one, acting, count) + np.bincount(two, acting, count)
            total = [np.bincount(one, move[:, k], count) - np.bincount(two, move[:, k], count)
                     for k in range(dim)]  # fmt: skip
            flown = positions + np.stack(total, axis=1) / np.maximum(number, 1.0)[:, None] - start
            length = np.maximum(np.sqrt((flown * flown).sum(axis=1)), 1e-300)[:, None]
            positions = start + flown * np.minimum(1.0, reach_m / length)
        return positions, False

    def _repaired(self, positions: FloatArray) -> FloatArray | None:
        """Targets that meet the demands exactly, next to positions that nearly do."""
        targets = self._step(positions, by_start=False)
        if targets is None or not meets_demands(self.scenario, targets):
            return None
        return targets

    def _step(self, positions: FloatArray, by_start: bool) -> FloatArray | None:
        """The least time with the directions and links of the positions; None if it fails."""
        kept = self._links(positions, by_start)
        pairs = self.near(positions, _NEAR * self._gap_m)
        for _ in range(_ROUNDS):
            apart = Apart(pairs, self.directions(positions, pairs), self._gap_m * GAP_HAIR)
            within_m = self.problem.range_m * RANGE_HAIR
            shift = solve_apart(self.problem, kept, apart, within_m, None, self.is_over)
            if shift is None:
                return None
            moved = self.problem.start + shift
            close = self.near(moved, self._gap_m)
            close = close[lengths(moved, close) < self._gap_m]
            grown = np.unique(np.concatenate([pairs, close]), axis=0)
            if len(grown) == len(pairs):
                return moved if meets_demands(self.scenario, moved) else None
            pairs = grown
        return None

    def _links(self, positions: FloatArray, by_start: bool) -> IntArray:
        """Links that are there, or nearly: a tree, or what redundancy asks for."""
        if self.redundant is not None:
            return self.redundant(positions)
        if by_start:
            there = links(positions, self.problem.range_m)
            tree = lightest_tree(there, lengths(self.problem.start, there), len(positions))
            if len(tree) == len(positions) - 1:
                return tree
        return emst(positions)

    def near(self, positions: FloatArray, distance_m: float) -> IntArray:
        """Pairs up to so far apart, sorted."""
        if distance_m <= 0.0:
            return np.empty((0, 2), dtype=np.int64)
        pairs = cKDTree(positions).query_pairs(distance_m, output_type="ndarray")
        return np.asarray(np.sort(pairs.astype(np.int64), axis=1))

    def directions(self, positions: FloatArray, pairs: IntArray) -> FloatArray:
        """Unit vectors from j to i; for pairs in one place as they started, else by chance."""
        best = np.asarray(self.rng.standard_normal((len(pairs), positions.shape[1])))
        for points in (self.problem.start, positions):
            delta = points[pairs[:, 0]] - points[pairs[:, 1]]
            size = np.sqrt((delta**2).sum(axis=1))
            best = np.where((size > 1e-6 * self.problem.range_m)[:, None], delta, best)
        return np.asarray(best / np.sqrt((best**2).sum(axis=1))[:, None])

    @property
    def _gap_m(self) -> float:
        return self.scenario.min_separation_m

    def _is_best(self, time_s: float) -> bool:
        return time_s <= self.bound_s * (1.0 + 1e-5)
