"""Plans under demands that are not convex: a smallest separation, a k-connected result.

Given positions that come close, the links they suggest and, for pairs too close, the direction in
which they are apart are fixed; what remains is a cone program. Its solution suggests better links
and directions, and so on: from positions that meet the demands every step does, too, and none is
slower than the one before. Nothing here proves anything; the bounds do not depend on it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reknit.base.types import BoolArray, FloatArray, IntArray
from reknit.exact.demands.gap import GapState
from reknit.exact.demands.parting_rounds import PartingRounds
from reknit.exact.demands.redundancy import Redundancy
from reknit.exact.demands.redundant_links import Rule, any_pair, patched_links, sparse_links
from reknit.exact.demands.spacing import GAP_HAIR, RANGE_HAIR, Spacer
from reknit.exact.model.cone import Apart, Cones, solve_apart
from reknit.exact.model.problem import Problem
from reknit.exact.search.proof_tree import Work
from reknit.network.emst import emst
from reknit.network.links import lengths
from reknit.plans.certificate import Certificate
from reknit.swarm.demands import meets_demands
from reknit.swarm.scenario import Scenario

_LONGER = 1e-6
"""What the least total movement may take in time, so that the solver has room."""

_ROUNDS = 40
_LARGE = 300
_FEW_ROUNDS = 4
"""Choosing 2-connected links takes long in large swarms."""

_PARTS = (0.4, 0.6, 0.75, 0.85, 0.92, 0.97)
_SHAKEN = 20
_SHAKES = (0.15, 0.3, 0.6)
"""How many survivors are moved by chance at most, and how far, in parts of the range."""

_DECIDES = 0.999
_REMEMBERED = 64
"""Positions that were seen to meet the demands, the last ones."""

_NO_PAIRS = np.empty((0, 2), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class DemandRepair:
    """Turns positions that nearly meet the demands into ones that do, and improves them."""

    scenario: Scenario
    problem: Problem
    rng: np.random.Generator
    is_over: Callable[[], bool]
    bound_s: float

    def has_met(self, targets: FloatArray) -> bool:
        """Whether these very targets were seen to meet the demands: to look again takes long."""
        return any(targets is known for known in self._met)

    @cached_property
    def _met(self) -> deque[FloatArray]:
        return deque(maxlen=_REMEMBERED)

    def best(self, starts: list[FloatArray], effort: int) -> FloatArray | None:
        """The quickest targets found from any of the given positions."""
        plans: list[tuple[float, FloatArray]] = []
        for positions in starts:
            if self.is_over() or (plans and self._is_best(min(item[0] for item in plans))):
                break
            shaped = self._improve(positions, _NO_PAIRS) or self._improve_slowly(positions)
            if shaped is not None:
                plans.append(shaped)
        if self.scenario.min_separation_m > 0.0 and not (plans and self.is_over()):
            spaced = self._spacer.best([targets for _, targets in plans])
            if spaced is not None:
                plans.append((self._time_s(spaced), spaced))
        if not plans:
            return None
        time_s, targets = min(plans, key=lambda item: item[0])
        is_small = self.problem.count <= _LARGE
        if self.scenario.connectivity > 1 and is_small and not self._is_best(time_s):
            time_s, targets = self._swap(time_s, targets, effort)
            if self.scenario.connectivity == 2 and self.scenario.min_separation_m == 0.0:
                time_s, targets = self._shake(time_s, targets, effort)
        return self._calm(time_s, targets)

    def narrowed(
        self, targets: FloatArray, cones: Cones, work: Work
    ) -> tuple[FloatArray, Certificate | None]:
        """Better 2-connected targets and what proves a better bound, if the search finds any.

        Parameters
        ----------
        targets
            A plan that meets the demands.
        cones
            Cone programs of an earlier search.
        work
            What may be done.

        Returns
        -------
        The targets, and a certificate if it proves more than `bound_s`.
        """
        if self.problem.count < 3:
            return targets, None
        begun = GapState(self._time_s(targets), targets, self.bound_s)
        state = self._redundancy(cones).narrow(begun, work)
        if state.time_s < begun.time_s:
            targets = self._calm(state.time_s, state.targets)
        return targets, state.certificate

    def sought(self, cones: Cones, work: Work) -> tuple[FloatArray | None, Certificate | None]:
        """2-connected targets that a search by cases finds where no given positions lead to any,
        or what proves that there are none, if it comes to its end.
        """
        if self.problem.count < 3:
            return None, None
        return self._redundancy(cones).begin(work)

    def _redundancy(self, cones: Cones) -> Redundancy:
        def shape(positions: FloatArray) -> tuple[float, FloatArray] | None:
            return self._improve(positions, _NO_PAIRS)

        return Redundancy(self.problem, cones.copy(self.is_over), shape)

    def parted(self, targets: FloatArray, work: Work) -> tuple[FloatArray, Certificate | None]:
        """Better targets with a separation, in the plane, and what proves a better bound.

        Parameters
        ----------
        targets
            A plan that meets the demands.
        work
            What may be done.

        Returns
        -------
        The targets, and a certificate if it proves more than `bound_s`.
        """
        if targets.shape[1] != 2 or self._is_best(self._time_s(targets)):
            return targets, None
        rounds = PartingRounds(
            self.problem, self.scenario.min_separation_m, self._spacer.holding, self._spacer.shaped
        )
        begun = GapState(self._time_s(targets), targets, self.bound_s)
        state = rounds.narrow(begun, work)
        if state.time_s < begun.time_s:
            targets = self._calm(state.time_s, state.targets)
        return targets, state.certificate

    @cached_property
    def _spacer(self) -> Spacer:
        def redundant(positions: FloatArray) -> IntArray:
            return self._links(positions, _NO_PAIRS)

        is_tree = self.scenario.connectivity == 1 or self.problem.count < 3
        return Spacer(self.scenario, self.problem, self.rng, self.is_over, self.bound_s,
                      None if is_tree else redundant)  # fmt: skip

    def _improve(self, positions: FloatArray, banned: IntArray) -> tuple[float, FloatArray] | None:
        """Links and directions from the positions, the cone program, and again while it helps."""
        best: tuple[float, FloatArray] | None = None
        large = self.scenario.connectivity > 1 and self.problem.count > _LARGE
        for _ in range(_ROUNDS if not large else _FEW_ROUNDS):
            shaped = self._shape(self._links(positions, banned), positions)
            if shaped is None:
                return best
            if best is not None and shaped[0] > best[0] * (1.0 - 1e-6):
                return best
            best = shaped
            positions = shaped[1]
            if self.is_over() or self._is_best(shaped[0]):
                return best
        return best

    def _improve_slowly(self, positions: FloatArray) -> tuple[float, FloatArray] | None:
        """Let the separation grow bit by bit, with links from the positions reached so far."""
        if self.scenario.min_separation_m == 0.0:
            return None
        for part in _PARTS:
            links = self._links(positions, _NO_PAIRS)
            shaped = self._shape(links, positions, part * self.scenario.min_separation_m)
            if shaped is None:
                return None
            positions = shaped[1]
        return self._improve(positions, _NO_PAIRS)

    def _swap(self, time_s: float, targets: FloatArray, effort: int) -> tuple[float, FloatArray]:
        """Do without one of the longest links at a time."""
        tried = 0  # in cone programs; those of large swarms count for more
        while tried < effort and not self._is_best(time_s):
            links = self._links(targets, _NO_PAIRS)
            start_m = lengths(self.problem.start, links)
            for link in np.argsort(-start_m, kind="stable")[:12]:
                tried += 4 + self.problem.count // 4
                if self.is_over() or tried > effort:
                    return time_s, targets
                better = self._improve(targets, links[[link]])
                if better is not None and better[0] < time_s * (1.0 - 1e-6):
                    time_s, targets = better
                    break
            else:
                return time_s, targets
        return time_s, targets

    def _shake(self, time_s: float, targets: FloatArray, effort: int) -> tuple[float, FloatArray]:
        """Move survivors about one that decides the time by chance, and see what links follow."""
        start, speeds = self.problem.start, self.problem.speeds
        most = min(self.problem.count, _SHAKEN)
        for _ in range(effort // (4 + self.problem.count // 4)):
            if self.is_over() or self._is_best(time_s):
                break
            flown_m = np.sqrt(((targets - start) ** 2).sum(axis=1))
            deciding = np.flatnonzero((flown_m >= _DECIDES * time_s * speeds) & (speeds > 0.0))
            centre = targets[self.rng.choice(deciding)]
            number = int(self.rng.integers(min(3, most), most + 1))
            away = ((targets - centre) ** 2).sum(axis=1)
            rows = np.argsort(away, kind="stable")[:number]
            rows = rows[speeds[rows] > 0.0]
            positions = targets.copy()
            if self.rng.random() < 0.5:
                size_m = self.rng.choice(_SHAKES) * self.problem.range_m
                positions[rows] += size_m * self.rng.standard_normal((len(rows), start.shape[1]))
            else:
                part = self.rng.random()
                positions[rows] = start[rows] + part * (targets[rows] - start[rows])
            better = self._improve(positions, _NO_PAIRS)
            if better is not None and better[0] < time_s * (1.0 - 1e-6):
                time_s, targets = better
        return time_s, targets

    def _links(self, positions: FloatArray, banned: IntArray) -> IntArray:
        order = self.scenario.connectivity
        if order > 1 and self.problem.count > 2:
            may_link = self._rule(banned)
            if order == 2 and self.problem.count > _LARGE:
                return patched_links(positions, self.problem.range_m, self.is_over, may_link)
            return sparse_links(positions, order, self.is_over, may_link)
        return emst(positions)

    def _rule(self, banned: IntArray) -> Rule:
        """No banned pairs, and none that no movement links: two anchors that are out of range."""
        has_gaps = (self.problem.speeds == 0.0).sum() > 1
        if not len(banned) and not has_gaps:
            return any_pair
        count = self.problem.count
        names = banned[:, 0] * count + banned[:, 1]

        def may_link(pairs: IntArray) -> BoolArray:
            allowed = ~np.isin(pairs[:, 0] * count + pairs[:, 1], names)
            return allowed & np.isfinite(self.problem.closing_time_s(pairs))

        return may_link

    def _shape(
        self, links: IntArray, positions: FloatArray, gap_m: float | None = None
    ) -> tuple[float, FloatArray] | None:
        """The least time with these links, adding pairs to keep apart until none is too close."""
        is_final = gap_m is None
        gap_m = self.scenario.min_separation_m if gap_m is None else gap_m
        pairs = _NO_PAIRS
        for _ in range(_ROUNDS):
            if self.is_over():  # a large program takes long before it asks for the first time
                return None
            pairs = np.unique(np.concatenate([pairs, self._too_close(positions, gap_m)]), axis=0)
            apart = Apart(pairs, self._spacer.directions(positions, pairs), gap_m * GAP_HAIR)
            closest_m = self.problem.range_m * RANGE_HAIR
            shift = solve_apart(self.problem, links, apart, closest_m, None, self.is_over)
            if shift is None:
                return None
            positions = self.problem.start + shift
            if len(self._too_close(positions, gap_m)) == 0:
                if is_final and not meets_demands(self.scenario, positions, self.is_over):
                    return None
                if is_final:
                    self._met.append(positions)
                return self._time_s(positions), positions
        return None

    def _calm(self, time_s: float, targets: FloatArray) -> FloatArray:
        """The least total movement with the links and directions of the targets found."""
        if self.is_over():
            return targets
        links = self._links(targets, _NO_PAIRS)
        pairs = self._spacer.near(targets, 1.5 * self.scenario.min_separation_m)
        gap_m = self.scenario.min_separation_m * GAP_HAIR
        closest_m = self.problem.range_m * RANGE_HAIR
        for _ in range(_ROUNDS):
            apart = Apart(pairs, self._spacer.directions(targets, pairs), gap_m)
            limit_s = time_s * (1.0 + _LONGER)
            shift = solve_apart(self.problem, links, apart, closest_m, limit_s, self.is_over)
            if shift is None or self.is_over():
                return targets
            close = self._too_close(self.problem.start + shift, self.scenario.min_separation_m)
            grown = np.unique(np.concatenate([pairs, close]), axis=0)
            if len(grown) == len(pairs):
                return self._stilled(shift, limit_s * (1.0 + _LONGER), targets)
            pairs = grown
        return targets

    def _stilled(self, shift: FloatArray, limit_s: float, otherwise: FloatArray) -> FloatArray:
        """The displacements with rounding of zero set to zero, if the demands are met so."""
        still = np.sqrt((shift**2).sum(axis=1)) < 1e-6 * self.problem.range_m
        for moves in (np.where(still[:, None], 0.0, shift), shift):
            calm = self.problem.start + moves
            if self._time_s(calm) <= limit_s and meets_demands(self.scenario, calm, self.is_over):
                return np.asarray(calm)
        return otherwise

    def _is_best(self, time_s: float) -> bool:
        """Whether no plan is faster."""
        return time_s <= self.bound_s * (1.0 + 1e-5)

    def _time_s(self, positions: FloatArray) -> float:
        size = np.sqrt(((positions - self.problem.start) ** 2).sum(axis=1))
        speeds = self.problem.speeds
        return float(np.divide(size, speeds, out=np.zeros_like(size), where=speeds > 0).max())

    def _too_close(self, positions: FloatArray, gap_m: float) -> IntArray:
        pairs = self._spacer.near(positions, gap_m)
        return np.asarray(pairs[lengths(positions, pairs) < gap_m])
