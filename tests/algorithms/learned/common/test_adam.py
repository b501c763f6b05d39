"""Adam against torch's own."""

from __future__ import annotations

import subprocess
import sys

import torch
from torch import Tensor

from reknit.algorithms.learned.common.adam import Adam


def _parameters() -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.rand(shape, generator=generator).requires_grad_() for shape in [(7, 5), (7,), ()]]


def _loss(parameters: list[Tensor], number: int) -> Tensor:
    """Of the last parameter only at every other step."""
    weight, bias, factor = parameters
    loss = (weight.sin().sum(dim=1) * bias).square().sum()
    return loss * factor if number % 2 else loss


def test_steps_are_those_of_torch() -> None:
    """With a rate that changes, and a parameter that has no gradient at times, bit for bit."""
    ours, theirs = _parameters(), _parameters()
    own = Adam(ours, betas=(0.8, 0.99))
    other = torch.optim.Adam(theirs, betas=(0.8, 0.99), fused=True)
    for number in range(12):
        rate = 0.1 / (1 + number)
        own.step(own.gradients(_loss(ours, number)), rate)
        other.param_groups[0]["lr"] = rate
        other.zero_grad()
        _loss(theirs, number).backward()  # type: ignore[no-untyped-call]
        other.step()
    for one, two, start in zip(ours, theirs, _parameters(), strict=True):
        assert torch.equal(one, two)
        assert not torch.equal(one, start)


_FRESH = """
import sys, reknit
scenario = reknit.generate(20, 10, 7, split=True)
plan = reknit.plan(scenario, "ml-dagl", preset="relaxed", iterations=3)
assert plan.details["iterations"] == 3
print([name for name in ("torch", "torch._dynamo", "sympy") if name in sys.modules])
"""


def test_a_plan_does_not_import_the_compiler() -> None:
    """A process that plans once has torch, and nothing of its compiler."""
    command = [sys.executable, "-c", _FRESH]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['torch']"
