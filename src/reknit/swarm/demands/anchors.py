"""Anchors: UAVs that must not move."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from reknit.base.context import Cancel
from reknit.base.errors import InvalidScenario
from reknit.base.types import FloatArray, IntArray
from reknit.swarm.demands.demand import Demand, asked, named
from reknit.swarm.validation import rows

if TYPE_CHECKING:
    from reknit.swarm.scenario import Scenario


def _check(value: Any, scenario: Scenario) -> IntArray:
    anchors = rows("anchors", value, scenario.uavs, scenario.names)
    lost = np.intersect1d(anchors, scenario.destroyed)
    if len(lost):
        allowed = "survivors; this one is destroyed"
        raise InvalidScenario("anchors", scenario.label(int(lost[0])), allowed)
    return anchors


class Given(TypedDict, total=False):
    """As a caller writes it."""

    anchors: Iterable[int] | Iterable[str]


@dataclass(frozen=True, eq=False, kw_only=True)
class Anchors:
    """Ids of the survivors that stay where they are."""

    anchors: IntArray = asked(
        (), "ids of UAVs that must not move", list[int | str], _check, lambda ids: ids.tolist()
    )


def _unmet(scenario: Scenario, targets: FloatArray, _is_over: Cancel) -> str | None:
    if len(scenario.anchors) == 0:
        return None
    fixed = np.isin(scenario.survivors, scenario.anchors)
    moved = fixed & (targets != scenario.survivor_positions).any(axis=1)
    if not moved.any():
        return None
    return f"anchors move: {named(scenario, np.flatnonzero(moved))}"


DEMAND = Demand("anchors", Anchors, _unmet, lambda scenario: len(scenario.anchors) > 0)
