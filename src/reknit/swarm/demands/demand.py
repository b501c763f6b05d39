"""What a demand is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from reknit.base.context import Cancel
from reknit.base.types import FloatArray, IntArray

if TYPE_CHECKING:
    from reknit.swarm.scenario import Scenario


@dataclass(frozen=True)
class Rule:
    """How one field of a demand is explained, written to files and checked.

    Parameters
    ----------
    meaning
        One line for help texts, forms and the reference.
    json
        Type of the value in JSON, as an annotation.
    check
        From the value given and the scenario under construction (positions, speeds, radio and
        names are set) to the value kept; raises `InvalidScenario`.
    to_json
        From the value kept to the value written.
    """

    meaning: str
    json: Any
    check: Callable[[Any, Scenario], Any]
    to_json: Callable[[Any], Any] = lambda value: value


def asked(
    default: Any,
    meaning: str,
    json: Any,
    check: Callable[[Any, Scenario], Any],
    to_json: Callable[[Any], Any] = lambda value: value,
) -> Any:
    """A dataclass field with its rule."""
    return field(default=default, metadata={"rule": Rule(meaning, json, check, to_json)})


_MOST_NAMES = 5


def named(scenario: Scenario, rows: IntArray) -> str:
    """What the survivors in some rows of the targets are called; of many the first few."""
    names = [str(scenario.label(int(uav))) for uav in scenario.survivors[rows[:_MOST_NAMES]]]
    more = f" and {len(rows) - len(names)} more" if len(rows) > len(names) else ""
    return ("UAV " if len(rows) == 1 else "UAVs ") + ", ".join(names) + more


@dataclass(frozen=True)
class Demand:
    """One thing asked of a recovery.

    Parameters
    ----------
    name
        What it is called in messages.
    declared
        The dataclass with its fields; `Scenario` inherits them.
    unmet
        A planner's own test: what the targets (N_R, dim) in metres lack and for which UAVs, in
        plain words, or None; where it takes long it asks its last argument whether to give up.
        The checker has another one. None where the demand is on the flight and not on its
        targets.
    is_asked
        Whether a scenario asks for more than the default.
    """

    name: str
    declared: type[Any]
    unmet: Callable[[Scenario, FloatArray, Cancel], str | None] | None
    is_asked: Callable[[Scenario], bool]

    @property
    def fields(self) -> tuple[Field[Any], ...]:
        """Its fields, in order."""
        return fields(self.declared)
