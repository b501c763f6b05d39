"""`Flight`: what a simulated flight recorded."""

from __future__ import annotations

from dataclasses import dataclass

from reknit.base.display import Displayed
from reknit.base.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Flight(Displayed):
    """A flight of the survivors from t_0.

    Parameters
    ----------
    times_s
        (T,) from 0, one per step; the last is the instant of reconnection when the flight ends
        there.
    positions
        (T, N_R, dim), metres.
    subnets
        (T,) N_s over time.
    largest_subnet
        (T,) number of UAVs in the largest sub-net over time.
    reconnected_at_s
        Flown T_rc: the first instant, in continuous time, at which the swarm is connected; None
        if that is not within the allowed time.
    reconnected_at_step_s
        The same as the paper's simulator sees it, which looks once a step.
    min_separation_m
        Smallest distance between two UAVs at any instant of the flight; exact down to 1 cm, at
        which two UAVs have collided.
    path_lengths_m
        (N_R,) metres flown by each.
    closest_rows
        Whose distance that is, as rows of the survivors; None if it was not recorded or there is
        only one.
    """

    times_s: FloatArray
    positions: FloatArray
    subnets: IntArray
    largest_subnet: IntArray
    reconnected_at_s: float | None
    reconnected_at_step_s: float | None
    min_separation_m: float
    path_lengths_m: FloatArray
    closest_rows: tuple[int, int] | None = None

    @property
    def duration_s(self) -> float:
        """Length of the recorded flight."""
        return float(self.times_s[-1])

    def __repr__(self) -> str:
        at = self.reconnected_at_s
        end = "never reconnected" if at is None else f"reconnected_at_s={at:.4g}"
        return f"Flight(steps={len(self.times_s) - 1}, {end})"
