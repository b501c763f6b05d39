"""`descent`: gradient descent on the targets themselves, with no neural net and nothing learned.

Every learned planner here comes to targets by descending a loss through a neural net. This one
leaves the neural net out and is therefore what each of them is to be held against.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from reknit.algorithms.objective import TINY_M, add_excess, largest, needed_move_m
from reknit.algorithms.parameters import Iterations, Penalty, Range, check_fields
from reknit.algorithms.protocols import Proposal
from reknit.algorithms.tree_starts import Adam, descend_trees, drawn_trees
from reknit.algorithms.trimming import trim
from reknit.base.context import Context
from reknit.base.progress import Report
from reknit.base.types import BoolArray, FloatArray, IntArray, JsonDict
from reknit.exact.demands.contraction import contract
from reknit.exact.model.problem import Problem
from reknit.network.emst import emst
from reknit.network.links import lengths
from reknit.plans.status import Status
from reknit.swarm.objective import planned_time_s
from reknit.swarm.scenario import Scenario

_KEPT = 4
"""Connected targets that are trimmed in the end; the shortest plan need not trim to the best."""


@dataclass(frozen=True)
class Descent:
    """Targets x start where the survivors are, x = p, and follow Adam down the loss

        L(x) = |s|_p + lambda sum_e max(0, |e| - (1 - margin) d),   s_i = (v / v_i) |x_i - p_i|

    in metres, with e the edges of the EMST of x, d the length a planned link may have, v_i a
    UAV's speed and v the fastest one's. At its minimum an edge pulls with at most the forces
    that hold back the UAVs on one of its sides, which is half of all of them, or all where the
    other side is anchored; each is at most v / v_i. So closing a gap pays from
    ``lambda = 1/2 max_i v / v_i`` on, twice that with anchors, and `penalty` multiplies it.

    Every connected x on the way is a plan; the fastest few are trimmed, and the best of them
    and the contracted original positions is kept. Where no x was connected, the one nearest
    to it is contracted. Anchors stay where they are, which rules contraction out. A minimum
    separation or 2-connectivity is not planned for: the plan's status says whether it happens
    to hold.

    Parameters
    ----------
    iterations
        Steps; as many again while nothing is connected.
    step
        Size of the first step, as a share of how far UAVs must move at least.
    penalty
        Weight of the excess, as a multiple of the least at which closing any gap pays.
    power
        p of the norm that stands in for the largest displacement.
    margin
        Links are aimed this share shorter than they may be, so that what is pulled just
        inside its range is connected.
    trees
        Spanning trees to begin with: the EMST and others drawn near it. All are pulled together
        for half the steps; if one of the others comes off better, descent starts from where it
        led, as well as from x = p.
    noise
        Scale of the Gumbel noise on the lengths by which trees are drawn, as a share of how far
        UAVs must move at least.
    tree_every
        The EMST is found anew every so many steps and kept in between, where it need not be
        minimal any more but still spans: edges that are short enough still prove a connection.
    contraction
        Contract what is not connected, so that there is always a connected plan.
    trimming
        End the plan where it reconnects the swarm.
    """

    iterations: Iterations = 80
    step: Annotated[float, Range(above=0.0, most=10.0)] = 0.1
    penalty: Penalty = 2.0
    power: Annotated[float, Range(least=1.0, most=1000.0)] = 20.0
    margin: Annotated[float, Range(least=0.0, below=1.0)] = 0.003
    trees: Annotated[int, Range(least=1, most=10_000)] = 32
    noise: Annotated[float, Range(above=0.0, most=10.0)] = 0.2
    tree_every: Annotated[int, Range(least=1, most=1_000_000)] = 5
    contraction: bool = True
    trimming: bool = True

    def __post_init__(self) -> None:
        check_fields(self)

    def propose(self, scenario: Scenario, context: Context) -> Proposal:
        """Targets for one scenario; the best so far when the budget ends or the caller cancels."""
        fixed = np.isin(scenario.survivors, scenario.anchors)
        draws = self.trees > 1 and context.warm_start is None
        tracks = [_Track(until=0.5 if draws else 1.0)]
        stop = self._descend(scenario, fixed, context.warm_start, tracks[0], context)
        other = self._other_tree(scenario, fixed, context) if draws else None
        if draws and context.is_over:  # no time for the trees, or not for all of their steps
            stop = "deadline"
        elif other is not None:
            best_s = min((time_s for time_s, _ in tracks[0].connected), default=np.inf)
            tracks.append(_Track(since=0.5, known_s=best_s))
            stop = self._descend(scenario, fixed, other, tracks[1], context)
        steps = sum(track.steps for track in tracks)
        nearest = min(tracks, key=lambda track: track.missing_m).nearest
        connected = [pair for track in tracks for pair in track.connected]
        candidates = [(targets, time_s, "no") for time_s, targets in connected]
        if self.trimming:
            candidates = [
                candidate if context.is_over else (*trim(scenario, *candidate[:2]), candidate[2])
                for candidate in candidates
            ]
        if self.contraction and not fixed.any():
            # Before the first step the nearest targets are the original positions themselves.
            is_other = steps > 0 or context.warm_start is not None
            missing = not candidates and is_other
            candidates += _contracted(scenario, nearest if missing else None)
        details: JsonDict = {"iterations": steps, "starts": len(tracks), "stopped_by": stop}
        status = Status.DEADLINE if stop == "deadline" else None
        if not candidates:
            return Proposal(nearest, status, details={**details, "contracted": "no"})
        targets, _, contracted = min(candidates, key=lambda candidate: candidate[1])
        return Proposal(targets, status, details={**details, "contracted": contracted})

    def loss(
        self, scenario: Scenario, targets: FloatArray, trees: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """L(x) in metres, and its gradient, of B sets of targets at once.

        Parameters
        ----------
        scenario
            Whose survivors move.
        targets
            x, (B, N_R, dim) metres.
        trees
            (B, N_R - 1, 2) edges of the EMST, or another spanning tree, of each.

        Returns
        -------
        tuple of array
            (B,) losses, and their (B, N_R, dim) gradients in x.
        """
        speeds_mps = scenario.max_speed_mps[scenario.survivors]
        delay = speeds_mps.max() / speeds_mps
        way = targets - scenario.survivor_positions
        moved_m = np.sqrt((way * way).sum(axis=2))
        norm_m, pull = largest(moved_m * delay, self.power)
        gradient = way * (pull * delay / np.maximum(moved_m, TINY_M))[:, :, None]
        aimed_m = scenario.planning_range_m * (1.0 - self.margin)
        least = float(delay.max()) * (1.0 if len(scenario.anchors) else 0.5)
        excess_m = add_excess(gradient, targets, trees, aimed_m, self.penalty * least)
        return norm_m + excess_m, gradient

    def _other_tree(
        self, scenario: Scenario, fixed: BoolArray, context: Context
    ) -> FloatArray | None:
        """Where the best of the drawn trees leads; None if that is the EMST, or no time is left."""
        if context.is_over:
            return None
        limit_m, positions = scenario.planning_range_m, scenario.survivor_positions
        needed_m = needed_move_m(scenario)
        trees = drawn_trees(
            positions,
            limit_m,
            self.noise * needed_m,
            self.trees,
            context.rng,
            lambda: context.is_over,
        )
        targets, losses_m = descend_trees(
            positions,
            fixed,
            trees,
            lambda points, edges: self.loss(scenario, points, edges),
            self.iterations // 2,
            self.step * needed_m,
            lambda: context.is_over,
        )
        best = int(losses_m.argmin())
        return targets[best] if best else None

    def _descend(
        self,
        scenario: Scenario,
        fixed: BoolArray,
        start: FloatArray | None,
        track: _Track,
        context: Context,
    ) -> str:
        """Take the steps from `start`, or from p, noting every x; returns what ended them."""
        limit_m = scenario.planning_range_m
        x = scenario.survivor_positions.copy()
        if start is not None:
            x[~fixed] = start[~fixed]
        adam = Adam(x.shape, self.step * needed_move_m(scenario))
        while True:
            if track.steps % self.tree_every == 0:
                is_first = track.steps == 0 and start is None
                tree = Problem.of(scenario).emst if is_first else emst(x)
            missing_m = float(np.maximum(0.0, lengths(x, tree) - limit_m).sum())
            track.see(x, planned_time_s(scenario, x), missing_m)
            done = track.steps / max(1, self.iterations)
            context.progress(track.progress(done), track.report(x))
            if context.is_over:
                return "deadline"
            if done >= (1 if track.connected else 2) or self.iterations == 0:
                return "iterations"
            _, gradient = self.loss(scenario, x[None], tree[None])
            gradient[0, fixed] = 0.0
            x = x - adam.step(gradient[0], done)
            track.steps += 1


def _contracted(
    scenario: Scenario, nearest: FloatArray | None
) -> list[tuple[FloatArray, float, str]]:
    """The original positions contracted, and the given targets too."""
    starts = [("original positions", scenario.survivor_positions)]
    if nearest is not None:
        starts.append(("output", nearest))
    contracted = [(contract(scenario, targets), origin) for origin, targets in starts]
    return [(targets, planned_time_s(scenario, targets), origin) for targets, origin in contracted]


@dataclass(eq=False)
class _Track:
    """What was seen on the way.

    Parameters
    ----------
    connected
        (planned T_rc, targets) of the fastest few connected ones, fastest first.
    nearest
        The targets that lacked least.
    missing_m
        What they lacked: the sum over tree edges of what is longer than a link may be.
    since, until
        Which part of all the work this is.
    known_s
        The best planned T_rc of an earlier descent.
    """

    steps: int = 0
    connected: list[tuple[float, FloatArray]] = field(default_factory=list)
    nearest: FloatArray = field(default_factory=lambda: np.empty((0, 2)))
    missing_m: float = np.inf
    since: float = 0.0
    until: float = 1.0
    known_s: float = np.inf

    def see(self, targets: FloatArray, time_s: float, missing_m: float) -> None:
        """Take note of the targets of one step."""
        if missing_m < self.missing_m or self.steps == 0:
            self.nearest, self.missing_m = targets, missing_m
        if missing_m == 0.0:
            self.connected.append((time_s, targets))
            self.connected.sort(key=lambda pair: pair[0])
            del self.connected[_KEPT:]

    def progress(self, done: float) -> float:
        """How much of all the work is done when this share of the track's is."""
        return self.since + min(1.0, done) * (self.until - self.since)

    def report(self, x: FloatArray) -> Report:
        if self.connected:
            best_s = min(self.known_s, self.connected[0][0])
            return Report(f"step {self.steps}: best {best_s:.2f} s", x, best_s)
        return Report(f"step {self.steps}: {self.missing_m:.0f} m too long", x)
