"""The two layers taken from torch_geometric, whose import warns of its own deprecations."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from torch_geometric.nn import GATv2Conv, GCNConv  # type: ignore[import-untyped]

__all__ = ["GATv2Conv", "GCNConv"]
