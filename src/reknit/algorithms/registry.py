"""The explicit list of planners, and how a name becomes one.

Modules are named here and imported only when used, so that listing planners or running a
classical one never loads a neural network library.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from importlib.metadata import entry_points
from typing import Any

from reknit.algorithms.protocols import Polisher, Proposal, SteeringPlanner, TargetPlanner
from reknit.base.context import Context
from reknit.base.errors import InvalidParameter, MissingExtra, UnknownName
from reknit.swarm.scenario import Scenario

ENTRY_POINT_GROUP = "reknit.planners"
DEFAULT_PLANNER = "ml-dagl"


@dataclass(frozen=True)
class Entry:
    """One planner as it is listed."""

    name: str
    factory: str
    summary: str
    steers: bool = False
    extra: str | None = None
    polishes: bool = False

    def load(self) -> Any:
        """The planner's class."""
        module, _, attribute = self.factory.partition(":")
        try:
            return getattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError as error:
            if self.extra is None or (error.name or "").startswith("reknit"):
                raise
            raise MissingExtra(f"planner {self.name!r}", self.extra) from error


BUILT_IN = (
    Entry(
        "center-fly",
        "reknit.algorithms.steering.center_fly:CenterFly",
        "everyone flies towards the centroid of the survivors",
        steers=True,
    ),
    Entry(
        "hero",
        "reknit.algorithms.steering.hero:Hero",
        "towards the lost neighbours, blended with center-fly",
        steers=True,
    ),
    Entry(
        "sidr",
        "reknit.algorithms.steering.sidr:Sidr",
        "each sub-net flies as one body towards the middle of the area",
        steers=True,
    ),
    Entry(
        "gcn",
        "reknit.algorithms.learned.gcn.planner:Gcn",
        "graph convolution on the survivors' network, trained online",
        extra="learn",
    ),
    Entry(
        "gat",
        "reknit.algorithms.learned.gat.planner:Gat",
        "graph attention on the survivors' network, trained online",
        extra="learn",
    ),
    Entry(
        "cr-mgc",
        "reknit.algorithms.learned.cr_mgc.planner:CrMgc",
        "graph convolution on an enlarged graph, from meta-learned weights",
        extra="learn",
    ),
    Entry(
        "demd",
        "reknit.algorithms.learned.demd.planner:Demd",
        "embeds the destroyed neighbours, then multi-hop graph convolution",
        extra="learn",
    ),
    Entry(
        "mdsg-apf",
        "reknit.algorithms.steering.mdsg_apf:MdsgApf",
        "down a potential field towards the destroyed UAVs and the neighbours",
        steers=True,
    ),
    Entry(
        "ml-dagl",
        "reknit.algorithms.learned.ml_dagl.planner:MlDagl",
        "the paper's: learns from the destroyed neighbours of every survivor",
        extra="learn",
    ),
    Entry(
        "contraction",
        "reknit.algorithms.contraction:Contraction",
        "shrinks the swarm just enough to connect; always connects",
        polishes=True,
    ),
    Entry(
        "certified",
        "reknit.algorithms.certified:Certified",
        "cone programs and a search over trees; proves how near to the best it is",
        polishes=True,
    ),
)


def registered() -> dict[str, Entry]:
    """Every known planner by name: the built-in ones, then third parties' entry points."""
    entries = {entry.name: entry for entry in BUILT_IN}
    for point in entry_points(group=ENTRY_POINT_GROUP):
        if point.name not in entries:
            summary = f"from {point.dist.name}" if point.dist else "third party"
            entries[point.name] = Entry(point.name, point.value, summary)
    return entries


def build(name: str, parameters: Mapping[str, Any]) -> TargetPlanner | SteeringPlanner:
    """The planner of this name. Parameters go to the first part of a combined name."""
    if not isinstance(name, str):
        raise InvalidParameter("planner", name, "a name")
    first, *others = name.split("+")
    known = registered()
    planner = _make(first, parameters, known)
    if not others:
        return planner  # type: ignore[no-any-return]
    if not isinstance(planner, TargetPlanner):
        raise InvalidParameter("planner", name, f"a plan to improve; {first!r} steers and has none")
    polishers = [_polisher(part, known) for part in others]
    return _Combined(planner, tuple(polishers))


@dataclass(frozen=True)
class _Combined:
    """A planner followed by polishers."""

    planner: TargetPlanner
    polishers: tuple[Polisher, ...]

    def propose(self, scenario: Scenario, context: Context) -> Proposal:
        return reduce(
            lambda proposal, polisher: polisher.polish(scenario, proposal, context),
            self.polishers,
            self.planner.propose(scenario, context),
        )


def _polisher(name: str, known: Mapping[str, Entry]) -> Polisher:
    polisher = _make(name, {}, known) if name in known else None
    if not isinstance(polisher, Polisher):
        able = [entry.name for entry in known.values() if entry.polishes]
        raise UnknownName("planner after the plus sign", name, able)
    return polisher


def _make(name: str, parameters: Mapping[str, Any], known: Mapping[str, Entry]) -> Any:
    if name not in known:
        raise UnknownName("planner", name, known)
    factory = known[name].load()
    if dataclasses.is_dataclass(factory):
        allowed = [item.name for item in dataclasses.fields(factory) if item.init]
        for key in parameters:
            if key not in allowed:
                raise InvalidParameter(f"{name}.{key}", parameters[key], _list(allowed))
    return factory(**parameters)


def _list(names: list[str]) -> str:
    return "the parameters " + ", ".join(names) if names else "no parameters"


def planners() -> tuple[str, ...]:
    """Names of all registered planners; `reknit planners` says what each is."""
    return tuple(registered())
