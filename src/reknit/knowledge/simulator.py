"""`operate`: a mission, strikes, and a recovery flown with what each UAV knows."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from reknit.base.errors import InvalidParameter, InvalidScenario
from reknit.base.log import logger
from reknit.base.progress import Progress, silent
from reknit.base.types import FloatArray
from reknit.base.values import check_callable, check_known, check_seed, is_finite
from reknit.flight.reconnection import first_connected_s
from reknit.flight.separation import closest_at_rest
from reknit.flight.simulator import STEP_S
from reknit.knowledge.belief import Belief, Mind
from reknit.knowledge.channels.protocols import NOISE_BOUND, Channel, World
from reknit.knowledge.channels.radio import RadioChannel
from reknit.knowledge.channels.registry import channel_of
from reknit.knowledge.channels.station import Station
from reknit.knowledge.mission import Mission, mission_of
from reknit.knowledge.motion import TrueMotion
from reknit.knowledge.operation import Operation
from reknit.knowledge.policies.protocols import Briefing, Policy, checked, view_of
from reknit.knowledge.policies.registry import policy_of
from reknit.knowledge.recorder import Recorder
from reknit.knowledge.strikes import LONGEST_S, Damage, check_length, in_order, struck_swarm
from reknit.network.connectivity import is_k_connected
from reknit.network.links import count_subnets, links
from reknit.recovery.repeated import Strike
from reknit.swarm.demands import check_kept
from reknit.swarm.scenario import Scenario
from reknit.swarm.validation import rows

UNTIL = ("reconnected", "done", "end")
_LOG = logger(__name__)

DEMANDS_KEPT = ("allowed time", "link length", "anchors", "connectivity")
"""Demands that a flight under partial knowledge is measured by; others are refused."""

_NO_PROMISE = 2.0
"""Without a promise a flight lasts so many times the allowed time."""


def operate(
    mission: Mission | Scenario,
    policy: str | Policy | None = None,
    channel: str | Channel = "radio",
    *,
    strikes: Sequence[Strike] = (),
    seed: int = 0,
    until: str = "reconnected",
    end_s: float | None = None,
    observer: int | str | None = None,
    progress: Progress = silent,
) -> Operation:
    """Fly a mission, strike it, and let every UAV act on what it knows.

    Parameters
    ----------
    mission
        A `Mission`; or a `Scenario`, which hovers and loses its `destroyed` at time 0.
    policy
        A name such as ``"believe:certified+deadline"``, or a policy object; None: the default.
    channel
        ``"radio"``, ``"global"`` or ``"mixed"``, or a channel object.
    strikes
        Further losses, of UAVs drawn from the seed.
    seed
        Of strikes, message losses, navigation errors and planners.
    until
        ``"reconnected"``: end at the instant of reconnection after the last strike; ``"done"``:
        when somebody has proved it; ``"end"``: at `end_s`.
    end_s
        When to end at the latest; default: when the policy's promise is due, or twice the
        allowed time after the last strike if it makes none.
    observer
        Id or name of the UAV whose belief is recorded; default: the first survivor.
    progress
        Told how far the flight is.

    Returns
    -------
    Operation
        Everything recorded. The same arguments give the same bytes, `compute_s` aside.
    """
    flown = mission_of(mission)
    check_known("until", until, UNTIL)
    check_seed(seed)
    check_callable(progress=progress)
    check_kept(flown.swarm, DEMANDS_KEPT, "operate")
    name, chosen = policy_of(policy)
    check_length(strikes, end_s)
    flight = Simulation(flown, (name, chosen), channel_of(channel), strikes, int(seed), end_s)
    for now_s, count in flight.steps(until, observer):
        progress(now_s / flight.end_s, f"flying: {count} sub-nets")
        _LOG.debug("%.2f s: %d sub-nets, %d minds", now_s, count, len(flight.minds))
    return flight.result()


class Simulation:
    """One flight, step by step; what `operate` and the environment for learners both run."""

    def __init__(
        self,
        mission: Mission,
        policy: tuple[str, Policy],
        channel: tuple[str, Channel],
        strikes: Sequence[Strike],
        seed: int,
        end_s: float | None,
    ) -> None:
        swarm = mission.swarm
        self._mission, self._seed = mission, seed
        self._policy_name, policy_object = policy
        self._channel_name, channel_object = channel
        rng = np.random.default_rng([seed, 2])
        errors = _errors(rng, swarm.positions.shape, channel_object.noise_m)
        speeds_mps = swarm.max_speed_mps.copy()
        speeds_mps[swarm.anchors] = 0.0
        self.world = World(
            positions=swarm.positions.copy(),
            errors=errors,
            alive=np.ones(swarm.uavs, dtype=bool),
            range_m=swarm.radio_range_m,
            speeds_mps=speeds_mps,
            error_bound_m=NOISE_BOUND * channel_object.noise_m,
            step_s=STEP_S,
            is_under_way=mission.velocity_mps is not None or bool(mission.waypoints),
        )
        self.session = channel_object.open(self.world, seed)
        alarm_delay_s = channel_object.alarm_delay_s(swarm.uavs, STEP_S)
        speed = float(np.linalg.norm(mission.offset(1.0) - mission.offset(0.0)))
        self.briefing = Briefing(
            swarm=replace(swarm, positions=self.world.reported, destroyed=swarm.destroyed[:0]),
            speeds_mps=speeds_mps,
            error_bound_m=self.world.error_bound_m,
            alarm_delay_s=alarm_delay_s,
            patience=self.session.patience,
            step_s=STEP_S,
            seed=seed,
            offset=mission.offset,
            drift_m=speed * alarm_delay_s,
            is_told_all=isinstance(channel_object, Station),
            has_station=not isinstance(channel_object, RadioChannel),
        )
        self.pilot = policy_object.brief(self.briefing)
        self.promised_s = policy_object.promised_s(self.briefing)
        self.strikes = in_order(strikes)
        self.damages: list[Damage] = []
        self._rng = np.random.default_rng([seed, 1])
        self.motion = TrueMotion(swarm.positions, swarm.max_speed_mps)
        everybody = np.arange(swarm.uavs)
        self.minds = [
            Mind(
                everybody,
                Belief.of_snapshot(self.world.reported, self.session.period_s),
            )
        ]
        self.end_s = self._end(end_s)
        self.struck_s = 0.0
        self.reconnected_s: float | None = None
        self.done_s: float | None = None
        self.false_done = 0
        self.compute_s = 0.0
        self._sleeps = False

    def _end(self, end_s: float | None) -> float:
        times_s = [strike.time_s for strike in self.strikes]
        first_s = 0.0 if len(self._mission.swarm.destroyed) or not times_s else times_s[0]
        last_s = times_s[-1] if times_s else 0.0
        if end_s is None:
            due_s = 0.0 if self.promised_s is None else first_s + self.promised_s + STEP_S
            idle_s = _NO_PROMISE * self._mission.swarm.allowed_time_s
            end_s = max(due_s, last_s + (idle_s if self.promised_s is None else 2.0 * STEP_S))
            if end_s > LONGEST_S:
                allowed = f"at most {LONGEST_S:g} s: this swarm may take longer, so give an end"
                raise InvalidParameter("end_s", end_s, allowed)
        elif not (is_finite(end_s) and end_s > 0.0):
            raise InvalidParameter("end_s", end_s, "a finite number above 0")
        late = [time_s for time_s in times_s if time_s >= end_s]
        if late:
            raise InvalidParameter("strike.time_s", late[0], f"before the end at {end_s:g} s")
        is_struck = bool(times_s) or len(self._mission.swarm.destroyed) > 0
        self._mission.check_area(first_s if is_struck else float(end_s))
        self.first_strike_s = first_s
        return float(end_s)

    def steps(
        self, until: str = "reconnected", observer: int | str | None = None
    ) -> Iterator[tuple[float, int]]:
        """Fly; yields (time, sub-nets) before every step, when orders are about to be given."""
        started_s = time.perf_counter()
        world, swarm = self.world, self._mission.swarm
        world.alive[swarm.destroyed] = False
        pending = list(self.strikes)
        while pending and pending[0].time_s == 0.0:
            self._strike(pending.pop(0), 0.0)
        if observer is None:
            seen_by = int(np.flatnonzero(world.alive)[0])
        else:
            try:
                seen_by = int(rows("observer", [observer], swarm.uavs, swarm.names)[0])
            except InvalidScenario as error:  # the scenario is right, the argument is not
                raise InvalidParameter(error.field, error.value, error.allowed) from None
            if not world.alive[seen_by]:
                raise InvalidParameter("observer", observer, "a survivor")
        self.struck = self._scenario(0.0)
        record = self.record = Recorder(self.struck, seen_by, self.session.patience)
        phase_s = now_s = 0.0
        steps = 0
        while True:
            count = count_subnets(world.positions[world.alive], world.range_m)
            is_whole = self._is_whole(count)
            if is_whole and self.reconnected_s is None and not pending:
                self.reconnected_s = now_s
            world.time_s = now_s
            self.minds = self.session.exchange(self.minds, world)
            record.frame(now_s, world, self.minds, count)
            self._hear_claims(now_s, is_last=not pending)
            is_over = now_s >= self.end_s - 1e-9
            if until == "reconnected" and self.reconnected_s is not None:
                is_over = True
            if until == "done" and self.done_s is not None:
                is_over = True
            if is_over:
                break
            yield now_s, count
            self._act(now_s, now_s - phase_s)
            steps += 1
            grid_s = steps * STEP_S
            begin_s = now_s - phase_s
            after_s = min(phase_s + grid_s, self.end_s)
            is_struck = bool(pending) and pending[0].time_s <= after_s
            if is_struck:
                after_s = pending[0].time_s
            elif self._sleeps and self.session.tells_at_once:
                # Nothing happens before the next strike, and then everybody is told at once.
                after_s = min([self.end_s, *(strike.time_s for strike in pending[:1])])
                is_struck = bool(pending) and after_s == pending[0].time_s
                steps = round((after_s - phase_s) / STEP_S)
                grid_s = steps * STEP_S
            # On the grid the step's length is counted, so that no rounding errors add up.
            on_grid = after_s >= phase_s + grid_s
            duration_s = grid_s - begin_s if on_grid else after_s - now_s
            leg_end_s = grid_s if on_grid and not is_struck else after_s - phase_s
            leg = self.motion.leg(world.alive, begin_s, duration_s, leg_end_s)
            if not is_whole and (self.reconnected_s is None or pending):
                within_s = first_connected_s(
                    leg, swarm.planning_range_m, swarm.connectivity, swarm.min_separation_m
                )
                if within_s is not None and within_s < leg.duration_s:
                    # The instant of reconnection is a frame of its own; a strike may follow.
                    leg, after_s, is_struck = (
                        leg.until(within_s),
                        now_s + within_s,
                        False,
                    )
                    steps -= 1
            record.flown(leg, world.alive)
            self.motion.advance(world.alive, leg.end)
            world.positions = self.motion.positions
            now_s = after_s
            if is_struck:
                if self.session.is_continuous:
                    world.time_s = now_s
                    self.minds = self.session.exchange(self.minds, world)
                while pending and pending[0].time_s <= now_s:
                    self._strike(pending.pop(0), now_s)
                self.motion.begin_phase(now_s - phase_s)
                phase_s, steps, self.struck_s = now_s, 0, now_s
                self.struck, self.reconnected_s = self._scenario(now_s), None
                record.struck(self.struck)
        self.compute_s = time.perf_counter() - started_s

    def result(self) -> Operation:
        """What was recorded, once the steps are over."""
        return self.record.operation(
            mission=self._mission,
            policy=self._policy_name,
            channel=self._channel_name,
            seed=self._seed,
            struck=self.struck,
            struck_at_s=self.struck_s,
            first_struck_at_s=self.first_strike_s,
            reconnected_at_s=self.reconnected_s,
            done_at_s=self.done_s,
            false_done=self.false_done,
            promised_s=self.promised_s,
            replans=self.pilot.replans,
            bytes_sent=self.session.bytes_sent,
            compute_s=self.compute_s,
        )

    def _hear_claims(self, now_s: float, is_last: bool) -> None:
        """Count what minds say of the network being whole, against the truth."""
        for mind in self.minds:
            whole_s = self.session.whole_at_s(mind)
            if whole_s is None:
                continue
            if not self.record.was_whole(whole_s):
                self.false_done += 1
            elif whole_s >= self.struck_s and self.done_s is None and is_last:
                self.done_s = now_s

    def _is_whole(self, count: int) -> bool:
        """Whether the network is what is demanded: (k-)connected by links that count."""
        swarm, world = self._mission.swarm, self.world
        if count > 1 or not swarm.has_demands:
            return count == 1
        points, link_m = world.positions[world.alive], swarm.planning_range_m
        if count_subnets(points, link_m) > 1:
            return False
        least_m = swarm.min_separation_m
        if least_m > 0.0 and closest_at_rest(points).distance_m < least_m:
            return False
        order = swarm.connectivity
        return order == 1 or is_k_connected(links(points, link_m), len(points), order)

    def _act(self, now_s: float, phase_time_s: float) -> None:
        world = self.world
        reported = world.reported
        self._sleeps = True
        for mind in self.minds:
            if len(mind.members) == 0:
                continue
            if np.isinf(mind.belief.alarm_s):
                velocity = (
                    self._mission.offset(now_s + STEP_S) - self._mission.offset(now_s)
                ) / STEP_S
                if velocity.any():
                    wish = np.tile(velocity, (len(mind.members), 1))
                    self.motion.steer(mind.members, wish, phase_time_s)
                    self._sleeps = False
                continue
            here = reported[mind.members]
            told_all = self.briefing.is_told_all
            view = view_of(mind, here, now_s, self.session.patience, told_all)
            orders = checked(
                self.pilot.act(view), self._policy_name, mind.members, world.speeds_mps
            )
            self._sleeps = self._sleeps and orders.is_at_rest
            moves = world.speeds_mps[mind.members] > 0.0  # anchors stay
            ids = mind.members[moves]
            if orders.targets is not None:
                targets = orders.targets[moves] - world.errors[ids]
                self.motion.fly_to(ids, targets, phase_time_s)
            elif orders.velocities_mps is not None:
                self.motion.steer(ids, orders.velocities_mps[moves], phase_time_s)
            elif orders.course is not None:
                errors = world.errors[mind.members]
                self.motion.follow(mind.members, orders.course, errors, phase_time_s)

    def _strike(self, strike: Strike, now_s: float) -> None:
        self.world.alive[strike.lost(self._scenario(now_s), self._rng)] = False
        lost = np.flatnonzero(~self.world.alive)
        self.damages.append(Damage(strike.time_s, self.world.positions.copy(), lost))

    def _scenario(self, now_s: float) -> Scenario:
        left_s = self._mission.swarm.allowed_time_s - now_s + self.first_strike_s
        lost = np.flatnonzero(~self.world.alive)
        return struck_swarm(self._mission.swarm, self.world.positions, lost, left_s)


def _errors(rng: np.random.Generator, shape: tuple[int, ...], sigma_m: float) -> FloatArray:
    """Gaussian errors, redrawn where they exceed the bound: an integrity monitor's work."""
    errors = rng.standard_normal(shape)
    for _ in range(100):
        far = np.sqrt((errors * errors).sum(axis=1)) > NOISE_BOUND
        if not far.any():
            break
        errors[far] = rng.standard_normal((int(far.sum()), shape[1]))
    return np.asarray(errors * sigma_m)
