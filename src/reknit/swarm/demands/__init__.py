"""What may be asked of a recovery: one file a demand, and this list of them.

`Scenario` inherits the fields of every demand; its JSON, its fingerprint, the options of the
command line and the keys of a study are derived from the list.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import Field
from typing import TYPE_CHECKING, Any

from reknit.base.context import Cancel, never
from reknit.base.errors import InvalidInput, InvalidParameter
from reknit.base.types import FloatArray
from reknit.swarm.demands import allowed_time, anchors, connectivity, link_length, separation
from reknit.swarm.demands.demand import Demand, Rule

if TYPE_CHECKING:
    from reknit.swarm.scenario import Scenario

DEMANDS: tuple[Demand, ...] = (
    allowed_time.DEMAND,
    link_length.DEMAND,
    separation.DEMAND,
    anchors.DEMAND,
    connectivity.DEMAND,
)


_NO_VALUE = object()
"""What no field can be."""


class GivenDemands(
    allowed_time.Given,
    link_length.Given,
    separation.Given,
    anchors.Given,
    connectivity.Given,
    total=False,
):
    """Every demand as a caller writes it: keyword arguments of `Scenario`."""


class Demands(
    allowed_time.AllowedTime,
    link_length.LinkLength,
    separation.Separation,
    anchors.Anchors,
    connectivity.Connectivity,
):
    """The fields of every demand."""


def demand_fields() -> dict[str, Field[Any]]:
    """Every field of every demand by name; its rule is in ``metadata["rule"]``."""
    return {item.name: item for demand in DEMANDS for item in demand.fields}


def rule(name: str) -> Rule:
    """How the field of this name is explained, written and checked."""
    declared: Rule = demand_fields()[name].metadata["rule"]
    return declared


def check_kept(scenario: Scenario, kept: Collection[str], who: str) -> None:
    """Refuse a scenario that asks for what somebody does not keep.

    Parameters
    ----------
    kept
        Names of the demands that are kept. A demand that is added later is not among them, so
        it is refused and not silently ignored.
    who
        Who keeps them, for the message.
    """
    for demand in DEMANDS:
        if demand.name not in kept and demand.is_asked(scenario):
            field = demand.fields[0]
            allowed = f"{field.default}; of all demands {who} keeps {', '.join(kept)}"
            raise InvalidParameter(field.name, getattr(scenario, field.name), allowed)


def allowed_values(name: str, scenario: Scenario) -> str:
    """What the check of a demand's field says that it allows, in a scenario such as this one."""
    try:
        rule(name).check(_NO_VALUE, scenario)
    except InvalidInput as error:
        return error.allowed
    raise AssertionError(f"{name} allows anything")


def unmet_demands(scenario: Scenario, targets: FloatArray, is_over: Cancel = never) -> list[str]:
    """What targets lack of what a scenario demands, in plain words; empty if nothing.

    This is the planners' test. The checker has one of its own and uses nothing of this.

    Parameters
    ----------
    targets
        (N_R, dim) metres, in the order of ``scenario.survivors``.
    is_over
        Asked where the test takes long; once it says so, what is not known to be met is unmet.
    """
    return list(_faults(scenario, targets, is_over))


def meets_demands(scenario: Scenario, targets: FloatArray, is_over: Cancel = never) -> bool:
    """Whether targets lack nothing of what a scenario demands; the rest is as of `unmet_demands`.

    The tests that take long come last, and none is made after one that fails.
    """
    return next(_faults(scenario, targets, is_over), None) is None


def _faults(scenario: Scenario, targets: FloatArray, is_over: Cancel) -> Iterator[str]:
    for demand in DEMANDS:
        fault = None if demand.unmet is None else demand.unmet(scenario, targets, is_over)
        if fault is not None:
            yield fault
