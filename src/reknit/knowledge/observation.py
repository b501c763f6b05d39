"""What an agent of the environment sees: its belief in numbers of fixed length."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from reknit.base.types import FloatArray, IntArray
from reknit.knowledge.belief import Knowledge, Mind
from reknit.knowledge.policies.protocols import Briefing
from reknit.knowledge.policies.rendezvous import meeting_of

_KINDS = (Knowledge.ALIVE, Knowledge.UNKNOWN, Knowledge.CERTAINLY_DEAD)


class Eyes:
    """Turns beliefs into observations.

    A row has: the time over the allowed time, the share of UAVs in touch and unknown, and the way
    to the rendezvous over the range; then of UAVs in touch, unknown and dead (presumed or
    certainly) the nearest few, each as its offset over the range and a mask. All are cut at the
    limit.
    """

    limit = 10.0

    def __init__(self, dim: int, nearest: int) -> None:
        self._dim, self._nearest = dim, nearest
        self.size = 3 + dim + len(_KINDS) * nearest * (dim + 1)

    def look(
        self, minds: list[Mind], reported: FloatArray, briefing: Briefing, now_s: float
    ) -> np.ndarray:
        """(N, size) float32; rows of nobody's UAVs are zero."""
        seen = np.zeros((len(reported), self.size), dtype=np.float32)
        meet = meeting_of(briefing).targets
        for mind in minds:
            members = mind.members
            status = mind.belief.status(now_s, briefing.patience)
            status[members] = Knowledge.ALIVE
            status[status == Knowledge.PRESUMED_DEAD] = Knowledge.CERTAINLY_DEAD
            known = mind.belief.expected(briefing.speeds_mps, now_s)
            known[members] = reported[members]
            rows = [
                np.full((len(members), 1), now_s / max(briefing.allowed_time_s, 1e-9)),
                np.full((len(members), 1), (status == Knowledge.ALIVE).mean()),
                np.full((len(members), 1), (status == Knowledge.UNKNOWN).mean()),
                (meet[members] - reported[members]) / briefing.range_m,
            ]
            for kind in _KINDS:
                ids = np.flatnonzero(status == kind)
                rows.append(self._near(known, members, ids, briefing.range_m))
            seen[members] = np.clip(np.concatenate(rows, axis=1), -self.limit, self.limit)
        return seen

    def _near(
        self, points: FloatArray, members: IntArray, ids: IntArray, range_m: float
    ) -> FloatArray:
        count, dim = self._nearest, self._dim
        rows = np.zeros((len(members), count, dim + 1))
        if len(ids):
            asked = min(count + 1, len(ids))
            _, index = cKDTree(points[ids]).query(points[members], k=asked)
            index = np.asarray(index).reshape(len(members), asked)
            others = ids[index]
            is_other = others != members[:, None]
            # The others come first, in the order of their distance; oneself is left out.
            order = np.argsort(~is_other, axis=1, kind="stable")
            others = np.take_along_axis(others, order, axis=1)[:, :count]
            is_other = np.take_along_axis(is_other, order, axis=1)[:, :count]
            width = others.shape[1]
            offset = (points[others] - points[members][:, None]) / range_m
            rows[:, :width, :dim] = np.where(is_other[:, :, None], offset, 0.0)
            rows[:, :width, dim] = is_other
        return rows.reshape(len(members), -1)
