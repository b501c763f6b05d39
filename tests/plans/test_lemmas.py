"""Lemmas of a certificate: parts of a proof by cases that are used in several places."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from campaign.naive import Judge, NoProof

import reknit
from reknit.base.errors import InvalidPlan
from reknit.plans.certificate import (
    BY_LEMMA,
    CUT,
    FOLLOWS,
    RULED_OUT,
    Certificate,
    Clash,
    Lemma,
)
from reknit.plans.checker.proof import prove

NOTHING = np.empty((0, 2), dtype=np.int64)
TRIANGLE = reknit.Scenario([[0.0, 0.0], [200.0, 0.0], [100.0, 173.2]], (), 120.0, 10.0)
"""Three UAVs, every two of them 200 m apart: no link before 4 s."""


@pytest.fixture(scope="module")
def case() -> tuple[reknit.Scenario, reknit.Plan]:
    scenario = reknit.generate(uavs=260, destroyed=244, seed=304, split=True)
    plan = reknit.plan(scenario, "certified")
    assert len(plan.certificate.lemmas) > 2
    return scenario, plan


def _by_hand() -> Certificate:
    """Whether link 01 is used or not, one of the others closes what is left, or none does."""
    links = np.array([[0, 1], [0, 2], [1, 2]])
    away = TRIANGLE.survivor_positions[links[:, 0]] - TRIANGLE.survivor_positions[links[:, 1]]
    clashes = tuple(Clash(links[k : k + 1], away[k : k + 1]) for k in range(3))
    # Without 01 and 02 only 12 is left, and UAV 0 is alone.
    alone = Lemma(NOTHING, links[:2], np.array([[-1, CUT]]))
    rest = Lemma(NOTHING, links[:1], np.array([[0, 2], [-1, 1], [BY_LEMMA, 0]]))
    cases = np.array([[0, 1], [-1, 0], [BY_LEMMA, 1]])
    return Certificate(0.0, 5.0, cases, clashes, lemmas=(alone, rest))


def test_lemmas_by_hand() -> None:
    """A proof of two lemmas proves what the same proof proves written out."""
    certificate = _by_hand()
    assert prove(certificate, TRIANGLE).bound_s == pytest.approx(4.0, rel=1e-3)
    whole = np.array([[0, 1], [-1, 0], [0, 2], [-1, 1], [-1, CUT]])
    written_out = replace(certificate, cases=whole, lemmas=())
    assert prove(written_out, TRIANGLE).bound_s == prove(certificate, TRIANGLE).bound_s
    proved_s = Judge(TRIANGLE).proves_at_most_s(certificate)
    assert float(proved_s) == pytest.approx(4.0, rel=1e-3)


def _lemma(certificate: Certificate, number: int, **change: object) -> Certificate:
    lemmas = list(certificate.lemmas)
    lemmas[number] = replace(lemmas[number], **change)  # type: ignore[arg-type]
    return replace(certificate, lemmas=tuple(lemmas))


FORGERIES: dict[str, Callable[[Certificate], Certificate]] = {
    "fewer suppositions": lambda c: _lemma(c, 0, unused=c.lemmas[0].unused[:1]),
    "more suppositions than are met": lambda c: _lemma(c, 0, used=np.array([[1, 2]])),
    "used and not used": lambda c: _lemma(c, 0, used=c.lemmas[0].unused),
    "a lemma that rests on itself": lambda c: _lemma(c, 1, cases=np.array([[BY_LEMMA, 1]])),
    "lemmas that rest on each other": lambda c: _lemma(c, 0, cases=np.array([[BY_LEMMA, 1]])),
    "a lemma that is not there": lambda c: replace(
        c, cases=np.array([[0, 1], [-1, 0], [BY_LEMMA, 2]])
    ),
    "a lemma before the first": lambda c: replace(
        c, cases=np.array([[0, 1], [-1, 0], [BY_LEMMA, -1]])
    ),
    "no cases in a lemma": lambda c: _lemma(c, 0, cases=NOTHING),
    "cases that stop early": lambda c: _lemma(c, 1, cases=c.lemmas[1].cases[:-1]),
    "cases that go on": lambda c: _lemma(c, 0, cases=np.array([[-1, CUT], [-1, CUT]])),
    "a question that is answered": lambda c: _lemma(
        c, 1, cases=np.array([[0, 1], [-1, 0], [-1, CUT]])
    ),
    "a link of one UAV": lambda c: _lemma(c, 0, unused=np.array([[1, 1], [0, 2]])),
    "numbers of another kind": lambda c: _lemma(c, 0, cases=np.array([[-1.0, CUT]])),
    "no lemmas but words": lambda c: replace(c, lemmas=("0",)),  # type: ignore[arg-type]
    "a list of lemmas": lambda c: replace(c, lemmas=list(c.lemmas)),  # type: ignore[arg-type]
    "another kind of end": lambda c: replace(c, cases=np.array([[0, 1], [-1, 0], [-5, 1]])),
}


def _chain(*rows: tuple[int, int]) -> Certificate:
    """The same proof without a question: 01 clashes by itself, so 02 is used, which clashes too."""
    whole = rows or ((RULED_OUT, 0), (FOLLOWS, 0), (-1, 1))
    certificate = _by_hand()
    used = replace(certificate, clashes=certificate.clashes[:2], lemmas=certificate.lemmas[:1])
    return replace(used, cases=np.array(whole))


def test_a_chain_by_hand() -> None:
    """What follows from a lemma needs no question, and proves as much, in either direction."""
    assert prove(_chain(), TRIANGLE).bound_s == prove(_by_hand(), TRIANGLE).bound_s
    assert float(Judge(TRIANGLE).proves_at_most_s(_chain())) == pytest.approx(4.0, rel=1e-3)
    # Of a lemma that supposes a link used it follows that it is not used.
    certificate = _chain((FOLLOWS, 0), (FOLLOWS, 1), (BY_LEMMA, 2))
    links = np.array([[0, 1], [0, 2]])
    one, other = (Lemma(links[k : k + 1], NOTHING, np.array([[-1, k]])) for k in (0, 1))
    certificate = replace(certificate, lemmas=(one, other, certificate.lemmas[0]))
    assert prove(certificate, TRIANGLE).bound_s == prove(_by_hand(), TRIANGLE).bound_s
    assert float(Judge(TRIANGLE).proves_at_most_s(certificate)) == pytest.approx(4.0, rel=1e-3)


FORGED_CHAINS = {
    "two links are open": ((FOLLOWS, 0), (-1, 1)),
    "nothing is open": ((RULED_OUT, 0), (0, 2), (-1, 1), (FOLLOWS, 0), (-1, 1)),
    "the same once more": ((RULED_OUT, 0), (FOLLOWS, 0), (FOLLOWS, 0), (-1, 1)),
    "the other way": ((RULED_OUT, 0), (FOLLOWS, 0), (-1, CUT)),
    "a link that is not used": ((RULED_OUT, 0), (FOLLOWS, 0), (-1, 0)),
    "no end": ((RULED_OUT, 0), (FOLLOWS, 0)),
    "a lemma that is not there": ((RULED_OUT, 0), (FOLLOWS, 1), (-1, 1)),
    "a lemma before the first": ((RULED_OUT, 0), (FOLLOWS, -1), (-1, 1)),
    "what holds on one side only": ((0, 1), (FOLLOWS, 0), (-1, 1), (FOLLOWS, 0), (-1, 1)),
    "what was taken back": ((0, 1), (-1, 0), (FOLLOWS, 0), (-1, 1), (FOLLOWS, 0), (-1, 1)),
}


@pytest.mark.parametrize("rows", FORGED_CHAINS.values(), ids=FORGED_CHAINS)
def test_forged_chains_are_refused(rows: tuple[tuple[int, int], ...]) -> None:
    """A row decides the one link that a lemma leaves open where it stands, and no other."""
    with pytest.raises(InvalidPlan):
        prove(_chain(*rows), TRIANGLE)
    with pytest.raises(NoProof):
        Judge(TRIANGLE).proves_at_most_s(_chain(*rows))


@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
def test_forged_lemmas_are_refused(forgery: Callable[[Certificate], Certificate]) -> None:
    """A lemma that does not prove what it says, or is used where it does not hold, is refused."""
    with pytest.raises(InvalidPlan):
        prove(forgery(_by_hand()), TRIANGLE)


def test_the_search_uses_lemmas(case: tuple[reknit.Scenario, reknit.Plan], tmp_path: Path) -> None:
    """A plan whose proof has lemmas passes the checker, a second judge and a file."""
    scenario, plan = case
    account = plan.verify(scenario)
    rows = len(plan.certificate.cases) + sum(len(one.cases) for one in plan.certificate.lemmas)
    assert account.cases == rows
    assert Judge(scenario).proves_at_most_s(plan.certificate) >= Fraction(plan.lower_bound_s)
    plan.save(tmp_path / "plan.json")
    read = reknit.Plan.load(tmp_path / "plan.json", scenario)
    for before, after in zip(plan.certificate.lemmas, read.certificate.lemmas, strict=True):
        for part in ("used", "unused", "cases"):
            assert np.array_equal(getattr(before, part), getattr(after, part))


def test_a_lemma_with_fewer_suppositions_proves_nothing_false(
    case: tuple[reknit.Scenario, reknit.Plan],
) -> None:
    """Without one of the links that a lemma supposes it is refused, or true for all that."""
    scenario, plan = case
    judge, refused = Judge(scenario), 0
    for number, lemma in enumerate(plan.certificate.lemmas):
        for part in ("used", "unused"):
            for row in range(len(getattr(lemma, part))):
                fewer = np.delete(getattr(lemma, part), row, axis=0)
                forged = _lemma(plan.certificate, number, **{part: fewer})
                refused += 1
                with suppress(InvalidPlan):
                    replace(plan, certificate=forged).verify(scenario)
                    refused -= 1
                    assert judge.proves_at_most_s(forged) >= Fraction(plan.lower_bound_s)
    assert refused > 10
