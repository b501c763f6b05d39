"""The allowed time T_max: a flight counts as reconnected only within it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from reknit.base.errors import InvalidScenario
from reknit.swarm.demands.demand import Demand, asked
from reknit.swarm.validation import MAX_TIME_S, number

if TYPE_CHECKING:
    from reknit.swarm.scenario import Scenario


def crossing_time_s(side_m: float, fastest_mps: float) -> float:
    """The paper's T_max: the time in which two UAVs meet from the ends of a side, seconds.

    Raises
    ------
    InvalidScenario
        That time is longer than any that is allowed, so the speed is a slip: it is named, and
        not a time that nobody gave.
    """
    time_s = side_m / (2.0 * fastest_mps)
    if time_s > MAX_TIME_S:
        allowed = f"speeds that cross {side_m:g} m within {2.0 * MAX_TIME_S:g} s"
        raise InvalidScenario("max_speed_mps", fastest_mps, allowed)
    return time_s


def _check(value: Any, scenario: Scenario) -> float:
    if value is None:
        side_m = float(np.ptp(scenario.positions, axis=0).max())
        value = crossing_time_s(side_m, float(scenario.max_speed_mps.max()))
    return number("allowed_time_s", value, at_least=0.0, at_most=MAX_TIME_S)


class Given(TypedDict, total=False):
    """As a caller writes it."""

    allowed_time_s: float | None


@dataclass(frozen=True, eq=False, kw_only=True)
class AllowedTime:
    """By default the longest side of the swarm's bounding box / (2 v_max); `generate` gives that of
    the area in which it draws the swarm.
    """

    allowed_time_s: float = asked(
        None,
        "longest flight that counts as a recovery, seconds: T_max; none: the longest side of the "
        "swarm's bounding box (if generated: of the area it was drawn in) / (2 v_max), as in the "
        "paper",
        float | None,
        _check,
    )


DEMAND = Demand("allowed time", AllowedTime, None, lambda scenario: False)
