"""Training of the pulling neural net: what the planner's loss says of its outputs, and no teacher.

The loss of a swarm is that of `descent` on the neural net's output x,

    L = |s|_p + lambda sum_e max(0, |e| - 0.99 d),   s_i = (v / v_i) |x_i - p_i|

over the edges e of the tree it was given, in units of how far UAVs must move at least; its
logarithm is averaged, so that no swarm counts for more than another. Outputs of earlier layers
count too, later ones more.

A step depends on the seed and its number alone, and a checkpoint holds weights, optimiser and
step, so a run that is killed and resumed ends with the weights of one that was not.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from reknit.algorithms.learned.common.checkpoint import Checkpoint, plain
from reknit.algorithms.learned.common.weights import save_weights
from reknit.algorithms.learned.ml_dagl.curriculum import Curriculum
from reknit.algorithms.learned.ml_dagl.pull.net import (
    AIM,
    PullNet,
    PullShape,
    pull_weight_name,
    tensor_shapes,
)
from reknit.algorithms.learned.ml_dagl.pull.survivors import PullGraph, Survivors
from reknit.base.errors import InvalidParameter
from reknit.base.files import output_folder
from reknit.base.progress import Progress, silent
from reknit.swarm.scenario import Scenario

_LEAST = 0.1
"""Added to a loss before its logarithm is taken: of what is nearly nothing, little is learned."""

_EARLY = 0.3
"""What the outputs of the last layers but one count, beside the last; earlier ones count less."""

_LARGEST_GRADIENT = 1.0
_TINY = 1e-12


@dataclass(frozen=True)
class PullRecipe:
    """All that decides the weights; the same recipe, versions and thread count give the same.

    Parameters
    ----------
    shape
        Of the neural net.
    seed
        Of everything random.
    steps
        Updates by Adam.
    batch
        Swarms per update.
    pool
        Different swarms that are trained on, drawn before the first step.
    trees
        Trees drawn for each, one of which is taken at a time.
    learning_rate
        Its largest; it rises over `warmup` steps and falls along a cosine to `final_share`.
    penalty
        Lambda.
    power
        p.
    uneven_share, anchored_share
        Share of the swarms whose UAVs differ in speed by up to four times, and of those in which
        one survivor is an anchor.
    """

    shape: PullShape = field(default_factory=PullShape)
    seed: int = 1
    steps: int = 16_000
    batch: int = 16
    pool: int = 8_000
    trees: int = 4
    learning_rate: float = 2e-3
    final_share: float = 0.02
    warmup: int = 100
    penalty: float = 3.0
    power: float = 30.0
    uneven_share: float = 0.15
    anchored_share: float = 0.1
    checkpoint_every: int = 200
    curricula: tuple[Curriculum, ...] = field(
        default_factory=lambda: tuple(
            Curriculum(dim, size_range=(20, 300), large_share=0.0, damage_range=(0.3, 0.95))
            for dim in (2, 2, 2, 2, 3)
        )
    )

    def __post_init__(self) -> None:
        for name in ("steps", "batch", "pool", "trees", "checkpoint_every"):
            if getattr(self, name) < 1:
                raise InvalidParameter(name, getattr(self, name), "a whole number of at least 1")
        if not (math.isfinite(self.learning_rate) and self.learning_rate > 0):
            raise InvalidParameter("learning_rate", self.learning_rate, "a number above 0")

    def rate(self, step: int) -> float:
        """The learning rate of a step."""
        rise = min(1.0, (step + 1) / self.warmup)
        fall = 0.5 * (1.0 + math.cos(math.pi * step / self.steps))
        return self.learning_rate * rise * (self.final_share + (1.0 - self.final_share) * fall)

    def draw(self, number: int) -> Survivors:
        """Swarm of the pool by its number."""
        rng = np.random.default_rng([self.seed, number])
        scenario = self.curricula[number % len(self.curricula)].draw(rng)
        if rng.random() < self.uneven_share:
            speeds_mps = scenario.max_speed_mps * 4.0 ** -rng.random(scenario.uavs)
            scenario = replace(scenario, max_speed_mps=speeds_mps)
        if rng.random() < self.anchored_share:
            scenario = _anchored(scenario, rng)
        return Survivors.of(scenario, self.trees, rng, attention=self.shape.attention)


def pretrain_pulls(
    recipe: PullRecipe,
    out_dir: str | Path,
    progress: Progress = silent,
    *,
    stop_after: int | None = None,
) -> Path:
    """Train, or go on training, in a folder; returns the path of the weights.

    Parameters
    ----------
    recipe
        What to train.
    out_dir
        Holds ``checkpoint.safetensors`` on the way and the weights with their manifest in the end.
    progress
        Told how far it is.
    stop_after
        Return after so many steps, with a checkpoint to resume from.
    """
    folder = output_folder(Path(out_dir))
    run = Checkpoint.resume(folder, plain(recipe), tensor_shapes(recipe.shape)) or _begin(recipe)
    net = PullNet(recipe.shape)
    optimizer = torch.optim.Adam(net.parameters(), lr=1.0)
    run.restore(optimizer, net)
    swarms: list[Survivors] = []
    while len(swarms) < recipe.pool and run.step < recipe.steps:
        swarms.append(recipe.draw(len(swarms)))
        progress(run.step / recipe.steps, f"drawing swarm {len(swarms)} of {recipe.pool}")
    started_s = time.perf_counter() - run.trained_s
    last = recipe.steps if stop_after is None else min(recipe.steps, stop_after)
    while True:
        if run.step % recipe.checkpoint_every == 0 or run.step >= last:
            run.trained_s = time.perf_counter() - started_s
            run.capture(optimizer, net)
            run.save(folder)
        if run.step >= last:
            break
        for group in optimizer.param_groups:
            group["lr"] = recipe.rate(run.step)
        run.losses.append(_step(recipe, net, optimizer, swarms, run.step))
        run.step += 1
        progress(run.step / recipe.steps, f"step {run.step}: loss {run.losses[-1]:.3f}")
    path = folder / pull_weight_name(recipe.shape)
    save_weights(path, run.weights, {"preset": "default", **run.facts()})
    return path


def losses(positions: Tensor, graph: PullGraph, penalty: float, power: float) -> Tensor:
    """(swarms,) L of each swarm, in units of its need."""
    gone = positions - graph.start
    moved = (gone.square().sum(dim=1) + _TINY).sqrt() * graph.delay / graph.need
    zeros = torch.zeros(graph.swarms)
    most = zeros.scatter_reduce(0, graph.swarm, moved.detach(), "amax").clamp(min=1e-6)
    shares = (moved / most[graph.swarm]) ** power
    norm = most * zeros.index_add(0, graph.swarm, shares) ** (1.0 / power)
    way = positions[graph.far] - positions[graph.near]
    length = (way.square().sum(dim=1) + _TINY).sqrt()
    # Every link is there in both directions.
    lack = 0.5 * torch.relu(length - AIM) / graph.need[graph.near]
    return norm + penalty * zeros.index_add(0, graph.swarm[graph.near], lack)


def _begin(recipe: PullRecipe) -> Checkpoint:
    net = PullNet(recipe.shape, torch.Generator().manual_seed(recipe.seed))
    return Checkpoint(
        plain(recipe), {name: parameter.clone() for name, parameter in net.state_dict().items()}
    )


def _step(
    recipe: PullRecipe,
    net: PullNet,
    optimizer: torch.optim.Optimizer,
    swarms: list[Survivors],
    step: int,
) -> float:
    """One update; returns the mean of L after the last layer."""
    # The pool's draws have two numbers in their seed, so these are others.
    rng = np.random.default_rng([recipe.seed, step, 0])
    chosen = rng.integers(len(swarms), size=recipe.batch)
    trees = rng.integers(recipe.trees, size=recipe.batch)
    graph = PullGraph.of([swarms[number] for number in chosen], [int(tree) for tree in trees])
    places = net(graph)
    count = len(places)
    weights = [_EARLY * (number / count) ** 2 for number in range(count - 1)] + [1.0]
    total = torch.zeros(())
    for positions, weight in zip(places, weights, strict=True):
        of_swarms = losses(positions, graph, recipe.penalty, recipe.power)
        total = total + weight * torch.log(of_swarms + _LEAST).mean()
    optimizer.zero_grad()
    (total / sum(weights)).backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(net.parameters(), _LARGEST_GRADIENT, error_if_nonfinite=True)
    optimizer.step()
    return float(of_swarms.detach().mean())


def _anchored(scenario: Scenario, rng: np.random.Generator) -> Scenario:
    """The same with one survivor as an anchor."""
    return replace(scenario, anchors=np.array([rng.choice(scenario.survivors)]))
