"""`Operation`: what was flown with what each UAV knew, recorded and measured."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from reknit.base.types import BoolArray, FloatArray, IntArray, JsonDict
from reknit.knowledge.mission import Mission
from reknit.recovery.runs import missed_demands, recover
from reknit.swarm.scenario import Scenario


@dataclass(frozen=True, eq=False)
class Observation:
    """What one UAV believed at every frame.

    Attributes
    ----------
    uav
        Its id.
    status
        (T, N) `Knowledge` of every UAV.
    positions
        (T, N, dim) where it believed each to be, metres.
    """

    uav: int
    status: IntArray
    positions: FloatArray


@dataclass(frozen=True, eq=False)
class Operation:
    """A flight under partial knowledge. Times are seconds from the start.

    Attributes
    ----------
    mission
        What was flown until the alarm.
    policy, channel
        What they are called.
    seed
        Of strikes, message losses, navigation errors and planners.
    struck
        The swarm as it was at the last strike, with everybody lost up to then: the problem that
        a planner with full knowledge would have had to solve.
    struck_at_s
        When that was.
    first_struck_at_s
        When the first strike was.
    times_s, positions, alive, subnets
        (T,), (T, N, dim), (T, N) and (T,): frames, where everybody was, metres (the lost where
        they were lost), who lived, and the number of sub-nets.
    false_alive, false_dead
        (T,): how many lost UAVs a survivor did not hold for dead, and how many survivors it held
        for dead, in the mean over the survivors.
    reconnected_at_s
        First instant after the last strike at which the survivors were connected; None: never.
    first_contact_s
        First frame at which two sub-nets of the last strike were linked.
    done_at_s
        When somebody first proved the network whole after the last strike; None: nobody did.
    false_done
        Proofs of wholeness that were wrong.
    promised_s
        The policy's promise, counted from the first strike; None: it makes none.
    replans
        How often a plan was made.
    bytes_sent
        By all UAVs together.
    path_lengths_m
        (N,) metres that each UAV flew.
    compute_s
        Computing time of the flight, simulation and policy together, seconds.
    observation
        What the observer believed.
    """

    mission: Mission
    policy: str
    channel: str
    seed: int
    struck: Scenario
    struck_at_s: float
    first_struck_at_s: float
    times_s: FloatArray
    positions: FloatArray
    alive: BoolArray
    subnets: IntArray
    false_alive: FloatArray
    false_dead: FloatArray
    reconnected_at_s: float | None
    first_contact_s: float | None
    done_at_s: float | None
    false_done: int
    promised_s: float | None
    replans: int
    bytes_sent: int
    path_lengths_m: FloatArray
    compute_s: float
    observation: Observation

    @property
    def recovery_time_s(self) -> float | None:
        """From the last strike to the reconnection, seconds."""
        at = self.reconnected_at_s
        return None if at is None else at - self.struck_at_s

    @property
    def optimum_s(self) -> float:
        """Seconds that the `certified` planner needs with full knowledge."""
        return _optimum(self.struck, self.seed)[0]

    @property
    def optimum_bound_s(self) -> float:
        """No flight is faster, as the certificate proves; `optimum_s` where that is optimal."""
        return _optimum(self.struck, self.seed)[1]

    @property
    def mean_false_alive(self) -> float:
        """`false_alive` in the mean over the time since the last strike."""
        return self._over_time(self.false_alive)

    @property
    def mean_false_dead(self) -> float:
        """`false_dead` in the mean over the time since the last strike."""
        return self._over_time(self.false_dead)

    def _over_time(self, values: FloatArray) -> float:
        """A frame's value holds until the next frame."""
        first = int(np.searchsorted(self.times_s, self.struck_at_s))
        spans_s = np.diff(self.times_s[first:])
        if spans_s.sum() == 0.0:
            return float(values[-1])
        return float((values[first:-1] * spans_s).sum() / spans_s.sum())

    @property
    def price_of_ignorance(self) -> float | None:
        """Time to reconnect / optimum with full knowledge; None where either is missing."""
        time_s = self.recovery_time_s
        if time_s is None or self.optimum_s == 0.0:
            return None
        return time_s / self.optimum_s

    @property
    def kept_promise(self) -> bool | None:
        """Whether the network was whole in the promised time; None: nothing was promised."""
        if self.promised_s is None:
            return None
        due_s = self.first_struck_at_s + self.promised_s
        at = self.reconnected_at_s  # from then on it is whole, whoever is lost later
        return at is not None and at <= max(due_s, self.struck_at_s)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Which demands the survivors miss though they are connected in the end; empty if none."""
        if self.reconnected_at_s is not None or self.subnets[-1] > 1:
            return ()
        return tuple(missed_demands(self.struck, self.positions[-1][self.struck.survivors]))

    def as_dict(self) -> JsonDict:
        """Plain values, ready for JSON."""
        return {
            "policy": self.policy,
            "channel": self.channel,
            "seed": self.seed,
            "uavs": self.struck.uavs,
            "survivors": len(self.struck.survivors),
            "subnets": self.struck.subnet_count,
            "struck_at_s": self.struck_at_s,
            "reconnected_at_s": self.reconnected_at_s,
            "recovery_time_s": self.recovery_time_s,
            "optimum_s": self.optimum_s,
            "optimum_bound_s": self.optimum_bound_s,
            "price_of_ignorance": self.price_of_ignorance,
            "promised_s": self.promised_s,
            "kept_promise": self.kept_promise,
            "first_contact_s": self.first_contact_s,
            "done_at_s": self.done_at_s,
            "false_done": self.false_done,
            "replans": self.replans,
            "false_alive": float(self.false_alive[-1]),
            "false_dead": float(self.false_dead[-1]),
            "mean_false_alive": self.mean_false_alive,
            "mean_false_dead": self.mean_false_dead,
            "bytes_sent": self.bytes_sent,
            "path_length_m": float(self.path_lengths_m.sum()),
            "longest_path_m": float(self.path_lengths_m.max()),
            "compute_s": self.compute_s,
        }


@lru_cache(maxsize=128)
def _optimum(struck: Scenario, seed: int) -> tuple[float, float]:
    """Time and bound; kept, because several policies are measured against the same damage."""
    run = recover(struck, "certified", seed=seed)
    assert run.plan is not None  # certified plans
    flown_s = run.flight.reconnected_at_s
    time_s = float(min(run.plan.recovery_time_s, np.inf if flown_s is None else flown_s))
    return time_s, float(min(run.plan.lower_bound_s, time_s))
