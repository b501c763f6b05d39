"""Bounds by counting: bundles of candidate links that leave no room for a tree.

A tree faster than a trial time has n - 1 candidates, at most k - 1 of those among k survivors, at
most k - 1 of the k links of a clash and at most one of links every two of which clash. The
largest sum of x_e under these limits, for x_e from 0 to 1, is a linear program. Where it is less
than n - 1 there is no such tree, and the program's dual weights prove it (docs/bounds.md). The
limits are too many to be listed; those that a solution violates are added until there are none.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from reknit.base.types import BoolArray, FloatArray, IntArray
from reknit.exact.model.cone import Cones
from reknit.exact.model.learned import Link
from reknit.exact.model.problem import Problem
from reknit.exact.proof.certificates import provable_times_s
from reknit.exact.search.conflicts import clashing_pairs
from reknit.network.links import components
from reknit.plans.certificate import Bundle, Certificate, Clash

_MOST_SURVIVORS, _MOST_LINKS = 150, 1_500
_ROUNDS = 12
_TRIALS = 8
_FIRST_STEP = 0.12
"""The first trial time is so much above what is known; each success doubles the step."""

_CLOSE = 1.01
_GROWN = 24
"""Survivors in a bundle that is grown from one of them."""

_THRESHOLDS = (0.95, 0.7, 0.45, 0.3, 0.2, 0.1)
_VIOLATED = 1e-5
_LACKING = 1e-4
"""How far below n - 1 the program's value has to be."""

_UNIT = 2.0**30
"""Weights are whole numbers of one part in so many."""


def cover_certificate(
    problem: Problem,
    floor_s: float,
    ceiling_s: float,
    is_over: Callable[[], bool] = lambda: False,
) -> Certificate | None:
    """The best certificate of this kind that a few trial times give.

    Parameters
    ----------
    problem
        All survivors.
    floor_s, ceiling_s
        The bound and the best plan that are known, seconds.
    is_over
        Asked between steps; what is found by then is used.

    Returns
    -------
    Certificate or None
        None where nothing better than `floor_s` is proved. Where the first trial time fails no
        other is tried: the search by cases does better there.
    """
    if not 3 <= problem.count <= _MOST_SURVIVORS or not np.isfinite(ceiling_s):
        return None
    best: Certificate | None = None
    low_s, high_s, step = floor_s, ceiling_s, _FIRST_STEP
    for _ in range(_TRIALS):
        if high_s <= low_s * _CLOSE or is_over():
            break
        trial_s = min(low_s * (1.0 + step), 0.5 * (low_s + high_s))
        program = _Program(problem, trial_s)
        proved = program.certificate() if program.has_no_tree(is_over) else None
        if proved is not None and proved.bound_s > low_s:
            best, low_s, step = proved, proved.bound_s, 2.0 * step
        elif best is None:
            break
        else:
            high_s = trial_s
    return best


class _Program:
    """The linear program at one trial time, with the limits that were needed so far."""

    def __init__(self, problem: Problem, time_s: float) -> None:
        self.problem, self.time_s = problem, time_s
        self.pairs = problem.candidates(time_s)
        self._limits: list[tuple[IntArray, int, IntArray | None]] = []  # links, most, survivors
        self._known: set[bytes] = set()
        self._weights = np.zeros(0)
        self._single = np.zeros(0)
        self._clashing: list[set[int]] = [set() for _ in self.pairs]
        if len(self.pairs) > _MOST_LINKS:
            return
        first, second = clashing_pairs(problem, self.pairs, time_s)
        for e, f in zip(first.tolist(), second.tolist(), strict=True):
            self._clashing[e].add(f)
            self._clashing[f].add(e)
        everyone = np.ones(problem.count, dtype=bool)
        self._add_survivors(everyone)

    def has_no_tree(self, is_over: Callable[[], bool]) -> bool:
        """Whether the limits are found to leave no room for a tree."""
        if len(self.pairs) > _MOST_LINKS:
            return False
        for _ in range(_ROUNDS):
            value, solution = self._solve()
            if value < self.problem.count - 1 - _LACKING:
                return True
            before = len(self._limits)
            self._add_cliques(solution)
            self._add_cycles(solution)
            if len(self._limits) == before or is_over():
                return False
        return False

    def _solve(self) -> tuple[float, FloatArray]:
        row = np.repeat(np.arange(len(self._limits)), [len(links) for links, _, _ in self._limits])
        column = np.concatenate([links for links, _, _ in self._limits])
        shape = (len(self._limits), len(self.pairs))
        matrix = csr_array((np.ones(len(row)), (row, column)), shape=shape)
        most = np.asarray([most for _, most, _ in self._limits], dtype=np.float64)
        cost = np.full(len(self.pairs), -1.0)
        result = linprog(cost, A_ub=matrix, b_ub=most, bounds=(0.0, 1.0), method="highs-ds")
        if result.status != 0:
            return np.inf, np.zeros(len(self.pairs))
        self._weights, self._single = -result.ineqlin.marginals, -result.upper.marginals
        return -float(result.fun), np.asarray(result.x)

    def _add_cliques(self, solution: FloatArray) -> None:
        """Links every two of which clash, and of which the solution has more than one."""
        used = np.flatnonzero(solution > _VIOLATED)
        order = used[np.argsort(-solution[used], kind="stable")].tolist()
        for start in order:
            clique, total = [start], float(solution[start])
            common = set(self._clashing[start])
            for link in order:
                if link in common:
                    clique.append(link)
                    total += float(solution[link])
                    common &= self._clashing[link]
            if total <= 1.0 + _VIOLATED:
                continue
            while common:  # links that are not used fit in too
                link = max(common, key=lambda one: (len(self._clashing[one]), -one))
                clique.append(link)
                common &= self._clashing[link]
            self._add(np.asarray(sorted(clique), dtype=np.int64), 1, None)

    def _add_cycles(self, solution: FloatArray) -> None:
        """Survivors among whom the solution has more links than a tree can."""
        count = self.problem.count
        for threshold in _THRESHOLDS:
            label = components(self.pairs[solution > threshold], count)
            for piece in range(int(label.max()) + 1):
                self._add_if_violated(label == piece, solution)
        weight = np.zeros((count, count))
        weight[self.pairs[:, 0], self.pairs[:, 1]] = solution
        weight += weight.T
        # From every survivor at once: take in whoever has most links with those taken in.
        everyone = np.arange(count)
        inside = np.eye(count, dtype=bool)
        attached = weight.copy()
        total = np.zeros(count)
        most, best = np.full(count, _VIOLATED), inside.copy()
        for size in range(2, min(count, _GROWN + 1)):
            following = np.where(inside, -1.0, attached).argmax(axis=1)
            total += attached[everyone, following]
            inside[everyone, following] = True
            attached += weight[following]
            excess = total - (size - 1)
            better = excess > most + 1e-9
            most[better], best[better] = excess[better], inside[better]
        for root in np.flatnonzero(most > _VIOLATED).tolist():
            self._add_if_violated(best[root], solution)

    def _add_if_violated(self, inside: BoolArray, solution: FloatArray) -> None:
        size = int(inside.sum())
        among = inside[self.pairs].all(axis=1)
        if size >= 3 and float(solution[among].sum()) > size - 1 + _VIOLATED:
            self._add_survivors(inside)

    def _add_survivors(self, inside: BoolArray) -> None:
        links = np.flatnonzero(inside[self.pairs].all(axis=1))
        self._add(links, int(inside.sum()) - 1, np.flatnonzero(inside))

    def _add(self, links: IntArray, most: int, survivors: IntArray | None) -> None:
        key = links.tobytes()
        if key not in self._known:
            self._known.add(key)
            self._limits.append((links, most, survivors))

    def certificate(self) -> Certificate:
        """The weights of the last solution as bundles, with the clashes that they rest on."""
        none, no_links = np.empty(0, dtype=np.int64), np.empty((0, 2), dtype=np.int64)
        bundles: list[Bundle] = []
        clashes: dict[tuple[Link, Link], Clash] = {}
        cones = Cones(self.problem)
        for (links, _, survivors), weight in zip(self._limits, self._weights, strict=True):
            whole = round(float(weight) * _UNIT)
            if whole <= 0:
                continue
            if survivors is not None:
                bundles.append(Bundle(whole, survivors, no_links))
                continue
            bundles.append(Bundle(whole, none, self.pairs[links]))
            for k, first in enumerate(links.tolist()):
                for second in links[k + 1 :].tolist():
                    both = self.pairs[[first, second]]
                    one, two = both.tolist()
                    key = ((one[0], one[1]), (two[0], two[1]))
                    if key not in clashes:
                        clashes[key] = Clash(both, cones.solve(both)[0].forces)
        for link in np.flatnonzero(self._single * _UNIT >= 1.0).tolist():
            bundles.append(Bundle(round(self._single[link] * _UNIT), self.pairs[link], no_links))
        times_s = provable_times_s(self.problem, list(clashes.values()))
        bound_s = float(times_s.min(initial=self.time_s))
        cases = no_links
        return Certificate(
            bound_s, self.time_s, cases, tuple(clashes.values()), bundles=tuple(bundles)
        )
