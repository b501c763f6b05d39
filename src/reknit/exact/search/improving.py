"""The search for better trees: random exchanges, then all single ones, then neighbourhoods of the
links that decide.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from reknit.base.types import IntArray
from reknit.exact.search.clause_search import can_search
from reknit.exact.search.descending import MOST_SURVIVORS, Descents
from reknit.exact.search.exchange import Exchange
from reknit.exact.search.neighbourhood import Neighbourhoods
from reknit.exact.search.proof_tree import Work
from reknit.exact.search.shaking import Shaking
from reknit.exact.search.state import State
from reknit.exact.search.tree_program import TreeSolution

_SHAKEN, _SHAKEN_FAR = 0.5, 0.8
"""The part of the work that goes into descents or random exchanges, and where the bound is far."""

_FAR = 1.2
"""A tree that takes so many times the bound is far from it: neighbourhoods of the links that decide
seldom make it faster, since others decide as much."""


class Improver:
    """Keeps improving the tree of a state; goes on where it stopped.

    Parameters
    ----------
    state
        Whose cone programs are shared.
    rng
        The source of randomness.
    """

    def __init__(self, state: State, rng: np.random.Generator) -> None:
        self._exchange = Exchange(state.cones, state.bound_s, Work(0.0))
        problem = state.problem
        is_quick = can_search(problem) and problem.count <= MOST_SURVIVORS
        self._neighbourhoods = Neighbourhoods(
            state.cones, self._exchange, Work(0.0), rng, can_search(problem)
        )
        self._random: Descents | Shaking = (Descents if is_quick else Shaking)(
            state.cones, self._exchange, Work(0.0), rng
        )
        self._exhausted: IntArray | None = None

    def start_from(self, state: State, links: IntArray, work: Work) -> State:
        """The state with another tree, if that is faster than its own."""
        self._exchange.work = work
        tree = self._exchange.solve_within(links, state.tree.time_s)
        return state if tree is None else replace(state, tree=tree)

    def improve(self, state: State, work: Work) -> State:
        """The state with the best tree found within some work."""
        self._exchange.work = self._neighbourhoods.work = self._random.work = work
        self._exchange.floor_s = state.bound_s
        tree = state.tree
        while not (self._is_shaken(state, tree, work) or self._is_best(state, tree, work)):
            tree = self._random.step(tree)
        if self._exhausted is not tree.links and isinstance(self._random, Shaking):
            tree = self._exchange.improve(tree)
        while not self._is_best(state, tree, work):
            tree = self._neighbourhoods.step(tree)
            proof = self._neighbourhoods.proof
            if proof is not None and proof.search.time_s > state.bound_s:
                state = replace(state, bound_s=proof.search.time_s, case=proof)
        self._exhausted = tree.links
        return replace(state, tree=tree)

    @staticmethod
    def _is_shaken(state: State, tree: TreeSolution, work: Work) -> bool:
        is_far = tree.time_s > _FAR * state.bound_s
        return work.done >= (_SHAKEN_FAR if is_far else _SHAKEN) * work.limit

    @staticmethod
    def _is_best(state: State, tree: TreeSolution, work: Work) -> bool:
        return work.is_done or replace(state, tree=tree).is_proved
