"""What the steering planners share."""

from __future__ import annotations

import numpy as np

from reknit.base.types import FloatArray


def heading(offset: FloatArray, reach_m: FloatArray | float) -> FloatArray:
    """Unit vectors along the offsets; proportionally shorter within reach.

    ``offset / max(|offset|, reach)`` with the reach being what one step covers, so that nobody
    overshoots its goal and jitters about it.
    """
    distance = np.sqrt((offset * offset).sum(axis=1))
    scale = np.maximum(distance, reach_m)[:, None]
    return np.asarray(np.divide(offset, scale, out=np.zeros_like(offset), where=scale > 0))
