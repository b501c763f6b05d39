"""What a search by cases is made of: proofs, limits, and the part of the swarm it is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reknit.base.types import FloatArray, IntArray


class Proof(NamedTuple):
    """A binary tree of cases and what it rests on.

    link     the link decided here, -1 at an end.
    used     the proof when it is used; at an end the number of the clash, -1 for a cut.
    unused   the proof when it is not; None at an end.
    needs    links (bits) whose use the proof relies on; lacks: whose absence.
    rows     how many cases there are in it.
    """

    link: int
    used: Proof | int
    unused: Proof | None
    needs: int
    lacks: int
    rows: int = 1


def join(link: int, used: Proof, unused: Proof) -> Proof:
    """Resolution on one link; a side that does not rely on the decision is the whole proof."""
    bit = 1 << link
    if not used.needs & bit:
        return used
    if not unused.lacks & bit:
        return unused
    needs = used.needs & ~bit | unused.needs
    lacks = used.lacks | unused.lacks & ~bit
    return Proof(link, used, unused, needs, lacks, 1 + used.rows + unused.rows)


class OutOfWork(Exception):
    """The search was stopped before it came to an end."""


class Found(Exception):
    """Positions that leave no cut open, reached in less than the trial time."""

    def __init__(self, moved: FloatArray) -> None:
        self.moved = moved
        super().__init__()


@dataclass
class Work:
    """Counts cone programs and cases, so that stops do not depend on the clock."""

    limit: int
    is_over: Callable[[], bool] = lambda: False
    done: int = 0

    def add(self, amount: int = 1) -> None:
        """Count, and stop the search at the limit."""
        self.done += amount
        if self.done > self.limit or self.is_over():
            raise OutOfWork


@dataclass
class Region:
    """The survivors that are looked at; all others count as connected among themselves.

    node     (n,) local number of each survivor; those outside share the last number.
    size     how many local numbers there are.
    """

    node: IntArray
    size: int

    @staticmethod
    def whole(count: int) -> Region:
        """Every survivor."""
        return Region(np.arange(count), count)

    @staticmethod
    def around(rows: IntArray, count: int) -> Region:
        """Only the given survivors."""
        node = np.full(count, len(rows), dtype=np.int64)
        node[rows] = np.arange(len(rows))
        return Region(node, len(rows) + (len(rows) < count))
