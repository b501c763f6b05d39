"""Adam (Kingma and Ba, 2015), by torch's fused kernel and nothing else.

    m = b1 m + (1 - b1) g,    v = b2 v + (1 - b2) g^2,
    w = w - rate  m / (1 - b1^t)  /  (sqrt(v / (1 - b2^t)) + eps)

``torch.optim.Adam`` computes the same, but its first use imports torch's compiler, which can take
longer than the plan itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

_EPS = 1e-8


class Adam:
    """Updates parameters in place, one step at a time.

    Parameters
    ----------
    betas
        b1 and b2.
    """

    def __init__(self, parameters: Iterable[Tensor], betas: tuple[float, float]) -> None:
        self.parameters = list(parameters)
        self._betas = betas
        self._means = [torch.zeros_like(parameter) for parameter in self.parameters]
        self._squares = [torch.zeros_like(parameter) for parameter in self.parameters]
        self._steps = [torch.zeros(()) for _ in self.parameters]

    def gradients(self, loss: Tensor) -> tuple[Tensor | None, ...]:
        """Those of a loss; None for a parameter that has no part in it."""
        return torch.autograd.grad(loss, self.parameters, allow_unused=True)

    @torch.no_grad()
    def step(self, gradients: Sequence[Tensor | None], rate: float) -> None:
        """Update those parameters that have a gradient."""
        rows = zip(self.parameters, gradients, self._means, self._squares, self._steps, strict=True)
        used = [row for row in rows if row[1] is not None]
        parameters, slopes, means, squares, steps = (
            list(column) for column in zip(*used, strict=True)
        )
        for count in steps:
            count += 1
        torch._fused_adam_(
            parameters,
            slopes,
            means,
            squares,
            [],
            steps,
            lr=rate,
            beta1=self._betas[0],
            beta2=self._betas[1],
            weight_decay=0.0,
            eps=_EPS,
            amsgrad=False,
            maximize=False,
        )
