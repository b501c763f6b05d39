"""GCN (Kipf & Welling, 2017), trained online on the survivors' own network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reknit.algorithms.learned.common.baseline import Baseline, OnlineNet
from reknit.algorithms.learned.common.geometric import net_on_links
from reknit.algorithms.learned.common.scaled import ScaledScenario
from reknit.algorithms.learned.gcn.net import GcnNet
from reknit.base.context import Context


@dataclass(frozen=True)
class Gcn(Baseline):
    """Graph convolution on the remaining graph, one neural net per case.

        X^(l+1) = ReLU(S X^l W^l + b^l),   S = D^(-1/2) (A + I) D^(-1/2),
        targets = p_c + (D + 1) tanh(S X^(Q-1) W^(Q-1) + b^(Q-1))

    A are the survivors' radio links at t_0 and D its degrees plus one; the layers are
    torch_geometric's `GCNConv`. Loss: ``penalty (N_s - 1) + max displacement`` in metres.

    Sub-nets share weights but no features, so what holds the output together is only that all
    outputs start close to one point; training draws them apart until it breaks, and the best
    connected output is kept.

    8 layers of 500 features; the other parameters are those of `Baseline`.
    """

    name: ClassVar[str] = "gcn"

    def online_net(self, scaled: ScaledScenario, context: Context) -> OnlineNet:
        """The neural net on the survivors' links."""
        net = GcnNet.make(self, scaled.scenario.dim, context.seed)
        return net_on_links(self, net, scaled, context.seed)
