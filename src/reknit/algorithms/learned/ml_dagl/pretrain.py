"""Pre-training: weights from which a few online iterations give a good connected solution.

Every step draws a batch of random scenarios (layout, size, damage and branch), lets each make
`inner_iterations` online iterations of its own from the shared weights, and moves the shared
weights a share of the way towards the mean of where the scenarios went (Reptile). So what is
learned is what the planner does at run time: to be a short way from good solutions. Without
inner iterations this is ordinary training by Adam, as the paper's.

A step depends on the seed and its number alone, and a checkpoint holds weights, optimiser and
step, so a run that is killed and resumed ends with the weights of one that was not.
"""

from __future__ import annotations

import copy
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from reknit.algorithms.learned.common.checkpoint import Checkpoint, plain
from reknit.algorithms.learned.common.loss import judge
from reknit.algorithms.learned.common.weights import save_weights
from reknit.algorithms.learned.ml_dagl.attention import DamageHops
from reknit.algorithms.learned.ml_dagl.dgcn import Dgcn, Shape
from reknit.algorithms.learned.ml_dagl.identity_start import start_as_identity
from reknit.algorithms.learned.ml_dagl.kernel import Kernel
from reknit.algorithms.learned.ml_dagl.recipe import PretrainConfig
from reknit.algorithms.learned.ml_dagl.validation import Validation
from reknit.algorithms.learned.ml_dagl.weight_files import lacking, tensor_shapes, weight_name
from reknit.base.errors import InvalidWeights
from reknit.base.files import output_folder
from reknit.base.progress import Progress, silent
from reknit.base.types import JsonDict
from reknit.exact.proof.bounds import emst_bound

_KEPT = "kept/"
"""Before the names of the weights that a checkpoint keeps beside the newest ones."""

_EASY_M = 30.0
"""Added to a case's bound before its loss is divided by it, so that no case counts for too much."""


def pretrain(
    config: PretrainConfig,
    out_dir: str | Path,
    progress: Progress = silent,
    *,
    stop_after: int | None = None,
) -> Path:
    """Train, or go on training, in a folder; returns the path of the weights.

    The folder holds ``checkpoint.safetensors`` on the way and in the end the weights with their
    manifest, which also has the loss curve and the validation curve.

    Parameters
    ----------
    stop_after
        Return after so many steps, with a checkpoint to resume from.
    """
    folder = output_folder(Path(out_dir))
    shapes = tensor_shapes(config.shape)
    run = Checkpoint.resume(folder, plain(config), shapes) or _begin(config)
    settings = config.settings
    net = Dgcn(
        config.shape,
        residual=settings.residual,
        dropout=settings.dropout,
        first_dropout=settings.first_dropout,
    )
    optimizer = _optimizer(config, net)
    run.restore(optimizer, net)
    validation = Validation.of(config) if config.validate_every else None
    started_s = time.perf_counter() - run.trained_s
    last = config.steps if stop_after is None else min(config.steps, stop_after)
    while True:
        due = validation is not None and run.step % config.validate_every == 0
        if validation is not None and (due or run.step == config.steps):
            figures = validation.look(net)
            run.record_validation(figures)
            if config.boundary and _kept_step(run) == run.step:
                run.moments |= {
                    _KEPT + name: parameter.detach().clone()
                    for name, parameter in net.named_parameters()
                }
        ends = run.step >= last or _beyond_boundary(run)
        if run.step % config.checkpoint_every == 0 or ends:
            run.trained_s = time.perf_counter() - started_s
            run.capture(optimizer, net)
            run.save(folder)
        if ends:
            break
        for group in optimizer.param_groups:
            group["lr"] = config.rate(run.step)
        run.losses.append(_step(config, net, optimizer, run.step))
        run.step += 1
        progress(run.step / config.steps, f"step {run.step}: loss {run.losses[-1]:.3f}")
    return export(run, folder)


def export(run: Checkpoint, folder: Path) -> Path:
    """Write the weights of a run, as they are now, with their manifest.

    With ``export(Checkpoint.load(folder), elsewhere)`` also those of a run that goes on.
    """
    shape = Shape(**run.recipe["shape"])
    facts = _facts(run)
    if run.recipe["boundary"]:
        kept = _kept_step(run)
        if kept is None:
            fault = "no step at which every validation case had a connected branch"
            raise InvalidWeights(f"{folder}: {fault}; not written")
        [uavs] = run.recipe["curriculum"]["sizes"]
        settings = run.recipe["settings"]
        without = lacking(settings["gco"], settings["residual"])
        path = folder / weight_name(run.recipe["preset"], shape.dim, uavs, without)
        weights = {name: run.moments[_KEPT + name] for name in tensor_shapes(shape)}
        facts["kept_step"] = kept
    else:
        path = folder / weight_name(run.recipe["preset"], shape.dim)
        weights = {name: run.weights[name] for name in tensor_shapes(shape)}
    save_weights(path, weights, facts, run.recipe["stored"])
    return path


def _all_connected(figures: JsonDict) -> bool:
    """Whether every validation case had a connected branch before any online iteration."""
    return all(kind["connected"] == 1.0 for kind in figures["0"].values())


def _kept_step(run: Checkpoint) -> int | None:
    """The fastest step seen at which every validation case had a connected branch."""
    looks = [look for look in run.validations if _all_connected(look)]
    best = min(looks, key=_planned_s, default=None)
    return None if best is None else int(best["step"])


def _planned_s(look: JsonDict) -> float:
    """Mean planned time over the kinds of validation cases, before any online iteration."""
    return float(np.mean([kind["planned_s"] for kind in look["0"].values()]))


def _beyond_boundary(run: Checkpoint) -> bool:
    """Whether so many looks in a row were no better than the one that is kept as to stop."""
    if not run.recipe["boundary"]:
        return False
    kept = _kept_step(run)
    later = [look for look in run.validations if kept is None or look["step"] > kept]
    return len(later) >= int(run.recipe["patience"])


def _begin(config: PretrainConfig) -> Checkpoint:
    generator = torch.Generator().manual_seed(config.seed)
    net = Dgcn(config.shape, fan_out=config.settings.fan_out, generator=generator)
    if config.start == "identity":
        start_as_identity(net, generator)
    return Checkpoint(
        plain(config), {name: parameter.clone() for name, parameter in net.state_dict().items()}
    )


def _optimizer(config: PretrainConfig, net: Dgcn) -> torch.optim.Optimizer:
    """Plain steps for Reptile, whose differences have the right size already; else Adam."""
    if config.inner_iterations:
        return torch.optim.SGD(net.parameters(), lr=1.0)
    return torch.optim.Adam(net.parameters(), lr=1.0, fused=True)


def _step(config: PretrainConfig, net: Dgcn, optimizer: torch.optim.Optimizer, step: int) -> float:
    """One update of the shared weights; returns the mean relative loss that was left."""
    total = [torch.zeros_like(parameter) for parameter in net.parameters()]
    losses = []
    for item in range(config.batch):
        rng = np.random.default_rng([config.seed, step, item])
        losses.append(_learn(config, net, rng, total))
    for parameter, direction in zip(net.parameters(), total, strict=True):
        parameter.grad = direction / config.batch
    optimizer.step()
    return float(np.mean(losses))


def _learn(
    config: PretrainConfig, net: Dgcn, rng: np.random.Generator, total: list[Tensor]
) -> float:
    """Add what one scenario says to `total`; returns its last relative loss.

    That is the way from its own weights back to the shared ones, or its gradient.
    """
    scenario = config.curriculum.draw(rng)
    scaled = config.settings.scaled(scenario)
    kernel = _draw_kernel(config, config.settings.hops(scenario), rng)
    dropout = torch.Generator().manual_seed(int(rng.integers(1 << 62)))
    bound_m = float(scenario.max_speed_mps.max()) * emst_bound(scenario).bound_s
    scale_m = bound_m + _EASY_M
    rule, online = config.settings.loss, config.settings.online
    if config.inner_iterations:
        own = copy.deepcopy(net)
        own_optimizer = torch.optim.Adam(own.parameters(), betas=online.betas, fused=True)
        for number in range(config.inner_iterations):
            for group in own_optimizer.param_groups:
                group["lr"] = online.rate(scaled, number, config.inner_iterations)
            own_optimizer.zero_grad()
            judged = judge(own(scaled.unit, kernel, dropout), scaled, rule)
            judged.loss.sum().backward()  # type: ignore[no-untyped-call]
            own_optimizer.step()
        for sum_, shared, moved in zip(total, net.parameters(), own.parameters(), strict=True):
            sum_ += shared.detach() - moved.detach()
    else:
        judged = judge(net(scaled.unit, kernel, dropout), scaled, rule)
        gradients = torch.autograd.grad(judged.loss.sum() / scale_m, list(net.parameters()))
        for sum_, gradient in zip(total, gradients, strict=True):
            sum_ += gradient
    return float(judged.loss.detach().mean()) / scale_m


def _draw_kernel(config: PretrainConfig, hops: DamageHops, rng: np.random.Generator) -> Kernel:
    every = hops.chosen
    chosen = every if config.all_branches else (every[int(rng.integers(len(every)))],)
    return config.settings.kernel(hops, chosen)


def _facts(run: Checkpoint) -> JsonDict:
    return {
        "preset": run.recipe["preset"],
        **run.facts(),
        "validation_curve": run.validations,
    }
