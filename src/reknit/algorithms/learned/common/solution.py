"""From the outputs of online iterations to one proposal that says how it came about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reknit.algorithms.learned.common.online import Outcome, Output
from reknit.algorithms.learned.common.scaled import ScaledScenario
from reknit.algorithms.protocols import Proposal
from reknit.algorithms.trimming import trim
from reknit.base.context import never
from reknit.base.types import FloatArray, JsonDict
from reknit.exact.demands.contraction import contract
from reknit.plans.status import Status

NO, OF_OUTPUT, OF_ORIGINAL = "no", "output", "original positions"


@dataclass(frozen=True, eq=False)
class _Candidate:
    targets: FloatArray
    time_s: float
    contracted: str
    output: Output | None


def choose(
    scaled: ScaledScenario,
    outcome: Outcome,
    *,
    contraction: bool,
    trimming: bool,
    details: JsonDict,
    is_over: Callable[[], bool] = never,
) -> Proposal:
    """The fastest connected candidate, or the output closest to one if there is none.

    Parameters
    ----------
    contraction
        An output that is not connected is contracted just enough to be, and the contracted
        original positions are always a candidate.
    trimming
        Every connected output ends where it reconnects the swarm.
    is_over
        Asked before every output is trimmed or contracted; once it is true they are taken as
        they are.
    """
    candidates = [
        _Candidate(output.targets, output.time_s, NO, output) for output in outcome.solutions
    ]
    if trimming:
        candidates = [item if is_over() else _trimmed(scaled, item) for item in candidates]
    own_s = min((candidate.time_s for candidate in candidates), default=None)
    # Contraction moves everyone about one point, which a scenario with anchors rules out.
    if contraction and not scaled.fixed.any():
        candidates += _contracted(scaled, outcome, needed=not (candidates or is_over()))
    facts = {
        **details,
        "iterations": outcome.iterations,
        "stopped_by": outcome.stop,
        "losses_m": [round(loss_m, 3) for loss_m in outcome.losses_m],
        "network_time_s": own_s,
    }
    status = Status.DEADLINE if outcome.stop == "deadline" else None
    if not candidates:
        facts |= {"contracted": NO, **_origin(outcome.nearest, details)}
        # Cut short before the first output, nobody moves.
        stay = scaled.scenario.survivor_positions
        targets = stay if outcome.nearest is None else outcome.nearest.targets
        return Proposal(targets, status, details=facts)
    best = min(candidates, key=lambda candidate: candidate.time_s)
    facts |= {"contracted": best.contracted, **_origin(best.output, details)}
    return Proposal(best.targets, status, details=facts)


def _trimmed(scaled: ScaledScenario, candidate: _Candidate) -> _Candidate:
    targets, time_s = trim(scaled.scenario, candidate.targets, candidate.time_s)
    return _Candidate(targets, time_s, candidate.contracted, candidate.output)


def _contracted(scaled: ScaledScenario, outcome: Outcome, needed: bool) -> list[_Candidate]:
    original = contract(scaled.scenario, scaled.scenario.survivor_positions)
    candidates = [_Candidate(original, scaled.time_s(original), OF_ORIGINAL, None)]
    if needed and outcome.nearest is not None:
        targets = contract(scaled.scenario, outcome.nearest.targets)
        candidates.append(_Candidate(targets, scaled.time_s(targets), OF_OUTPUT, outcome.nearest))
    return candidates


def _origin(output: Output | None, details: JsonDict) -> JsonDict:
    """Which iteration and which branch (k*) the targets come from."""
    if output is None:
        return {"best_iteration": None, "best_branch": None}
    hops = details.get("branches")
    branch = hops[output.branch] if hops else output.branch
    return {"best_iteration": output.iteration, "best_branch": branch}
