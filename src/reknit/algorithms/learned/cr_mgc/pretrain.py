"""Meta-learning of CR-MGC's first weights.

Every step draws pairs of random split swarms with the same number of survivors. From the shared
weights theta one plain gradient step on the support case gives ``theta' = theta - a grad L_s``;
the gradient of the query case's loss at theta' moves theta by Adam (first-order MAML, Finn et
al., 2017), at 1e-3, then 1e-4, then 1e-5. Losses are divided by the swarm's size, so that no
case counts for more because it is larger.

The count term has no gradient: trained with it alone, theta learns to leave everyone in place,
a start that is not connected and that online training cannot repair. So the default here is the
total excess over the EMST, which is zero exactly when the count term is; "count" can be chosen.

A step depends on the seed and its number alone, and a checkpoint holds weights, optimiser and
step, so a run that is killed and resumed ends with the weights of one that was not.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from reknit.algorithms.learned.common.checkpoint import Checkpoint, plain
from reknit.algorithms.learned.common.layers import ConvolutionStack, as_tensor
from reknit.algorithms.learned.common.loss import LossRule, judge
from reknit.algorithms.learned.common.scaled import ScaledScenario
from reknit.algorithms.learned.common.weights import save_weights
from reknit.algorithms.learned.cr_mgc.net import (
    HIDDEN,
    LAYERS,
    enlarged_kernel,
    random_net,
    run_net,
    tensor_shapes,
)
from reknit.base.errors import InvalidParameter, NoSplitFound
from reknit.base.files import output_folder
from reknit.base.progress import Progress, silent
from reknit.swarm.generate import generate
from reknit.swarm.scenario import Scenario

_TRIES = 50


@dataclass(frozen=True)
class MetaRecipe:
    """What decides the weights. The same recipe, versions and thread count give the same ones.

    Parameters
    ----------
    stages
        (steps, Adam's rate) one after another.
    batch
        Pairs of cases per step.
    inner_rate
        A, the size of the inner step.
    survivors
        From how many to how many, small numbers more often (uniform in log N_R).
    damage
        N_D / N, from and to.
    solid_share
        Share of three-dimensional swarms.
    disconnection
        "excess" or "count", with `penalty`, `power` and `margin` as in `LossRule`.
    """

    seed: int = 1
    layers: int = LAYERS
    hidden: int = HIDDEN
    enlargement: float = 0.25
    stages: tuple[tuple[int, float], ...] = ((2000, 1e-3), (1500, 1e-4), (500, 1e-5))
    batch: int = 4
    inner_rate: float = 0.01
    survivors: tuple[int, int] = (6, 120)
    damage: tuple[float, float] = (0.3, 0.7)
    solid_share: float = 0.15
    disconnection: str = "excess"
    penalty: float = 2.0
    power: float | None = 12.0
    margin: float = 0.05
    checkpoint_every: int = 50

    def __post_init__(self) -> None:
        if not self.stages or any(steps < 1 or not rate > 0 for steps, rate in self.stages):
            raise InvalidParameter("stages", self.stages, "pairs of steps and rates above 0")
        for name in ("batch", "checkpoint_every"):
            if getattr(self, name) < 1:
                raise InvalidParameter(name, getattr(self, name), "a whole number of at least 1")
        if not 2 <= self.survivors[0] <= self.survivors[1]:
            raise InvalidParameter("survivors", self.survivors, "2 or more, rising")
        if not 0 < self.damage[0] <= self.damage[1] < 1:
            raise InvalidParameter("damage", self.damage, "above 0, rising, below 1")
        _ = self.loss

    @property
    def loss(self) -> LossRule:
        """The loss that is meta-learned."""
        return LossRule(self.disconnection, self.penalty, self.power, self.margin)

    @property
    def steps(self) -> int:
        """Updates of the shared weights in all."""
        return sum(steps for steps, _ in self.stages)

    def rate(self, step: int) -> float:
        """Adam's rate at a step."""
        for steps, rate in self.stages:
            if step < steps:
                return rate
            step -= steps
        return self.stages[-1][1]

    def pair(self, rng: np.random.Generator) -> tuple[Scenario, Scenario]:
        """A support and a query case with the same number of survivors."""
        low, high = self.survivors
        survivors = round(math.exp(rng.uniform(math.log(low), math.log(high))))
        dim = 3 if rng.random() < self.solid_share else 2
        return self._draw(survivors, dim, rng), self._draw(survivors, dim, rng)

    def _draw(self, survivors: int, dim: int, rng: np.random.Generator) -> Scenario:
        for _ in range(_TRIES):
            uavs = max(survivors + 1, round(survivors / (1.0 - rng.uniform(*self.damage))))
            seed = int(rng.integers(1 << 62))
            try:
                return generate(uavs, uavs - survivors, seed, split=True, dim=dim)
            except NoSplitFound:
                continue
        raise NoSplitFound(f"no split swarm in {_TRIES} draws; raise damage")


def pretrain(
    recipe: MetaRecipe,
    out_dir: str | Path,
    progress: Progress = silent,
    *,
    stop_after: int | None = None,
) -> Path:
    """Train, or go on training, in a folder; returns the path of the weights.

    The folder holds ``checkpoint.safetensors`` on the way and the weights as they are, with
    their manifest, whenever the run ends.

    Parameters
    ----------
    stop_after
        Return after so many steps, with a checkpoint to resume from.
    """
    folder = output_folder(Path(out_dir))
    shapes = tensor_shapes(recipe.layers, recipe.hidden)
    net = random_net(recipe.seed, recipe.layers, recipe.hidden)
    state = Checkpoint.resume(folder, plain(recipe), shapes) or Checkpoint(
        plain(recipe),
        {name: parameter.detach().clone() for name, parameter in net.named_parameters()},
    )
    optimizer = torch.optim.Adam(net.parameters(), lr=1.0, fused=True)
    state.restore(optimizer, net)
    started_s = time.perf_counter() - state.trained_s
    last = recipe.steps if stop_after is None else min(recipe.steps, stop_after)
    while state.step < last:
        for group in optimizer.param_groups:
            group["lr"] = recipe.rate(state.step)
        state.losses.append(_step(recipe, net, optimizer, state.step))
        state.step += 1
        progress(state.step / recipe.steps, f"step {state.step}: loss {state.losses[-1]:.3f}")
        if state.step % recipe.checkpoint_every == 0 or state.step == last:
            state.trained_s = time.perf_counter() - started_s
            state.capture(optimizer, net)
            state.save(folder)
    path = folder / "meta.safetensors"
    save_weights(
        path,
        {name: state.weights[name] for name in shapes},
        {"planner": "cr-mgc", **state.facts(points=50)},
        "float16",
    )
    return path


def _step(
    recipe: MetaRecipe, net: ConvolutionStack, optimizer: torch.optim.Optimizer, step: int
) -> float:
    """One update of the shared weights; returns the mean query loss after the inner step."""
    shared = list(net.parameters())
    theta = [parameter.detach().clone() for parameter in shared]
    total = [torch.zeros_like(parameter) for parameter in shared]
    losses = []
    for item in range(recipe.batch):
        support, query = recipe.pair(np.random.default_rng([recipe.seed, step, item]))
        inner = torch.autograd.grad(_loss(recipe, net, support), shared)
        with torch.no_grad():
            for parameter, gradient in zip(shared, inner, strict=True):
                parameter.sub_(gradient, alpha=recipe.inner_rate)
        loss = _loss(recipe, net, query)
        losses.append(float(loss.detach()))
        for sum_, gradient in zip(total, torch.autograd.grad(loss, shared), strict=True):
            sum_.add_(gradient, alpha=1.0 / recipe.batch)
        with torch.no_grad():
            for parameter, value in zip(shared, theta, strict=True):
                parameter.copy_(value)
    for parameter, gradient in zip(shared, total, strict=True):
        parameter.grad = gradient
    optimizer.step()
    return float(np.mean(losses))


def _loss(recipe: MetaRecipe, net: ConvolutionStack, scenario: Scenario) -> Tensor:
    """The loss of one scenario in units of the swarm's size."""
    scaled = ScaledScenario.of(scenario)
    kernel = as_tensor(enlarged_kernel(scenario.survivor_positions, recipe.enlargement))
    output = run_net(net, scaled.start, kernel)
    return judge(output[None], scaled, recipe.loss).loss[0] / scaled.scale.size_m
