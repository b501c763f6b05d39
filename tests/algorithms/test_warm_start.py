"""What `certified` makes of an earlier plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import reknit
from reknit.base.context import Context


@pytest.mark.parametrize("budget_s", [0.0, 0.005, 0.02])
@pytest.mark.parametrize(
    "demands",
    [{}, {"connectivity": 2}, {"min_separation_m": 40.0}],
    ids=lambda demands: str(demands),
)
def test_a_plan_is_never_slower_than_the_one_to_begin_from(
    demands: dict[str, Any], budget_s: float
) -> None:
    """However little time there is, what was known before is not lost."""
    scenario = reknit.generate(uavs=200, destroyed=100, seed=3, split=True, **demands)
    earlier = reknit.plan(scenario, "certified")
    again = reknit.plan(scenario, "certified", warm_start=earlier, budget_s=budget_s)
    assert again.status.is_connected
    assert again.recovery_time_s <= earlier.recovery_time_s * (1.0 + 1e-9)


def test_an_earlier_plan_that_no_longer_holds_is_not_taken() -> None:
    """After further losses the old targets are split; the new plan is not."""
    scenario = reknit.generate(uavs=60, destroyed=30, seed=4, split=True)
    earlier = reknit.plan(scenario, "certified")
    smaller = replace(scenario, destroyed=np.append(scenario.destroyed, scenario.survivors[:12]))
    for budget_s in (0.0, None):
        again = reknit.plan(smaller, "certified", warm_start=earlier, budget_s=budget_s)
        assert again.status.is_connected
        again.verify(smaller)


def test_a_context_for_a_part_of_a_call_goes_on_in_the_same_stream() -> None:
    """Its random numbers follow those drawn before; another seed has a stream of its own."""
    context = Context(seed=3)
    first = context.rng.random()
    part = context.with_changes(warm_start=np.zeros((2, 2)))
    drawn = [first, part.rng.random(), context.rng.random()]
    assert drawn == list(np.random.default_rng(3).random(3))
    assert context.with_changes(seed=4).rng.random() == np.random.default_rng(4).random()
