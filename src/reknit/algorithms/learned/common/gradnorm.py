"""GradNorm (Chen et al., 2018): losses weighed so that they train at the same pace."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from reknit.base.errors import InvalidParameter
from reknit.base.types import FloatArray

_LEAST = 1e-3
"""No weight falls below this, so that none is switched off for good."""


@dataclass
class GradNorm:
    """The weights w_i of a few losses, updated once per iteration.

    With ``g_i = |grad_W L_i|`` over the last layer's weights W and ``G_i = w_i g_i``, a loss's
    pace is ``r_i = (L_i / L_i(0)) / mean_j(L_j / L_j(0))`` and its goal ``mean_j(G_j) r_i^alpha``.
    The sum over i of ``|G_i - goal_i|``, goals held fixed, has the gradient
    ``sign(G_i - goal_i) g_i`` in w_i; w_i takes a step of `rate` against it, in units of
    ``mean_j(g_j)`` so that the losses' unit does not matter, and the weights are scaled to sum
    to their number.
    """

    losses: int
    alpha: float = 0.12
    rate: float = 0.025
    weights: FloatArray = field(init=False)
    _first: FloatArray | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        for name in ("alpha", "rate"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0):
                raise InvalidParameter(f"gradnorm_{name}", value, "a number of at least 0")
        self.weights = np.ones(self.losses)

    def update(self, losses: FloatArray, gradients: FloatArray) -> None:
        """Told L_i and g_i of this iteration, set the weights for it."""
        if self._first is None:
            self._first = np.where(losses > 0, losses, 1.0)
        mean_gradient = gradients.mean()
        pace = losses / self._first
        if mean_gradient <= 0 or pace.mean() <= 0:
            return
        pulls = self.weights * gradients
        goal = pulls.mean() * (pace / pace.mean()) ** self.alpha
        step = np.sign(pulls - goal) * gradients / mean_gradient
        moved = np.maximum(self.weights - self.rate * step, _LEAST)
        self.weights = moved * self.losses / moved.sum()


def gradient_norms(losses: list[Tensor], weight: Tensor) -> FloatArray:
    """g_i of each loss over one layer's weights; the graph stays for the backward pass."""
    return np.asarray(
        [float(torch.autograd.grad(loss, weight, retain_graph=True)[0].norm()) for loss in losses]
    )
