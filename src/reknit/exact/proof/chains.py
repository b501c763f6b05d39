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
from reknit.exact.search.bits import members
from reknit.exact.search.clause_search import ClauseSearch
from reknit.exact.search.proof_tree import ask
from reknit.plans.certificate import BY_LEMMA, CUT, FOLLOWS, RULED_OUT, Lemma

_STEPS_EACH = 20
"""A clause counts as so many parts of a proof in the question whether to go on."""


class _Clause(NamedTuple):
    """What a clause denies, as bits of links, and how a learned one follows from others.

    Parameters
    ----------
    needs, lacks
        It denies that all of the first are used and none of the second.
    steps
        The other clauses with the link that each of them decides, in the order of the chain.
    last
        The clause that is denied as a whole then; -1 if it is not a learned one.
    """

    needs: int
    lacks: int
    steps: tuple[tuple[int, int], ...] = ()
    last: int = -1


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
    kinds = kernel.kinds.tolist()
    known: dict[int, _Clause] = {}

    def clause(number: int) -> _Clause:
        """A clash or a cut; learned clauses are known before they are asked for."""
        if number not in known:
            links = sum(1 << link for link in kernel.links_of(number).tolist())
            known[number] = _Clause(links, 0) if kinds[number] == CLASH else _Clause(0, links)
        return known[number]

    def resolved(first: int, steps: list[tuple[int, int]]) -> _Clause:
        needs, lacks = clause(first).needs, clause(first).lacks
        taken = []
        for other, link in steps:
            bit = 1 << link
            if not (needs | lacks) & bit:
                continue  # nothing rests on this link any more
            more = clause(other)
            needs, lacks = (needs | more.needs) & ~bit, (lacks | more.lacks) & ~bit
            taken.append((other, link))
        return _Clause(needs, lacks, tuple(reversed(taken)), first)

    for count, number in enumerate(search.needed_clauses()):
        ask(is_over, count * _STEPS_EACH)
        if kinds[number] == LEARNED:
            (first, _), *steps = kernel.steps_of(number)
            known[number] = resolved(first, [(other, link) for other, link in steps])
    decided = [(reason, link) for link, reason in reversed(kernel.decided())]
    return _written(resolved(kernel.final, decided), known, kinds, pairs, is_over)


def _written(
    whole: _Clause,
    known: dict[int, _Clause],
    kinds: list[int],
    pairs: IntArray,
    is_over: Callable[[], bool],
) -> Chains:
    """The rows of a clause that denies nothing, and of all that it rests on."""
    rests_on: set[int] = set()
    waiting = [whole]
    while waiting:
        part = waiting.pop()
        for other in (part.last, *(other for other, _ in part.steps)):
            if other not in rests_on:
                rests_on.add(other)
                if kinds[other] == LEARNED:
                    waiting.append(known[other])
    clashes = sorted(number for number in rests_on if kinds[number] == CLASH)
    cuts = sorted(rests_on - set(clashes) - {n for n in rests_on if kinds[n] == LEARNED})
    learned = sorted(number for number in rests_on if kinds[number] == LEARNED)
    name = {number: row for row, number in enumerate(clashes)}
    name |= {number: row for row, number in enumerate(cuts + learned)}

    def rows(part: _Clause) -> IntArray:
        written = [
            (RULED_OUT if kinds[other] == CLASH else FOLLOWS, name[other])
            for other, _ in part.steps
        ]
        written.append((-1 if kinds[part.last] == CLASH else BY_LEMMA, name[part.last]))
        return np.asarray(written, dtype=np.int64)

    at_cut = np.asarray([[-1, CUT]], dtype=np.int64)
    lemmas = []
    for count, number in enumerate(cuts + learned):
        ask(is_over, count * _STEPS_EACH)
        part = known[number]
        lemmas.append(
            Lemma(
                pairs[members(part.needs)],
                pairs[members(part.lacks)],
                rows(part) if kinds[number] == LEARNED else at_cut,
            )
        )
    return Chains(rows(whole), tuple(lemmas), clashes)
