"""The switches of the paper's neural net, checked, and the three presets that have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from reknit.algorithms.learned.common.loss import LossRule
from reknit.algorithms.learned.common.online import OnlineRule
from reknit.algorithms.learned.common.scaled import Scale, ScaledScenario
from reknit.algorithms.learned.ml_dagl.attention import DamageHops
from reknit.algorithms.learned.ml_dagl.kernel import (
    EPSILON_RULES,
    Kernel,
    bipartite_kernel,
    ordinary_kernel,
)
from reknit.base.errors import InvalidParameter, UnknownName
from reknit.swarm.scenario import Scenario

Gco = Literal["bipartite", "ordinary"]
GCO = get_args(Gco)
Fastest = Literal["planned", "flown"]
FASTEST = get_args(Fastest)


@dataclass(frozen=True)
class Settings:
    """Everything that decides a plan but the weights, the scenario and the seed.

    Parameters
    ----------
    loss
        The loss of eq. (loss1) or its relaxation.
    online
        The online iterations.
    epsilon
        Eps of the B-GCO: "uavs" (1/N), "norm" (`epsilon_share` of the bound of Prop. 1, branch by
        branch), or a number.
    branches
        The dilation sizes k; None: 1 to K by eq. (K).
    hidden
        d_s, the width of the neural net.
    gco
        "bipartite" (B-GCO) or "ordinary", for the ablation.
    residual
        The blocks' skip connections, for the ablation.
    dropout
        Between blocks, also during online iterations.
    contraction
        Contract what is not connected, with the contracted original positions always a candidate.
    trimming
        End the plan where it reconnects the swarm.
    fastest
        Which T_rc a connected output is kept for, "planned" or "flown".
    awake_only
        Train without the units that answer to no UAV before training: a quarter.
    few_branches
        Beyond 2,000 UAVs fewer branches than K by eq. (K), see `attention`.
    refine
        Steps of gradient descent on the targets themselves, by the planner `descent`, from the
        neural net's best output and from the positions; 0: none.
    untrained_restart
        Iterate once more from untrained weights if no output was connected. The count term has no
        gradient towards a connected swarm, so from weights whose outputs are split, as under a
        damage beyond those of training, iterations lead nowhere; untrained ones begin with all
        UAVs together.
    virtual_node
        A node at the centre that is linked to every UAV in every branch, so that each mDAG is
        connected.
    area_scale
        Positions about the centre of the area, see `Scale.of_area`, instead of about p_c.
    first_dropout
        Dropout after layer 1 too.
    fan_out
        First weights and biases within 1 / sqrt(d_out) instead of 1 / sqrt(d_in).
    """

    loss: LossRule
    online: OnlineRule
    epsilon: str | float = "uavs"
    epsilon_share: float = 0.99
    branches: tuple[int, ...] | None = None
    hidden: int = 512
    gco: str = "bipartite"
    residual: bool = True
    dropout: float = 0.0
    contraction: bool = True
    trimming: bool = True
    fastest: str = "planned"
    awake_only: bool = False
    few_branches: bool = False
    refine: int = 0
    untrained_restart: bool = False
    virtual_node: bool = False
    area_scale: bool = False
    first_dropout: bool = False
    fan_out: bool = False

    def __post_init__(self) -> None:
        if self.gco not in GCO:
            raise UnknownName("gco", self.gco, GCO)
        if self.fastest not in FASTEST:
            raise UnknownName("fastest", self.fastest, FASTEST)
        if isinstance(self.epsilon, str):
            if self.epsilon not in EPSILON_RULES:
                raise UnknownName("epsilon", self.epsilon, EPSILON_RULES)
        elif not (np.isfinite(self.epsilon) and self.epsilon > 0):
            raise InvalidParameter("epsilon", self.epsilon, f"above 0, or one of {EPSILON_RULES}")
        if not 0 < self.epsilon_share < 1:
            raise InvalidParameter("epsilon_share", self.epsilon_share, "between 0 and 1")
        if not 0 <= self.dropout < 1:
            raise InvalidParameter("dropout", self.dropout, "at least 0 and below 1")
        if self.virtual_node and self.gco != "bipartite":
            raise InvalidParameter("gco", self.gco, "'bipartite' with a virtual node")
        if self.branches is not None and not _are_hops(self.branches):
            allowed = "None or different whole numbers of at least 1"
            raise InvalidParameter("branches", self.branches, allowed)

    def scaled(self, scenario: Scenario) -> ScaledScenario:
        """A scenario in the neural net's units."""
        scale = Scale.of_area(scenario) if self.area_scale else None
        return ScaledScenario.of(scenario, scale, virtual_node=self.virtual_node)

    def hops(self, scenario: Scenario) -> DamageHops:
        """The mDAGs of a scenario, with the dilation sizes of its branches."""
        return DamageHops.of(scenario, self.branches, few=self.few_branches)

    def kernel(self, hops: DamageHops, branches: Sequence[int]) -> Kernel:
        """The convolution kernel of some branches, given by their dilation sizes k."""
        if self.gco == "ordinary":
            return ordinary_kernel(hops, branches)
        return bipartite_kernel(
            hops, branches, self.epsilon, self.epsilon_share, virtual_node=self.virtual_node
        )


def _are_hops(branches: tuple[int, ...]) -> bool:
    whole = all(isinstance(k, (int, np.integer)) and k >= 1 for k in branches)
    return whole and 0 < len(branches) == len(set(branches))


PAPER = Settings(
    loss=LossRule(disconnection="count", weight=1000.0),
    online=OnlineRule(iterations=50, learning_rate=1e-4),
    epsilon="uavs",
    dropout=0.1,
    contraction=False,
    trimming=False,
    fastest="flown",
    untrained_restart=True,
)
"""Section IV and Section V-A to the letter. T_rc, by which the paper picks k* and which its
tables report, is when the flying swarm is first connected. What to do where no output is
connected the paper does not say."""

PUBLISHED = replace(
    PAPER,
    loss=LossRule(disconnection="count", weight=5000.0),
    epsilon="norm",
    epsilon_share=0.5,
    branches=tuple(range(1, 11)),
    virtual_node=True,
    area_scale=True,
    first_dropout=True,
    fan_out=True,
)
"""The same method with what the published work does beside or against the paper's text."""

RELAXED = Settings(
    loss=LossRule(disconnection="excess", weight=1.0, power=10.0, margin=0.003),
    online=OnlineRule(
        iterations=6,
        learning_rate=3e-3,
        relative=True,
        final_share=0.3,
        betas=(0.8, 0.99),
        keep=((0, 1),),
        tie=1.2,
    ),
    epsilon="norm",
    epsilon_share=0.1,
    hidden=128,
    awake_only=True,
    few_branches=True,
    refine=80,
)
"""A quarter of the width, a loss that has a gradient, a few iterations, and its output refined."""

PAPER_SIZES = (20, 50, 100, 200, 500, 1000)
"""N of the paper's swarms, for each of which the preset "paper" has weights of its own."""

PresetName = Literal["default", "relaxed", "paper", "published"]
PRESETS: dict[PresetName, Settings] = {
    "relaxed": RELAXED,
    "paper": PAPER,
    "published": PUBLISHED,
}
"""Those with the paper's neural net. The preset "default" has another, see `pull`."""
