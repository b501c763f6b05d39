"""A wrong claim about the bound is refused, and the plan goes on with a weaker one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

import reknit
from reknit.algorithms.certified import Certified
from reknit.base.errors import InvalidPlan, InvalidProof
from reknit.exact.proof import bounds, certificates
from reknit.plans.certificate import Certificate
from reknit.plans.status import Status


@pytest.fixture
def scenario() -> reknit.Scenario:
    return reknit.generate(uavs=100, destroyed=80, seed=6, split=True)


@dataclass(frozen=True)
class Boaster:
    """Certified's plan with a bound that is raised by a factor."""

    factor: float

    def propose(self, scenario: reknit.Scenario, context: reknit.Context) -> reknit.Proposal:
        honest = Certified().propose(scenario, context)
        proof = honest.certificate or reknit.lower_bound(scenario)
        return replace(honest, certificate=replace(proof, bound_s=proof.bound_s * self.factor))


@dataclass(frozen=True)
class Liar:
    """Says that nobody has to move."""

    def propose(self, scenario: reknit.Scenario, context: reknit.Context) -> reknit.Proposal:
        return reknit.Proposal(scenario.survivor_positions, Status.OPTIMAL)


@pytest.mark.parametrize("factor", [1.0 + 1e-9, 1.1, 1e9, np.inf, np.nan])
def test_a_raised_bound_is_not_believed(scenario: reknit.Scenario, factor: float) -> None:
    """A planner's bound that its proof does not reach is dropped, and the plan says so."""
    plan = reknit.plan(scenario, Boaster(factor))
    assert plan.lower_bound_s <= reknit.plan(scenario, "certified").lower_bound_s
    if np.isfinite(factor):
        assert "refused_proof" in plan.details
    plan.verify(scenario)
    raised = replace(plan.certificate, bound_s=plan.lower_bound_s * (1.0 + 1e-9))
    with pytest.raises(InvalidProof):
        replace(plan, certificate=raised).verify(scenario)


def test_a_planner_that_lies_about_its_targets_gains_nothing(scenario: reknit.Scenario) -> None:
    """The status is what the targets deserve, whatever the planner says of them."""
    plan = reknit.plan(scenario, Liar())
    assert plan.status is Status.NOT_FOUND
    with pytest.raises(InvalidPlan):
        replace(plan, status=Status.OPTIMAL).verify(scenario)


def test_a_fault_in_our_own_proofs_costs_the_bound_and_not_the_plan(
    scenario: reknit.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the search's proofs were all wrong, plans would carry the bound of the EMST."""

    def wrong(*arguments: object) -> Certificate:
        return replace(certificates.certificate_of(*arguments), bound_s=1e6)  # type: ignore[arg-type]

    monkeypatch.setattr(bounds, "certificate_of", wrong)
    plan = reknit.plan(scenario, "contraction")
    assert plan.lower_bound_s == reknit.plan(scenario, Liar()).lower_bound_s
    assert plan.lower_bound_s == bounds.emst_bound(scenario).bound_s > 0.0
    assert "refused_proof" in plan.details


def test_a_candidate_at_exactly_the_trial_time() -> None:
    """Three UAVs whose second link becomes a candidate at the very time that is tried: one rule
    for both sides, so the proof holds.
    """
    points = [[0.0, 0.0], [200.0, 306.1325490789383], [400.0, 0.0]]
    scenario = reknit.Scenario(points, (), 120.0, 10.0)
    for planner in ("certified", "contraction"):
        plan = reknit.plan(scenario, planner)
        assert "refused_proof" not in plan.details
        assert plan.lower_bound_s == pytest.approx(14.0, rel=1e-6)
