"""The explicit list of planners, and how a name becomes one.

Modules are named here and imported only when used, so that listing planners or running a
classical one never loads a neural network library.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import json
import stat
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from reknit.algorithms.parameters import Parameter, checked, listed
from reknit.algorithms.protocols import (
    Polisher,
    Proposal,
    Resolving,
    SteeringPlanner,
    TargetPlanner,
    Weighted,
    checked_proposal,
)
from reknit.base.context import Context
from reknit.base.errors import (
    BrokenPlanner,
    InvalidParameter,
    InvalidWeights,
    MissingExtra,
    UnknownName,
)
from reknit.base.files import read_bytes
from reknit.base.types import JsonDict
from reknit.swarm.scenario import Scenario

ENTRY_POINT_GROUP = "reknit.planners"
DEFAULT_PLANNER = "certified"


_NEEDED_BY_EXTRA = {"learn": ("torch", "torch_geometric", "safetensors")}
"""Modules that an extra brings and that its planners import."""


@dataclass(frozen=True)
class Entry:
    """One planner as it is listed.

    Parameters
    ----------
    name
        As it is asked for.
    factory
        ``module:class``, imported on first use.
    summary
        What it does, in one line.
    steers
        Whether it steers at every step instead of making a plan.
    extra
        The optional part of the package that it needs.
    polishes
        Whether it can stand after a plus sign.
    package
        The distribution that brings it; None for those of this package.
    fault
        Why somebody else's planner cannot be loaded, where that was tried and failed.
    """

    name: str
    factory: str
    summary: str
    steers: bool = False
    extra: str | None = None
    polishes: bool = False
    package: str | None = None
    fault: str = ""

    def load(self) -> Any:
        """The planner's class.

        Raises
        ------
        MissingExtra
            A library of its extra is not installed.
        BrokenPlanner
            Somebody else's planner cannot be imported, for whatever reason.
        """
        module, _, attribute = self.factory.partition(":")
        try:
            return getattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError as error:
            if self.package is not None:
                raise BrokenPlanner.unusable(self.name, self.package, error) from error
            if self.extra is None or (error.name or "").startswith("reknit"):
                raise
            raise MissingExtra(f"planner {self.name!r}", self.extra) from error
        except (Exception, SystemExit) as error:
            if self.package is None:
                raise
            raise BrokenPlanner.unusable(self.name, self.package, error) from error

    @property
    def not_ready(self) -> str:
        """Why the planner cannot be used here; empty when it can."""
        missing = [
            module
            for module in _NEEDED_BY_EXTRA.get(self.extra or "", ())
            if find_spec(module) is None
        ]
        return f"needs {', '.join(missing)}" if missing else self.fault

    def inspected(self) -> Entry:
        """The entry with what only the class itself can say: whether it steers, polishes, loads.

        Built-in entries say it already, and a test holds them to it.
        """
        if self.package is None:
            return self
        try:
            factory = self.load()
        except BrokenPlanner as error:
            return replace(self, fault=str(error))
        plans, steers = hasattr(factory, "propose"), hasattr(factory, "controller")
        fault = "" if plans or steers else "it has neither propose nor controller"
        return replace(
            self, steers=steers and not plans, polishes=hasattr(factory, "polish"), fault=fault
        )


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
        "a neural net has learned how survivors pull each other; preset=paper: the paper's own",
        extra="learn",
    ),
    Entry(
        "descent",
        "reknit.algorithms.descent:Descent",
        "gradient descent on the targets themselves, no neural net; the learned ones' control",
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
    """Every known planner by name: the built-in ones, then third parties' entry points.

    Third parties' planners are imported to find out what they are; one that cannot be says
    so in `Entry.fault` and hinders nobody.
    """
    return {name: entry.inspected() for name, entry in _entries().items()}


def planners() -> tuple[str, ...]:
    """Names of all registered planners; `reknit planners` says what each is.

    Returns
    -------
    tuple of str
        Those of this package, then those that other packages bring, also where an extra that
        they need is not installed.
    """
    return tuple(_entries())


def parameters(name: str) -> list[Parameter]:
    """The parameters of a planner, in order, each with its type, default and meaning."""
    entry = _entry(name, _entries())
    factory = entry.load()
    fault = entry.inspected().fault
    if fault:
        raise BrokenPlanner(name, f"from {entry.package} cannot be used: {fault}")
    return listed(factory)


def build(name: str, parameters: Mapping[str, Any]) -> TargetPlanner | SteeringPlanner:
    """The planner of a name.

    Parameters
    ----------
    name
        A planner's name, or several joined by plus signs: the first proposes, the others
        improve what was proposed.
    parameters
        Of the first of them; "preset" chooses a named set of parameters where there is one.

    Returns
    -------
    TargetPlanner or SteeringPlanner

    Raises
    ------
    UnknownName
        There is no such planner, or one after a plus sign that improves nothing.
    InvalidParameter
        A parameter is unknown, of the wrong type or out of range; names ``PLANNER.field``.
    MissingExtra, BrokenPlanner
        The planner cannot be imported.
    """
    if not isinstance(name, str):
        raise InvalidParameter("planner", name, "a name")
    first, *others = name.split("+")
    built_in = {entry.name: entry for entry in BUILT_IN}
    # Asking for entry points reads the metadata of every installed package: only where needed.
    known = built_in if {first, *others} <= set(built_in) else _entries()
    planner = _make(first, parameters, known)
    if not others:
        return planner  # type: ignore[no-any-return]
    if not isinstance(planner, TargetPlanner):
        raise InvalidParameter("planner", name, f"a plan to improve; {first!r} steers and has none")
    polishers = [(part, _polisher(part, known)) for part in others]
    return _Combined(first, planner, tuple(polishers))


def resolved(
    name: str, parameters: Mapping[str, Any], uavs: int | None = None, dim: int | None = None
) -> JsonDict:
    """Everything that decides a planner's results but the scenario and the seed.

    Parameters
    ----------
    name, parameters
        As for `build`.
    uavs, dim
        Only what decides results on swarms of so many UAVs, in the plane or in space; None: of any.

    Returns
    -------
    dict
        JSON-ready: "planner"; "parameters", every one with its value, defaults and presets
        resolved; "weights", a hash of the weight files it begins from, where it has any; and
        "then", the same of each planner after a plus sign. Two calls that are equal do the
        same work with the same version of the package.
    """
    planner = build(name, parameters)
    first = name.split("+")[0]
    own = planner.planner if isinstance(planner, _Combined) else planner
    facts = _facts(first, own, uavs, dim)
    if isinstance(planner, _Combined):
        facts["then"] = [_facts(part, polisher, uavs, dim) for part, polisher in planner.polishers]
    return facts


@dataclass(frozen=True)
class _Combined:
    """A planner followed by polishers, each with its name."""

    name: str
    planner: TargetPlanner
    polishers: tuple[tuple[str, Polisher], ...]

    def propose(self, scenario: Scenario, context: Context) -> Proposal:
        proposal = checked_proposal(self.name, self.planner.propose(scenario, context), scenario)
        for name, polisher in self.polishers:
            polished = polisher.polish(scenario, proposal, context)
            proposal = checked_proposal(name, polished, scenario)
        return proposal


def _entries() -> dict[str, Entry]:
    """Every entry by name, nothing imported."""
    entries = {entry.name: entry for entry in BUILT_IN}
    for point in entry_points(group=ENTRY_POINT_GROUP):
        if point.name not in entries:
            package = point.dist.name if point.dist else "an unknown package"
            summary = f"from {package}"
            entries[point.name] = Entry(point.name, point.value, summary, package=package)
    return entries


def _entry(name: str, known: Mapping[str, Entry]) -> Entry:
    if name not in known:
        raise UnknownName("planner", name, known)
    return known[name]


def _polisher(name: str, known: Mapping[str, Entry]) -> Polisher:
    polisher = _make(name, {}, known) if name in known else None
    if not isinstance(polisher, Polisher):
        able = [entry.name for entry in registered().values() if entry.polishes]
        raise UnknownName("planner after the plus sign", name, able)
    return polisher


def _make(name: str, given: Mapping[str, Any], known: Mapping[str, Entry]) -> Any:
    entry = _entry(name, known)
    factory = entry.load()
    values = checked(name, factory, given)
    try:
        planner = factory(**values)
    except InvalidParameter as error:
        raise InvalidParameter(_owned(name, error.field), error.value, error.allowed) from None
    except UnknownName as error:
        raise UnknownName(_owned(name, error.kind), error.name, error.known) from None
    except (Exception, SystemExit) as error:
        if entry.package is None:
            raise
        raise BrokenPlanner.unusable(name, entry.package, error) from error
    if not isinstance(planner, (TargetPlanner, SteeringPlanner, Polisher)):
        reason = TypeError(f"{type(planner).__name__} neither proposes nor steers")
        raise BrokenPlanner.unusable(name, entry.package or "reknit", reason)
    return planner


def _owned(name: str, field: str) -> str:
    """``PLANNER.field``, whoever found the fault."""
    return field if field.startswith(f"{name}.") else f"{name}.{field.rpartition('.')[2]}"


def _facts(name: str, planner: object, uavs: int | None, dim: int | None) -> JsonDict:
    facts: JsonDict = {"planner": name, "parameters": _values(planner, uavs)}
    if isinstance(planner, Weighted):
        digests = [_digest(path, _stamp(path)) for path in planner.weight_files(uavs, dim)]
        if digests:
            facts["weights"] = hashlib.sha256("".join(digests).encode()).hexdigest()[:16]
    return facts


def _values(planner: object, uavs: int | None) -> JsonDict:
    if isinstance(planner, Resolving):
        values = planner.resolved(uavs)
    elif dataclasses.is_dataclass(planner) and not isinstance(planner, type):
        values = dataclasses.asdict(planner)
    else:
        values = {}
    plain: JsonDict = json.loads(json.dumps(values, default=_plain, sort_keys=True))
    return plain


def _plain(value: object) -> object:
    """What stands for a value that JSON has no form for."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    to_list = getattr(value, "tolist", None)
    return str(value) if to_list is None else to_list()


def check_weights(planner: object) -> None:
    """Raise `InvalidWeights` unless the files that a planner begins from are there: told now, also
    where a swarm is whole and nobody reads them.
    """
    if isinstance(planner, Weighted):
        for path in planner.weight_files():
            _stamp(path)


def _stamp(path: Path) -> tuple[int, int]:
    try:
        facts = path.stat()
    except OSError as error:
        raise InvalidWeights(f"{path}: {error.strerror or error}") from error
    if stat.S_ISDIR(facts.st_mode):
        raise InvalidWeights(f"{path}: a folder; allowed: a file of weights")
    return facts.st_mtime_ns, facts.st_size


@lru_cache(maxsize=64)
def _digest(path: Path, stamp: tuple[int, int]) -> str:
    """Hash of a file's bytes; read again only when the file has changed."""
    return hashlib.sha256(read_bytes(path)).hexdigest()
