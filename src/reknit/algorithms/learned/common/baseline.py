"""What every graph-learning baseline is made of: its own net, and one online training.

The loss, the iterations, the best output so far and every reason to stop are shared; nothing is
repaired: a baseline's weaknesses are part of what is compared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from reknit.algorithms.learned.common.loss import Disconnection, Judged, LossRule, Objective
from reknit.algorithms.learned.common.online import Forward, OnlineRule, Outcome, iterate
from reknit.algorithms.learned.common.scaled import ScaledScenario
from reknit.algorithms.learned.common.solution import choose
from reknit.algorithms.learned.common.threads import run_until_over
from reknit.algorithms.parameters import (
    Dropout,
    Iterations,
    LearningRate,
    Penalty,
    Range,
    check_fields,
)
from reknit.algorithms.protocols import Proposal
from reknit.base.context import Context
from reknit.base.errors import TooLarge
from reknit.base.types import FloatArray, JsonDict
from reknit.exact.proof.bounds import lower_bound
from reknit.flight.motion import StraightFlight
from reknit.flight.reconnection import first_connected_s
from reknit.swarm.scenario import Scenario


@dataclass(frozen=True, eq=False)
class OnlineNet:
    """A net made for one scenario.

    Parameters
    ----------
    forward
        Numbers of branches to their outputs.
    parameters
        What is trained.
    objective
        The loss, where it is more than the planner's `loss`.
    details
        Facts for the plan; "branches" names the branches, where there are several.
    branches
        Their number.
    """

    forward: Forward
    parameters: Sequence[Tensor]
    objective: Objective | None = None
    details: JsonDict = field(default_factory=dict)
    branches: int = 1


@dataclass(frozen=True)
class Baseline(ABC):
    """A net trained on the one scenario at hand; the fastest connected output seen is the plan.

    Parameters
    ----------
    layers
        Number of layers.
    hidden
        Features of the layers inside.
    dropout
        Between layers, also while training online.
    learning_rate
        Of Adam.
    iterations
        Updates of the weights, at most; see `patience`.
    patience
        Stop after so many iterations without a better loss or time, which is what an output
        that stays disconnected comes to; None: never.
    disconnection
        How the loss measures what is not connected: "count", the method's own term (it has no
        gradient), or "excess".
    penalty
        Its weight lambda: metres per sub-net too many, or per metre of excess (1 is then
        plenty).
    fastest
        Which T_rc a connected output is kept for: "flown", when the swarm flying there is
        first connected, the one that counts in the end; or "planned", that of the farthest
        UAV, which stands in the loss. The descriptions say that the best output is kept and
        leave open by which. Training is the same for either.
    inputs
        What the net is given: positions that are "normalised", or in "metres".
    restart
        Adam forgets what it has seen after every output that is not connected.
    split_limit
        Stop after so many outputs in a row that are not connected; None: never.
    """

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {
            "iterations": 1000,
            "patience": None,
            "fastest": "planned",
            "inputs": "metres",
            "restart": True,
            "split_limit": 5,
        }
    }
    """The training as published, beside the defaults, which serve each method better."""

    name: ClassVar[str]
    most_survivors: ClassVar[int] = 2_500
    """Outputs lie close together, so that to follow the flight there, or to link all that are
    near, takes work and memory for a share of all pairs."""

    layers: Annotated[int, Range(least=2, most=100)] = 8
    hidden: Annotated[int, Range(least=1, most=10_000)] = 500
    dropout: Dropout = 0.1
    learning_rate: LearningRate = 1e-4
    iterations: Iterations = 100
    patience: Annotated[int, Range(least=1, most=1_000_000)] | None = 50
    disconnection: Disconnection = "count"
    penalty: Penalty = 1000.0
    fastest: Literal["flown", "planned"] = "flown"
    inputs: Literal["normalised", "metres"] = "normalised"
    restart: bool = False
    split_limit: Annotated[int, Range(least=1, most=1_000_000)] | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def loss(self) -> LossRule:
        """Displacement and disconnection."""
        return LossRule(self.disconnection, self.penalty)

    @property
    def online(self) -> OnlineRule:
        """The online iterations."""
        return OnlineRule(
            self.iterations,
            self.learning_rate,
            patience=self.patience,
            restart=self.restart,
            split_limit=self.split_limit,
        )

    def features(self, scaled: ScaledScenario) -> Tensor:
        """(N, dim) what the net is given of every UAV, survivors before destroyed ones."""
        if self.inputs == "normalised":
            return scaled.unit
        return torch.from_numpy(scaled.scale.to_metres(scaled.unit).astype(np.float32))

    @abstractmethod
    def online_net(self, scaled: ScaledScenario, context: Context) -> OnlineNet:
        """The method's net for one scenario, with its first weights."""

    def propose(self, scenario: Scenario, context: Context) -> Proposal:
        """Train on the scenario; the fastest connected output seen, or the one with the lowest
        loss where none was connected.
        """
        check_size(self.name, len(scenario.survivors), self.most_survivors)
        scaled = ScaledScenario.of(scenario)
        outcome = Outcome()
        details: JsonDict = {}

        def train(inner: Context) -> None:
            online_net = self.online_net(scaled, inner)
            details.update(online_net.details)
            objective = online_net.objective or self.loss
            iterate(
                online_net.forward,
                lambda _: online_net.parameters,
                online_net.branches,
                scaled,
                Flown(objective) if self.fastest == "flown" else objective,
                self.online,
                inner,
                lower_bound(scenario, inner).bound_s,
                outcome,
            )

        if not run_until_over(train, context):
            outcome = outcome.cut_short()
        return choose(scaled, outcome, contraction=False, trimming=False, details=dict(details))


def check_size(planner: str, survivors: int, most: int) -> None:
    """Raise `TooLarge` where a swarm has more survivors than a planner has memory for."""
    if survivors > most:
        size, limit = f"{survivors:,} survivors", f"{most:,} survivors"
        raise TooLarge(planner, size, limit, "'descent' or 'certified'")


class Flown:
    """An objective whose times are flown ones.

    Only what is faster than all before it matters, so a flight is followed no longer than
    the fastest one so far took; the time of one that is not faster is infinite.
    """

    def __init__(self, objective: Objective) -> None:
        self._objective = objective
        self._best_s = np.inf

    def __call__(self, output: Tensor, scaled: ScaledScenario, branches: Sequence[int]) -> Judged:
        judged = self._objective(output, scaled, branches)
        times_s = judged.times_s.copy()
        for row in np.flatnonzero(judged.connected):
            limit_s = min(float(times_s[row]), self._best_s)
            times_s[row] = flown_time_s(scaled.scenario, judged.targets[row], limit_s)
            self._best_s = min(self._best_s, float(times_s[row]))
        return replace(judged, times_s=times_s)


def flown_time_s(scenario: Scenario, targets: FloatArray, limit_s: float) -> float:
    """When the swarm flying to its targets is first connected; infinite if not by `limit_s`."""
    if limit_s <= 0:
        return 0.0
    leg = StraightFlight(scenario, targets).next_leg(limit_s)
    found_s = first_connected_s(leg, scenario.planning_range_m)
    return np.inf if found_s is None else found_s
