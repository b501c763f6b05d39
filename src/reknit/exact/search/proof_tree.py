"""What a search by cases is made of: proofs, outcomes, limits, and the part it looks at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reknit.base.context import never
from reknit.base.types import FloatArray, IntArray

NO_LINKS: IntArray = np.empty((0, 2), dtype=np.int64)

_PARTS_AT_ONCE = 2_000
"""Parts of a proof between two questions whether to go on: some milliseconds."""

LOSS_CUT = -(1 << 40)
"""At the end of a proof: this less the row of a survivor stands for a cut when that one is lost."""


class Proof(NamedTuple):
    """A binary tree of cases and what it rests on.

    Parts may be shared: what was proved once is used wherever its `needs` and `lacks` hold.

    Parameters
    ----------
    link
        The link decided here, -1 at an end.
    used
        The proof when it is used; at an end the number of the clash, -1 for a cut.
    unused
        The proof when it is not; None at an end.
    needs
        Links (bits) whose use the proof relies on; lacks: whose absence.
    """

    link: int
    used: Proof | int
    unused: Proof | None
    needs: int
    lacks: int

    @property
    def parts(self) -> tuple[Proof, ...]:
        """The proofs of both sides; none at an end."""
        return (self.used, self.unused) if isinstance(self.used, Proof) and self.unused else ()


def join(link: int, used: Proof, unused: Proof) -> Proof:
    """Resolution on one link; a side that does not rely on the decision is the whole proof."""
    bit = 1 << link
    if not used.needs & bit:
        return used
    if not unused.lacks & bit:
        return unused
    needs = used.needs & ~bit | unused.needs
    lacks = used.lacks | unused.lacks & ~bit
    return Proof(link, used, unused, needs, lacks)


class GivenUp(Exception):
    """The caller has cancelled while a proof was written."""


def ask(is_over: Callable[[], bool], count: int) -> None:
    """Raise `GivenUp` if it is over; asked once in so many parts of a proof."""
    if count % _PARTS_AT_ONCE == 0 and is_over():
        raise GivenUp


def in_order(proof: Proof, is_over: Callable[[], bool] = never) -> list[Proof]:
    """All parts of a proof, each once, after those that it is made of."""
    order: list[Proof] = []
    seen: set[int] = set()
    stack: list[tuple[Proof, bool]] = [(proof, False)]
    while stack:
        part, is_ready = stack.pop()
        ask(is_over, len(stack) + len(order))
        if is_ready:
            order.append(part)
        elif id(part) not in seen:
            seen.add(id(part))
            stack.append((part, True))
            stack += [(other, False) for other in reversed(part.parts)]
    return order


@dataclass(frozen=True, eq=False)
class Faster:
    """How a search ends that comes upon a plan faster than its trial time.

    Parameters
    ----------
    positions
        (n, dim) places within reach in less than that time, which links connect.
    """

    positions: FloatArray


Outcome = Proof | Faster | None
"""How a search by cases ends: with a proof, a faster plan, or undecided (None)."""


@dataclass
class Work:
    """Counts cone programs and cases, so that stops do not depend on the clock.

    One unit is about a millisecond of one core: a case, or a cone program of twenty links.

    Parameters
    ----------
    limit
        Units that may be done.
    is_over
        Whether to stop before that.
    done
        Units done so far.
    most_rows
        Rows of a proof that there is time to write and to check.
    """

    limit: float
    is_over: Callable[[], bool] = lambda: False
    done: float = 0.0
    most_rows: float = np.inf

    def part(self, limit: float) -> Work:
        """So much of what is left, to be counted apart and added when it is done."""
        left = min(limit, self.limit - self.done)
        return Work(left, self.is_over, most_rows=self.most_rows)

    def add_program(self, links: int) -> None:
        """Count a cone program."""
        self.done += 0.4 + 0.03 * links

    def add(self, amount: float = 1.0) -> None:
        """Count some work as done."""
        self.done += amount

    @property
    def is_done(self) -> bool:
        """Whether to stop: the limit is reached, the time over, or the caller has cancelled."""
        return self.done >= self.limit or self.is_over()


@dataclass
class Region:
    """The survivors that are looked at; all others count as connected among themselves.

    Parameters
    ----------
    node
        (n,) local number of each survivor; those outside share the last number.
    size
        How many local numbers there are.
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
