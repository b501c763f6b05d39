"""The checker accepts nothing false: forgeries by hand, and a campaign of mutations judged by an
evaluation of its own.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from campaign.mutations import mutate, mutate_text
from campaign.naive import Judge

import reknit
from reknit.base.errors import InvalidPlan, ReknitError, UnreadableFile
from reknit.plans.certificate import CUT, Certificate, Clash
from reknit.plans.checker.duality import Clashes, exact_time_s
from reknit.plans.checker.proof import prove
from reknit.plans.checker.survivors import Survivors
from reknit.plans.files import parse_plan, plan_json
from reknit.plans.status import Status

PAIR = reknit.Scenario([[0.0, 0.0], [200.0, 0.0]], (), 120.0, 10.0)
"""Two UAVs that need 4 s."""

ONE_LINK = np.array([[0, 1], [-1, 0], [-1, CUT]])


def _one_link(forces: Any, trial_s: float = 1e6) -> Certificate:
    vectors = forces if isinstance(forces, np.ndarray) else np.array(forces)
    return Certificate(0.0, trial_s, ONE_LINK, (Clash(np.array([[0, 1]]), vectors),))


@pytest.mark.parametrize("direction", [(-1.0, 0.0), (-2.7, 0.0), (-1.0, 1e-9), (-0.6, 0.8)])
def test_no_scale_of_forces_proves_too_much(direction: tuple[float, float]) -> None:
    """Whatever the size of a force, from sub-normal to the largest, no more than 4 s is proved."""
    read = 0
    for exponent in (*range(-323, 309, 4), -162, -161, 150, 154, 200, 308):
        with np.errstate(over="ignore", under="ignore"):
            forces = np.array([direction]) * 10.0**exponent
        with suppress(InvalidPlan):  # refused for its scale
            assert prove(_one_link(forces), PAIR).bound_s <= 4.0
            read += 1
    assert read > 40


@pytest.mark.parametrize(
    "forces",
    [
        np.array([[-1.0, 0.0]], dtype=np.float32),
        np.array([[-1, 0]], dtype=np.int64),
        np.array([[-1.0 + 0j, 0.0]]),
        np.array([["-1", "0"]], dtype=object),
        np.ma.masked_array([[-1.0, 0.0]], mask=[[False, True]]),
        np.array([[-1.0, 0.0, 0.0]]),
        np.array([-1.0, 0.0]),
        np.array([[np.nan, 0.0]]),
        np.array([[-np.inf, 0.0]]),
    ],
)
def test_only_finite_float64_vectors_are_read(forces: Any) -> None:
    """Other types and shapes of numbers are refused and not converted."""
    with pytest.raises(InvalidPlan):
        prove(_one_link(forces), PAIR)


@pytest.mark.parametrize("cases", [ONE_LINK.astype(np.int32), ONE_LINK.astype(float), ONE_LINK[0]])
def test_only_int64_rows_are_read(cases: Any) -> None:
    """Cases of another type or shape are refused."""
    with pytest.raises(InvalidPlan):
        prove(replace(_one_link([[-1.0, 0.0]]), cases=cases), PAIR)


def test_float64_and_whole_numbers_agree() -> None:
    """Of hundreds of random vectors none proves more in float64 than in whole numbers, and where
    the claim is just what they prove, whole numbers confirm it.
    """
    rng = np.random.default_rng(1)
    confirmed = 0
    for _ in range(200):
        nodes = int(rng.integers(2, 7))
        points = rng.random((nodes, 2)) * 1000.0 + rng.choice([0.0, 1e6])
        scenario = reknit.Scenario(points, (), 120.0, rng.uniform(1.0, 20.0, nodes))
        links = np.array([[i, i + 1] for i in range(nodes - 1)])
        forces = (points[links[:, 0]] - points[links[:, 1]]) * rng.random((nodes - 1, 1))
        swarm = Survivors.of(scenario)
        clashes = Clashes(swarm, (Clash(links, forces),))
        exact_s = exact_time_s(swarm, links, forces)
        assert clashes.time_s(0, 0.0) <= exact_s
        assert clashes.time_s(0, exact_s) == exact_s
        limit = Judge(scenario)
        limit.lost = None
        assert exact_s <= limit._clash_s([(int(i), int(j)) for i, j in links], forces)
        confirmed += exact_s > 0.0 and clashes.exact > 0
    assert confirmed > 100


def test_a_bound_just_above_what_is_proved_is_refused() -> None:
    """One float64 more than whole numbers prove is too much."""
    honest = replace(_one_link([[-1.0, 0.0]]), bound_s=4.0)
    proved = prove(honest, PAIR)
    assert 3.9999999999 < proved.bound_s < 4.0
    top = replace(honest, bound_s=proved.bound_s)
    confirmed = prove(top, PAIR)
    assert confirmed.bound_s == proved.bound_s
    assert confirmed.exact == 1
    above = replace(honest, bound_s=float(np.nextafter(proved.bound_s, 5.0)))
    assert prove(above, PAIR).bound_s < above.bound_s


def _long_forgery(rows: int, nodes: int) -> Certificate:
    """A comb of questions, each 'no' a cut that is none."""
    pairs = [(i, j) for i in range(nodes) for j in range(i + 1, nodes)][: rows // 2]
    cases = [[*pair] for pair in pairs] + [[-1, CUT]] * (len(pairs) + 1)
    return Certificate(1.0, 50.0, np.array(cases))


@pytest.mark.timeout(40)
def test_forgeries_of_forty_thousand_rows_are_refused_at_once() -> None:
    """Long forgeries are refused; work that grew with the square of their rows would take minutes
    and run into the limit.
    """
    scenario = reknit.generate(uavs=400, destroyed=100, seed=3, split=True)
    plan = reknit.plan(scenario, "contraction")
    forgeries = [_long_forgery(40_000, 300)]
    deep = _long_forgery(40_000, 300)
    forgeries.append(replace(deep, cases=np.vstack([deep.cases[:20_000], [[-1, 0]]])))
    links = deep.cases[deep.cases[:, 0] >= 0]
    clash = Clash(links, np.ones((len(links), 2)))
    rows = np.where((deep.cases == [-1, CUT]).all(axis=1)[:, None], [-1, 0], deep.cases)
    forgeries.append(replace(deep, cases=rows, clashes=(clash,)))
    forgeries.append(replace(deep, cases=np.repeat(deep.cases, 100, axis=0)))
    for forgery in forgeries:
        with pytest.raises(InvalidPlan):
            replace(plan, certificate=forgery).verify(scenario)


@pytest.mark.parametrize(
    "change",
    [
        {"status": "already connected"},
        {"status": "not found"},
        {"status": "not connected"},
        {"status": "infeasible (proved)"},
        {"status": "feasible"},
        {"status": "deadline"},
        {"recovery_time_s": 1e300},
        {"recovery_time_s": 0.0},
        {"compute_s": -1.0},
        {"compute_s": 1e300},
        {"uavs": list(range(20))},
        # With the gap that belongs to the label, so that the label itself is what is looked at.
        {"status": "already connected", "gap": 0.0},
        {"status": "not found", "gap": None},
        {"status": "not connected", "gap": None},
        {"status": "infeasible (proved)", "gap": None},
    ],
)
def test_relabelled_plans_are_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    """A file whose status or times are not what its targets deserve fails on load with its
    scenario.
    """
    scenario = reknit.generate(uavs=60, destroyed=40, seed=4, split=True)
    plan = reknit.plan(scenario, "certified")
    assert plan.status is Status.OPTIMAL
    path = tmp_path / "plan.json"
    data = json.loads(plan_json(plan))
    path.write_text(json.dumps(data))
    assert reknit.Plan.load(path, scenario).status is plan.status
    path.write_text(json.dumps({**data, **change}))
    with pytest.raises((InvalidPlan, UnreadableFile)):
        reknit.Plan.load(path, scenario)


@pytest.mark.parametrize(
    "change",
    [
        {"lower_bound_s": 0.5},
        {"gap": 0.25},
        {"gap": None},
        {"recovery_time_s": float("inf")},
        {"certificate.cases": [[10**30, 1], [-1, -1], [-1, -1]]},
        {"certificate.cases": [[1.5, 2], [-1, -1], [-1, -1]]},
        {"certificate.lost": 10**30},
        {"certificate.apart": [0, 10**30]},
        {"certificate.bound_s": float("nan")},
        {"certificate.trial_s": float("inf")},
    ],
)
def test_files_that_contradict_themselves_are_refused(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    """A bound or gap other than the certificate's, and numbers that are none, stop the loading."""
    plan = reknit.plan(reknit.generate(uavs=60, destroyed=40, seed=4, split=True), "certified")
    data = json.loads(plan_json(plan))
    for name, value in change.items():
        *parents, last = name.split(".")
        inner = data
        for parent in parents:
            inner = inner[parent]
        inner[last] = value
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(data))
    with pytest.raises((UnreadableFile, InvalidPlan)):
        reknit.Plan.load(path)


def test_a_gap_beside_a_status_without_one_is_told_by_the_status(tmp_path: Path) -> None:
    """Who relabels a file reads what is wrong with the label, not with a number left alone."""
    plan = reknit.plan(reknit.generate(uavs=60, destroyed=40, seed=4, split=True), "certified")
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({**json.loads(plan_json(plan)), "status": "not found"}))
    with pytest.raises(InvalidPlan, match="the status is 'not found', which has none"):
        reknit.Plan.load(path)


@pytest.mark.parametrize(
    "change",
    [
        {"status": "optimal "},
        {"recovery_time_s": float("inf")},
    ],
)
def test_claims_that_are_no_numbers_are_refused(change: dict[str, Any]) -> None:
    """Plans made in memory are held to the same limits as files."""
    scenario = reknit.generate(uavs=60, destroyed=40, seed=4, split=True)
    plan = reknit.plan(scenario, "certified")
    with pytest.raises(InvalidPlan):
        replace(plan, **change).verify(scenario)


def test_targets_beyond_all_limits_are_refused() -> None:
    """A swarm sent a light-year away together is connected, and refused."""
    plan = reknit.plan(PAIR, "certified")
    far = plan.targets + 1e16
    moved = replace(plan, targets=far, recovery_time_s=float(np.sqrt(2.0) * 1e15))
    with pytest.raises(InvalidPlan, match="origin"):
        moved.verify(PAIR)


def test_the_account_of_a_verification() -> None:
    """What was checked is told, with the size of the proof."""
    scenario = reknit.generate(uavs=200, destroyed=180, seed=1006, split=True)
    plan = reknit.plan(scenario, "certified")
    account = plan.verify(scenario)
    assert isinstance(account, reknit.Verification)
    rows = sum(len(lemma.cases) for lemma in plan.certificate.lemmas)
    assert account.cases == len(plan.certificate.cases) + rows > 1
    assert account.vectors >= account.clashes > 3
    assert account.unmet == ()
    assert "every demand on targets is met" in " ".join(account.lines())


# The campaign.


def _campaign(mutations: int, seed: int) -> tuple[int, int]:
    """Mutate honest plans; returns how many were accepted and how many of those were false."""
    rng = np.random.default_rng(seed)
    honest = []
    swarms = [reknit.generate(60, 48, seed=seed + number, split=True) for number in range(12)]
    # Harder ones, whose proofs have lemmas.
    swarms += [reknit.generate(260, 244, seed=number, split=True) for number in (300, 304)]
    for scenario in swarms:
        plan = reknit.plan(scenario, "certified")
        honest.append((scenario, plan, plan_json(plan), Judge(scenario)))
    accepted = false = 0
    for _ in range(mutations):
        scenario, plan, text, judge = honest[int(rng.integers(len(honest)))]
        try:
            if rng.random() < 0.75:
                certificate = mutate(plan.certificate, rng, len(plan.targets))
                forged = replace(plan, certificate=certificate)
            else:
                forged = parse_plan(mutate_text(text, rng), "forged")
            forged.verify(scenario)
        except ReknitError:
            continue
        accepted += 1
        beats_a_plan = forged.lower_bound_s > plan.recovery_time_s
        false += beats_a_plan or forged.gap < 0.0 or not judge.is_true(forged)
    return accepted, false


def test_a_campaign_of_mutations() -> None:
    """Of some hundred changed certificates and files none that claims something false passes, and
    none ends in anything but a typed error.
    """
    accepted, false = _campaign(1_000, 1)
    assert accepted > 20  # changes that leave the claims true
    assert false == 0


@pytest.mark.long
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("seed", range(10))
def test_a_long_campaign_of_mutations(seed: int) -> None:
    """The same with 10^4 changes for each of ten seeds."""
    assert _campaign(10_000, 100 * (seed + 1))[1] == 0
