"""GradNorm against a step worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from reknit.algorithms.learned.common.gradnorm import GradNorm, gradient_norms
from reknit.base.errors import InvalidParameter


def test_a_step_by_hand() -> None:
    """Losses that halved and stayed, gradients 3 and 1, weights 1: G = (3, 1), mean 2.

    Pace r = (0.5, 1) / 0.75 = (2/3, 4/3); with alpha 1 the goals are (4/3, 8/3). The first pulls
    too hard, the second too little, so with rate 0.1 and gradients in units of their mean 2 the
    weights become 1 - 0.1 * 3/2 = 0.85 and 1 + 0.1 * 1/2 = 1.05, scaled to sum to 2.
    """
    balance = GradNorm(2, alpha=1.0, rate=0.1)
    balance.update(np.array([10.0, 4.0]), np.array([1.0, 1.0]))
    assert balance.weights.tolist() == [1.0, 1.0]
    balance.update(np.array([5.0, 4.0]), np.array([3.0, 1.0]))
    np.testing.assert_allclose(balance.weights, np.array([0.85, 1.05]) * 2.0 / 1.9)


def test_alpha_bends_the_goals() -> None:
    """With alpha 0 the goal is the mean pull whatever the pace: the weaker pull gains."""
    balance = GradNorm(2, alpha=0.0, rate=0.1)
    balance.update(np.array([10.0, 10.0]), np.array([1.0, 3.0]))
    np.testing.assert_allclose(balance.weights, np.array([1.05, 0.85]) * 2.0 / 1.9)


def test_weights_stay_positive_and_sum_to_their_number() -> None:
    """However long one loss dominates, the weights stay above zero and add up."""
    balance = GradNorm(2, rate=0.5)
    for _ in range(50):
        balance.update(np.array([1.0, 1.0]), np.array([100.0, 0.01]))
        assert (balance.weights > 0).all()
        assert balance.weights.sum() == pytest.approx(2.0)


def test_nothing_to_balance_changes_nothing() -> None:
    """Without gradients, or with all losses at zero, the weights stay."""
    balance = GradNorm(2)
    balance.update(np.array([1.0, 1.0]), np.zeros(2))
    balance.update(np.zeros(2), np.ones(2))
    assert balance.weights.tolist() == [1.0, 1.0]


def test_gradient_norms_by_hand() -> None:
    """d(3x + 4y) has the norm 5 and d(x^2) at x = 2 the norm 4; the graph stays usable."""
    weight = torch.tensor([2.0, 1.0], requires_grad=True)
    losses = [3.0 * weight[0] + 4.0 * weight[1], weight[0] ** 2]
    np.testing.assert_allclose(gradient_norms(losses, weight), [5.0, 4.0])
    sum(losses).backward()  # type: ignore[union-attr]


def test_parameters_are_checked() -> None:
    """A negative rate is refused."""
    with pytest.raises(InvalidParameter, match="rate"):
        GradNorm(2, rate=-1.0)
