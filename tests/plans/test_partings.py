"""Cases of directions: the bound holds against another solver's best, and forgeries are refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from campaign.mutations import mutate
from campaign.naive import Judge
from scipy.optimize import minimize

import reknit
from reknit.base.errors import InvalidProof, ReknitError
from reknit.base.types import FloatArray
from reknit.exact.demands.partings import PartingSearch
from reknit.exact.model.problem import Problem
from reknit.exact.search.proof_tree import Work
from reknit.plans.certificate import Certificate, Clash, Parting
from reknit.plans.checker.proof import prove

GAP_M = 60.0


def crowd(points: FloatArray, **more: Any) -> reknit.Scenario:
    """Everybody survives and has a link to everybody, wherever they part to."""
    return reknit.Scenario(points, (), 1e4, 10.0, min_separation_m=GAP_M, **more)


def proof_of(scenario: reknit.Scenario, time_s: float, work: float = 4_000.0) -> Certificate | None:
    """The certificate of a whole swarm at a trial time, if the search finds one."""
    rows = np.arange(len(scenario.survivors))
    search = PartingSearch(Problem.of(scenario), GAP_M, rows, time_s, Work(work))
    proof = search.run()
    return None if proof is None else search.certificate(proof)


def least_time_s(scenario: reknit.Scenario, seed: int) -> float:
    """The least time to be apart that a general solver finds from many starts (an upper limit)."""
    rng = np.random.default_rng(seed)
    start, speeds = scenario.survivor_positions, scenario.survivor_speeds_mps
    count = len(start)
    pairs = list(combinations(range(count), 2))

    def room(x: FloatArray) -> FloatArray:
        moved = x[:-1].reshape(-1, 2)
        flown = ((moved - start) / GAP_M) ** 2
        apart = [((moved[i] - moved[j]) ** 2).sum() / GAP_M**2 - 1.0 for i, j in pairs]
        return np.append((speeds * x[-1] / GAP_M) ** 2 - flown.sum(axis=1), apart)

    best_s = np.inf
    for _ in range(25):
        begin = np.append((start + rng.normal(size=start.shape) * 30.0).ravel(), 5.0)
        result = minimize(
            lambda x: x[-1],
            begin,
            method="SLSQP",
            constraints={"type": "ineq", "fun": room},
            options={"maxiter": 300},
        )
        if result.success and room(result.x).min() > -1e-7:
            best_s = min(best_s, float(result.x[-1]))
    return best_s


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_is_below_the_best_that_another_solver_finds(seed: int) -> None:
    """Of three to five survivors in close company it proves 98 % of the best time known, and
    never more than that time.
    """
    rng = np.random.default_rng(seed)
    scenario = crowd(rng.random((3 + seed % 3, 2)) * 50.0)
    best_s = least_time_s(scenario, seed)
    certificate = proof_of(scenario, 0.98 * best_s)
    assert certificate is not None
    assert 0.98 * best_s <= certificate.bound_s <= prove(certificate, scenario).bound_s
    assert prove(certificate, scenario).bound_s <= best_s * (1.0 + 1e-6)
    assert proof_of(scenario, best_s * (1.0 + 1e-3), work=300.0) is None


def test_by_hand() -> None:
    """Three in one place must fly to the corners of a triangle of side s, s / sqrt(3) away; two
    of them, one an anchor, need all of s for the other.
    """
    together = crowd(np.zeros((3, 2)))
    needed_s = GAP_M / np.sqrt(3.0) / 10.0
    certificate = proof_of(together, 0.99 * needed_s)
    assert certificate is not None
    assert 0.99 * needed_s <= prove(certificate, together).bound_s <= needed_s
    anchored = crowd(np.zeros((2, 2)), anchors=(0,))
    certificate = proof_of(anchored, 0.99 * GAP_M / 10.0)
    assert certificate is not None
    assert 0.99 * GAP_M / 10.0 <= prove(certificate, anchored).bound_s <= GAP_M / 10.0


def test_speeds_count() -> None:
    """A fast UAV makes way for a slow one; the bound knows both."""
    scenario = reknit.Scenario(
        np.asarray([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]]), (), 1e4, [2.0, 10.0, 5.0],
        min_separation_m=GAP_M,
    )  # fmt: skip
    best_s = least_time_s(scenario, 0)
    certificate = proof_of(scenario, 0.98 * best_s)
    assert certificate is not None
    assert prove(certificate, scenario).bound_s <= best_s * (1.0 + 1e-6)


_QUARTER = (np.array([[0, 1], [0, 1], [-1, 0], [-1, 0], [0, 1], [-1, 0], [-1, 0]]),
            np.array([[1, 0], [0, 1], [0, 0], [0, 0], [0, -1], [0, 0], [0, 0]]))  # fmt: skip
"""Two UAVs, four quarter turns."""


def _two(cases: Any, cuts: Any, forces: Any) -> Certificate:
    clash = Clash(np.array([[0, 1]]), np.asarray(forces, dtype=np.float64))
    parting = Parting(np.asarray(cases), np.asarray(cuts), (clash,))
    return Certificate(1.0, 0.0, np.empty((0, 2), dtype=np.int64), parting=parting)


@pytest.mark.parametrize(
    ("cases", "cuts", "forces", "words"),
    [
        (*_QUARTER, [[1.0, 1.0]], "points away"),
        (_QUARTER[0][:5], _QUARTER[1][:5], [[1.0, 1.0]], "points away"),
        (_QUARTER[0][:3], _QUARTER[1][:3], [[1.0, 1.0]], "all its cases"),
        ([[0, 1], [-1, 0], [-1, 0]], [[1, 0], [0, 0], [0, 0]], [[0.0, 1.0]], "too little"),
        ([[-1, 0]], [[0, 0]], [[0.0, 1.0]], "too little"),
        ([[0, 1], [0, 1], [-1, 0]], [[1, 0], [1, 0], [0, 0]], [[1.0, 1.0]], "outside"),
        ([[0, 1], [0, 1], [-1, 0]], [[1, 0], [0, -1], [0, 0]], [[1.0, 1.0]], "outside"),
        ([[0, 1], [-1, 0]], [[0, 0], [0, 0]], [[1.0, 1.0]], "no direction"),
        ([[0, 1], [-1, 0]], [[1 << 40, 0], [0, 0]], [[1.0, 1.0]], "beyond"),
        ([[0, 5], [-1, 0]], [[1, 0], [0, 0]], [[1.0, 1.0]], "cannot be"),
        ([[-1, 7]], [[0, 0]], [[1.0, 1.0]], "does not have"),
        ([[-1, 0]], [[1, 0]], [[1.0, 1.0]], "parts nothing"),
        (np.empty((0, 2), dtype=np.int64), np.empty((0, 2), dtype=np.int64), [[1.0, 1.0]], "0 cas"),
        ([[-1.0, 0.0]], [[0, 0]], [[1.0, 1.0]], "int64"),
        ([[-1, 0]], [[0, 0]], [[np.nan, 1.0]], "finite"),
        ([[0, 1]] * 4_001, [[1, 0]] * 4_001, [[1.0, 1.0]], "4001 cases"),
    ],
)
def test_forged_cases_are_refused(cases: Any, cuts: Any, forces: Any, words: str) -> None:
    """Cases that leave something out, ends that rely on what is not known, odd numbers."""
    scenario = crowd(np.asarray([[0.0, 0.0], [10.0, 0.0]]))
    with pytest.raises(InvalidProof, match=words):
        prove(_two(cases, cuts, forces), scenario)


def test_a_clash_that_no_end_uses_is_refused() -> None:
    """What has no part in the proof would look like a claim."""
    scenario = crowd(np.asarray([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]]))
    certificate = proof_of(scenario, 1.0)
    assert certificate is not None
    assert certificate.parting is not None
    prove(certificate, scenario)
    clashes = (*certificate.parting.clashes, certificate.parting.clashes[0])
    more = replace(certificate, parting=replace(certificate.parting, clashes=clashes))
    with pytest.raises(InvalidProof, match="not used"):
        prove(more, scenario)


def test_it_is_no_proof_elsewhere(tmp_path: Path) -> None:
    """Without a separation, in space, or with more asked than was, the proof is refused; a file
    keeps every bit of it.
    """
    scenario = reknit.generate(200, 100, seed=40_004, split=True, min_separation_m=GAP_M)
    plan = reknit.plan(scenario, "certified")
    certificate = plan.certificate
    assert certificate.parting is not None
    assert plan.status is reknit.Status.OPTIMAL
    plan.save(f"{tmp_path}/plan.json")
    again = reknit.Plan.load(f"{tmp_path}/plan.json", scenario)
    assert again.certificate.parting is not None
    assert np.array_equal(again.certificate.parting.cuts, certificate.parting.cuts)
    for other in (
        replace(scenario, min_separation_m=0.0),
        replace(scenario, positions=np.column_stack([scenario.positions, np.zeros(200)])),
    ):
        with pytest.raises(InvalidProof):
            prove(certificate, other)
    closer = replace(scenario, min_separation_m=0.9 * GAP_M)
    assert prove(certificate, closer).bound_s < certificate.bound_s
    larger = replace(certificate, bound_s=np.nextafter(plan.recovery_time_s, 0.0))
    with pytest.raises(InvalidProof):
        replace(plan, certificate=larger).verify(scenario)


@pytest.mark.long
def test_changed_proofs_that_pass_are_true() -> None:
    """Of some hundred changed certificates none proves more than a second judge allows, who looks
    along the arcs angle by angle.
    """
    rng = np.random.default_rng(4)
    scenario = crowd(rng.random((4, 2)) * 40.0)
    certificate = proof_of(scenario, 0.9 * least_time_s(scenario, 0))
    assert certificate is not None
    judge = Judge(scenario)
    passed = 0
    for _ in range(400):
        forged = mutate(certificate, rng, 4)
        try:
            proved_s = prove(forged, scenario).bound_s
        except ReknitError:
            continue
        if proved_s >= forged.bound_s:
            passed += 1
            assert forged.bound_s <= judge.proves_at_most_s(forged)
    assert passed > 20
