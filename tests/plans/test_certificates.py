"""The checker believes no certificate: forged ones are refused, honest ones survive a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import reknit
from reknit.base.errors import InvalidPlan
from reknit.base.types import IntArray
from reknit.exact.compiled import kernel
from reknit.plans.certificate import CUT, Certificate, Clash
from reknit.plans.checker.proof import prove
from reknit.plans.status import Status


@pytest.fixture(scope="module")
def case() -> tuple[reknit.Scenario, reknit.Plan]:
    """A proof by cases; chains of clauses have forgeries of their own, in test_lemmas.py."""
    scenario = reknit.generate(uavs=200, destroyed=180, seed=1006, split=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "_library", lambda: None)
        plan = reknit.plan(scenario, "certified")
    assert plan.status is Status.OPTIMAL
    assert len(plan.certificate.clashes) > 3
    return scenario, plan


def _rows(certificate: Certificate, change: Callable[[IntArray], IntArray]) -> Certificate:
    return replace(certificate, cases=change(certificate.cases.copy()))


def _put(rows: IntArray, where: IntArray, what: tuple[int, int]) -> IntArray:
    rows[int(where[0])] = what
    return rows


def _clash(certificate: Certificate, **change: object) -> Certificate:
    first, *others = certificate.clashes
    return replace(certificate, clashes=(replace(first, **change), *others))  # type: ignore[arg-type]


FORGERIES: dict[str, Callable[[Certificate], Certificate]] = {
    "a higher bound": lambda c: replace(c, bound_s=c.bound_s * (1 + 1e-9)),
    "a later trial time": lambda c: replace(c, bound_s=1.1 * c.bound_s, trial_s=1.1 * c.trial_s),
    "no trial time": lambda c: replace(c, trial_s=float("inf")),
    "no cases": lambda c: _rows(c, lambda rows: rows[:0]),
    "one bare cut": lambda c: _rows(c, lambda rows: np.array([[-1, CUT]])),
    "cases that stop early": lambda c: _rows(c, lambda rows: rows[:-1]),
    "cases that go on": lambda c: _rows(c, lambda rows: np.vstack([rows, [[-1, 0]]])),
    "a case left out": lambda c: _rows(c, lambda rows: np.delete(rows, [0, 1], axis=0)),
    "a clash for a cut": lambda c: _rows(
        c, lambda rows: _put(rows, np.flatnonzero((rows == [-1, CUT]).all(axis=1)), (-1, 0))
    ),
    "a cut for a clash": lambda c: _rows(
        c, lambda rows: _put(rows, np.flatnonzero((rows[:, 0] < 0) & (rows[:, 1] >= 0)), (-1, CUT))
    ),
    "a clash that is not there": lambda c: _rows(
        c, lambda rows: _put(rows, np.flatnonzero((rows[:, 0] < 0) & (rows[:, 1] >= 0)), (-1, 9999))
    ),
    "another link decided": lambda c: _rows(
        c, lambda rows: _put(rows, np.flatnonzero(rows[:, 0] >= 0), (0, 1))
    ),
    "a link of strangers": lambda c: _rows(
        c, lambda rows: _put(rows, np.flatnonzero(rows[:, 0] >= 0), (0, 999))
    ),
    "a link of one UAV": lambda c: _rows(
        c, lambda rows: _put(rows, np.flatnonzero(rows[:, 0] >= 0), (3, 3))
    ),
    "weaker forces": lambda c: _clash(c, forces=np.ones_like(c.clashes[0].forces)),
    "forces that are no numbers": lambda c: _clash(c, forces=np.nan * c.clashes[0].forces),
    "forces without bound": lambda c: _clash(c, forces=np.inf * c.clashes[0].forces),
    "too few forces": lambda c: _clash(c, forces=c.clashes[0].forces[:-1]),
    "no links in a clash": lambda c: _clash(
        c, links=np.empty((0, 2), dtype=np.int64), forces=np.empty((0, 2))
    ),
    "the same link twice": lambda c: _clash(
        c,
        links=np.vstack([c.clashes[0].links[:1]] * 2),
        forces=np.vstack([c.clashes[0].forces[:1]] * 2),
    ),
    "a link the wrong way round": lambda c: _clash(c, links=c.clashes[0].links[:, ::-1]),
    "a loss nobody asked about": lambda c: replace(c, lost=0),
    "UAVs that need not part": lambda c: replace(c, cases=c.cases[:0], apart=(0, 1)),
}


@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
def test_forgeries_are_refused(
    case: tuple[reknit.Scenario, reknit.Plan], forgery: Callable[[Certificate], Certificate]
) -> None:
    """A plan with a certificate changed in one place fails the check."""
    scenario, plan = case
    with pytest.raises(InvalidPlan):
        replace(plan, certificate=forgery(plan.certificate)).verify(scenario)


def test_a_certificate_is_no_good_for_another_scenario(
    case: tuple[reknit.Scenario, reknit.Plan],
) -> None:
    """The proof of one swarm's bound fails where the survivors are somewhat closer."""
    scenario, plan = case
    closer = reknit.Scenario(0.9 * scenario.survivor_positions, (), 120.0)
    try:
        proved_s = prove(plan.certificate, closer).bound_s
    except InvalidPlan:
        return
    assert proved_s < plan.lower_bound_s


def test_an_infeasible_status_needs_its_proof(case: tuple[reknit.Scenario, reknit.Plan]) -> None:
    """Nobody may call a scenario infeasible because no plan was found."""
    scenario, plan = case
    stay = scenario.survivor_positions
    given_up = replace(plan, targets=stay, recovery_time_s=0.0, status=Status.INFEASIBLE)
    with pytest.raises(InvalidPlan, match="leaves room"):
        given_up.verify(scenario)


def test_a_file_keeps_every_bit(case: tuple[reknit.Scenario, reknit.Plan], tmp_path: Path) -> None:
    """Cases, links and forces come back from a file as they were, and still prove the bound."""
    scenario, plan = case
    plan.save(tmp_path / "plan.json")
    back = reknit.Plan.load(tmp_path / "plan.json")
    back.verify(scenario)
    one, two = plan.certificate, back.certificate
    assert (one.bound_s, one.trial_s, one.lost, one.apart) == (
        two.bound_s,
        two.trial_s,
        two.lost,
        two.apart,
    )
    assert np.array_equal(one.cases, two.cases)
    for before, after in zip(one.clashes, two.clashes, strict=True):
        assert np.array_equal(before.links, after.links)
        assert before.forces.tobytes() == after.forces.tobytes()


def test_by_hand() -> None:
    """Two UAVs 200 m apart at 10 m/s need 4 s for a link of 120 m: both kinds of end say so."""
    scenario = reknit.Scenario([[0.0, 0.0], [200.0, 0.0]], (), 120.0, 10.0)
    clash = Clash(np.array([[0, 1]]), np.array([[-1.0, 0.0]]))
    used_or_not = np.array([[0, 1], [-1, 0], [-1, CUT]])
    by_clash = Certificate(0.0, 5.0, used_or_not, (clash,))
    assert prove(by_clash, scenario).bound_s == pytest.approx(4.0, rel=1e-10)
    by_cut = Certificate(0.0, 4.0 * (1 - 1e-9), np.array([[-1, CUT]]))
    assert prove(by_cut, scenario).bound_s == pytest.approx(4.0, rel=1e-8)
    with pytest.raises(InvalidPlan, match="connect"):
        prove(replace(by_cut, trial_s=4.0), scenario)
    assert prove(Certificate.trivial(), scenario).bound_s == 0.0


def test_anchors_and_speeds_count() -> None:
    """A link to an anchor is closed by one UAV alone, and a slow one takes longer."""
    points = [[0.0, 0.0], [200.0, 0.0]]
    clash = Clash(np.array([[0, 1]]), np.array([[-1.0, 0.0]]))
    certificate = Certificate(0.0, 100.0, np.array([[0, 1], [-1, 0], [-1, CUT]]), (clash,))
    anchored = reknit.Scenario(points, (), 120.0, 10.0, anchors=[0])
    assert prove(certificate, anchored).bound_s == pytest.approx(8.0, rel=1e-10)
    slow = reknit.Scenario(points, (), 120.0, [10.0, 6.0])
    assert prove(certificate, slow).bound_s == pytest.approx(5.0, rel=1e-10)


def test_losses_and_partings_by_hand() -> None:
    """For a 2-connected result the ends of a line must meet without the middle one; two UAVs too
    close need half of what they lack each.
    """
    line = reknit.Scenario(
        [[0.0, 0.0], [100.0, 0.0], [200.0, 0.0]], (), 120.0, 10.0, connectivity=2
    )
    bound = reknit.lower_bound(line)
    assert bound.lost == 1
    assert bound.bound_s == pytest.approx(4.0, rel=1e-6)
    close = reknit.Scenario([[0.0, 0.0], [10.0, 0.0]], (), 120.0, 10.0, min_separation_m=30.0)
    bound = reknit.lower_bound(close)
    assert bound.apart == (0, 1)
    assert bound.bound_s == pytest.approx(1.0, rel=1e-6)
