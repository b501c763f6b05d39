"""What the certified planner works on: survivors, speeds, the range, and the links there can be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from reknit.base.types import FloatArray, IntArray
from reknit.network.emst import emst, lightest_tree
from reknit.network.links import components, lengths
from reknit.plans.certificate import CANDIDATE_HAIR
from reknit.swarm.scenario import Scenario

_SLACK = 1.0 + 1e-9
"""The k-d tree proposes pairs a hair beyond the reach; the comparison is made here."""


@dataclass(frozen=True, eq=False)
class Problem:
    """(P1) for one scenario: move the survivors so that links of `range_m` connect them.

    Parameters
    ----------
    start
        (n, dim) positions of the survivors at t_0, metres.
    speeds
        (n,) metres per second; 0 for anchors.
    """

    start: FloatArray
    speeds: FloatArray
    range_m: float

    @staticmethod
    def of(scenario: Scenario) -> Problem:
        """The problem that a scenario poses, without separation and 2-connectivity; made once and
        kept with the scenario, for its tree takes a while in a large swarm.
        """
        memo = scenario._memo
        if "exact_problem" not in memo:
            memo["exact_problem"] = Problem(
                scenario.survivor_positions, scenario.survivor_speeds_mps, scenario.planning_range_m
            )
        problem: Problem = memo["exact_problem"]
        return problem

    def without(self, row: int) -> Problem:
        """The same problem when one survivor is lost."""
        start, speeds = np.delete(self.start, row, axis=0), np.delete(self.speeds, row)
        return Problem(start, speeds, self.range_m)

    @property
    def count(self) -> int:
        """N_R, the number of survivors."""
        return len(self.start)

    @cached_property
    def top_speed(self) -> float:
        """The fastest survivor's speed."""
        return float(self.speeds.max(initial=0.0))

    @cached_property
    def is_uniform(self) -> bool:
        """Whether all survivors are equally fast (and none is an anchor)."""
        return bool((self.speeds == self.top_speed).all())

    @cached_property
    def _kd_tree(self) -> cKDTree:
        return cKDTree(self.start)

    @cached_property
    def horizon_s(self) -> float:
        """If any plan is possible, one is in this time: a connected swarm of n fits into a ball
        of radius n d about any of its members, and nobody has farther to go than across the
        swarm as it is and that ball.
        """
        slowest = float(self.speeds[self.speeds > 0.0].min(initial=np.inf))
        across_m = float(np.sqrt((np.ptp(self.start, axis=0) ** 2).sum()))
        return (across_m + self.count * self.range_m) / slowest

    def closing_time_s(self, pairs: IntArray) -> FloatArray:
        """``max(0, |p_i - p_j| - d) / (v_i + v_j)``: how soon each pair can be linked."""
        excess = np.maximum(0.0, lengths(self.start, pairs) - self.range_m)
        speed = self.speeds[pairs[:, 0]] + self.speeds[pairs[:, 1]]
        never = np.where(excess > 0.0, np.inf, 0.0)
        return np.asarray(np.divide(excess, speed, out=never, where=speed > 0.0))

    def candidates(self, time_s: float, rows: IntArray | None = None) -> IntArray:
        """Pairs that can be linked within a time, ``|p_i - p_j| <= d + (v_i + v_j) t``, sorted;
        only those with an end among `rows`, if given. The rule is that of certificates.
        """
        reach_m = (self.range_m + 2.0 * self.top_speed * time_s) * _SLACK
        if rows is None or 2 * len(rows) > self.count:
            pairs = self._kd_tree.query_pairs(reach_m, output_type="ndarray").astype(np.int64)
            if rows is not None:
                chosen = np.zeros(self.count, dtype=bool)
                chosen[rows] = True
                pairs = pairs[chosen[pairs].any(axis=1)]
        else:
            balls: Any = self._kd_tree.query_ball_point(self.start[rows], reach_m)
            left = np.repeat(rows, [len(ball) for ball in balls])
            right = np.concatenate([np.asarray(ball, dtype=np.int64) for ball in balls])
            pairs = np.stack([np.minimum(left, right), np.maximum(left, right)], axis=1)
            pairs = np.unique(pairs[left != right], axis=0)
        limit_m = self.range_m + (self.speeds[pairs[:, 0]] + self.speeds[pairs[:, 1]]) * time_s
        pairs = pairs[lengths(self.start, pairs) <= limit_m * (1.0 + CANDIDATE_HAIR)]
        return np.asarray(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])

    def pairs_within(self, distance_m: float) -> IntArray:
        """Pairs that start at most so far apart (or a hair more)."""
        pairs = self._kd_tree.query_pairs(distance_m * _SLACK, output_type="ndarray")
        return np.asarray(pairs.astype(np.int64))

    @cached_property
    def emst(self) -> IntArray:
        """The EMST of the survivors where they are."""
        return emst(self.start)

    @cached_property
    def longest_edge_m(self) -> float:
        """Length l of its longest edge."""
        return float(lengths(self.start, self.emst).max(initial=0.0))

    @cached_property
    def first_tree(self) -> IntArray:
        """The EMST; with different speeds the tree that is minimal in `closing_time_s`."""
        return self.emst if self.is_uniform else self._quickest_tree()

    @cached_property
    def quickest_s(self) -> float:
        """The time before which the candidate links cannot connect the survivors."""
        return float(self.closing_time_s(self.first_tree).max(initial=0.0))

    def _quickest_tree(self) -> IntArray:
        """Minimum spanning tree under the closing time, then the length; may lack links that
        no speed can close (between anchors).
        """
        time_s = max(self.range_m / max(self.top_speed, 1e-300), 1e-9) / 4.0
        span_m = float(np.ptp(self.start, axis=0).max()) * np.sqrt(self.start.shape[1])
        slowest = self.speeds[self.speeds > 0.0].min(initial=self.top_speed)
        last_s = 2.0 * span_m / slowest if slowest > 0.0 else 0.0
        while True:
            pairs = self.candidates(time_s)
            tree = lightest_tree(pairs, self._weights(pairs), self.count)
            if len(tree) == self.count - 1 or time_s > last_s:
                return tree
            time_s *= 2.0

    def _weights(self, pairs: IntArray) -> FloatArray:
        longest = max(float(np.ptp(self.start, axis=0).max()), 1e-300)
        order = np.lexsort((lengths(self.start, pairs) / longest, self.closing_time_s(pairs)))
        rank = np.empty(len(pairs))
        rank[order] = np.arange(len(pairs))
        return rank


def is_spanning(tree: IntArray, nodes: int) -> bool:
    """Whether the links connect all nodes."""
    return bool(components(tree, nodes).max(initial=0) == 0)
