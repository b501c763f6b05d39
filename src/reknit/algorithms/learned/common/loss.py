"""What a net's outputs are worth: the paper's loss and its relaxation, a batch at a time.

The paper's loss of one solution is ``L^k = T_rc^k + lambda (N_s^k - 1)``, eq. (loss1). The count
has no gradient. ``N_s - 1`` is the number of EMST edges longer than d_tr, so the total excess
``sum_e max(0, |e| - d_tr)`` over the EMST is zero exactly when the count term is, and has one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from reknit.algorithms.learned.common.scaled import ScaledScenario
from reknit.algorithms.objective import TINY_M, add_excess, largest
from reknit.base.errors import InvalidParameter, UnknownName
from reknit.base.types import BoolArray, FloatArray, IntArray
from reknit.network.emst import emst
from reknit.network.links import lengths

Disconnection = Literal["count", "excess"]
DISCONNECTIONS = get_args(Disconnection)


@dataclass(frozen=True)
class LossRule:
    """How displacements and connectivity are weighed; the loss is in metres.

    Parameters
    ----------
    disconnection
        How what is not connected is measured. "count": lambda per sub-net too many. "excess":
        lambda per metre of excess.
    weight
        Lambda.
    power
        None: the largest displacement. A number p: ``(sum_i d_i^p)^(1/p)``, which is close to it
        from above and gives every far UAV a gradient.
    margin
        The excess is counted from ``(1 - margin) d_tr``, so that what is pulled just inside its
        range is connected.
    """

    disconnection: str = "excess"
    weight: float = 1.0
    power: float | None = None
    margin: float = 0.0

    def __post_init__(self) -> None:
        if self.disconnection not in DISCONNECTIONS:
            raise UnknownName("disconnection", self.disconnection, DISCONNECTIONS)
        if not (np.isfinite(self.weight) and self.weight > 0):
            raise InvalidParameter("weight", self.weight, "a finite number above 0")
        if self.power is not None and not (np.isfinite(self.power) and self.power >= 1):
            raise InvalidParameter("power", self.power, "None or a number of at least 1")
        if not 0 <= self.margin < 1:
            raise InvalidParameter("margin", self.margin, "at least 0 and below 1")

    def __call__(
        self, output: Tensor, scaled: ScaledScenario, branches: Sequence[int] = ()
    ) -> Judged:
        """Weigh a batch of outputs by this rule, the same for every branch."""
        return judge(output, scaled, self)


@dataclass(frozen=True, eq=False)
class Judged:
    """A batch of B outputs, weighed.

    Parameters
    ----------
    loss
        (B,) metres, differentiable.
    targets
        (B, N_R, dim) metres.
    subnets
        (B,) N_s of each.
    times_s
        (B,) planned T_rc of each.
    """

    loss: Tensor
    targets: FloatArray
    subnets: IntArray
    times_s: FloatArray

    @property
    def connected(self) -> BoolArray:
        """(B,) which outputs are solutions of (P1)."""
        return np.asarray(self.subnets == 1)


Objective = Callable[[Tensor, ScaledScenario, Sequence[int]], Judged]
"""Weighs a batch of outputs of a case, given the numbers of the branches they come from: a
`LossRule`, or anything else that can be called so."""


def judge(output: Tensor, scaled: ScaledScenario, rule: LossRule) -> Judged:
    """Weigh a batch of normalised outputs (B, N_R, dim) of one scenario."""
    scenario = scaled.scenario
    targets = scaled.targets(output)
    way = targets - scenario.survivor_positions
    moved_m = np.sqrt((way**2).sum(axis=2))
    loss, pull = largest(moved_m * scaled.delay, rule.power)
    gradient = way * (pull * scaled.delay / np.maximum(moved_m, TINY_M))[:, :, None]

    trees = np.stack([emst(points) for points in targets])
    lengths_m = np.stack(
        [lengths(points, tree) for points, tree in zip(targets, trees, strict=True)]
    )
    too_long = (lengths_m > scenario.planning_range_m).sum(axis=1)
    if rule.disconnection == "count":
        loss += rule.weight * too_long
    else:
        limit_m = scenario.planning_range_m * (1.0 - rule.margin)
        loss += add_excess(gradient, targets, trees, limit_m, rule.weight)
    gradient[:, scaled.fixed] = 0.0
    return Judged(
        # Targets are the output times D + 1, and something that does not change.
        loss=_WithGradient.apply(output, loss, gradient * scaled.scale.size_m),  # type: ignore[no-untyped-call]
        targets=targets,
        subnets=1 + too_long,
        times_s=(moved_m / scenario.max_speed_mps[scenario.survivors]).max(axis=1),
    )


class _WithGradient(torch.autograd.Function):
    """Losses whose gradient with respect to the output is known already."""

    @staticmethod
    def forward(ctx: Any, output: Tensor, loss: FloatArray, gradient: FloatArray) -> Tensor:
        ctx.save_for_backward(torch.from_numpy(gradient).to(output.dtype))
        return torch.from_numpy(loss).to(output.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return gradients[0][:, None, None] * ctx.saved_tensors[0], None, None
