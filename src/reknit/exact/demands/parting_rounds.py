"""Better plans with a separation and better bounds for them, from groups that have little room.

The survivors that decide the time of a plan hold one another: where the last cone program has
forces between them, directions and all, nobody can be quicker. Whether they could with other
directions is asked of them alone (`PartingSearch`). A *no* is a bound for the whole swarm. A *yes*
comes with places; others that stand in their way join the group, and if nobody does the
plan is tried with these places.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from reknit.base.types import FloatArray, IntArray
from reknit.exact.demands.gap import GapState
from reknit.exact.demands.partings import Answer, PartingSearch
from reknit.exact.model.problem import Problem
from reknit.exact.search.proof_tree import Work
from reknit.plans.certificate import Certificate

_CLOSE_ENOUGH = 5e-4
"""A bound so near to the plan proves it optimal."""

_LEAST_ASKING = 50.0
_DECIDES = 0.999
_LARGEST_GROUP = 12
_JOINING = 2
_SIZES = (3, 4, 5, 7)
_STEP = 1.004
"""How much more than what is proved already is asked of a new group."""

_BISECTIONS = 5
_ONWARDS = 0.3
_FOR_PLANS = 0.4
_ONE_ASKING = 0.6
"""Parts: how far a trial time goes from the bound towards the plan; of the work for better plans;
of what is left of it for one question about a bound, of which few long ones prove more than many
short ones."""


@dataclass(frozen=True, eq=False)
class PartingRounds:
    """Narrows the gap between a plan with a separation and its bound, in the plane.

    Parameters
    ----------
    problem
        Survivors, speeds and range.
    gap_m
        s, the demanded separation.
    holding
        From targets to the survivors between which forces act in the last cone program.
    shape
        From positions that are nearly a plan, and a time, to targets of a faster one, or None.
    """

    problem: Problem
    gap_m: float
    holding: Callable[[FloatArray], IntArray]
    shape: Callable[[FloatArray, float], FloatArray | None]

    def narrow(self, state: GapState, work: Work) -> GapState:
        """The state after some work, no worse than before."""
        part = work.part(_FOR_PLANS * (work.limit - work.done))
        groups: list[IntArray] = []
        while not (state.is_proved(2.0 * _CLOSE_ENOUGH) or part.is_done):
            rows = self.holding(state.targets)
            if len(rows) < 2:
                break
            asking = part.part(max(_ONE_ASKING * (part.limit - part.done), _LEAST_ASKING))
            proof, search, rows = self._ask(rows, state.time_s * (1.0 - _CLOSE_ENOUGH), asking)
            part.add(asking.done)
            groups.append(rows)
            if proof is not None:
                state = _raised(state, search.certificate(proof))
                break
            better = self._moved(state, rows, search.places)
            if better is None:
                break
            state = better
        work.add(part.done)
        return self._raise(state, groups, work)

    def _raise(self, state: GapState, groups: list[IntArray], work: Work) -> GapState:
        """Better bounds from the groups met so far and from those about who decides the time."""
        for rows in [*groups[::-1], *self._neighbourhoods(state)]:
            low_s, high_s = state.bound_s * _STEP, state.time_s
            trial_s = low_s
            for _ in range(_BISECTIONS):
                if trial_s >= high_s or state.is_proved(2.0 * _CLOSE_ENOUGH) or work.is_done:
                    break
                asking = work.part(max(_ONE_ASKING * (work.limit - work.done), _LEAST_ASKING))
                proof, search, _ = self._ask(rows, trial_s, asking, grows=False)
                work.add(asking.done)
                if proof is not None:
                    state = _raised(state, search.certificate(proof))
                    low_s = max(trial_s, state.bound_s)
                elif trial_s == low_s:
                    break
                else:
                    high_s = trial_s
                trial_s = low_s + _ONWARDS * (high_s - low_s)
        return state

    def _ask(
        self, rows: IntArray, trial_s: float, work: Work, grows: bool = True
    ) -> tuple[Answer | None, PartingSearch, IntArray]:
        """Can a group be apart before a trial time? Others who stand in its way may join it."""
        while True:
            search = PartingSearch(self.problem, self.gap_m, rows, trial_s, work)
            proof = search.run()
            if proof is not None or search.places is None or not grows:
                return proof, search, rows
            others = np.setdiff1d(np.arange(self.problem.count), rows)
            if len(others) == 0 or len(rows) >= _LARGEST_GROUP or work.is_done:
                return None, search, rows
            away_m = np.asarray(cKDTree(search.places).query(self.problem.start[others])[0])
            joining = np.argsort(away_m, kind="stable")[:_JOINING]
            joining = joining[away_m[joining] < self.gap_m]
            if len(joining) == 0:
                return None, search, rows
            rows = np.sort(np.concatenate([rows, others[joining]]))

    def _moved(self, state: GapState, rows: IntArray, places: FloatArray | None) -> GapState | None:
        """A faster plan with a group in other places, if there is one."""
        if places is None:
            return None
        positions = state.targets.copy()
        positions[rows] = places
        targets = self.shape(positions, state.time_s)
        if targets is None:
            return None
        flown_m = np.sqrt(((targets - self.problem.start) ** 2).sum(axis=1))
        speeds = self.problem.speeds
        times_s = np.divide(flown_m, speeds, out=np.zeros_like(flown_m), where=speeds > 0.0)
        time_s = float(times_s.max())
        if time_s >= state.time_s * (1.0 - 0.5 * _CLOSE_ENOUGH):
            return None
        return replace(state, time_s=time_s, targets=targets)

    def _neighbourhoods(self, state: GapState) -> list[IntArray]:
        """The survivors nearest to each that decides the time, a few of them, then more."""
        problem = self.problem
        flown_m = np.sqrt(((state.targets - problem.start) ** 2).sum(axis=1))
        critical = flown_m >= _DECIDES * state.time_s * problem.speeds
        critical &= problem.speeds > 0.0
        most = min(max(_SIZES), problem.count)
        near = np.asarray(cKDTree(problem.start).query(problem.start[critical], k=most)[1])
        groups: dict[tuple[int, ...], None] = {}
        for size in _SIZES:
            for rows in near.reshape(-1, most)[:, :size].tolist():
                groups[tuple(sorted(rows))] = None
        return [np.asarray(rows, dtype=np.int64) for rows in groups]


def _raised(state: GapState, certificate: Certificate) -> GapState:
    if certificate.bound_s <= state.bound_s:
        return state
    bound_s = min(certificate.bound_s, state.time_s)
    # A proof may reach beyond the plan only by rounding; a bound never does.
    certificate = replace(certificate, bound_s=bound_s)
    return replace(state, bound_s=bound_s, certificate=certificate)
