"""What a search by cases has proved on its way: decisions that leave no plan, to be used again.

Every case that is closed is a lesson: with these links in use and those ruled out there is no plan
in time. The same combination turns up again under other decisions elsewhere. Where a lesson lacks
a single decision, the opposite of that decision follows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from reknit.base.types import FloatArray
from reknit.exact.search.bits import members
from reknit.exact.search.proof_tree import Proof

_MOST = 4_000
_LONGEST = 60
"""Decisions in a lesson; one that needs more is hardly ever met again."""

_WORD = 64
_FRESHER = 1.02
"""How much more each lesson counts than the one before when links are weighed."""

_LARGE = 1e100


class Lessons:
    """The lessons of one search, and how often each link was part of one.

    Parameters
    ----------
    links
        How many links the search has.
    """

    def __init__(self, links: int) -> None:
        self.proofs: list[Proof] = []
        self.activity: FloatArray = np.zeros(links)
        self._weight = 1.0
        self._words = links // _WORD + 1
        self._table = np.zeros((0, 2 * self._words), dtype=np.uint64)

    def add(self, proof: Proof) -> None:
        """Keep what was proved."""
        self.activity[members(proof.needs | proof.lacks)] += self._weight
        self._weight *= _FRESHER
        if self._weight > _LARGE:
            self.activity /= self._weight
            self._weight = 1.0
        if proof.needs.bit_count() + proof.lacks.bit_count() > _LONGEST:
            return
        if len(self.proofs) == _MOST:
            half = _MOST // 2
            self.proofs = self.proofs[half:]
            self._table[:half] = self._table[half:_MOST]
        row = len(self.proofs)
        if row == len(self._table):
            self._table = np.concatenate(
                [self._table, np.zeros_like(self._table, shape=(64, 2 * self._words))]
            )
        self.proofs.append(proof)
        self._table[row] = self._decisions(proof.needs, proof.lacks)

    def near(self, used: int, barred: int) -> list[Proof]:
        """The lessons of which at most one decision is missing."""
        if not self.proofs:
            return []
        missing = self._table[: len(self.proofs)] & ~self._decisions(used, barred)
        single = (missing & (missing - np.uint64(1))) == 0
        few = ((missing != 0).sum(axis=1) <= 1) & single.all(axis=1)
        return [self.proofs[row] for row in np.flatnonzero(few).tolist()]

    def _decisions(self, used: int, barred: int) -> npt.NDArray[np.uint64]:
        size = 8 * self._words
        return np.frombuffer(
            used.to_bytes(size, "little") + barred.to_bytes(size, "little"), dtype="<u8"
        ).astype(np.uint64)
