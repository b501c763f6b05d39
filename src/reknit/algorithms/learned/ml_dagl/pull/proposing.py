"""From a swarm to a plan by one pass of the pulling net, with several trees side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor

from reknit.algorithms.descent import Descent
from reknit.algorithms.learned.common.solution import NO, OF_ORIGINAL, OF_OUTPUT
from reknit.algorithms.learned.common.threads import run_until_over
from reknit.algorithms.learned.common.weights import file_stamp, load_weights
from reknit.algorithms.learned.ml_dagl.pull.net import PullNet, PullShape, PullState, tensor_shapes
from reknit.algorithms.learned.ml_dagl.pull.survivors import PullGraph, Survivors
from reknit.algorithms.protocols import Proposal
from reknit.algorithms.trimming import trim
from reknit.base.context import Context
from reknit.base.errors import InvalidParameter, TooLarge
from reknit.base.progress import Report, silent
from reknit.base.types import FloatArray, JsonDict
from reknit.exact.demands.contraction import contract
from reknit.network.links import count_subnets
from reknit.plans.status import Status
from reknit.swarm.objective import planned_time_s
from reknit.swarm.scenario import Scenario

MOST_SURVIVORS = 100_000
"""Survivors of the largest swarm that was tried: 0.6 GiB, and 20 s of one core."""

_MOST_COPIES = 8_000
"""Survivors times trees that are pulled at once; larger swarms have fewer trees."""

_FINISHED = 2
"""Outputs that are trimmed or contracted in the end."""

_LACK_COUNTS = 4.0
"""What a metre that links lack counts beside a metre to fly, when outputs are ranked."""

_REFINING_STEP = 0.06
"""First step of the descent after the pass, as a share of how far UAVs must move."""


@dataclass(frozen=True)
class PullSettings:
    """Everything that decides a plan but the weights, the scenario and the seed.

    Parameters
    ----------
    trees
        Spanning trees that are pulled on side by side, the EMST and others drawn near it.
    keep
        (After which layer, how many trees stay, and how many survivors they may have in all where
        that is more trees): those whose outputs are best so far. Trees of few survivors cost
        little, and at heavy damage the best tree shows late.
    refine
        Steps of `descent` from the best output; 0: the net alone.
    shape
        Of the net; its switches `attention` and `links` are what ablations turn.
    contraction
        Contract what is not connected; the contracted original positions are a candidate too.
    trimming
        End the plan where it reconnects the swarm.
    """

    trees: int = 32
    keep: tuple[tuple[int, int, int], ...] = ((4, 16, 640), (8, 6, 400), (16, 2, 200))
    refine: int = 40
    shape: PullShape = field(default_factory=PullShape)
    contraction: bool = True
    trimming: bool = True

    def __post_init__(self) -> None:
        if self.trees < 1:
            raise InvalidParameter("trees", self.trees, "a whole number of at least 1")


@dataclass(eq=False)
class _SoFar:
    """What a pass has come to so far: targets, best first, and after how many layers."""

    targets: FloatArray | None = None
    layers: int = 0
    trees: int = 0


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A plan, and how it came about: what was contracted, and what was refined."""

    targets: FloatArray
    time_s: float
    contracted: str = NO
    refined: str = NO


def load_pull_net(path: Path, shape: PullShape) -> PullNet:
    """A net with the weights of a file; the file is read once."""
    return _read(path.resolve(), shape, file_stamp(path))


@lru_cache(maxsize=4)
def _read(path: Path, shape: PullShape, stamp: tuple[int, int]) -> PullNet:
    net = PullNet(shape)
    net.load_state_dict(load_weights(path, tensor_shapes(shape)))
    return net.requires_grad_(False)


def propose_pulled(
    scenario: Scenario,
    context: Context,
    settings: PullSettings,
    make_net: Callable[[], PullNet],
) -> Proposal:
    """Targets for one scenario.

    Parameters
    ----------
    scenario
        The swarm.
    context
        Seed, limits and listeners.
    settings
        What to do.
    make_net
        Gives the net with its weights.
    """
    survivors = len(scenario.survivors)
    if survivors > MOST_SURVIVORS:
        limit = f"{MOST_SURVIVORS} survivors"
        raise TooLarge("ml-dagl", f"{survivors} survivors", limit, "certified")
    so_far = _SoFar()
    is_done = run_until_over(
        lambda inner: _pass(scenario, inner, settings, make_net(), so_far), context
    )
    # Read once: work that was left behind may still be writing.
    outputs, layers = so_far.targets, so_far.layers
    candidates = _finished(scenario, outputs, settings, context)
    details: JsonDict = {"preset": "default", "trees": so_far.trees, "layers": layers}
    own_s = [item.time_s for item in candidates if item.contracted == NO]
    details["network_time_s"] = min(own_s, default=None)
    if outputs is not None and settings.refine and not context.is_over:
        candidates += _refined(scenario, outputs[0], settings, context)
    status = None if is_done and not context.is_over else Status.DEADLINE
    if not candidates:
        nearest = scenario.survivor_positions if outputs is None else outputs[0]
        candidates = [_Candidate(nearest, planned_time_s(scenario, nearest))]
    best = min(candidates, key=lambda item: item.time_s)
    details |= {"refined": best.refined, "contracted": best.contracted}
    return Proposal(best.targets, status, details=details)


@torch.no_grad()
def _pass(
    scenario: Scenario, context: Context, settings: PullSettings, net: PullNet, so_far: _SoFar
) -> None:
    """Pull on all trees, on with the best after some layers; note what comes of it."""
    most = max(1, min(settings.trees, _MOST_COPIES // max(1, len(scenario.survivors))))
    context.progress(0.0, "drawing trees")
    survivors = Survivors.of(
        scenario,
        most,
        context.rng,
        attention=settings.shape.attention,
        is_over=lambda: context.is_over,
    )
    if context.is_over:
        return
    trees = torch.arange(len(survivors.trees))
    so_far.trees = len(trees)
    graph, layers = _copies(survivors, trees), settings.shape.layers
    state, number = net.begin(graph), 0
    keep = {
        layer: max(least, copies // len(scenario.survivors))
        for layer, least, copies in settings.keep
    }
    while number < layers and not context.is_over:
        state = net.advance(graph, state, number)
        number += 1
        fewer = keep.get(number, len(trees))
        if fewer < len(trees):
            chosen = _ranked(survivors, trees, state.positions)[:fewer]
            state = state.of_copies(chosen, len(trees))
            trees = trees[chosen]
            graph = _copies(survivors, trees)
        if number == layers or number % settings.shape.repeats == 0:
            _note(survivors, trees, state, number, so_far)
            assert so_far.targets is not None
            context.progress(number / layers, Report(f"layer {number}", so_far.targets[0]))


def _copies(survivors: Survivors, trees: Tensor) -> PullGraph:
    numbers: list[int] = trees.tolist()
    return PullGraph.of([survivors] * len(numbers), numbers)


def _note(
    survivors: Survivors,
    trees: Tensor,
    state: PullState,
    layers: int,
    so_far: _SoFar,
) -> None:
    order = _ranked(survivors, trees, state.positions)[:_FINISHED]
    places = state.positions.view(len(trees), -1, state.positions.shape[1])[order]
    so_far.targets, so_far.layers = survivors.metres(places), layers


def _ranked(survivors: Survivors, trees: Tensor, places: Tensor) -> Tensor:
    """The copies in the order of how far they fly and how much their trees' links lack."""
    copies = places.view(len(trees), -1, places.shape[1]).double()
    start = torch.from_numpy(survivors.start)
    moved = ((copies - start).norm(dim=2) * torch.from_numpy(survivors.delay)).amax(dim=1)
    edges = torch.from_numpy(survivors.trees)[trees]
    rows = torch.arange(len(trees))[:, None]
    length = (copies[rows, edges[:, :, 0]] - copies[rows, edges[:, :, 1]]).norm(dim=2)
    score = moved + _LACK_COUNTS * torch.relu(length - 1.0).sum(dim=1)
    return torch.argsort(score, stable=True)


def _finished(
    scenario: Scenario, outputs: FloatArray | None, settings: PullSettings, context: Context
) -> list[_Candidate]:
    """What is connected among the outputs, trimmed, and what contraction makes connected."""
    candidates: list[_Candidate] = []
    nearest = None
    for targets in () if outputs is None else outputs:
        if not _is_connected(scenario, targets):
            nearest = targets if nearest is None else nearest
            continue
        time_s = planned_time_s(scenario, targets)
        if settings.trimming and not context.is_over:
            candidates.append(_Candidate(*trim(scenario, targets, time_s)))
        else:
            candidates.append(_Candidate(targets, time_s))
    # Contraction moves everyone about one point, which a scenario with anchors rules out.
    if settings.contraction and not len(scenario.anchors):
        starts = [(OF_ORIGINAL, scenario.survivor_positions)]
        if nearest is not None and not candidates:
            starts.append((OF_OUTPUT, nearest))
        for origin, start in starts:
            targets = contract(scenario, start)
            candidates.append(_Candidate(targets, planned_time_s(scenario, targets), origin))
    return candidates


def _refined(
    scenario: Scenario, output: FloatArray, settings: PullSettings, context: Context
) -> list[_Candidate]:
    """What descent makes of an output, if that is connected."""
    descent = Descent(
        iterations=settings.refine,
        step=_REFINING_STEP,
        trees=1,
        contraction=False,
        trimming=settings.trimming,
    )
    begun = context.with_changes(progress=silent, warm_start=output)
    targets = descent.propose(scenario, begun).targets
    if not _is_connected(scenario, targets):
        return []
    return [_Candidate(targets, planned_time_s(scenario, targets), refined=OF_OUTPUT)]


def _is_connected(scenario: Scenario, targets: FloatArray) -> bool:
    return count_subnets(targets, scenario.planning_range_m) == 1
