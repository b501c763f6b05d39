"""What a certificate proves: every kind of proof it holds, evaluated from raw positions.

No solver and nothing shared with the planners but the certificate's format; rounding counts
against the claim.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reknit.base.errors import InvalidProof
from reknit.base.types import IntArray
from reknit.plans.certificate import BY_LEMMA, FOLLOWS, Certificate, Parting
from reknit.plans.checker.bundles import Bundles
from reknit.plans.checker.cases import Walk, check_cuts
from reknit.plans.checker.crowds import crowd_time_s
from reknit.plans.checker.duality import Clashes
from reknit.plans.checker.holes import check_hole
from reknit.plans.checker.partings import parting_time_s
from reknit.plans.checker.pulls import pull_time_s
from reknit.plans.checker.rounding import (
    ABSOLUTE_M,
    RELATIVE_BITS,
    lengthened,
    quotient_down,
    root_up,
    whole,
)
from reknit.plans.checker.survivors import Survivors, whole_numbers

if TYPE_CHECKING:
    from reknit.swarm.scenario import Scenario

_LONGEST_S = 1e100


@dataclass(frozen=True)
class Proved:
    """What was found in a certificate.

    Attributes
    ----------
    bound_s
        No plan for the scenario is faster, seconds.
    kind
        What kind of proof it is, in words.
    cases, clashes, vectors
        Rows of the tree of cases, clashes that it rests on, and vectors in them.
    exact
        How many inequalities were evaluated in whole numbers because float64 left a doubt.
    idle
        What of it has no part in the proof; empty if there is nothing.
    """

    bound_s: float
    kind: str = "nothing, which is enough for 0 s"
    cases: int = 0
    clashes: int = 0
    vectors: int = 0
    exact: int = 0
    idle: str = ""


def prove(
    certificate: Certificate, scenario: Scenario, is_over: Callable[[], bool] = lambda: False
) -> Proved:
    """Evaluate a certificate; `InvalidProof` if it contradicts itself or the scenario.

    Parameters
    ----------
    certificate
        What is to be checked; its `bound_s` is the claim.
    scenario
        Where it is said to hold.
    is_over
        Asked now and then; once it is true a tree of cases is refused.

    Returns
    -------
    Proved
        With the bound that is really proved, which may be below the claim.
    """
    claim_s = _number("bound_s", certificate.bound_s)
    proofs = [_prove_cases(certificate, scenario, claim_s, is_over)]
    if certificate.apart is not None:
        parting_s = _parting_s(certificate, scenario)
        proofs.append(Proved(parting_s, "two UAVs that start too close"))
    if certificate.pulls is not None:
        pulled_s = pull_time_s(Survivors.of(scenario), certificate.pulls)
        kind = "forces that pull every tree apart"
        proofs.append(Proved(pulled_s, kind, vectors=len(certificate.pulls)))
    if certificate.hole is not None:
        trial_s = _number("trial_s", certificate.trial_s)
        check_hole(Survivors.of(scenario), certificate.hole, certificate.windings, trial_s)
        proofs.append(Proved(trial_s, "a hole that no chain of survivors surrounds"))
    if certificate.crowd is not None:
        crowd_s = crowd_time_s(Survivors.of(scenario), certificate.crowd, scenario.min_separation_m)
        proofs.append(Proved(crowd_s, "a crowd without room for the separation"))
    if certificate.parting is not None:
        proofs.append(_prove_parting(certificate, scenario, claim_s))
    if certificate.bundles != ():
        proofs.append(_prove_bundles(certificate, scenario, claim_s))
    return max(proofs, key=lambda proved: proved.bound_s)


_COMPANIONS: dict[str, tuple[str, ...]] = {
    "cases": ("trial_s", "clashes", "lost", "lemmas"),
    "hole": ("trial_s", "windings"),
    "bundles": ("trial_s", "clashes"),
}
"""What goes with the parts of a certificate that do not stand alone."""


def refuse_idle_parts(certificate: Certificate, proved: Proved) -> None:
    """Raise unless a certificate holds one proof and what that rests on. Whatever else it held
    would look like a claim and be read by nobody.
    """
    kinds = ("cases", "apart", "pulls", "hole", "crowd", "bundles", "parting")
    there = [name for name in kinds if _is_there(getattr(certificate, name))]
    if len(there) > 1:
        raise InvalidProof(f"the certificate has {' and '.join(there)}; allowed: one proof")
    if there and certificate.bound_s == 0.0:
        raise InvalidProof(f"the certificate has {there[0]} and claims nothing")
    needed = _COMPANIONS.get(there[0], ()) if there else ()
    for name in ("trial_s", "clashes", "lost", "lemmas", "windings"):
        if name not in needed and _is_there(getattr(certificate, name)):
            raise InvalidProof(f"the certificate's {name} has no part in its proof")
    if proved.idle:
        raise InvalidProof(f"a {proved.idle} of the certificate is not used")


def _is_there(part: object) -> bool:
    """Whether a part of a certificate is more than nothing: no time, nobody, no rows."""
    if isinstance(part, (np.ndarray, tuple)):
        return len(part) > 0
    return part is not None and not (isinstance(part, float) and part == 0.0)


def _idle(certificate: Certificate, cases: IntArray, clashes: set[int]) -> str:
    """Whether a clash or a lemma is there that no row refers to, and which of them."""
    lists = [cases, *(whole_numbers("cases", lemma.cases, 2) for lemma in certificate.lemmas)]
    rows = np.concatenate(lists)
    used = np.unique(rows[np.isin(rows[:, 0], (BY_LEMMA, FOLLOWS)), 1])
    if len(used) < len(certificate.lemmas):
        return "lemma"
    return "clash" if len(clashes) < len(certificate.clashes) else ""


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (float, int)):
        raise InvalidProof(f"the certificate's {name} is {value!r}; allowed: a number")
    if not 0.0 <= value <= _LONGEST_S:
        raise InvalidProof(
            f"the certificate's {name} is {value!r}; allowed: from 0 to {_LONGEST_S:g}"
        )
    return float(value)


def _prove_cases(
    certificate: Certificate, scenario: Scenario, claim_s: float, is_over: Callable[[], bool]
) -> Proved:
    cases = whole_numbers("cases", certificate.cases, 2)
    if len(cases) == 0:
        return Proved(0.0)
    trial_s = _number("trial_s", certificate.trial_s)
    if trial_s == 0.0:
        return Proved(0.0)
    swarm = Survivors.of(scenario, certificate.lost)
    clashes = Clashes(swarm, certificate.clashes)
    walk = Walk(cases, swarm, clashes.links, certificate.lemmas, is_over)
    bound_s = trial_s
    for number in sorted(walk.clashes):
        bound_s = min(bound_s, clashes.time_s(number, min(claim_s, trial_s)))
        if bound_s < claim_s:
            return Proved(bound_s)  # the claim has failed; the cuts need not be looked at
    check_cuts(walk, swarm, trial_s)
    vectors = sum(len(clashes.links[number]) for number in walk.clashes)
    kind = "a cut of the candidate links" if len(cases) == 1 else "cases of links used or not"
    rows = len(cases) + sum(len(lemma.cases) for lemma in certificate.lemmas)
    idle = _idle(certificate, cases, walk.clashes)
    return Proved(bound_s, kind, rows, len(walk.clashes), vectors, clashes.exact, idle)


def _prove_bundles(certificate: Certificate, scenario: Scenario, claim_s: float) -> Proved:
    trial_s = _number("trial_s", certificate.trial_s)
    swarm = Survivors.of(scenario)
    clashes = Clashes(swarm, certificate.clashes)
    bundles = Bundles(swarm, certificate.bundles, clashes)
    bound_s = trial_s
    for number in sorted(bundles.clashes):
        bound_s = min(bound_s, clashes.time_s(number, min(claim_s, trial_s)))
    bundles.check(trial_s)
    vectors = sum(len(clashes.links[number]) for number in bundles.clashes)
    kind = "bundles of links that leave no room for a tree"
    idle = "clash" if len(bundles.clashes) < len(certificate.clashes) else ""
    return Proved(bound_s, kind, 0, len(bundles.clashes), vectors, clashes.exact, idle)


def _prove_parting(certificate: Certificate, scenario: Scenario, claim_s: float) -> Proved:
    parting = certificate.parting
    if not isinstance(parting, Parting):
        raise InvalidProof("the certificate's parting is none")
    swarm = Survivors.of(scenario)
    parting_s = parting_time_s(swarm, parting, scenario.min_separation_m, claim_s)
    vectors = sum(len(clash.links) for clash in parting.clashes)
    kind = "cases of directions in which UAVs part"
    return Proved(parting_s, kind, len(parting.cases), len(parting.clashes), vectors)


def _parting_s(certificate: Certificate, scenario: Scenario) -> float:
    """Two survivors closer than the separation: ``(s - |p_i - p_j|) / (v_i + v_j)``."""
    pair = certificate.apart
    swarm = Survivors.of(scenario)
    if not (
        isinstance(pair, tuple)
        and len(pair) == 2
        and all(isinstance(row, int) and not isinstance(row, bool) for row in pair)
        and 0 <= pair[0] < pair[1] < swarm.count
    ):
        raise InvalidProof(f"the certificate names the pair {pair!r}, which cannot be")
    i, j = pair
    delta = [whole(a) - whole(b) for a, b in zip(swarm.start[i], swarm.start[j], strict=True)]
    distance = root_up(sum(x * x for x in delta))
    # Two targets may be closer by rounding, and each flight longer.
    wanted = whole(scenario.min_separation_m)
    wanted -= (wanted >> RELATIVE_BITS) + 1 + 3 * ABSOLUTE_M
    speed = whole(swarm.speeds[i]) + whole(swarm.speeds[j])
    if speed == 0:
        return 0.0
    return quotient_down(wanted - distance, lengthened(speed))
