"""`Instance`: one named scenario of the library, made again from its recipe and checked.

The recipes are in instances.json with the hash of what they make, so that an instance is the same
everywhere or refuses to be used. The best known plan of each is beside it, with the certificate of
the best proven bound; anyone can check both.
"""

from __future__ import annotations

import gzip
import json
import os
from dataclasses import dataclass, replace
from functools import cache, reduce
from pathlib import Path

from reknit.base.errors import (
    ChangedInstance,
    InvalidParameter,
    InvalidPlan,
    UnknownName,
)
from reknit.base.files import output_folder, read_packed_text, replacing
from reknit.base.types import JsonDict
from reknit.plans.files import parse_plan, plan_json
from reknit.plans.plan import Plan
from reknit.plans.status import OPTIMALITY_GAP, Status
from reknit.swarm.fingerprint import scenario_hash
from reknit.swarm.generate import generate
from reknit.swarm.scenario import Scenario

FOLDER = Path(__file__).parent
RECIPES = FOLDER / "instances.json"
BEST = FOLDER / "best"


@dataclass(frozen=True)
class Instance:
    """A frozen scenario: its name, what kind it is, how it is made, and what it hashes to."""

    name: str
    family: str
    recipe: JsonDict
    sha256: str

    def scenario(self) -> Scenario:
        """The scenario, made from its recipe; refused if it is not the frozen one."""
        scenario = generate(**self.recipe)
        digest = scenario_hash(scenario)
        if digest != self.sha256:
            raise ChangedInstance(
                f"instance {self.name} hashes to {digest[:12]}, not {self.sha256[:12]}: this "
                "version of the generator or of numpy makes another scenario"
            )
        return scenario

    def best(self, folder: Path | None = None) -> Plan:
        """The best known plan, with the best proven bound; verify it against `scenario`.

        Parameters
        ----------
        folder
            Where plans are kept. Left out: what comes with the package and what was submitted
            on this machine, the better of each.
        """
        folders = (BEST, user_folder()) if folder is None else (folder,)
        kept = [plan for folder in folders if (plan := self._kept(folder)) is not None]
        if not kept:
            raise InvalidParameter("instance", self.name, "one with a known plan")
        return reduce(_better, kept)

    def _kept(self, folder: Path) -> Plan | None:
        path = folder / f"{self.name}.json.gz"
        if not path.exists():
            return None
        return parse_plan(read_packed_text(path), str(path))


def user_folder() -> Path:
    """Where plans submitted on this machine are kept.

    ``$REKNIT_LIBRARY``, or ``reknit/library`` in the user's data folder (``$XDG_DATA_HOME``, by
    default ``~/.local/share``).
    """
    named = os.environ.get("REKNIT_LIBRARY")
    if named:
        return Path(named)
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local/share") / "reknit/library"


@cache
def instances() -> dict[str, Instance]:
    """All instances of the library by name."""
    rows = json.loads(RECIPES.read_text(encoding="utf-8"))["instances"]
    return {row["name"]: Instance(**row) for row in rows}


def instance(name: str) -> Instance:
    """One instance by its name."""
    known = instances()
    if name not in known:
        raise UnknownName("instance", name, known)
    return known[name]


@dataclass(frozen=True)
class Verdict:
    """What a submitted plan brought: a faster plan, a better bound, both or nothing."""

    faster: bool
    tighter: bool
    plan: Plan


def submit(name: str, plan: Plan, folder: Path | None = None) -> Verdict:
    """Check a plan against its instance and keep what is better than what was known.

    The plan is verified like any other, from raw data; a plan that fails is refused.

    Parameters
    ----------
    name
        Of the instance.
    plan
        A connected plan for its scenario.
    folder
        Where plans are kept, and what is known is looked up. Left out: looked up in the package
        and in the user's own folder, kept in the latter; the package is never written to.
    """
    named = instance(name)
    scenario = named.scenario()
    plan.verify(scenario)
    if not plan.status.is_connected:
        raise InvalidPlan(f"status is {plan.status.value!r}; a submission must be connected")
    home = user_folder() if folder is None else folder
    try:
        known: Plan | None = named.best(folder)
    except InvalidParameter:
        known = None
    if known is None:
        _keep(named, plan, home)
        return Verdict(True, True, plan)
    faster = plan.recovery_time_s < known.recovery_time_s
    tighter = plan.lower_bound_s > known.lower_bound_s
    if faster or tighter:
        best = _better(known, plan)
        best.verify(scenario)
        _keep(named, best, home)
        return Verdict(faster, tighter, best)
    return Verdict(False, False, known)


def _better(known: Plan, other: Plan) -> Plan:
    """The faster targets with the higher bound; what is known where neither is better."""
    faster = other.recovery_time_s < known.recovery_time_s
    tighter = other.lower_bound_s > known.lower_bound_s
    if not (faster or tighter):
        return known
    return _merged(other if faster else known, other if tighter else known)


def _merged(targets_of: Plan, bound_of: Plan) -> Plan:
    """The targets of one plan with the certificate of another."""
    bound_s = bound_of.lower_bound_s
    optimal = targets_of.recovery_time_s <= bound_s * (1 + OPTIMALITY_GAP)
    status = Status.OPTIMAL if optimal else Status.FEASIBLE
    return replace(targets_of, certificate=bound_of.certificate, status=status)


def _keep(named: Instance, plan: Plan, folder: Path) -> None:
    output_folder(folder)
    with replacing(folder / f"{named.name}.json.gz") as temporary:
        # A fixed time stamp: the same plan gives the same bytes.
        temporary.write_bytes(gzip.compress(plan_json(plan).encode(), mtime=0))
