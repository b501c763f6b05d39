"""Plans of any kind, judged twice; the same plans in moved, turned and scaled swarms; deadlines."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

import reknit
from campaign.draws import draw_scenario
from campaign.naive import Judge, OutOfReach
from campaign.outcome import Outcome, together
from reknit.base.types import FloatArray, JsonDict
from reknit.errors import ReknitError

PLANNERS = ("certified", "certified", "contraction", "descent", "descent+certified")
STEERING = ("center-fly", "hero", "sidr", "mdsg-apf")
LEARNED = ("ml-dagl", "gcn", "gat", "cr-mgc", "demd")
BUDGETS_S = (None, 0.0, 0.001, 0.01, 0.1, 1.0)

_LONGEST_BUDGET_S = 10.0
_RARE = 0.01
"""Share of the longest budget and of large swarms, and a third of that of the learned planners
where a budget is timed: they take seconds."""

_STEERED, _LEARNED = 0.03, 0.002
"""Shares of the slow ones among the judged: ten times, and a hundred times, what others take."""

_BATCH, _SMALL_UAVS, _MEDIUM_UAVS, _LARGE_UAVS = 50, 16, 60, 300
"""Plans of one seed; most swarms are small, so that many demands, layouts and budgets meet."""

_EFFORT = 200
"""Of `certified` where a swarm is planned many times; a tenth of its default."""

TOLERANCE = 1e-6
"""Relative, of times in moved, turned and scaled swarms."""

OVERRUN_S = 1.0
"""More computing time than this beyond a budget is a finding. Wall time is told, not judged: it
depends on who else uses the machine."""


def judged_plans(seed: int, _: Path) -> Outcome:
    """Fifty scenarios, each with one planner: the plan passes the checker and the naive judge."""
    return together(_judged(seed, number) for number in range(_BATCH))


def _judged(seed: int, number: int) -> Outcome:
    rng = np.random.default_rng([1, seed, number])
    sizes = (_SMALL_UAVS, _MEDIUM_UAVS, _LARGE_UAVS)
    scenario = draw_scenario(rng, int(rng.choice(sizes, p=(0.79, 0.2, 0.01))))
    if rng.random() < _STEERED:
        return _steered(scenario, str(rng.choice(STEERING)), seed)
    names = LEARNED if rng.random() < _LEARNED else PLANNERS
    planner = str(rng.choice(names))
    budget_s = _draw_budget(rng)
    what = f"{planner}, budget {budget_s}, {_words(scenario)}"
    try:
        plan = reknit.plan(scenario, planner, seed=seed, budget_s=budget_s)
        plan.verify(scenario)
    except ReknitError as error:
        return _refused(error, what)
    findings = []
    if "refused_proof" in plan.details:
        findings.append(f"{what}: the checker refused a proof: {plan.details['refused_proof']}")
    try:
        if not Judge(scenario).is_true(plan):
            findings.append(f"{what}: {plan} passes the checker and not the naive judge")
    except OutOfReach:
        return Outcome(1, tuple(findings), {"unjudged": 1})
    return Outcome(1, tuple(findings), {plan.status.value: 1})


def _steered(scenario: reknit.Scenario, planner: str, seed: int) -> Outcome:
    """A flight that says that it reconnected the swarm ends with a connected one, in time."""
    what = f"{planner}, {_words(scenario)}"
    try:
        flight = reknit.recover(scenario, planner, seed=seed).flight
    except ReknitError as error:
        return _refused(error, what)
    at_s = flight.reconnected_at_s
    if at_s is None:
        return Outcome(1, figures={"steered": 1})
    findings = []
    if not Judge(scenario).is_connected(flight.positions[-1], scenario.radio_range_m * (1 + 1e-9)):
        findings.append(f"{what}: reconnected at {at_s}, but the flight ends in pieces")
    bound_s = reknit.lower_bound(scenario).bound_s if scenario.connectivity == 1 else 0.0
    plain = not scenario.has_demands
    if plain and at_s < bound_s * (1 - TOLERANCE):
        findings.append(f"{what}: reconnected at {at_s}, before the bound of {bound_s}")
    return Outcome(1, tuple(findings), {"steered": 1})


def _refused(error: ReknitError, what: str) -> Outcome:
    """Demands that are at odds are refused by type; anything else is a finding."""
    if isinstance(error, reknit.errors.ImpossibleDemands):
        return Outcome(1, figures={"impossible": 1})
    return Outcome(1, (f"{what}: {type(error).__name__}: {error}",))


def _draw_budget(rng: np.random.Generator) -> float | None:
    return _LONGEST_BUDGET_S if rng.random() < _RARE else BUDGETS_S[int(rng.integers(6))]


def _words(scenario: reknit.Scenario) -> str:
    return f"N {scenario.uavs}, {len(scenario.survivors)} survive, {scenario.dim}-D"


@dataclass(frozen=True)
class _View:
    """The same swarm, written down otherwise."""

    name: str
    scenario: reknit.Scenario


def _turn(rng: np.random.Generator, dim: int) -> FloatArray:
    matrix, upper = np.linalg.qr(rng.normal(size=(dim, dim)))
    return np.asarray(matrix * np.sign(np.diag(upper)))


def _views(scenario: reknit.Scenario, rng: np.random.Generator) -> list[_View]:
    points, range_m = scenario.positions, scenario.radio_range_m
    speeds, lost = scenario.max_speed_mps, scenario.destroyed
    order = rng.permutation(scenario.uavs)
    moved = [
        _View("turned", reknit.Scenario(points @ _turn(rng, scenario.dim), lost, range_m, speeds)),
        _View("moved by 1e6 m", reknit.Scenario(points + 1e6, lost, range_m, speeds)),
        _View(
            "renumbered",
            reknit.Scenario(
                points[order], np.flatnonzero(np.isin(order, lost)), range_m, speeds[order]
            ),
        ),
    ]
    for scale in (1e-3, 1e3):
        scaled = reknit.Scenario(points * scale, lost, range_m * scale, speeds * scale)
        moved.append(_View(f"scaled by {scale:g}", scaled))
    return moved


def invariance(seed: int, _: Path) -> Outcome:
    """Times and bounds do not depend on the numbering, the frame and the unit of length.

    Where the search ended before a proof, another numbering may end with another plan; then no
    plan may beat the other's bound.
    """
    rng = np.random.default_rng([2, seed])
    scenario = draw_scenario(rng, 40, demands=False)
    findings, cases, unproved = [], 0, 0
    for planner in ("certified", "contraction"):
        parameters: JsonDict = {"effort": _EFFORT} if planner == "certified" else {}
        plan = reknit.plan(scenario, planner, **parameters)
        for view in _views(scenario, rng):
            other = reknit.plan(view.scenario, planner, **parameters)
            cases += 1
            what = f"{planner}, {view.name}, {_words(scenario)}: {plan} and {other}"
            best = min(plan.recovery_time_s, other.recovery_time_s)
            bound = max(plan.lower_bound_s, other.lower_bound_s)
            if best < bound * (1 - TOLERANCE):
                findings.append(f"{what}: one beats the other's bound")
            proved = planner == "contraction" or max(plan.gap, other.gap) <= TOLERANCE
            unproved += not proved
            apart = abs(plan.recovery_time_s - other.recovery_time_s)
            if proved and apart > TOLERANCE * plan.recovery_time_s:
                findings.append(f"{what}: the times differ")
    return Outcome(cases, tuple(findings), {"unproved": unproved})


def deadlines(seed: int, _: Path) -> Outcome:
    """Ten plans with a budget, up to 2,000 UAVs; by how much each came too late."""
    return together(_timed(seed, number) for number in range(10))


@cache
def _load(planner: str) -> None:
    """What a planner imports and reads when it is first used is not charged to a budget."""
    reknit.plan(reknit.generate(12, 6, seed=1), planner, budget_s=0.0)


def _timed(seed: int, number: int) -> Outcome:
    rng = np.random.default_rng([4, seed, number])
    most = 2_000 if rng.random() < 0.2 else 300
    scenario = draw_scenario(rng, most)
    planner = str(rng.choice(LEARNED if rng.random() < 3 * _RARE else PLANNERS))
    budget_s = (
        _LONGEST_BUDGET_S if rng.random() < _RARE else float(rng.choice([0, 0.001, 0.01, 0.1, 1]))
    )
    _load(planner)
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        reknit.plan(scenario, planner, seed=seed, budget_s=budget_s)
    except reknit.errors.ImpossibleDemands:
        return Outcome(1)
    wall_s, cpu_s = time.perf_counter() - wall, time.process_time() - cpu
    late_s = max(0.0, cpu_s - budget_s)
    findings = []
    if late_s > OVERRUN_S:
        findings.append(
            f"{planner}, budget {budget_s} s, {_words(scenario)}: {late_s:.2f} s too late"
        )
    row = [planner, scenario.uavs, round(max(0.0, wall_s - budget_s), 3), round(late_s, 3)]
    return Outcome(1, tuple(findings), {"plans": [row]})
