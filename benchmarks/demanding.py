"""Split swarms with demands that a tree of links does not know: redundancy and separation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import reknit
from benchmarks.families import Family


def _demanding(uavs: int, lost: float, **demands: Any) -> Callable[[int], reknit.Scenario]:
    def make(seed: int) -> reknit.Scenario:
        return reknit.generate(uavs, round(uavs * lost), seed=seed, split=True, **demands)

    return make


DEMANDING = (
    Family("2-connected, N=200, 50 % lost", _demanding(200, 0.5, connectivity=2), 0.08),
    Family("2-connected, N=200, 80 % lost", _demanding(200, 0.8, connectivity=2), 0.08),
    Family("2-connected, N=200, 90 % lost", _demanding(200, 0.9, connectivity=2), 0.08),
    Family("2-connected, N=1000, 50 % lost", _demanding(1000, 0.5, connectivity=2), 0.15),
    Family("2-connected, N=1000, 80 % lost", _demanding(1000, 0.8, connectivity=2), 0.15),
    Family("3-connected, N=60, 50 % lost", _demanding(60, 0.5, connectivity=3), 1.0),
    *(
        Family(
            f"{gap_m:g} m apart, N=200, 50 % lost",
            _demanding(200, 0.5, min_separation_m=gap_m),
            goal,
        )
        for gap_m, goal in ((30.0, 0.05), (60.0, 0.05), (80.0, 1.0), (100.0, 2.0), (119.0, 3.0))
    ),
)
"""With the mean gap to the bound that is aimed at."""
