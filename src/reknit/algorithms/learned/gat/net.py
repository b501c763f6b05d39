"""GAT's net, on torch_geometric's layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from reknit.algorithms.learned.common.geometric import GATv2Conv
from reknit.algorithms.learned.common.layers import drop, fill, without_values

if TYPE_CHECKING:
    from reknit.algorithms.learned.gat.planner import Gat

_LAST_SHARE = 0.1
"""The last layer's first weights, against Glorot's. Layer normalisation keeps features large, so
that outputs would start all over the area; like this they start close to one point, as GCN's do."""


class GatNet(nn.Module):
    """The net of `Gat`."""

    def __init__(self, planner: Gat, dim: int) -> None:
        super().__init__()
        self.dropout = planner.dropout
        wide = planner.hidden * planner.heads
        shared = {"heads": planner.heads, "share_weights": planner.share_weights}
        inputs = [dim, *[wide] * (planner.layers - 2)]
        self.layers = nn.ModuleList(GATv2Conv(i, planner.hidden, **shared) for i in inputs)
        self.norms = nn.ModuleList(nn.LayerNorm(wide) for _ in inputs)
        self.last = GATv2Conv(wide, dim, concat=False, **shared)

    @staticmethod
    def make(planner: Gat, dim: int, seed: int) -> nn.Module:
        """A net with the first weights of a seed."""
        net = without_values(lambda: GatNet(planner, dim))
        fill(net, torch.Generator().manual_seed(seed))
        assert isinstance(net, GatNet)
        with torch.no_grad():
            for parameter in net.last.parameters():
                parameter.mul_(_LAST_SHARE)
        return net

    def forward(self, features: Tensor, edges: Tensor, generator: torch.Generator | None) -> Tensor:
        """(n, dim) positions to (n, dim) in (-1, 1)."""
        for layer, norm in zip(self.layers, self.norms, strict=True):
            features = functional.relu(norm(layer(features, edges)))
            features = drop(features, self.dropout, generator)
        return torch.tanh(self.last(features, edges))
