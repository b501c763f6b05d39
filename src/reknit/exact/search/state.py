"""What an exact search knows at one moment: the best tree, the best bound and its proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from reknit.exact.model.cone import Cones
from reknit.exact.model.problem import Problem
from reknit.exact.search.case_search import CaseSearch
from reknit.exact.search.clause_search import ClauseSearch, Resolution
from reknit.exact.search.proof_tree import Proof
from reknit.exact.search.tree_program import TreeSolution

_SHORT_ROWS = 4_000

BETTER = 2e-7
"""A plan counts as faster when it is so by this much; proofs stop this much short."""


@dataclass(frozen=True, eq=False)
class CaseProof:
    """A finished proof and the search that its links and clashes belong to.

    Parameters
    ----------
    search
        The search.
    outcome
        How it ended: with a tree of cases, or with resolutions that make one.
    """

    search: CaseSearch | ClauseSearch
    outcome: Proof | Resolution

    @property
    def rows(self) -> int:
        """How many rows writing it will take; 0 for a tree of cases, which is a short one."""
        return self.outcome.rows if isinstance(self.outcome, Resolution) else 0

    @property
    def takes_long(self) -> bool:
        """Whether it takes more than some ten milliseconds to write the proof and check it."""
        return self.rows > _SHORT_ROWS


@dataclass(frozen=True, eq=False)
class State:
    """The best tree and the best bound so far.

    Parameters
    ----------
    cones
        The cone programs solved on the way, and what was learned from them.
    tree
        The tree with the least time found.
    bound_s
        No plan takes less, in seconds.
    case
        The proof of that bound; None where the EMST proves it.
    """

    cones: Cones
    tree: TreeSolution
    bound_s: float
    case: CaseProof | None = None

    @property
    def problem(self) -> Problem:
        """What is being solved."""
        return self.cones.problem

    @property
    def is_proved(self) -> bool:
        """Whether there is nothing left to gain."""
        return self.bound_s >= self.tree.time_s * (1.0 - 2.0 * BETTER)

    @property
    def is_impossible(self) -> bool:
        """Whether no plan is possible at all: there would be one before the bound."""
        return self.bound_s > self.problem.horizon_s

    @property
    def rows(self) -> int:
        """How many rows writing the proof will take."""
        return 0 if self.case is None else self.case.rows

    @property
    def has_tree(self) -> bool:
        """Whether a tree is known whose links can all hold."""
        return bool(np.isfinite(self.tree.time_s))

    def branch_off(self, is_over: Callable[[], bool]) -> State:
        """The same state with cone programs of its own, so that this one stays as it is."""
        return replace(self, cones=self.cones.copy(is_over))
