"""The contract: the names that other work relies on."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import reknit


def test_every_public_name_loads() -> None:
    """What __all__ promises is there."""
    for name in reknit.__all__:
        assert getattr(reknit, name) is not None
    assert set(reknit.__all__) <= set(dir(reknit))
    with pytest.raises(AttributeError, match="nothing_like_it"):
        reknit.nothing_like_it  # noqa: B018


@pytest.mark.parametrize("name", reknit.__all__)
def test_names_load_in_any_order(name: str) -> None:
    """Each name can be the first one touched; functions are never shadowed by modules."""
    program = (
        f"import reknit; first = reknit.{name};"
        "import reknit.recovery.runs, reknit.cli.app, reknit.bench;"
        f"assert reknit.{name} is first; assert callable(reknit.plan) and callable(reknit.planners)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_contract_of_the_design() -> None:
    """The example of the design runs and has the shapes it says."""
    scenario = reknit.generate(uavs=60, destroyed=30, seed=7, split=True)
    plan = reknit.plan(scenario, "contraction", seed=0, budget_s=None)
    survivors = len(scenario.survivors)
    assert plan.targets.shape == (survivors, 2)
    assert str(plan.status) == "feasible"
    assert plan.gap == plan.recovery_time_s / plan.lower_bound_s - 1
    plan.verify(scenario)
    run = reknit.recover(scenario, "sidr", seed=0)
    assert run.plan is None
    flight = run.flight
    assert flight.times_s[0] == 0.0
    assert flight.positions.shape == (len(flight.times_s), survivors, 2)
    assert flight.subnets.shape == flight.times_s.shape
    assert flight.reconnected_at_s == flight.times_s[-1]
    assert np.array_equal(flight.positions[0], scenario.survivor_positions)
    assert reknit.lower_bound(scenario).bound_s == plan.lower_bound_s
    assert reknit.lower_bound(scenario) is reknit.lower_bound(scenario)
    assert {"center-fly", "hero", "sidr", "contraction"} <= set(reknit.planners())
