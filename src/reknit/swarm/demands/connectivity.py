"""k-connectivity: the network stays whole when any k - 1 further UAVs are lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from reknit.base.context import Cancel
from reknit.base.errors import InvalidScenario
from reknit.base.types import FloatArray
from reknit.base.values import is_whole
from reknit.network.connectivity import separating_nodes
from reknit.network.links import links
from reknit.swarm.demands.demand import Demand, asked, named
from reknit.swarm.demands.link_length import planning_range_m

if TYPE_CHECKING:
    from reknit.swarm.scenario import Scenario

MOST = 10


def _check(value: Any, scenario: Scenario) -> int:
    if not is_whole(value) or not 1 <= value <= MOST:
        raise InvalidScenario("connectivity", value, f"a whole number from 1 to {MOST}")
    return int(value)


class Given(TypedDict, total=False):
    """As a caller writes it."""

    connectivity: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Connectivity:
    """1: connected; k: connected after the loss of any k - 1 further UAVs. So few survivors that
    none would be left must all be linked to one another.
    """

    connectivity: int = asked(
        1, "k: the network survives the loss of any k - 1 further UAVs", int, _check
    )


def _unmet(scenario: Scenario, targets: FloatArray, is_over: Cancel) -> str | None:
    order = scenario.connectivity
    if order == 1:
        return None  # links of the right length that connect everybody are asked for anyway
    pairs = links(targets, planning_range_m(scenario))
    lost = separating_nodes(pairs, len(targets), order, is_over)
    if lost is None:
        return None
    if not lost:
        # Split as it is, which the demand on links tells, unless the time was over before.
        return f"not seen to be {order}-connected in time" if is_over() else None
    return f"the loss of {named(scenario, np.array(lost))} would split the network"


DEMAND = Demand("connectivity", Connectivity, _unmet, lambda scenario: scenario.connectivity > 1)
