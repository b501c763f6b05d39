"""What a network's outputs are worth: the paper's loss and its relaxation, a batch at a time.

The paper's loss of one solution is ``L^k = T_rc^k + lambda (N_s^k - 1)``, eq. (loss1). The count
has no gradient. ``N_s - 1`` is the number of EMST edges longer than d_tr, so the total excess
``sum_e max(0, |e| - d_tr)`` over the EMST is zero exactly when the count term is, and has one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from reknit.algorithms.learning.case import Case
from reknit.errors import InvalidParameter, UnknownName
from reknit.network.emst import emst
from reknit.network.links import lengths
from reknit.types import BoolArray, FloatArray, IntArray

CONNECTIVITY = ("count", "excess")
_TINY = 1e-14
"""Under the root of a length, so that its gradient is finite where the length is zero."""


@dataclass(frozen=True)
class LossRule:
    """How displacements and connectivity are weighed; the loss is in metres.

    connectivity    "count": lambda per sub-net too many. "excess": lambda per metre of excess.
    weight          lambda.
    power           None: the largest displacement. A number p: ``(sum_i d_i^p)^(1/p)``, which
                    is close to it from above and gives every far UAV a gradient.
    margin          the excess is counted from ``(1 - margin) d_tr``, so that what is pulled
                    just inside its range is connected.
    """

    connectivity: str = "excess"
    weight: float = 1.0
    power: float | None = None
    margin: float = 0.0

    def __post_init__(self) -> None:
        if self.connectivity not in CONNECTIVITY:
            raise UnknownName("connectivity", self.connectivity, CONNECTIVITY)
        if not (np.isfinite(self.weight) and self.weight > 0):
            raise InvalidParameter("weight", self.weight, "a finite number above 0")
        if self.power is not None and not (np.isfinite(self.power) and self.power >= 1):
            raise InvalidParameter("power", self.power, "None or a number of at least 1")
        if not 0 <= self.margin < 1:
            raise InvalidParameter("margin", self.margin, "at least 0 and below 1")

    def __call__(self, output: Tensor, case: Case) -> Judged:
        """Weigh a batch of outputs by this rule."""
        return judge(output, case, self)


@dataclass(frozen=True, eq=False)
class Judged:
    """A batch of B outputs, weighed.

    loss        (B,) metres, differentiable.
    targets     (B, N_R, dim) metres.
    subnets     (B,) N_s of each.
    times_s     (B,) planned T_rc of each.
    """

    loss: Tensor
    targets: FloatArray
    subnets: IntArray
    times_s: FloatArray

    @property
    def connected(self) -> BoolArray:
        """(B,) which outputs are solutions of (P1)."""
        return np.asarray(self.subnets == 1)


Objective = Callable[[Tensor, Case], Judged]
"""Weighs a batch of outputs of a case: a `LossRule`, or anything else that can be called so."""


def judge(output: Tensor, case: Case, rule: LossRule) -> Judged:
    """Weigh a batch of normalised outputs (B, N_R, dim) of one case."""
    scenario = case.scenario
    limit_m = scenario.planning_range_m
    targets = case.targets(output)
    output = case.hold(output)
    trees = [emst(one) for one in targets]
    lengths_m = np.stack([lengths(one, tree) for one, tree in zip(targets, trees, strict=True)])
    too_long = (lengths_m > limit_m).sum(axis=1)
    moved_m = np.sqrt(((targets - scenario.survivor_positions) ** 2).sum(axis=2))
    speeds = scenario.max_speed_mps[scenario.survivors]
    distance = largest(_norm(output - case.start) * case.delay, rule.power)
    if rule.connectivity == "count":
        apart = torch.from_numpy(too_long.astype(np.float32)) / case.scale.size_m
    else:
        reach = limit_m * (1.0 - rule.margin) / case.scale.size_m
        apart = tree_excess(output, trees, reach)
    return Judged(
        loss=(distance + rule.weight * apart) * case.scale.size_m,
        targets=targets,
        subnets=1 + too_long,
        times_s=(moved_m / speeds).max(axis=1),
    )


def largest(values: Tensor, power: float | None) -> Tensor:
    """The maximum of each row, or the p-norm that stands in for it."""
    top = values.amax(dim=1)
    if power is None:
        return top
    # Dividing by the maximum keeps the powers from under- and overflowing.
    unit = top.detach().clamp(min=1e-12)
    sums: Tensor = (values / unit[:, None]).pow(power).sum(dim=1)
    return unit * sums.pow(1.0 / power)


def tree_excess(output: Tensor, trees: list[IntArray], reach: float) -> Tensor:
    """(B,) sum over each output's tree edges of ``max(0, |e| - reach)``."""
    edges = torch.from_numpy(np.stack(trees))
    rows = torch.arange(len(output))[:, None]
    ends = output[rows, edges[:, :, 0]], output[rows, edges[:, :, 1]]
    return (_norm(ends[0] - ends[1]) - reach).clamp(min=0.0).sum(dim=1)


def _norm(offset: Tensor) -> Tensor:
    return (offset.square().sum(dim=-1) + _TINY).sqrt()
