"""One online training as every baseline runs it: own loss, best output kept, nothing repaired."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor

from reknit.algorithms.base import Context, Proposal
from reknit.algorithms.certified.bounds import lower_bound
from reknit.algorithms.learning.case import Case
from reknit.algorithms.learning.loss import Objective
from reknit.algorithms.learning.online import Forward, OnlineRule, iterate
from reknit.algorithms.learning.solution import choose
from reknit.types import JsonDict


def train(
    case: Case,
    forward: Forward,
    parameters: Iterable[Tensor],
    objective: Objective,
    rule: OnlineRule,
    context: Context,
    details: JsonDict,
    branches: int = 1,
) -> Proposal:
    """The fastest connected output seen, or the nearest to one where there was none.

    No contraction and no trimming: a baseline's weaknesses are part of what is compared.
    """
    bound_s = lower_bound(case.scenario).bound_s
    outcome = iterate(forward, list(parameters), branches, case, objective, rule, context, bound_s)
    return choose(case, outcome, contraction=False, trimming=False, details=details)
