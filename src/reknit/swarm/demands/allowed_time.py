"""The allowed time T_max: a flight counts as reconnected only within it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from reknit.swarm.demands.demand import Demand, asked
from reknit.swarm.validation import MAX_TIME_S, number

if TYPE_CHECKING:
    from reknit.swarm.scenario import Scenario


def _check(value: Any, scenario: Scenario) -> float:
    if value is None:
        side_m = float(np.ptp(scenario.positions, axis=0).max())
        value = side_m / (2.0 * float(scenario.max_speed_mps.max()))
    return number("allowed_time_s", value, at_least=0.0, at_most=MAX_TIME_S)


class Given(TypedDict, total=False):
    """As a caller writes it."""

    allowed_time_s: float | None


@dataclass(frozen=True, eq=False, kw_only=True)
class AllowedTime:
    """By default the longest side of the swarm's bounding box / (2 v_max)."""

    allowed_time_s: float = asked(
        None,
        "longest flight that counts as a recovery, seconds: T_max; none: the longest side of the "
        "swarm's bounding box / (2 v_max), as in the paper",
        float | None,
        _check,
    )


DEMAND = Demand("allowed time", AllowedTime, None, lambda scenario: False)
