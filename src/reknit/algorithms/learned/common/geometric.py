"""The two layers taken from torch_geometric, whose import warns of its own deprecations, and its
form of a graph.
"""

from __future__ import annotations

import warnings

import numpy as np
import torch
from torch import Tensor

from reknit.base.types import IntArray

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from torch_geometric.nn import GATv2Conv, GCNConv  # type: ignore[import-untyped]

__all__ = ["GATv2Conv", "GCNConv", "both_ways"]


def both_ways(pairs: IntArray) -> Tensor:
    """Links as torch_geometric wants them: (2, 2 links), each from both ends."""
    return torch.from_numpy(np.concatenate([pairs, pairs[:, ::-1]]).T.copy())
