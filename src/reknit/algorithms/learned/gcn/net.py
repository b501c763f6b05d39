"""GCN's net, on torch_geometric's layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from reknit.algorithms.learned.common.geometric import GCNConv
from reknit.algorithms.learned.common.layers import drop, fill, layer_sizes, without_values

if TYPE_CHECKING:
    from reknit.algorithms.learned.gcn.planner import Gcn


class GcnNet(nn.Module):
    """The net of `Gcn` for one graph, whose normalisation it remembers."""

    def __init__(self, dim: int, layers: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        sizes = layer_sizes(dim, layers, hidden)
        self.layers = nn.ModuleList(GCNConv(i, o, cached=True) for i, o in sizes)

    @staticmethod
    def make(planner: Gcn, dim: int, seed: int) -> nn.Module:
        """A net with the first weights of a seed."""
        net = without_values(lambda: GcnNet(dim, planner.layers, planner.hidden, planner.dropout))
        fill(net, torch.Generator().manual_seed(seed))
        return net

    def forward(self, features: Tensor, edges: Tensor, generator: torch.Generator | None) -> Tensor:
        """(n, dim) positions to (n, dim) in (-1, 1)."""
        *inner, last = self.layers
        for layer in inner:
            features = drop(functional.relu(layer(features, edges)), self.dropout, generator)
        return torch.tanh(last(features, edges))
