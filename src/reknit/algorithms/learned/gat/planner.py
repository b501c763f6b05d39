"""GAT: graph attention (GATv2, Brody et al., 2022), trained online on the survivors' network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from reknit.algorithms.learned.common.baseline import Baseline, OnlineNet
from reknit.algorithms.learned.common.geometric import net_on_links
from reknit.algorithms.learned.common.scaled import ScaledScenario
from reknit.algorithms.learned.gat.net import GatNet
from reknit.algorithms.parameters import Iterations, LearningRate, Range
from reknit.base.context import Context


@dataclass(frozen=True)
class Gat(Baseline):
    """The setting of `Gcn` with attention in place of a fixed kernel.

        e_ij = a . LeakyReLU(W_t x_i + W_s x_j),   alpha_ij = softmax_j(e_ij),
        x_i' = ||_heads sum_j alpha_ij W_s x_j + b,   j over the neighbours of i and i itself,

    then layer normalisation, ReLU and dropout; the last layer averages its heads and ends in
    tanh. The layers are torch_geometric's `GATv2Conv`. Loss and graph are those of `Gcn`.

    The other parameters are those of `Baseline`; there are 6 layers.

    Parameters
    ----------
    heads
        Of every layer, with `hidden` features each, concatenated.
    share_weights
        W_s = W_t, which halves the weights and the time.
    learning_rate
        Of Adam. The published rate of 0.01 moves the inputs of tanh, sums over 2000 features,
        so far in its first steps that every output saturates in a corner of the area and no
        gradient is left.
    """

    name: ClassVar[str] = "gat"
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {**Baseline.PRESETS["paper"], "learning_rate": 0.01}
    }

    layers: Annotated[int, Range(least=2, most=100)] = 6
    learning_rate: LearningRate = 2e-5
    iterations: Iterations = 30
    patience: Annotated[int, Range(least=1, most=1_000_000)] | None = 20
    heads: Annotated[int, Range(least=1, most=64)] = 4
    share_weights: bool = True

    def online_net(self, scaled: ScaledScenario, context: Context) -> OnlineNet:
        """The neural net on the survivors' links."""
        net = GatNet.make(self, scaled.scenario.dim, context.seed)
        return net_on_links(self, net, scaled, context.seed)
