"""What a planner is given beside the scenario."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from reknit.base.budget import Budget
from reknit.base.progress import Progress, silent


@dataclass(frozen=True)
class Context:
    """What a planner is given beside the scenario."""

    seed: int = 0
    budget: Budget = field(default_factory=Budget)
    progress: Progress = silent

    @property
    def rng(self) -> np.random.Generator:
        """A generator that starts from the seed; the only source of randomness."""
        return np.random.default_rng(self.seed)
