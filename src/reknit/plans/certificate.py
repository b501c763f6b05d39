"""What proves a lower bound on the recovery time, checkable without a solver."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reknit.types import IntArray


@dataclass(frozen=True, eq=False)
class Certificate:
    """Proof that no plan for a scenario takes less than `bound_s`.

    cut     survivors (row numbers, not ids) on one side of a cut. Some link must cross it, and
            the two UAVs of the pair (i, j) need at least ``(|p_i - p_j| - d_tr) / (v_i + v_j)``
            to form one; the smallest of these over the cut is a bound. Empty: bound 0.
    """

    bound_s: float
    cut: IntArray

    @staticmethod
    def trivial() -> Certificate:
        """No plan takes less than no time."""
        return Certificate(0.0, np.empty(0, dtype=np.int64))
