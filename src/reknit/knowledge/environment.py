"""The simulator as an environment for learners: `reknit_v0`, PettingZoo's parallel form.

    from reknit.knowledge import reknit_v0
    environment = reknit_v0.parallel_env(uavs=20)

Every UAV is an agent. An episode draws a connected swarm and a damage that splits it. The first
step is the strike: it takes no time, and the agents that are lost leave. Every further step lasts
`decision_s`, in which an agent flies at ``action * v_max`` (shortened to v_max if it is longer).
The episode ends for all when the network is whole, or after `max_steps`.

Observations come from the belief alone. State and reward come from the truth: they are for
training, where it is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from reknit.base.errors import InvalidParameter, MissingExtra, NoSplitFound
from reknit.base.types import BoolArray, FloatArray
from reknit.flight.simulator import STEP_S
from reknit.knowledge.belief import Mind
from reknit.knowledge.channels.registry import channel_of
from reknit.knowledge.observation import Eyes
from reknit.knowledge.policies.protocols import Briefing, Orders, Pilot, View
from reknit.knowledge.simulator import Simulation
from reknit.network.emst import emst
from reknit.network.links import lengths
from reknit.recovery.runs import recover
from reknit.swarm.generate import DEFAULT_DESTROYED, generate
from reknit.swarm.scenario import Scenario

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.vector import VectorEnv
    from gymnasium.vector.utils import batch_space
    from pettingzoo import ParallelEnv
except ModuleNotFoundError as error:  # pragma: no cover - the extra is installed in the tests
    raise MissingExtra("the environment for learners", "environment") from error


_LAYOUT_TRIES = 100


@dataclass
class _Steered:
    """A policy whose velocities come from outside."""

    velocities_mps: FloatArray
    replans: int = 0

    def brief(self, briefing: Briefing) -> Pilot:
        return self

    def promised_s(self, briefing: Briefing) -> float | None:
        return None

    def act(self, view: View) -> Orders:
        return Orders(velocities_mps=self.velocities_mps[view.members])


class SwarmEnvironment(ParallelEnv[str, np.ndarray, np.ndarray]):  # type: ignore[misc]
    """PettingZoo's parallel form of `reknit.operate`.

    Reward, the same for all agents: ``progress - time_cost dt / optimum``, where progress is the
    decrease of the total excess ``sum max(0, |e| - r)`` over the survivors' EMST as a share of
    the excess at the strike, and the optimum is the certified planner's time, counted as one
    decision where it is shorter (else a gap of centimetres would outweigh all others); plus 1
    when the network is whole.

    Parameters
    ----------
    uavs, destroyed
        N, and how many are lost: a number or a ratio.
    dim
        2 or 3.
    channel
        A channel's name or object.
    decision_s
        Seconds between two actions, a multiple of 0.1.
    max_steps
        Actions until an episode is cut.
    nearest
        How many UAVs of each kind (in touch, unknown, dead) an agent sees.
    time_cost
        What the time of the certified optimum costs, against a progress of 1 in all.
    render_mode
        ``"rgb_array"``, ``"ansi"``, ``"human"`` (draws to the standard output as text) or None.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "reknit_v0",
        "render_modes": ["rgb_array", "ansi", "human"],
        "is_parallelizable": True,
        "render_fps": 4,
    }

    def __init__(
        self,
        uavs: int = 20,
        destroyed: float = DEFAULT_DESTROYED,
        *,
        dim: int = 2,
        channel: Any = "radio",
        decision_s: float = 0.5,
        max_steps: int = 100,
        nearest: int = 6,
        time_cost: float = 0.1,
        render_mode: str | None = None,
    ) -> None:
        if not (np.isfinite(decision_s) and decision_s >= STEP_S):
            raise InvalidParameter("decision_s", decision_s, f"at least {STEP_S:g}")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InvalidParameter("render_mode", render_mode, "rgb_array, ansi, human or None")
        if not (np.isfinite(time_cost) and time_cost >= 0.0):
            raise InvalidParameter("time_cost", time_cost, "a finite number of at least 0")
        self._uavs, self._destroyed, self._dim = uavs, destroyed, dim
        self._channel = channel_of(channel)
        self._repeats = round(decision_s / STEP_S)
        self.max_steps = max_steps
        self.render_mode = render_mode
        self.possible_agents = [f"uav_{number}" for number in range(uavs)]
        self.agents: list[str] = []
        self._time_cost = time_cost
        self._eyes = Eyes(dim, nearest)
        shape = (self._eyes.size,)
        limit = np.float32(self._eyes.limit)
        self._seen = spaces.Box(-limit, limit, shape, dtype=np.float32)
        self._acted = spaces.Box(-1.0, 1.0, (dim,), dtype=np.float32)
        self.state_space = spaces.Box(-np.inf, np.inf, (uavs * (dim + 1),), dtype=np.float32)
        self._rng = np.random.default_rng()

    def observation_space(self, agent: str) -> spaces.Box:
        """What an agent observes; the same for all.

        Parameters
        ----------
        agent
            Its name.

        Returns
        -------
        Box
        """
        return self._seen

    def action_space(self, agent: str) -> spaces.Box:
        """What an agent does: a velocity as a share of v_max.

        Parameters
        ----------
        agent
            Its name.

        Returns
        -------
        Box
        """
        return self._acted

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, dict[str, Any]]]:
        """A fresh swarm, before the strike.

        Parameters
        ----------
        seed
            Of all swarms from now on; None: those of the seed given before go on.
        options
            Of PettingZoo's interface; none are known.

        Returns
        -------
        tuple
            Observations and an empty dictionary, by agent.
        """
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self.scenario, drawn_seed = self._split_swarm()
        from reknit.knowledge.mission import mission_of

        steered = _Steered(np.zeros_like(self.scenario.positions))
        self._steered = steered
        self.simulation = Simulation(
            mission_of(self.scenario),
            ("environment", steered),
            self._channel,
            (),
            drawn_seed,
            self.max_steps * self._repeats * STEP_S + 1.0,
        )
        self._steps: Iterator[tuple[float, int]] | None = None
        self._taken = 0
        self.agents = list(self.possible_agents)
        self._seen_now = self._look()
        return self._rows(self._seen_now, self.agents), {agent: {} for agent in self.agents}

    def _split_swarm(self) -> tuple[Scenario, int]:
        """A swarm that its damage splits, and the seed it is drawn from.

        Some layouts of a few UAVs stay whole whatever is lost: another one is drawn then.
        """
        for _ in range(_LAYOUT_TRIES):
            seed = int(self._rng.integers(2**31))
            try:
                return generate(self._uavs, self._destroyed, seed, dim=self._dim, split=True), seed
            except NoSplitFound as error:
                refused = error
        raise refused

    def step(self, actions: dict[str, np.ndarray]) -> tuple[Any, Any, Any, Any, Any]:
        """The strike, or `decision_s` of flight.

        Parameters
        ----------
        actions
            By agent, (dim,) shares of v_max; who is left out hovers.

        Returns
        -------
        tuple
            By agent: observation, reward, whether it is gone or the network whole, whether the
            episode is cut, and an empty dictionary.
        """
        if not self.agents:
            return {}, {}, {}, {}, {}
        wish = np.zeros((self._uavs, self._dim))
        for agent, action in actions.items():
            wish[self.possible_agents.index(agent)] = action
        reward, is_whole, is_cut = self.advance(wish)
        alive = self.simulation.world.alive
        leaving = self.agents
        gone = {
            agent: bool(is_whole or not alive[self.possible_agents.index(agent)])
            for agent in leaving
        }
        cut = dict.fromkeys(leaving, is_cut and not is_whole)
        seen = self._rows(self._seen_now, leaving)
        rewards = {agent: 0.0 if gone[agent] and not is_whole else reward for agent in leaving}
        self.agents = [agent for agent in leaving if not (gone[agent] or cut[agent])]
        if self.render_mode == "human":
            self.render()
        return seen, rewards, gone, cut, {agent: {} for agent in leaving}

    def advance(self, wish: FloatArray) -> tuple[float, bool, bool]:
        """Fly one decision of all UAVs.

        Parameters
        ----------
        wish
            (N, dim) shares of v_max.

        Returns
        -------
        tuple
            Reward, whether the network is whole, whether the episode is cut.
        """
        if not np.isfinite(wish).all():
            raise InvalidParameter("action", wish, "finite numbers")
        simulation = self.simulation
        if self._steps is None:
            self._steps = simulation.steps("reconnected")
            next(self._steps, None)
            self._excess_m = self._first_excess_m = self._excess()
            run = recover(simulation.struck, "contraction" if self._uavs > 2000 else "certified")
            self._optimum_s = max(float(run.flight.reconnected_at_s or 1.0), 1e-3)
            self._seen_now = self._look()
            return 0.0, simulation.reconnected_s is not None, False
        size = np.sqrt((wish * wish).sum(axis=1))
        share = wish / np.maximum(size, 1.0)[:, None]
        self._steered.velocities_mps = share * simulation.world.speeds_mps[:, None]
        before_s = simulation.world.time_s
        for _ in range(self._repeats):
            if next(self._steps, None) is None:
                break
        self._taken += 1
        excess_m = self._excess()
        passed_s = simulation.world.time_s - before_s
        reward = (self._excess_m - excess_m) / max(self._first_excess_m, 1e-9)
        reward -= self._time_cost * passed_s / max(self._optimum_s, self._repeats * STEP_S)
        self._excess_m = excess_m
        is_whole = simulation.reconnected_s is not None
        self._seen_now = self._look()
        return float(reward + is_whole), is_whole, self._taken >= self.max_steps

    def state(self) -> np.ndarray:
        """The truth, for central critics: position over range and life of every UAV."""
        world = self.simulation.world
        middle = self.scenario.positions.mean(axis=0)
        places = (world.positions - middle) / world.range_m
        return np.column_stack([places, world.alive]).astype(np.float32).ravel()

    @property
    def alive(self) -> BoolArray:
        """(N,) who lives."""
        return self.simulation.world.alive

    @property
    def optimum_s(self) -> float:
        """The certified planner's time, once the strike is done."""
        return self._optimum_s

    def render(self) -> Any:
        """The true network: an image, a line of text, or that line on the standard output."""
        world = self.simulation.world
        points = world.positions[world.alive]
        from reknit.network.links import count_subnets

        count = count_subnets(points, world.range_m)
        line = f"{world.time_s:6.2f} s  {int(world.alive.sum())} UAVs  {count} sub-nets"
        if self.render_mode == "ansi":
            return line
        if self.render_mode == "rgb_array":
            return _image(self.scenario, world.positions, world.alive, line)
        if self.render_mode == "human":
            import sys

            sys.stdout.write(line + "\n")
        return None

    def close(self) -> None:
        """Nothing is kept open."""

    def _look(self) -> np.ndarray:
        simulation = self.simulation
        minds: list[Mind] = simulation.minds
        return self._eyes.look(
            minds,
            simulation.world.reported,
            simulation.briefing,
            simulation.world.time_s,
        )

    def _rows(self, seen: np.ndarray, agents: list[str]) -> dict[str, np.ndarray]:
        return {agent: seen[self.possible_agents.index(agent)] for agent in agents}

    def _excess(self) -> float:
        world = self.simulation.world
        points = world.positions[world.alive]
        return float(np.maximum(lengths(points, emst(points)) - world.range_m, 0.0).sum())


class SwarmVector(VectorEnv):
    """Gymnasium's vector form: one shared policy flies all UAVs, one row each.

    Rows of lost UAVs are observed as zeros and rewarded 0; ``info["alive"]`` marks the others.
    A finished episode begins anew in the following step.

    Parameters
    ----------
    parameters
        As of `SwarmEnvironment`.
    """

    def __init__(self, **parameters: Any) -> None:
        self.metadata = {"autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}
        self.swarm = SwarmEnvironment(**parameters)
        self.num_envs = len(self.swarm.possible_agents)
        self.single_observation_space = self.swarm.observation_space("uav_0")
        self.single_action_space = self.swarm.action_space("uav_0")
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._is_over = True

    def reset(
        self,
        *,
        seed: int | list[int] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """A fresh swarm, struck.

        Parameters
        ----------
        seed
            Of all swarms from now on; of a list the first counts, since all rows are one swarm.
        options
            Of Gymnasium's interface; none are known.

        Returns
        -------
        tuple
            (N, features) observations, and a dictionary with who is alive.
        """
        first = seed[0] if isinstance(seed, list) else seed
        self.swarm.reset(first)
        self.swarm.advance(np.zeros((self.num_envs, self.swarm._dim)))
        self._is_over = False
        return self._rows(), self._info()

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """One decision of all UAVs.

        Parameters
        ----------
        actions
            (N, dim) shares of v_max.

        Returns
        -------
        tuple
            Of every row: observation, reward, whether the network is whole, whether the episode is
            cut; and a dictionary with who is alive.
        """
        nothing = np.zeros(self.num_envs, dtype=bool)
        if self._is_over:
            seen, info = self.reset()
            return seen, np.zeros(self.num_envs), nothing, nothing, info
        reward, is_whole, is_cut = self.swarm.advance(np.asarray(actions, dtype=np.float64))
        self._is_over = is_whole or is_cut
        return (
            self._rows(),
            np.where(self.swarm.alive, reward, 0.0),
            nothing | is_whole,
            nothing | (is_cut and not is_whole),
            self._info(),
        )

    def _rows(self) -> np.ndarray:
        return np.where(self.swarm.alive[:, None], self.swarm._seen_now, np.float32(0.0))

    def _info(self) -> dict[str, Any]:
        return {"alive": self.swarm.alive.copy()}


def _image(scenario: Any, positions: FloatArray, alive: BoolArray, title: str) -> np.ndarray:
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from reknit.network.links import links, subnets
    from reknit.viz.style import (
        LINK,
        LOST,
        RC,
        draw_points,
        draw_segments,
        map_axes,
        marker_size,
        subnet_colours,
    )

    with mpl.rc_context(RC):
        figure = Figure(figsize=(4.5, 4.7), dpi=80, layout="constrained")
        canvas = FigureCanvasAgg(figure)
        axes = map_axes(figure, 111, scenario, title)
        points = positions[alive]
        pairs = links(points, scenario.radio_range_m)
        if len(pairs):
            ends = points[pairs[:, 0]], points[pairs[:, 1]]
            draw_segments(axes, *ends, colors=LINK, linewidths=0.6, alpha=0.4, zorder=1)
        size = marker_size(scenario.uavs)
        draw_points(axes, positions[~alive], s=size, marker="x", color=LOST)
        colours = subnet_colours(subnets(points, scenario.radio_range_m))
        draw_points(axes, points, s=size, color=colours, zorder=3)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[:, :, :3].copy()
