"""From the search's proofs to certificates that the checker reads."""

from __future__ import annotations

import numpy as np

from reknit.base.types import IntArray
from reknit.exact.model.problem import Problem
from reknit.exact.search.case_search import CaseSearch
from reknit.exact.search.proof_tree import Proof
from reknit.plans.certificate import CUT, Certificate, Clash
from reknit.plans.checker.proof import certified_bound_s
from reknit.swarm.scenario import Scenario

_HAIR = 4e-12
"""The checker takes candidates this generously; a trial time just below a link's must allow it."""


def cut_certificate(
    scenario: Scenario, problem: Problem, time_s: float, lost: int | None = None
) -> Certificate:
    """No plan is faster than the time that the last link of the quickest tree needs.

    With one speed that is the EMST bound ``(l - d) / (2 v_max)``: across the cut of the longest
    EMST edge every pair is at least l apart, so before that time the candidates do not connect.
    """
    slow = float(problem.speeds[problem.speeds > 0.0].min(initial=np.inf))
    trial_s = time_s * (1.0 - _HAIR) - _HAIR * problem.range_m / slow
    if trial_s <= 0.0 or not np.isfinite(trial_s):
        return Certificate.trivial()
    return _stated(scenario, trial_s, np.asarray([[-1, CUT]]), (), lost)


def case_certificate(
    scenario: Scenario, search: CaseSearch, proof: Proof, lost: int | None = None
) -> Certificate:
    """The certificate of a proof by cases."""
    rows: list[tuple[int, int]] = []
    clashes: list[Clash] = []
    number: dict[int, int] = {}
    pairs = search.pairs if lost is None else search.pairs + (search.pairs >= lost)
    stack: list[Proof] = [proof]
    while stack:
        part = stack.pop()
        if isinstance(part.used, Proof) and part.unused is not None:
            rows.append((int(pairs[part.link, 0]), int(pairs[part.link, 1])))
            stack += [part.unused, part.used]
            continue
        name = part.used
        if isinstance(name, Proof) or name == CUT:
            rows.append((-1, CUT))
        else:
            if name not in number:
                number[name] = len(clashes)
                clashes.append(_renumbered(search.clash(name), lost))
            rows.append((-1, number[name]))
    cases = np.asarray(rows, dtype=np.int64)
    return _stated(scenario, search.time_s, cases, tuple(clashes), lost)


def _renumbered(clash: Clash, lost: int | None) -> Clash:
    """The same links among all survivors, when the search did without one."""
    links = clash.links if lost is None else clash.links + (clash.links >= lost)
    return Clash(links, clash.forces)


def _stated(
    scenario: Scenario,
    trial_s: float,
    cases: IntArray,
    clashes: tuple[Clash, ...],
    lost: int | None,
) -> Certificate:
    """The certificate with the bound that the checker will find in it."""
    proved_s = certified_bound_s(Certificate(0.0, trial_s, cases, clashes, lost), scenario)
    return Certificate(proved_s, trial_s, cases, clashes, lost)
