"""Better 2-connected plans and better bounds for them, from one search by cases."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reknit.base.types import FloatArray, IntArray
from reknit.exact.demands.gap import GapState
from reknit.exact.demands.redundant_search import RedundantSearch
from reknit.exact.model.cone import Cones
from reknit.exact.model.problem import Problem
from reknit.exact.proof.certificates import certificate_of
from reknit.exact.search.proof_tree import Faster, Proof, Region, Work, in_order
from reknit.exact.search.state import BETTER, CaseProof
from reknit.plans.certificate import Certificate

_WHOLE = 60
_REGION = 32
"""Up to so many survivors are searched as a whole; of more, so many about those that decide."""

_FOR_PLANS = 0.4
_QUESTIONS = 8
_ONE_QUESTION, _LEAST_WORK = 0.6, 50.0
_ONWARDS = 0.35
"""Of the work this part goes into better plans; then for each question about a bound this part of
what is left, since few long searches prove more than many short ones, at a trial time so far from
the bound towards the plan."""

_EVER = 1.5
"""Horizons within which a plan is found if there is any; one would do, but for rounding."""

_CLOSE = 1.002
_DECIDES = 0.999
_MOST_ROWS = 40_000
"""A longer proof is worth less than the trouble of carrying and checking it."""


class Redundancy:
    """Narrows the gap between a 2-connected plan and its bound.

    Parameters
    ----------
    problem
        Survivors, speeds and range.
    cones
        Cone programs and clashes that earlier searches found; they hold here too.
    shape
        From positions that are nearly 2-connected to the time and targets of a plan, or None.
    """

    def __init__(
        self,
        problem: Problem,
        cones: Cones,
        shape: Callable[[FloatArray], tuple[float, FloatArray] | None],
    ) -> None:
        self.problem, self.cones, self._shape = problem, cones, shape

    def narrow(self, state: GapState, work: Work) -> GapState:
        """The state after some work, no worse than before."""
        part = work.part(_FOR_PLANS * (work.limit - work.done))
        while not (state.is_proved(2.0 * BETTER) or part.is_done):
            outcome, search = self._ask(state, state.time_s * (1.0 - BETTER), part)
            if outcome is None:
                break
            better = self._take_up(state, outcome, search)
            if better is state:
                break
            state = better
        work.add(part.done)
        low_s, high_s = state.bound_s, state.time_s
        for _ in range(_QUESTIONS):
            if high_s <= low_s * _CLOSE or state.is_proved(2.0 * BETTER) or work.is_done:
                break
            part = work.part(max(_ONE_QUESTION * (work.limit - work.done), _LEAST_WORK))
            trial_s = low_s + _ONWARDS * (high_s - low_s)
            outcome, search = self._ask(state, trial_s, part)
            work.add(part.done)
            if outcome is not None:
                state = self._take_up(state, outcome, search)
            if isinstance(outcome, Proof):
                low_s = max(state.bound_s, trial_s)
            else:
                high_s = trial_s
        return state

    def begin(self, work: Work) -> tuple[FloatArray | None, Certificate | None]:
        """Any plan at all, or what proves that there is none; neither if the work runs out first,
        or if the swarm is too large to be searched as a whole.
        """
        if self.problem.count > _WHOLE:
            return None, None
        outcome, search = self._search(None, _EVER * self.problem.horizon_s, work)
        if isinstance(outcome, Faster):
            shaped = self._shape(outcome.positions)
            return None if shaped is None else shaped[1], None
        if outcome is None or len(in_order(outcome)) > _MOST_ROWS:
            return None, None
        return None, certificate_of(CaseProof(search, outcome))

    def _ask(
        self, state: GapState, trial_s: float, work: Work
    ) -> tuple[Proof | Faster | None, RedundantSearch]:
        """Is there a plan faster than the trial time, as far as a region can tell?"""
        return self._search(self._region(state), trial_s, work)

    def _search(
        self, rows: IntArray | None, trial_s: float, work: Work
    ) -> tuple[Proof | Faster | None, RedundantSearch]:
        pairs = self.problem.candidates(trial_s, rows)
        count = self.problem.count
        region = Region.whole(count) if rows is None else Region.around(rows, count)
        work.add(len(pairs) // 500)
        search = RedundantSearch(self.cones, region, pairs, trial_s, work)
        return search.run(), search

    def _region(self, state: GapState) -> IntArray | None:
        """The survivors nearest to those that decide the time; None: all."""
        problem = self.problem
        if problem.count <= _WHOLE:
            return None
        flown_m = np.sqrt(((state.targets - problem.start) ** 2).sum(axis=1))
        critical = flown_m >= _DECIDES * state.time_s * problem.speeds
        critical &= problem.speeds > 0.0
        nearest = np.full(problem.count, np.inf)
        for point in problem.start[critical]:
            np.minimum(nearest, ((problem.start - point) ** 2).sum(axis=1), out=nearest)
        return np.sort(np.argsort(nearest, kind="stable")[:_REGION])

    def _take_up(
        self, state: GapState, outcome: Proof | Faster, search: RedundantSearch
    ) -> GapState:
        """The state with a faster plan or a better bound; the same one if it is neither."""
        if isinstance(outcome, Faster):
            rows = self._region(state)
            positions = outcome.positions
            if rows is not None:  # the others stay where the plan has them
                positions = state.targets.copy()
                positions[rows] = outcome.positions[rows]
            shaped = self._shape(positions)
            if shaped is None or shaped[0] >= state.time_s * (1.0 - 0.5 * BETTER):
                return state
            return GapState(*shaped, state.bound_s, state.certificate)
        if len(in_order(outcome)) > _MOST_ROWS:
            return state
        certificate = certificate_of(CaseProof(search, outcome))
        if certificate.bound_s <= state.bound_s:
            return state
        return GapState(state.time_s, state.targets, certificate.bound_s, certificate)
