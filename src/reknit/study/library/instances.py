"""`Instance`: one named scenario of the library, made again from its recipe and checked.

The recipes are in instances.json with the hash of what they make, so that an instance is the same
everywhere or refuses to be used. The best known plan of each is beside it, with the certificate of
the best proven bound; anyone can check both.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from reknit.base.errors import InvalidParameter, InvalidPlan, ReknitError, UnknownName
from reknit.base.files import output_folder, replacing
from reknit.base.types import JsonDict
from reknit.plans.files import parse_plan, plan_json
from reknit.plans.plan import Plan
from reknit.swarm.fingerprint import scenario_hash
from reknit.swarm.generate import generate
from reknit.swarm.scenario import Scenario

FOLDER = Path(__file__).parent
RECIPES = FOLDER / "instances.json"
BEST = FOLDER / "best"


class ChangedInstance(ReknitError):
    """An instance does not come out as it was frozen; results on it could not be compared."""


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
        found = scenario_hash(scenario)
        if found != self.sha256:
            raise ChangedInstance(
                f"instance {self.name} hashes to {found[:12]}, not {self.sha256[:12]}: this "
                "version of the generator or of numpy makes another scenario"
            )
        return scenario

    def best(self, folder: Path = BEST) -> Plan:
        """The best known plan, with the best proven bound; verify it against `scenario`."""
        path = folder / f"{self.name}.json.gz"
        try:
            text = gzip.decompress(path.read_bytes()).decode()
        except FileNotFoundError:
            raise InvalidParameter("instance", self.name, "one with a known plan") from None
        return parse_plan(text, str(path))


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


def submit(name: str, plan: Plan, folder: Path = BEST) -> Verdict:
    """Check a plan against its instance and keep what is better than what was known.

    The plan is verified like any other, from raw data; a plan that fails is refused.
    """
    one = instance(name)
    scenario = one.scenario()
    plan.verify(scenario)
    if not plan.status.is_connected:
        raise InvalidPlan(f"status is {plan.status.value!r}; a submission must be connected")
    try:
        known: Plan | None = one.best(folder)
    except InvalidParameter:
        known = None
    if known is None:
        _keep(one, plan, folder)
        return Verdict(True, True, plan)
    faster = plan.recovery_time_s < known.recovery_time_s
    tighter = plan.lower_bound_s > known.lower_bound_s
    if faster or tighter:
        best = _merged(plan if faster else known, plan if tighter else known)
        best.verify(scenario)
        _keep(one, best, folder)
        return Verdict(faster, tighter, best)
    return Verdict(False, False, known)


def _merged(targets_of: Plan, bound_of: Plan) -> Plan:
    """The targets of one plan with the certificate of another."""
    from dataclasses import replace

    from reknit.plans.status import OPTIMALITY_GAP, Status

    bound_s = bound_of.lower_bound_s
    optimal = targets_of.recovery_time_s <= bound_s * (1 + OPTIMALITY_GAP)
    status = Status.OPTIMAL if optimal else Status.FEASIBLE
    return replace(targets_of, certificate=bound_of.certificate, status=status)


def _keep(one: Instance, plan: Plan, folder: Path) -> None:
    output_folder(folder)
    with replacing(folder / f"{one.name}.json.gz") as temporary:
        # A fixed time stamp: the same plan gives the same bytes.
        temporary.write_bytes(gzip.compress(plan_json(plan).encode(), mtime=0))
