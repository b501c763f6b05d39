"""Lines that are walked through together: nothing else passes than where they are walked alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from campaign.mutations import mutate

import reknit
from reknit.base.errors import InvalidProof
from reknit.exact.compiled.kernel import is_available
from reknit.plans.certificate import BY_LEMMA, FOLLOWS, RULED_OUT, Certificate
from reknit.plans.checker import cases as module
from reknit.plans.checker.chains import chained
from reknit.plans.checker.survivors import Survivors

needs_compiler = pytest.mark.skipif(not is_available(), reason="no C compiler made the search")


@pytest.fixture(scope="module")
def proved() -> tuple[reknit.Scenario, Certificate]:
    points = np.random.default_rng(3).random((16, 2)) * 1800.0
    scenario = reknit.Scenario(points, (), 120.0, 10.0)
    return scenario, reknit.plan(scenario, "certified", effort=250).certificate


def _walked(scenario: reknit.Scenario, certificate: Certificate) -> object:
    """What is known after the walk, or that it was refused."""
    swarm = Survivors.of(scenario)
    links = [clash.links for clash in certificate.clashes]
    try:
        walk = module.Walk(certificate.cases, swarm, links, certificate.lemmas)
    except InvalidProof:
        return "refused"
    return walk.clashes, walk.cuts, dict(walk.absent), walk.asked.tolist(), walk.losses


@needs_compiler
def test_lines_pass_together_where_they_pass_alone(
    proved: tuple[reknit.Scenario, Certificate], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proof of hundreds of lemmas, and 400 changes of it, are taken or refused as by the walk
    from row to row, and what is found is the same.
    """
    scenario, honest = proved
    assert len(honest.lemmas) > 100
    rng = np.random.default_rng(11)
    changed = [mutate(honest, rng, 16) for _ in range(400)]
    together = [_walked(scenario, certificate) for certificate in [honest, *changed]]
    monkeypatch.setattr(module, "chained", lambda lines: [])
    alone = [_walked(scenario, certificate) for certificate in [honest, *changed]]
    assert together == alone
    assert together[0] != "refused"
    assert 20 < together.count("refused") < 400


@needs_compiler
def test_a_link_that_is_decided_is_not_decided_again(
    proved: tuple[reknit.Scenario, Certificate],
) -> None:
    """A row that stands twice in a chain is refused, since the second time nothing is open."""
    scenario, honest = proved
    at = next(k for k, lemma in enumerate(honest.lemmas) if len(lemma.cases) > 2)
    lemma = honest.lemmas[at]
    twice = replace(lemma, cases=lemma.cases[[0, *range(len(lemma.cases))]])
    forged = replace(honest, lemmas=(*honest.lemmas[:at], twice, *honest.lemmas[at + 1 :]))
    assert _walked(scenario, forged) == "refused"


def test_what_a_chain_is() -> None:
    """Links decided by clashes and lemmas, and an end by one of these; no question, no cut."""
    chain = [(RULED_OUT, 0), (FOLLOWS, 1), (BY_LEMMA, 2)]
    lines: list[list[tuple[int, int]]] = [
        chain,
        [(-1, 0)],
        [(-1, -1)],
        [(3, 4), (-1, 0), (-1, 0)],
        [(FOLLOWS, 1)],
        [],
        [(BY_LEMMA, 0), (BY_LEMMA, 0)],
        chain[1:],
    ]
    rows = [np.asarray(line, dtype=np.int64).reshape(-1, 2) for line in lines]
    assert chained(rows) == [0, 1, 7]
    assert chained([]) == []
