"""The conformance tests every planner must pass; third parties run them on their own planners.

>>> from reknit.testing import check_planner
>>> check_planner("center-fly")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from reknit.algorithms.protocols import SteeringPlanner, TargetPlanner
from reknit.base.errors import InvalidParameter
from reknit.knowledge.conformance import check_policy
from reknit.recovery.planning import resolve
from reknit.recovery.runs import Run, recover
from reknit.swarm.generate import generate
from reknit.swarm.scenario import Scenario, check_scenarios

__all__ = ["check_planner", "check_policy", "kinds_of_scenario"]


def kinds_of_scenario() -> dict[str, Scenario]:
    """One small scenario of every kind a planner may meet.

    Returns
    -------
    dict
        The scenarios by name.
    """
    line = np.array([[0.0, 0.0], [100.0, 0.0], [200.0, 0.0], [300.0, 0.0], [400.0, 0.0]])
    return {
        "split": generate(30, 15, seed=1, split=True),
        "heavy damage": generate(40, 34, seed=2, split=True),
        "three-dimensional": generate(30, 15, seed=3, split=True, dim=3),
        "a strike": generate(60, 20, seed=4, layout="corridor", damage="disc", split=True),
        "clusters": generate(40, 20, seed=5, layout="clusters", split=True),
        "collinear": Scenario(line, [2], 120.0),
        "two survivors": Scenario([[0.0, 0.0], [100.0, 0.0], [200.0, 0.0]], [1], 120.0),
        "one survivor": Scenario([[0.0, 0.0], [100.0, 0.0]], [0], 120.0),
        "coincident survivors": Scenario(
            [[0.0, 0.0], [0.0, 0.0], [100.0, 0.0], [210.0, 0.0], [210.0, 0.0]], [2], 120.0
        ),
        "already connected": Scenario([[0.0, 0.0], [100.0, 0.0], [100.0, 50.0]], [2], 120.0),
        "exactly in range": Scenario([[0.0, 0.0], [120.0, 0.0], [60.0, 10.0]], [2], 120.0),
        "nobody destroyed": Scenario([[0.0, 0.0], [90.0, 0.0], [180.0, 0.0]], [], 120.0),
        "split before the damage": Scenario(
            [[0.0, 0.0], [100.0, 0.0], [500.0, 0.0], [600.0, 0.0]], [], 120.0
        ),
        "different speeds": Scenario(line, [2], 120.0, [5.0, 10.0, 10.0, 20.0, 10.0]),
        "far from the origin": Scenario(line + np.array([2e6, -5e6]), [2], 120.0),
    }


def check_planner(
    planner: str | TargetPlanner | SteeringPlanner,
    scenarios: Mapping[str, Scenario] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> None:
    """Run a planner on every kind of scenario; raise AssertionError at the first fault.

    Checked: a plan passes the independent checker; a connected swarm stays where it is; nobody
    flies faster than it may; the flight's claims hold; the same seed gives the same result; the
    scenario is left untouched.

    Parameters
    ----------
    planner
        A name from `reknit.planners()`, combined by plus signs, or a planner object.
    scenarios
        Cases by name; None: `kinds_of_scenario`.
    parameters
        Of a planner given by name, such as a small number of iterations for one that would take
        long; what is checked does not depend on how well it plans.

    Raises
    ------
    InvalidParameter
        An argument is none of these; the planner's own faults are AssertionErrors.
    """
    scenarios = kinds_of_scenario() if scenarios is None else scenarios
    check_scenarios(scenarios)
    given = {} if parameters is None else parameters
    if not isinstance(given, Mapping):
        raise InvalidParameter("parameters", given, "a dict of the planner's own by name")
    for name, scenario in scenarios.items():
        before = scenario.positions.tobytes()
        twice = (resolve(planner, given)[1] for _ in range(2))
        first, second = (recover(scenario, fresh, seed=3) for fresh in twice)
        where = f"{first.planner} on {name!r}"
        assert scenario.positions.tobytes() == before, f"{where}: the scenario was changed"
        _check_run(first, where)
        assert _same(first, second), f"{where}: the same seed gave two different results"


def _check_run(run: Run, where: str) -> None:
    scenario, flight = run.scenario, run.flight
    if run.plan is not None:
        run.plan.verify(scenario)
        assert run.plan.lower_bound_s <= run.plan.recovery_time_s or not (
            run.plan.status.is_connected
        ), f"{where}: the plan is faster than its own bound"
    if not scenario.is_split:
        assert flight.reconnected_at_s == 0.0, f"{where}: a connected swarm was not left alone"
    assert np.array_equal(flight.positions[0], scenario.survivor_positions), f"{where}: start"
    steps_s = np.diff(flight.times_s)[:, None]
    moved_m = np.linalg.norm(np.diff(flight.positions, axis=0), axis=2)
    limit_m = scenario.survivor_speeds_mps * steps_s * (1 + 1e-9) + 1e-6
    assert (moved_m <= limit_m).all(), f"{where}: a UAV flew faster than it may"
    if flight.reconnected_at_s is not None:
        assert flight.subnets[-1] == 1, f"{where}: reconnected, but the last frame is split"
        assert flight.times_s[-1] == flight.reconnected_at_s, f"{where}: the flight went on"


def _same(first: Run, second: Run) -> bool:
    if first.flight.positions.tobytes() != second.flight.positions.tobytes():
        return False
    if first.plan is None or second.plan is None:
        return first.plan is second.plan
    return (
        first.plan.targets.tobytes() == second.plan.targets.tobytes()
        and first.plan.status is second.plan.status
        and first.plan.lower_bound_s == second.plan.lower_bound_s
    )
