"""Bounds by counting links: true, refused when forged, and near the optimum on lattices."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from campaign.mutations import mutate
from campaign.naive import Judge

import reknit
from reknit.base.errors import InvalidPlan
from reknit.exact.model.problem import Problem
from reknit.exact.proof.covers import cover_certificate
from reknit.plans.certificate import Bundle, Certificate
from reknit.plans.checker.proof import prove
from reknit.plans.files import certificate_file, certificate_of
from tests.exact.brute import optimum_s, small_scenarios


def _lattice(rows: int, columns: int, spacing_m: float, wobble_m: float = 0.0) -> reknit.Scenario:
    points = np.asarray(list(itertools.product(range(rows), range(columns)))) * spacing_m
    points = points + np.random.default_rng(rows).uniform(-wobble_m, wobble_m, points.shape)
    return reknit.Scenario(points, (), 120.0, 10.0)


def _counted(scenario: reknit.Scenario, ceiling_s: float) -> Certificate | None:
    problem = Problem.of(scenario)
    return cover_certificate(problem, problem.quickest_s, ceiling_s)


def test_no_optimum_lies_below_the_bound() -> None:
    """Brute force over all trees of small swarms: lattices, scattered, in line and in space."""
    proved = 0
    lattices = [_lattice(2, 3, 150.0 + 40.0 * k, 10.0 * k) for k in range(3)]
    for scenario in [*lattices, *small_scenarios(3, 12, 4, 5)]:
        best_s = optimum_s(scenario)
        certificate = _counted(scenario, 2.0 * best_s)
        if certificate is None:
            continue
        proved += 1
        bound_s = prove(certificate, scenario).bound_s
        assert certificate.bound_s <= bound_s <= best_s * (1.0 + 1e-7)
        assert Judge(scenario).proves_at_most_s(certificate) >= certificate.bound_s
    assert proved > 3


def test_lattices_have_a_bound_worth_having() -> None:
    """On a lattice a survivor cannot be linked with both neighbours of a row before 2.4 s; a tree
    of turns alone does not exist, which the links counted by rows and squares show.
    """
    scenario = _lattice(8, 8, 144.0)
    certificate = _counted(scenario, 3.0)
    assert certificate is not None
    assert 2.35 < certificate.bound_s <= 2.4
    assert Problem.of(scenario).quickest_s == pytest.approx(1.2)
    assert prove(certificate, scenario).kind.startswith("bundles")


def test_the_planner_uses_it_and_files_keep_it() -> None:
    """A plan for a lattice carries the bundles, is verified, and comes back from its JSON form."""
    scenario = _lattice(10, 10, 144.0)
    plan = reknit.plan(scenario, "certified", effort=200)
    assert plan.certificate.bundles
    assert plan.gap < 0.2
    plan.verify(scenario)
    again = certificate_of(certificate_file(plan.certificate))
    assert prove(again, scenario) == prove(plan.certificate, scenario)


NO_LINKS = np.empty((0, 2), dtype=np.int64)


def _with_bundle(certificate: Certificate, **changes: Any) -> Certificate:
    """The heaviest bundle of survivors (or of links, where those change) made another."""
    part = "links" if "links" in changes else "nodes"
    at = max(
        (k for k, bundle in enumerate(certificate.bundles) if len(getattr(bundle, part))),
        key=lambda k: certificate.bundles[k].weight,
    )
    bundles = list(certificate.bundles)
    bundle = bundles[at]
    bundles[at] = replace(
        bundle, **{name: change(getattr(bundle, name)) for name, change in changes.items()}
    )
    return replace(certificate, bundles=tuple(bundles))


FORGED: dict[str, Any] = {
    "a later time": lambda c: replace(c, bound_s=1.2 * c.bound_s, trial_s=1.2 * c.trial_s),
    "a higher bound": lambda c: replace(c, bound_s=c.bound_s * (1.0 + 1e-9)),
    "no bundles": lambda c: replace(c, bundles=()),
    "no tuple": lambda c: replace(c, bundles=list(c.bundles)),
    "without the first": lambda c: replace(c, bundles=c.bundles[1:]),
    "no clashes": lambda c: replace(c, clashes=()),
    "half the weight": lambda c: _with_bundle(c, weight=lambda w: w // 2),
    "a weight below zero": lambda c: _with_bundle(c, weight=lambda w: -w),
    "a part of a number": lambda c: _with_bundle(c, weight=float),
    "a weight of true": lambda c: _with_bundle(c, weight=lambda w: True),
    "too heavy": lambda c: _with_bundle(c, weight=lambda w: 2**62),
    "a survivor twice": lambda c: _with_bundle(c, nodes=lambda x: np.sort(np.append(x, x[0]))),
    "nobody's row": lambda c: _with_bundle(c, nodes=lambda x: x + 1_000),
    "single precision": lambda c: _with_bundle(c, nodes=lambda x: x.astype(np.float32)),
    "links that do not clash": lambda c: _with_bundle(
        c, links=lambda x: np.concatenate([x, [[0, 35]]])
    ),
    "a link twice": lambda c: _with_bundle(c, links=lambda x: np.concatenate([x, x[:1]])),
    "a link of nobody": lambda c: _with_bundle(c, links=lambda x: x + 1_000),
    "an empty bundle": lambda c: replace(
        c, bundles=(*c.bundles, Bundle(1, np.empty(0, dtype=np.int64), NO_LINKS))
    ),
    "forces turned round": lambda c: replace(
        c, clashes=tuple(replace(clash, forces=-clash.forces) for clash in c.clashes)
    ),
}


@pytest.fixture(scope="module")
def case() -> tuple[reknit.Scenario, reknit.Plan, Certificate]:
    scenario = _lattice(6, 6, 144.0)
    honest = _counted(scenario, 3.0)
    assert honest is not None
    return scenario, reknit.plan(scenario, "contraction"), honest


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_forged_bundles_are_refused(
    case: tuple[reknit.Scenario, reknit.Plan, Certificate], forge: Any
) -> None:
    """The bound of a lattice does not survive other bundles, weights, clashes or times."""
    scenario, plan, honest = case
    replace(plan, certificate=honest).verify(scenario)
    with pytest.raises(InvalidPlan):
        replace(plan, certificate=forge(honest)).verify(scenario)


def test_random_changes_prove_nothing_false() -> None:
    """What passes after a change is proved in fractions too, by a judge that shares no code."""
    rng = np.random.default_rng(6)
    scenario = _lattice(3, 4, 144.0)
    honest = _counted(scenario, 3.0)
    assert honest is not None
    judge, accepted = Judge(scenario), 0
    for _ in range(150):
        forged = mutate(honest, rng, 12)
        try:
            bound_s = prove(forged, scenario).bound_s
        except InvalidPlan:
            continue
        accepted += 1
        assert bound_s <= judge.proves_at_most_s(forged)
    assert accepted > 10
