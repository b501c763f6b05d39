"""The search by clauses: the answers of the search by cases, and proofs that are accepted."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest
from campaign.naive import Judge

import reknit
from reknit.exact.compiled import kernel
from reknit.exact.model.cone import Cones
from reknit.exact.model.problem import Problem
from reknit.exact.proof.certificates import certificate_of
from reknit.exact.search.case_search import CaseSearch
from reknit.exact.search.clause_search import ClauseSearch, Resolution, can_search
from reknit.exact.search.proof_tree import Faster, Region, Work
from reknit.exact.search.state import CaseProof
from reknit.network.links import count_subnets
from reknit.plans.certificate import RULED_OUT, Certificate
from reknit.plans.checker.proof import prove

needs_kernel = pytest.mark.skipif(
    not kernel.is_available() and "CI" not in os.environ, reason="no C compiler at installation"
)


def _sparse(seed: int, count: int = 9, side: float = 8.0) -> reknit.Scenario:
    points = np.random.default_rng(seed).random((count, 2)) * side * 120.0
    return reknit.Scenario(points, (), 120.0, 10.0)


def _clauses(problem: Problem, time_s: float) -> ClauseSearch:
    region = Region.whole(problem.count)
    return ClauseSearch(Cones(problem), region, problem.candidates(time_s), time_s, Work(20_000.0))


def _proved(scenario: reknit.Scenario, time_s: float) -> Certificate | None:
    search = _clauses(Problem.of(scenario), time_s)
    outcome = search.run()
    if not isinstance(outcome, Resolution):
        return None
    return certificate_of(CaseProof(search, outcome))


@needs_kernel
@pytest.mark.parametrize("seed", range(12))
def test_the_same_answer_as_by_cases(seed: int) -> None:
    """Whether a plan is faster than a time is answered alike, above and below the optimum; a plan
    that is found is one, and a proof is accepted.
    """
    scenario = _sparse(seed)
    problem = Problem.of(scenario)
    best_s = reknit.plan(scenario, "certified", effort=3_000).recovery_time_s
    for share in (0.7, 0.9, 0.97, 1.03):
        time_s = share * best_s
        pairs = problem.candidates(time_s)
        region = Region.whole(problem.count)
        by_cases = CaseSearch(Cones(problem), region, pairs, time_s, Work(50_000.0)).run()
        search = _clauses(problem, time_s)
        by_clauses = search.run()
        assert by_cases is not None
        assert isinstance(by_clauses, Faster) == isinstance(by_cases, Faster)
        if isinstance(by_clauses, Faster):
            flown_s = np.linalg.norm(by_clauses.positions - problem.start, axis=1) / 10.0
            assert flown_s.max() < time_s * (1.0 + 1e-6)
            assert count_subnets(by_clauses.positions, 120.0 * (1.0 + 1e-8)) == 1
        elif isinstance(by_clauses, Resolution):
            certificate = certificate_of(CaseProof(search, by_clauses))
            assert prove(certificate, scenario).bound_s == pytest.approx(time_s, rel=1e-6)


@needs_kernel
def test_a_naive_judge_agrees() -> None:
    """A second checker, which walks the cases by recursion in fractions, accepts what it proves."""
    judged = 0
    for seed in range(8):
        scenario = _sparse(seed, count=7)
        best_s = reknit.plan(scenario, "certified", effort=1_000).recovery_time_s
        certificate = _proved(scenario, 0.9 * best_s)
        if certificate is None:
            continue
        judged += (certificate.cases[:, 0] == RULED_OUT).any()
        assert Judge(scenario).proves_at_most_s(certificate) >= certificate.bound_s * (1.0 - 1e-9)
    assert judged > 0


@needs_kernel
def test_rows_that_rule_links_out_cannot_be_forged() -> None:
    """A row that names another clash, one whose links are not used, or the same link twice is
    refused, as is one that is left out where a cut needs it.
    """
    scenario = _sparse(3)
    best_s = reknit.plan(scenario, "certified", effort=1_000).recovery_time_s
    certificate = _proved(scenario, 0.9 * best_s)
    assert certificate is not None
    rows = np.flatnonzero(certificate.cases[:, 0] == RULED_OUT)
    assert len(rows)
    refused = 0
    for row in rows.tolist():
        for cases in (
            np.insert(certificate.cases, row, certificate.cases[row], axis=0),
            np.insert(certificate.cases, 0, certificate.cases[row], axis=0),
            _other(certificate.cases, row, len(certificate.clashes)),
            _other(certificate.cases, row, -certificate.cases[row, 1] - 1),
        ):
            with pytest.raises(reknit.errors.InvalidPlan):
                prove(replace(certificate, cases=cases), scenario)
        try:
            prove(replace(certificate, cases=np.delete(certificate.cases, row, axis=0)), scenario)
        except reknit.errors.InvalidPlan:
            refused += 1
    assert refused > len(rows) // 2


def _other(cases: np.ndarray, row: int, number: int) -> np.ndarray:
    changed = cases.copy()
    changed[row, 1] = number
    return changed


@needs_kernel
def test_work_ends_the_search() -> None:
    """Without work, or once the caller cancels, nothing is claimed."""
    problem = Problem.of(_sparse(1, count=30, side=20.0))
    time_s = 3.0 * problem.quickest_s
    pairs = problem.candidates(time_s)
    region = Region.whole(problem.count)
    for work in (Work(0.0), Work(1_000.0, is_over=lambda: True)):
        assert ClauseSearch(Cones(problem), region, pairs, time_s, work).run() is None


def test_without_the_compiled_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it was not compiled, `certified` plans all the same, and its bound holds."""
    monkeypatch.setattr(kernel, "_library", lambda: None)
    scenario = _sparse(2)
    assert not can_search(Problem.of(scenario))
    plan = reknit.plan(scenario, "certified", effort=300)
    plan.verify(scenario)
    assert plan.details["search"] == "cases"


@needs_kernel
def test_the_plan_tells_which_search_it_comes_from() -> None:
    """In the plane the compiled search is used; in space, which it does not know, the other."""
    assert reknit.plan(_sparse(2), "certified", effort=300).details["search"] == "clauses"
    points = np.random.default_rng(2).random((9, 3)) * 600.0
    space = reknit.Scenario(points, (), 120.0, 10.0)
    assert reknit.plan(space, "certified", effort=300).details["search"] == "cases"


@needs_kernel
def test_cancelling_gives_up_the_proof() -> None:
    """Once cancelled, a long proof is neither written nor checked: the plan has a weaker bound."""
    scenario = reknit.generate(500, 475, seed=3_000_003, split=True)
    asked = 0

    def cancel() -> bool:
        nonlocal asked
        asked += 1
        return asked > 400

    plan = reknit.plan(scenario, "certified", cancel=cancel)
    rows = len(plan.certificate.cases) + sum(len(lemma.cases) for lemma in plan.certificate.lemmas)
    assert rows < 20_000
    plan.verify(scenario)


@needs_kernel
def test_no_time_is_asked_for_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proof that ends with a clash of the cone program is found, and what fails is not repeated.

    In this swarm a tree seems to have places, a cone program refutes it, and that is the proof.
    """
    asked = []
    run = ClauseSearch.run

    def noted(search: ClauseSearch) -> Resolution | Faster | None:
        asked.append(search.time_s)
        return run(search)

    monkeypatch.setattr(ClauseSearch, "run", noted)
    plan = reknit.plan(reknit.generate(200, 180, seed=71_014, split=True), "certified")
    assert plan.status is reknit.Status.OPTIMAL
    assert asked
    assert len(set(asked)) == len(asked)
