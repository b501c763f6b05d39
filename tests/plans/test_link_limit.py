"""The length of a planned link: the checker goes by its own reading of the demands."""

from __future__ import annotations

import math
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import reknit
from reknit.base.errors import InvalidPlan
from reknit.plans.checker.survivors import link_limit_m
from reknit.plans.status import Status
from reknit.swarm import scenario as scenarios

ROOT = Path(__file__).parents[2]
POINTS = [[0.0, 0.0], [90.0, 0.0], [180.0, 0.0], [400.0, 0.0]]


@given(
    margin=st.floats(0.0, 0.5),
    reliability=st.none() | st.floats(0.5, 0.99),
    sigma_m=st.floats(0.0, 4.0),
    shape=st.floats(1.0, 8.0),
)
def test_both_readings_agree_to_the_bit(
    margin: float, reliability: float | None, sigma_m: float, shape: float
) -> None:
    """A link that planners may use is one that the checker allows, and the other way round."""
    scenario = reknit.Scenario(
        POINTS,
        (),
        radio=reknit.Radio(fading_shape=shape),
        link_margin=margin,
        link_reliability=reliability,
        position_sigma_m=sigma_m,
    )
    assert link_limit_m(scenario) == scenario.planning_range_m


def test_the_reliability_is_that_of_the_fading() -> None:
    """A link of the allowed length is up with the demanded probability, by the radio's law."""
    radio = reknit.Radio()
    scenario = reknit.Scenario(POINTS, (), radio=radio, link_reliability=0.9)
    limit_m = link_limit_m(scenario)
    # P(Gamma(3, mean 1) > x) in closed form.
    x = 3.0 * (limit_m / 120.0) ** 2
    assert math.exp(-x) * (1.0 + x + x**2 / 2.0) == pytest.approx(0.9, rel=1e-9)


@pytest.mark.parametrize("planner", ["certified", "contraction"])
def test_a_slip_of_the_planners_is_no_slip_of_the_checker(
    planner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If planners forgot the margin, no plan of theirs would pass for connected."""
    scenario = reknit.generate(uavs=40, destroyed=20, seed=3, split=True, link_margin=0.3)
    monkeypatch.setattr(scenarios, "planning_range_m", lambda scenario: scenario.radio_range_m)
    plan = reknit.plan(scenario, planner)
    assert plan.status is Status.NOT_CONNECTED
    assert "at a range of 84 m" in plan.verify(scenario).unmet[0]
    for status in (Status.FEASIBLE, Status.OPTIMAL):
        with pytest.raises(InvalidPlan):
            replace(plan, status=status).verify(scenario)


def test_no_package_escapes_the_contract_on_the_checker() -> None:
    """Every package, and every module beside the checker, is among those that may not use it."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    contracts = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    (listed,) = (
        set(contract["source_modules"]) for contract in contracts if "source_modules" in contract
    )
    here = ROOT / "src" / "reknit"
    modules = {path.stem for path in here.iterdir() if not path.name.startswith("_")} - {"py"}
    beside = {path.stem for path in (here / "plans").iterdir() if not path.name.startswith("_")}
    wanted = {f"reknit.{name}" for name in modules - {"plans"}}
    wanted |= {f"reknit.plans.{name}" for name in beside - {"checker"}}
    assert listed == wanted
