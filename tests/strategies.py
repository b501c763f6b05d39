"""Hypothesis strategies shared by the property tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from reknit import Scenario
from reknit.base.types import FloatArray


@st.composite
def point_sets(draw: st.DrawFn, min_size: int = 1, max_size: int = 40) -> FloatArray:
    """Points in 2-D or 3-D: in general position, on a coarse lattice (many ties and coincident
    points), or on a line.
    """
    count = draw(st.integers(min_size, max_size))
    dim = draw(st.sampled_from([2, 3]))
    kind = draw(st.sampled_from(["free", "lattice", "line"]))
    if kind == "lattice":
        cells = draw(arrays(np.int64, (count, dim), elements=st.integers(0, 4)))
        return cells * 60.0
    seed = draw(st.integers(0, 2**32 - 1))
    points = np.random.default_rng(seed).random((count, dim)) * 600.0
    if kind == "line":
        points[:, 1:] = points[:, :1] * 0.5
    return np.asarray(points)


@st.composite
def scenarios(draw: st.DrawFn, max_uavs: int = 24, max_speed_mps: float = 10.0) -> Scenario:
    """Any small scenario, split or not."""
    points = draw(point_sets(min_size=2, max_size=max_uavs))
    lost = draw(st.sets(st.integers(0, len(points) - 1), max_size=len(points) - 1))
    return Scenario(points, sorted(lost), 120.0, max_speed_mps)
