"""DEMD: damage embedding and multi-hop convolution, balanced by GradNorm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import torch
from torch import Tensor

from reknit.algorithms.learned.common.baseline import Baseline, OnlineNet
from reknit.algorithms.learned.common.layers import as_tensor, dropout_generator
from reknit.algorithms.learned.common.online import OnlineRule
from reknit.algorithms.learned.common.scaled import ScaledScenario
from reknit.algorithms.learned.demd.loss import Balanced, degree_shares, graph_degrees
from reknit.algorithms.learned.demd.net import DemdNet, embedding_kernel, hop_kernels
from reknit.algorithms.parameters import Hops, Iterations, LearningRate, Range, Share
from reknit.base.context import Context
from reknit.base.errors import InvalidParameter

DEFAULT_HOPS = (4, 5, 6, 7, 8)


@dataclass(frozen=True)
class Demd(Baseline):
    """Destroyed neighbours are embedded in the survivors' features; then k-hop convolutions.

        X^1     = survivors' rows of ReLU(S_0 X_all W^0 + b^0),  S_0 on the original links
        X^(l+1) = ReLU(S_k X^l W^l + b^l),  S_k on survivors at most k original hops apart
        S       = I - (0.99 / ||A||_inf) L  for either graph

    with tanh at the end, scaled to the mission area. The description names no kernel for the
    first layer; it has the same one as the others.

    Loss in metres: ``w_1 max displacement + w_2 |c - b| + penalty (N_s - 1)``, with c the
    centroid of the output weighted by the degrees in its own radio network (equal weights
    where nobody has a link), b the centre of the survivors' bounding box, and w balanced by
    GradNorm over the last layer's weights.

    The other parameters are those of `Baseline`.

    Parameters
    ----------
    hops
        The k to try. Each has a neural net and a GradNorm of its own; the fastest connected
        output of all is kept.
    keep
        (From which iteration, how many of them go on), lowest loss first.
    gradnorm_alpha
        How strongly GradNorm evens out the pace of the two losses.
    gradnorm_rate
        Step of GradNorm's weights.
    centroid_degrees
        Whose degrees weigh the centroid: those in the radio network of the "output", or those
        in the graph of `hops` on which the neural net convolves.
    """

    name: ClassVar[str] = "demd"
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {**Baseline.PRESETS["paper"], "learning_rate": 1e-4, "centroid_degrees": "hops"}
    }

    learning_rate: LearningRate = 1e-3
    iterations: Iterations = 50
    hops: tuple[Hops, ...] = DEFAULT_HOPS
    keep: tuple[tuple[Iterations, Annotated[int, Range(least=1)]], ...] = ()
    gradnorm_alpha: Annotated[float, Range(least=0.0, most=100.0)] = 0.12
    gradnorm_rate: Share = 0.025
    centroid_degrees: Literal["output", "hops"] = "output"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < len(self.hops) == len(set(self.hops)):
            raise InvalidParameter("hops", self.hops, "different whole numbers of at least 1")

    @property
    def online(self) -> OnlineRule:
        """The online iterations."""
        return replace(super().online, keep=tuple(self.keep))

    def online_net(self, scaled: ScaledScenario, context: Context) -> OnlineNet:
        """One neural net per k."""
        scenario = scaled.scenario
        context.progress(0.0, "counting hops")
        embedding = as_tensor(embedding_kernel(scenario)) @ self.features(scaled)
        graphs = hop_kernels(scenario, self.hops)
        kernels = [as_tensor(kernel) for kernel in graphs]
        generator = torch.Generator().manual_seed(context.seed)
        nets = [DemdNet.make(self, scenario.dim, generator) for _ in self.hops]
        dropout = dropout_generator(self.dropout, context.seed)
        by_hops = self.centroid_degrees == "hops"
        shares = [degree_shares(graph_degrees(graph)) for graph in graphs] if by_hops else None
        objective = Balanced(self, nets, scaled, shares)

        def forward(active: Sequence[int]) -> Tensor:
            outputs = [nets[k](embedding, kernels[k], dropout) for k in active]
            return torch.stack(outputs)

        parameters = [parameter for net in nets for parameter in net.parameters()]
        details = {"branches": [int(k) for k in self.hops]}
        return OnlineNet(forward, parameters, objective, details, branches=len(nets))
