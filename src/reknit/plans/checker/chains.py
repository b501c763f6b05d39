"""Lines of a proof that ask nothing, walked through together.

The lemmas of a proof by clauses, thousands of them, are chains: in every row all that a clash or a
lemma holds is met but for one link, which is therefore decided the other way; the last row meets
all of one. No line needs another line's rows, only what it says, so the first rows of all lines
are looked at at once, then the second rows, and so on.

A *literal* is 2 k for "link k is used" and 2 k + 1 for "it is not". What a line supposes and what
follows is a row of a table, with a column for every literal.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reknit.base.errors import InvalidProof
from reknit.base.types import BoolArray, IntArray
from reknit.plans.certificate import BY_LEMMA, FOLLOWS, RULED_OUT

_TABLE = 50_000_000
"""Literals times lines that are looked at together."""

_AT_ONCE = 200_000
"""Literals looked up between two questions whether to give up: some ten milliseconds."""


class Statements:
    """What lemmas and clashes hold together, as literals: that not all of these are true.

    Parameters
    ----------
    used, unused
        For every lemma the keys of the links that it supposes used, and those it supposes unused.
    clashes
        The keys of the links of every clash.
    """

    def __init__(
        self, used: list[IntArray], unused: list[IntArray], clashes: list[IntArray]
    ) -> None:
        self.lemmas, self.count = len(used), len(used) + len(clashes)
        parts = [*used, *clashes, *unused]
        owners = np.concatenate([np.arange(self.count), np.arange(self.lemmas)])
        keys = np.concatenate([np.zeros(0, dtype=np.int64), *parts])
        owner = np.repeat(owners, [len(part) for part in parts])
        names, number = np.unique(keys, return_inverse=True)
        self.literals = 2 * len(names)
        is_unused = np.arange(len(keys)) >= sum(map(len, parts[: self.count]))
        literal = 2 * number.reshape(-1) + is_unused
        both = np.unique(owner * max(self.literals, 1) + literal)  # each literal once
        self._owner, self.literal = np.divmod(both, max(self.literals, 1))
        self.begin = np.searchsorted(self._owner, np.arange(self.count + 1))

    def refuse_contradictions(self) -> None:
        """Raise if a lemma supposes a link used and not used."""
        same = (self._owner[1:] == self._owner[:-1]) & (self.literal[:-1] % 2 == 0)
        if (same & (self.literal[1:] == self.literal[:-1] + 1)).any():
            raise InvalidProof("a lemma of the certificate supposes a link used and not used")

    def of(self, numbers: IntArray) -> tuple[IntArray, IntArray]:
        """The literals of some lemmas and clashes, and for each of them which one it is of."""
        sizes = self.begin[numbers + 1] - self.begin[numbers]
        at = np.repeat(np.arange(len(numbers)), sizes)
        within = np.arange(len(at)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return self.literal[np.repeat(self.begin[numbers], sizes) + within], at

    def looked_up(self, numbers: IntArray) -> int:
        """How many literals some of them have together."""
        return int((self.begin[numbers + 1] - self.begin[numbers]).sum())


def chained(lines: list[IntArray]) -> list[int]:
    """The lines whose rows decide links one after the other and end by a lemma or a clash."""
    sizes = np.asarray([len(rows) for rows in lines])
    lasting = np.flatnonzero(sizes)
    if len(lasting) == 0:
        return []
    first, number = np.concatenate(lines).T
    end = np.cumsum(sizes[lasting]) - 1
    goes_on = (first == RULED_OUT) | (first == FOLLOWS)
    breaks = np.add.reduceat(~goes_on, end - sizes[lasting] + 1, dtype=np.int64)
    ends = (first[end] == BY_LEMMA) | ((first[end] == -1) & (number[end] >= 0))
    chains: list[int] = lasting[ends & (breaks == 1)].tolist()
    return chains


class Chains:
    """Lines that are chains.

    Parameters
    ----------
    statements
        What rows refer to.
    lines
        Of every line the lemma that it proves; the number of lemmas for the whole.
    rows
        (c, 2) its rows, which refer to what is there.

    Attributes
    ----------
    clashes
        Numbers of the clashes that the rows refer to.
    lookups
        How many literals are looked up to walk through them.
    """

    def __init__(self, statements: Statements, lines: list[int], rows: list[IntArray]) -> None:
        self._statements = statements
        order = sorted(range(len(lines)), key=lambda line: -len(rows[line]))
        self._lines = np.asarray([lines[line] for line in order], dtype=np.int64)
        self._sizes = np.asarray([len(rows[line]) for line in order], dtype=np.int64)
        both = np.concatenate([np.zeros((0, 2), np.int64), *(rows[line] for line in order)])
        is_clash = (both[:, 0] == RULED_OUT) | (both[:, 0] == -1)
        self.clashes: set[int] = set(np.unique(both[is_clash, 1]).tolist())
        self._number = both[:, 1] + statements.lemmas * is_clash
        self._begin = np.cumsum(self._sizes) - self._sizes
        self.lookups = statements.looked_up(self._number)

    def check(self, is_over: Callable[[], bool]) -> None:
        """Refuse rows that do not follow."""
        at_once = max(1, _TABLE // max(self._statements.literals, 1))
        for first in range(0, len(self._lines), at_once):
            self._check(slice(first, first + at_once), is_over)

    def _check(self, some: slice, is_over: Callable[[], bool]) -> None:
        """The same for some of the lines, the longest first."""
        statements = self._statements
        lines, sizes, begin = self._lines[some], self._sizes[some], self._begin[some]
        holds = np.zeros((len(lines), statements.literals), dtype=bool)
        supposing = np.flatnonzero(lines < statements.lemmas)
        literal, at = statements.of(lines[supposing])
        holds[supposing[at], literal] = True
        looked_up = 0
        for step in range(int(sizes[0]) - 1):
            going_on = int(np.searchsorted(-sizes, -step - 1, side="left"))
            numbers = self._number[begin[:going_on] + step]
            looked_up += self._decide(holds, numbers)
            if looked_up > _AT_ONCE:
                looked_up = 0
                if is_over():
                    raise InvalidProof("the check was given up")
        literal, at = statements.of(self._number[begin + sizes - 1])
        wrong = ~holds[at, literal]
        if wrong.any():
            self._refuse(int(self._number[(begin + sizes - 1)[at[wrong][0]]]))

    def _decide(self, holds: BoolArray, numbers: IntArray) -> int:
        """One row of each of the first lines: the only literal that does not hold is false."""
        literal, at = self._statements.of(numbers)
        is_open = ~holds[at, literal]
        wrong = np.bincount(at[is_open], minlength=len(numbers)) != 1
        if wrong.any():
            self._refuse(int(numbers[wrong][0]))
        decided = literal[is_open]
        lines = np.arange(len(numbers))
        if holds[lines, decided ^ 1].any():
            raise InvalidProof("the certificate decides a link that is decided")
        holds[lines, decided ^ 1] = True
        return len(literal)

    def _refuse(self, number: int) -> None:
        lemmas = self._statements.lemmas
        name = f"lemma {number}" if number < lemmas else f"clash {number - lemmas}"
        raise InvalidProof(f"the certificate uses {name} where it does not hold")
