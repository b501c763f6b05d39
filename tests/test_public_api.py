"""The contract: the names that other work relies on."""

from __future__ import annotations

import inspect
import subprocess
import sys
import typing
from typing import Any

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


ANY_ORDER = """
import importlib, sys
import numpy, scipy.spatial, scipy.sparse.csgraph
for name in {names}:
    for module in [module for module in sys.modules if module.split(".")[0] == "reknit"]:
        del sys.modules[module]
    reknit = importlib.import_module("reknit")
    first = getattr(reknit, name)
    import reknit.recovery.runs, reknit.cli.app
    assert getattr(reknit, name) is first, name
    assert callable(reknit.plan) and callable(reknit.planners), name
"""


def test_names_load_in_any_order() -> None:
    """Each name can be the first one touched; functions are never shadowed by modules."""
    program = ANY_ORDER.format(names=list(reknit.__all__))
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


def test_what_public_functions_return_is_public() -> None:
    """Every class of reknit in the return type of a public function, or in a field or property
    of what it returns, has a name in `reknit`.
    """
    named = {name: getattr(reknit, name) for name in NAMES}
    asked: list[Any] = [item for item in named.values() if inspect.isfunction(item)]
    for owner in named.values():
        if inspect.isclass(owner):
            asked += [item.fget for item in vars(owner).values() if isinstance(item, property)]
    kinds = {kind for item in asked for kind in _returned(item, named)}
    assert {kind for kind in kinds if kind.__module__.startswith("reknit")} <= set(named.values())


def _returned(function: Any, named: dict[str, Any]) -> list[type]:
    return _classes(typing.get_type_hints(function, localns=named).get("return"))


NAMES = [name for name in reknit.__all__ if name not in ("errors", "testing")]


def _classes(hint: Any) -> list[type]:
    if inspect.isclass(hint) and not typing.get_args(hint):
        return [hint]
    return [kind for part in typing.get_args(hint) for kind in _classes(part)]
