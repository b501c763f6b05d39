"""What a recovery minimises."""

from __future__ import annotations

import numpy as np

from reknit.base.types import FloatArray
from reknit.swarm.scenario import Scenario


def planned_time_s(scenario: Scenario, targets: FloatArray) -> float:
    """Planned T_rc of (N_R, dim) targets, the objective of (P1): ``max_i |x_i - p_i| / v_i``."""
    moved_m = np.sqrt(((targets - scenario.survivor_positions) ** 2).sum(axis=1))
    return float((moved_m / scenario.max_speed_mps[scenario.survivors]).max())
