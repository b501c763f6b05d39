"""Online iterations: a net is trained on the one scenario at hand, and the best output is kept.

Everything a graph-learning planner does at run time but its net: the loop, best so far over
iterations and branches, dropping branches that lost, and every reason to stop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np
import torch
from torch import Tensor

from reknit.algorithms.learned.common.adam import Adam
from reknit.algorithms.learned.common.loss import Judged, Objective
from reknit.algorithms.learned.common.scaled import ScaledScenario
from reknit.algorithms.learned.common.threads import keep_freed_memory
from reknit.base.context import Context
from reknit.base.errors import InvalidParameter
from reknit.base.progress import Report
from reknit.base.types import FloatArray
from reknit.plans.status import OPTIMALITY_GAP

Forward = Callable[[Sequence[int]], Tensor]
"""Branch numbers to their outputs, (branches, N_R, dim) in the net's units."""

Begin = Callable[[Sequence[int]], Iterable[Tensor]]
"""Called once before training, with the branches that go on: the parameters to train."""

_GAIN = 1e-3
"""Progress is an improvement of the best loss or the best time by this share."""


@dataclass(frozen=True)
class OnlineRule:
    """How to iterate.

    Parameters
    ----------
    iterations
        Updates of the weights, at most; there is one output more than updates.
    learning_rate
        Of Adam; falls linearly to `final_share` of itself.
    relative
        The learning rate is times the scenario's `need`: the outputs of a swarm that has far to
        go in a small area must change faster than others'.
    final_share
        Share of the learning rate that is left at the end.
    betas
        Adam's decay of the means of the gradients and of their squares.
    keep
        (From which iteration, how many branches stay) in order; the branches with the lowest
        loss stay. From iteration 0 on: chosen by one pass over all.
    tie
        Losses of up to this many times the lowest count as equal to it; among equals the
        first branches stay.
    patience
        Stop after so many iterations without progress.
    solutions
        How many of the best connected outputs to return.
    overtime
        Updates beyond `iterations`, at most, while no output is connected.
    restart
        Adam forgets what it has seen after every iteration without a connected output.
    split_limit
        Stop after so many iterations in a row without a connected output.
    """

    iterations: int = 50
    learning_rate: float = 1e-4
    relative: bool = False
    final_share: float = 1.0
    betas: tuple[float, float] = (0.9, 0.999)
    keep: tuple[tuple[int, int], ...] = ()
    tie: float = 1.0
    patience: int | None = None
    solutions: int = 1
    overtime: int = 0
    restart: bool = False
    split_limit: int | None = None

    def __post_init__(self) -> None:
        for name in ("iterations", "overtime"):
            if getattr(self, name) < 0:
                raise InvalidParameter(name, getattr(self, name), "a whole number of at least 0")
        for name in ("learning_rate", "final_share"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0):
                raise InvalidParameter(name, value, "a finite number above 0")
        if any(count < 1 for _, count in self.keep):
            raise InvalidParameter("keep", self.keep, "at least one branch at any time")
        if not (np.isfinite(self.tie) and self.tie >= 1):
            raise InvalidParameter("tie", self.tie, "a finite number of at least 1")
        if self.patience is not None and self.patience < 1:
            raise InvalidParameter("patience", self.patience, "None or at least 1")
        if self.split_limit is not None and self.split_limit < 1:
            raise InvalidParameter("split_limit", self.split_limit, "None or at least 1")

    def rate(self, scaled: ScaledScenario, iteration: int, iterations: int) -> float:
        """The learning rate of one of so many iterations."""
        done = min(1.0, iteration / max(1, iterations))
        first = self.learning_rate * (scaled.need if self.relative else 1.0)
        return first * (1.0 - done * (1.0 - self.final_share))


@dataclass(frozen=True, eq=False)
class Output:
    """One output of the net in metres, with what was seen of it."""

    targets: FloatArray
    time_s: float
    loss_m: float
    subnets: int
    iteration: int
    branch: int


@dataclass(eq=False)
class Outcome:
    """What the iterations have come to; safe to copy while they go on.

    Parameters
    ----------
    solutions
        Connected outputs, fastest first.
    nearest
        The output with the lowest loss among those that are not connected.
    iterations
        Updates made.
    stop
        Why they ended: "iterations", "bound", "progress", "split" or "deadline".
    losses_m
        Lowest loss of any branch at every iteration.
    """

    solutions: list[Output] = field(default_factory=list)
    nearest: Output | None = None
    iterations: int = 0
    stop: str = "iterations"
    losses_m: list[float] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False)

    def cut_short(self) -> Outcome:
        """What there is at this moment, ended by the deadline."""
        with self._lock:
            solutions, losses_m = list(self.solutions), list(self.losses_m)
            return Outcome(solutions, self.nearest, self.iterations, "deadline", losses_m)

    def begin_again(self) -> None:
        """Count iterations and losses from here on; what was seen stays."""
        with self._lock:
            self.iterations = 0
            self.losses_m.clear()

    def see(self, judged: Judged, branches: Sequence[int], keep: int) -> None:
        """Take note of a batch of outputs."""
        with self._lock:
            self._see(judged, branches, keep)

    def _see(self, judged: Judged, branches: Sequence[int], keep: int) -> None:
        losses = judged.loss.detach().double().numpy()
        self.losses_m.append(float(losses.min()))
        for row, branch in enumerate(branches):
            output = Output(
                targets=judged.targets[row],
                time_s=float(judged.times_s[row]),
                loss_m=float(losses[row]),
                subnets=int(judged.subnets[row]),
                iteration=self.iterations,
                branch=branch,
            )
            if judged.connected[row]:
                self.solutions.append(output)
            elif self.nearest is None or output.loss_m < self.nearest.loss_m:
                self.nearest = output
        self.solutions.sort(key=lambda output: output.time_s)
        del self.solutions[keep:]


def iterate(
    forward: Forward,
    begin: Begin,
    branches: int,
    scaled: ScaledScenario,
    objective: Objective,
    rule: OnlineRule,
    context: Context,
    bound_s: float = 0.0,
    outcome: Outcome | None = None,
) -> Outcome:
    """Train on one scenario.

    Parameters
    ----------
    forward
        The net, called with the numbers of the branches to compute.
    begin
        Called once, with the branches that go on: what to train.
    branches
        Their number.
    scaled
        The scenario in the net's units.
    objective
        What is lowered.
    rule
        How to iterate.
    context
        Seed, limits and listeners.
    bound_s
        Stop as soon as this proves that no more can be gained.
    outcome
        Where to take note of what is seen; by default a fresh one.

    Returns
    -------
    Outcome
        The best outputs and why the iterations ended.
    """
    outcome = Outcome() if outcome is None else outcome
    active = list(range(branches))
    keep_freed_memory()
    if _kept(rule, 0, branches) < branches:
        losses = _look(forward, branches, scaled, objective, rule, context, outcome)
        active = _lowest(losses, active[: len(losses)], _kept(rule, 0, branches), rule.tie)
        if context.is_over:
            outcome.stop = "deadline"
            return outcome
    adam = Adam(begin(active), rule.betas)
    clock, split = _Patience(rule.patience), 0
    while True:
        judged = objective(forward(active), scaled, active)
        outcome.see(judged, active, rule.solutions)
        split = 0 if judged.connected.any() else split + 1
        fraction = min(1.0, outcome.iterations / max(1, rule.iterations))
        best = outcome.solutions[0].time_s if outcome.solutions else np.inf
        context.progress(fraction, _report(outcome.iterations, best, judged))
        stop = _stop(rule, context, outcome, best, bound_s, clock)
        if stop is None and rule.split_limit is not None and split >= rule.split_limit:
            stop = "split"
        if stop is not None:
            outcome.stop = stop
            return outcome
        rate = rule.rate(scaled, outcome.iterations, rule.iterations)
        if rule.restart and split:
            adam = Adam(adam.parameters, rule.betas)
        adam.step(adam.gradients(judged.loss.sum()), rate)
        outcome.iterations += 1
        losses = judged.loss.detach().tolist()
        del judged  # and with it what the net kept for the backward pass
        active = _lowest(losses, active, _kept(rule, outcome.iterations, len(active)), rule.tie)


def _stop(
    rule: OnlineRule,
    context: Context,
    outcome: Outcome,
    best_s: float,
    bound_s: float,
    clock: _Patience,
) -> str | None:
    if best_s <= bound_s * (1 + OPTIMALITY_GAP):
        return "bound"
    if outcome.iterations >= rule.iterations + (0 if outcome.solutions else rule.overtime):
        return "iterations"
    if context.is_over:
        return "deadline"
    return "progress" if clock.is_over(outcome.losses_m[-1], best_s) else None


class _Patience:
    """Counts iterations since the best loss or the best time last improved."""

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._loss_m = self._best_s = np.inf
        self._idle = 0

    def is_over(self, loss_m: float, best_s: float) -> bool:
        """Told the newest figures, whether progress has ended."""
        better = loss_m < self._loss_m * (1 - _GAIN) or best_s < self._best_s * (1 - _GAIN)
        self._idle = 0 if better else self._idle + 1
        if better:
            self._loss_m, self._best_s = min(loss_m, self._loss_m), min(best_s, self._best_s)
        return self._limit is not None and self._idle >= self._limit


def _kept(rule: OnlineRule, iteration: int, now: int) -> int:
    counts = [count for start, count in rule.keep if start <= iteration]
    return min([now, *counts])


@torch.no_grad()
def _look(
    forward: Forward,
    branches: int,
    scaled: ScaledScenario,
    objective: Objective,
    rule: OnlineRule,
    context: Context,
    outcome: Outcome,
) -> list[float]:
    """The loss of every branch before any training; of the first ones if time runs out.

    Nothing is kept for a backward pass, so one branch at a time needs the least memory.
    """
    losses: list[float] = []
    for branch in range(branches):
        judged = objective(forward([branch]), scaled, [branch])
        outcome.see(judged, [branch], rule.solutions)
        losses.append(float(judged.loss[0]))
        if context.is_over:
            break
    outcome.losses_m.clear()
    return losses


def _lowest(losses: list[float], active: list[int], count: int, tie: float) -> list[int]:
    """The `count` active branches with the lowest loss, in their order."""
    if count >= len(active):
        return active
    lowest = min(losses)
    order = np.argsort([max(loss, tie * lowest) for loss in losses], kind="stable")[:count]
    return [active[row] for row in sorted(order.tolist())]


def _report(iterations: int, best_s: float, judged: Judged) -> Report:
    """The best time so far, and where the branch of the lowest loss now sends the survivors."""
    targets = judged.targets[int(judged.loss.detach().argmin())]
    if not np.isfinite(best_s):
        return Report(f"iteration {iterations}: not connected yet", targets)
    return Report(f"iteration {iterations}: best {best_s:.2f} s", targets, best_s)
