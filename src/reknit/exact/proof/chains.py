"""Rows for proofs by clauses: every learned clause is a lemma, proved by a chain of what follows.

A clause that was learned was resolved from others, one link at a time. Read backwards that is a
chain: suppose what the clause denies; then all that the last of these others denies holds but for
the link that was resolved on, which is therefore the other way; and so on, until the first of them
is denied as a whole. One row a step, and nothing to be asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from reknit.base.context import never
from reknit.base.types import IntArray
from reknit.exact.compiled.kernel import CLASH, LEARNED
from reknit.exact.compiled.kernel import CUT as CUT_KIND
from reknit.exact.search.bits import members
from reknit.exact.search.clause_search import ClauseSearch
from reknit.exact.search.proof_tree import ask
from reknit.plans.certificate import BY_LEMMA, CUT, FOLLOWS, RULED_OUT, Lemma

_STEPS_EACH = 20
"""A clause counts as so many parts of a proof in the question whether to go on."""


class Chains(NamedTuple):
    """The rows of a proof by clauses.

    Parameters
    ----------
    cases
        (c, 2) those of the whole.
    lemmas
        Clauses and cuts that they refer to.
    clashes
        The clauses that are clashes, in the order of their numbers.
    """

    cases: IntArray
    lemmas: tuple[Lemma, ...]
    clashes: list[int]


def chains(search: ClauseSearch, pairs: IntArray, is_over: Callable[[], bool] = never) -> Chains:
    """Write the proof that a search by clauses has found.

    Parameters
    ----------
    search
        The search, ended with a proof.
    pairs
        (m, 2) its links as the certificate names them.
    is_over
        Asked now and then; once it is true `GivenUp` is raised.

    Returns
    -------
    Chains
        Of the clauses only those that the proof rests on.
    """
    kernel = search.kernel
    lines = _Lines(kernel.kinds.tolist(), len(pairs))
    for count, number in enumerate(search.needed_clauses()):
        ask(is_over, count * _STEPS_EACH)
        if lines.kinds[number] == LEARNED:
            lines.learn(number, kernel.steps_of(number))
        else:
            lines.know(number, kernel.links_of(number).tolist())
    decided = [[reason, link] for link, reason in reversed(kernel.decided())]
    lines.learn(lines.whole, [[kernel.final, -1], *decided])
    return lines.written(pairs, is_over)


class _Lines:
    """What clauses deny, as bits of links, and how learned ones follow from others.

    A clause denies that all links of one set are used and none of another one.

    Parameters
    ----------
    kinds
        Of every clause. One more is the whole, which denies nothing.
    links
        How many there are.
    """

    def __init__(self, kinds: list[int], links: int) -> None:
        self.kinds = [*kinds, LEARNED]
        self.whole = len(kinds)
        self._bit = [1 << link for link in range(links)]
        self._used = [0] * len(self.kinds)
        self._unused = [0] * len(self.kinds)
        self._rests_on: dict[int, list[int]] = {}

    def know(self, number: int, links: list[int]) -> None:
        """A clash or a cut."""
        denied = self._used if self.kinds[number] == CLASH else self._unused
        denied[number] = sum(self._bit[link] for link in links)

    def learn(self, number: int, steps: list[list[int]]) -> None:
        """A clause that was resolved from a first one and others, each on a link; those on whose
        link nothing rests any more are left out.
        """
        all_used, all_unused, bits = self._used, self._unused, self._bit
        first = steps[0][0]
        used, unused = all_used[first], all_unused[first]
        chain = [first]
        for other, link in steps[1:]:
            bit = bits[link]
            if (used | unused) & bit:
                used, unused = (used | all_used[other]) & ~bit, (unused | all_unused[other]) & ~bit
                chain.append(other)
        all_used[number], all_unused[number] = used, unused
        chain.reverse()
        self._rests_on[number] = chain

    def written(self, pairs: IntArray, is_over: Callable[[], bool]) -> Chains:
        """The rows of the whole, and of all that it rests on."""
        is_needed = np.zeros(self.whole + 1, dtype=bool)
        is_needed[self.whole] = True
        for number in reversed(self._rests_on):  # a clause comes after those that it rests on
            if is_needed[number]:
                is_needed[self._rests_on[number]] = True
        kinds = np.asarray(self.kinds)
        needed = [np.flatnonzero(is_needed & (kinds == kind)) for kind in (CLASH, CUT_KIND)]
        learned = [number for number in self._rests_on if is_needed[number]]
        name = np.zeros(self.whole + 1, dtype=np.int64)
        name[needed[0]] = np.arange(len(needed[0]))
        numbers = [*needed[1].tolist(), *learned]
        name[numbers] = np.arange(len(numbers))
        chain = np.concatenate([self._rests_on[number] for number in learned])
        end = np.cumsum([len(self._rests_on[number]) for number in learned])
        is_clash = kinds[chain] == CLASH
        rows = np.stack([np.where(is_clash, RULED_OUT, FOLLOWS), name[chain]], axis=1)
        rows[end - 1, 0] = np.where(is_clash[end - 1], -1, BY_LEMMA)
        at_cut = np.asarray([[-1, CUT]], dtype=np.int64)
        cases = [at_cut] * len(needed[1]) + np.split(rows, end[:-1])
        lemmas = []
        for count, number in enumerate(numbers[:-1]):
            ask(is_over, count * _STEPS_EACH)
            used, unused = members(self._used[number]), members(self._unused[number])
            lemmas.append(Lemma(pairs[used], pairs[unused], cases[count]))
        return Chains(cases[-1], tuple(lemmas), needed[0].tolist())
