"""ML-DAGL (Section IV): damage attention, dilated convolutions, online iterations, best kept.

The presets "paper", "published" and "relaxed" are here; "default", which has another neural net,
is in `pull`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import torch
from torch import Tensor

from reknit.algorithms.descent import Descent
from reknit.algorithms.learned.common.baseline import Flown
from reknit.algorithms.learned.common.layers import dropout_generator
from reknit.algorithms.learned.common.loss import Disconnection, LossRule
from reknit.algorithms.learned.common.online import OnlineRule, Outcome, iterate
from reknit.algorithms.learned.common.scaled import ScaledScenario
from reknit.algorithms.learned.common.solution import NO, choose
from reknit.algorithms.learned.common.threads import run_until_over
from reknit.algorithms.learned.ml_dagl.dgcn import Dgcn, Shape
from reknit.algorithms.learned.ml_dagl.kernel import EpsilonRule, Kernel
from reknit.algorithms.learned.ml_dagl.preset_values import preset_texts
from reknit.algorithms.learned.ml_dagl.pull.net import PullNet, PullShape
from reknit.algorithms.learned.ml_dagl.pull.proposing import (
    PullSettings,
    load_pull_net,
    propose_pulled,
)
from reknit.algorithms.learned.ml_dagl.settings import (
    PAPER,
    PRESETS,
    RELAXED,
    Fastest,
    Gco,
    PresetName,
    Settings,
)
from reknit.algorithms.learned.ml_dagl.weight_files import (
    SHIPPED_SIZES,
    load_net,
    untrained_net,
    weight_file,
)
from reknit.algorithms.parameters import (
    DEFAULT_PRESET,
    Dropout,
    Iterations,
    LearningRate,
    Penalty,
    Range,
)
from reknit.algorithms.protocols import Proposal
from reknit.base.context import Context
from reknit.base.errors import InvalidParameter, TooLarge, UnknownName
from reknit.base.progress import silent
from reknit.base.types import FloatArray, JsonDict
from reknit.exact.proof.bounds import lower_bound
from reknit.network.links import count_subnets
from reknit.swarm.scenario import Scenario

_Part = TypeVar("_Part", Settings, PullSettings, PullShape, LossRule, OnlineRule)

PRETRAINED, RANDOM, IDENTITY = "pretrained", "random", "identity"

_OF_EVERY_PRESET = ("preset", "weights", "contraction", "trimming", "refine")
_OF_DEFAULT = ("trees", "attention", "links")

_LATER = ("virtual_node", "area_scale", "first_dropout", "fan_out")
"""Settings that count only where they are switched on: runs stored before there were any stand."""

MOST_NODES = 50_000
"""UAVs times branches that train at once: some 3 GiB of features."""


@dataclass(frozen=True)
class MlDagl:
    """The paper's planner. A parameter left at None is the preset's.

    The preset "default" has no online iterations, so what belongs to them or to the paper's
    neural net cannot be given with it: `disconnection` to `residual`, and `fastest` to
    `untrained_restart`.
    Anchors stay where they are. A minimum separation or 2-connectivity is not planned for: the
    plan's status says whether it happens to hold.

    Parameters
    ----------
    preset
        "default", one pass of a neural net that pulls survivors along links; "paper", the paper's
        neural net trained anew on every swarm, to the letter; "published", the same with what the
        published work does beside the paper's text; or "relaxed", the same with a loss that has a
        gradient, fewer iterations and its output refined.
    trees
        Of "default" alone: spanning trees that are pulled on side by side.
    attention
        Of "default" alone: whether the neural net is told of the damage (MBDA); the shipped weights
        are for False.
    links
        Of "default" alone: whether survivors tell each other anything.
    disconnection
        "excess" or "count": how the loss measures what is not connected.
    penalty
        Lambda, its weight: metres per sub-net ("count") or per metre ("excess").
    epsilon
        Eps of the B-GCO: "uavs" (1/N), "norm", or a number.
    branches
        Dilation sizes k, such as (3,) or (1, 2, 4); "rule" for 1 to K by eq. (K).
    iterations
        Online iterations.
    learning_rate
        Of the online iterations; in "relaxed" relative to how far UAVs must move.
    dropout
        Between residual blocks during online iterations.
    gco
        "bipartite" or "ordinary".
    residual
        Whether blocks have their skip connection.
    weights
        "pretrained", "random" (drawn from the seed), "identity" (drawn too, but so that without
        links the output is the input), or a weight file.
    contraction
        Contract what is not connected, so that there is always a connected plan.
    trimming
        End the plan where it reconnects the swarm.
    refine
        Steps of descent on the targets after the neural net; 0: none.
    fastest
        Which T_rc a connected output is kept for: "planned", or "flown": when the swarm flying
        there is first connected.
    drop_branches
        Go on with the best branch only; otherwise all go on to the end.
    awake_only
        Train without the units that answer to no UAV before training.
    untrained_restart
        Iterate once more from untrained weights if no output was connected.
    """

    UNSET: ClassVar[dict[str, str]] = preset_texts()

    preset: PresetName = DEFAULT_PRESET
    trees: Annotated[int, Range(least=1, most=10_000)] | None = None
    attention: bool | None = None
    links: bool | None = None
    disconnection: Disconnection | None = None
    penalty: Penalty | None = None
    epsilon: EpsilonRule | float | None = None
    branches: Sequence[int] | Literal["rule"] | None = None
    iterations: Iterations | None = None
    learning_rate: LearningRate | None = None
    dropout: Dropout | None = None
    gco: Gco | None = None
    residual: bool | None = None
    weights: str | Path = PRETRAINED
    contraction: bool | None = None
    trimming: bool | None = None
    refine: Iterations | None = None
    fastest: Fastest | None = None
    drop_branches: bool | None = None
    awake_only: bool | None = None
    untrained_restart: bool | None = None

    def __post_init__(self) -> None:
        presets = (DEFAULT_PRESET, *PRESETS)
        if self.preset not in presets:
            raise UnknownName("preset", self.preset, presets)
        self._refuse_foreign()
        if not hasattr(self.weights, "__fspath__") and not hasattr(self.weights, "encode"):
            allowed = f"{PRETRAINED!r}, {RANDOM!r}, {IDENTITY!r} or a file"
            raise InvalidParameter("weights", self.weights, allowed)
        _ = self.pulling if self.preset == DEFAULT_PRESET else self.settings

    def _refuse_foreign(self) -> None:
        """Refuse parameters that the preset has no use for, rather than ignore them."""
        is_default = self.preset == DEFAULT_PRESET
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in _OF_EVERY_PRESET or value is None:
                continue
            if is_default != (field.name in _OF_DEFAULT):
                others = tuple(PRESETS) if is_default else (DEFAULT_PRESET,)
                allowed = f"given with the preset {' or '.join(map(repr, others))} alone"
                raise InvalidParameter(field.name, value, allowed)
        if is_default and self.weights == IDENTITY:
            allowed = f"{PRETRAINED!r}, {RANDOM!r} or a file with the preset {DEFAULT_PRESET!r}"
            raise InvalidParameter("weights", self.weights, allowed)

    @cached_property
    def pulling(self) -> PullSettings:
        """What the preset "default" does, with this planner's own parameters in place."""
        base = PullSettings()
        shape = _changed(base.shape, attention=self.attention, links=self.links)
        return _changed(
            replace(base, shape=shape),
            trees=self.trees,
            refine=self.refine,
            contraction=self.contraction,
            trimming=self.trimming,
        )

    @cached_property
    def settings(self) -> Settings:
        """What the presets with the paper's neural net do, with this planner's own parameters."""
        base = PRESETS[self.preset]
        loss = base.loss
        if self.disconnection not in (None, loss.disconnection):
            # lambda is metres per sub-net in one term and metres per metre in the other.
            weight = (PAPER if self.disconnection == "count" else RELAXED).loss.weight
            loss = replace(loss, weight=weight)
        loss = _changed(loss, disconnection=self.disconnection, weight=self.penalty)
        online = _changed(base.online, iterations=self.iterations, learning_rate=self.learning_rate)
        if self.drop_branches is not None:
            keep = (online.keep or RELAXED.online.keep) if self.drop_branches else ()
            online = replace(online, keep=keep)
        changed = _changed(
            replace(base, loss=loss, online=online),
            epsilon=self.epsilon,
            gco=self.gco,
            residual=self.residual,
            dropout=self.dropout,
            contraction=self.contraction,
            trimming=self.trimming,
            refine=self.refine,
            fastest=self.fastest,
            awake_only=self.awake_only,
            untrained_restart=self.untrained_restart,
        )
        return replace(changed, branches=_branches(self.branches, base.branches))

    def resolved(self, uavs: int | None = None) -> JsonDict:
        """Every parameter with the value it comes to, the preset's included; of any swarm."""
        chosen = asdict(self.pulling if self.preset == DEFAULT_PRESET else self.settings)
        settled = {name: value for name, value in chosen.items() if name not in _LATER or value}
        return {"preset": self.preset, "weights": str(self.weights), **settled}

    def weight_files(self, uavs: int | None = None, dim: int | None = None) -> Sequence[Path]:
        """The weight files that decide its plans of swarms of this kind; None: of any."""
        if self.weights in (RANDOM, IDENTITY):
            return ()
        if self.weights != PRETRAINED:
            return (Path(self.weights),)
        dims = (2, 3) if dim is None else (dim,)
        every = SHIPPED_SIZES.get(self.preset, (None,))
        sizes = every if uavs is None else (uavs,)
        files = {weight_file(self.preset, dim, size) for dim in dims for size in sizes}
        return tuple(sorted(path for path in files if path.exists()))

    def propose(self, scenario: Scenario, context: Context) -> Proposal:
        """Targets for one scenario."""
        if self.preset == DEFAULT_PRESET:
            return propose_pulled(
                scenario, context, self.pulling, lambda: self.pull_net(context.seed)
            )
        settings = self.settings
        scaled = settings.scaled(scenario)
        _check_size(scenario.uavs)
        outcome = Outcome()
        details: JsonDict = {"preset": self.preset, "branches": []}
        if not run_until_over(lambda inner: self.train(scaled, inner, outcome, details), context):
            outcome = outcome.cut_short()
        proposal = choose(
            scaled,
            outcome,
            contraction=settings.contraction,
            trimming=settings.trimming,
            details=dict(details),
            is_over=lambda: context.is_over,
        )
        if not settings.refine or context.is_over:
            return proposal
        return _refined(scaled, outcome, proposal, settings, context)

    def train(
        self, scaled: ScaledScenario, context: Context, outcome: Outcome, details: JsonDict
    ) -> None:
        """The online iterations of every branch.

        Parameters
        ----------
        scaled
            The scenario in the neural net's units.
        context
            Seed, limits and listeners.
        outcome
            Where to take note of what the branches come to.
        details
            Where to take note of their dilation sizes, as "branches".
        """
        settings, rule = self.settings, self.settings.online
        context.progress(0.0, "counting hops")
        hops = settings.hops(scaled.scenario)
        chosen = hops.chosen
        details["branches"] = list(chosen)
        if context.is_over:
            return
        trained = min([len(chosen), *[count for start, count in rule.keep if start == 0]])
        _check_size(scaled.scenario.uavs, trained)
        dim, uavs = scaled.scenario.dim, scaled.scenario.uavs
        dropout = dropout_generator(settings.dropout, context.seed)
        kernels: dict[tuple[int, ...], Kernel] = {}

        def kernel(active: Sequence[int]) -> Kernel:
            key = tuple(active)
            if key not in kernels:
                kernels.clear()
                kernels[key] = settings.kernel(hops, [chosen[branch] for branch in active])
            return kernels[key]

        def iterate_from(dgcn: Dgcn) -> None:
            def forward(active: Sequence[int]) -> Tensor:
                output: Tensor = dgcn(scaled.unit, kernel(active), dropout)
                return output

            def begin(active: Sequence[int]) -> Iterable[Tensor]:
                if settings.awake_only:
                    dgcn.leave_out_asleep(scaled.unit, kernel(active))
                return dgcn.parameters()

            iterate(
                forward,
                begin,
                len(chosen),
                scaled,
                Flown(settings.loss) if settings.fastest == "flown" else settings.loss,
                rule,
                context,
                lower_bound(scaled.scenario, context).bound_s,
                outcome,
            )

        iterate_from(self.dgcn(dim, uavs, context.seed))
        can_restart = settings.untrained_restart and self.weights not in (RANDOM, IDENTITY)
        if can_restart and not outcome.solutions and not context.is_over:
            details["restarted"] = True
            outcome.begin_again()
            iterate_from(replace(self, weights=RANDOM).dgcn(dim, uavs, context.seed))

    def pull_net(self, seed: int) -> PullNet:
        """The neural net of the preset "default" with its weights."""
        shape = self.pulling.shape
        if self.weights == RANDOM:
            return PullNet(shape, torch.Generator().manual_seed(seed)).requires_grad_(False)
        shipped = self.weights == PRETRAINED
        return load_pull_net(weight_file(self.preset, 2) if shipped else Path(self.weights), shape)

    def dgcn(self, dim: int, uavs: int, seed: int) -> Dgcn:
        """The neural net with the weights to begin from."""
        dgcn = self._dgcn(dim, uavs, seed)
        dgcn.skip_zero_rows = True
        return dgcn

    def _dgcn(self, dim: int, uavs: int, seed: int) -> Dgcn:
        settings = self.settings
        shape = Shape(dim, hidden=settings.hidden)
        switches: dict[str, Any] = {
            "residual": settings.residual,
            "dropout": settings.dropout,
            "first_dropout": settings.first_dropout,
        }
        if self.weights in (RANDOM, IDENTITY):
            identity = self.weights == IDENTITY
            fan_out = settings.fan_out
            return untrained_net(shape, seed, identity=identity, fan_out=fan_out, **switches)
        shipped = self.weights == PRETRAINED
        path = weight_file(self.preset, dim, uavs) if shipped else Path(self.weights)
        if shipped and not path.exists():
            allowed = "'default' or 'relaxed', or weights of your own: the paper has no 3-D swarms"
            raise InvalidParameter("preset", self.preset, allowed)
        return load_net(path, shape, **switches)


def _refined(
    scaled: ScaledScenario,
    outcome: Outcome,
    proposal: Proposal,
    settings: Settings,
    context: Context,
) -> Proposal:
    """The fastest of the proposal and what descent on the targets makes of two starts.

    They are the neural net's best output, and where the survivors are: the latter is all that the
    planner `descent` does, so a plan is never slower than without the neural net.
    """
    best = outcome.solutions[0] if outcome.solutions else outcome.nearest
    if best is None:  # cut short before the first output
        return proposal
    descent = Descent(
        iterations=settings.refine, contraction=settings.contraction, trimming=settings.trimming
    )
    candidates = [(NO, proposal)]
    for origin, start in (("output", best.targets), ("positions", None)):
        if context.is_over:
            break
        begun = context.with_changes(progress=silent, warm_start=start)
        candidates.append((origin, descent.propose(scaled.scenario, begun)))
    origin, kept = min(candidates, key=lambda named: _rank(scaled, named[1].targets))
    details = {**(proposal.details or {}), "refined": origin}
    if kept is not proposal:
        details["contracted"] = (kept.details or {})["contracted"]
    return replace(kept, status=proposal.status or kept.status, details=details)


def _rank(scaled: ScaledScenario, targets: FloatArray) -> tuple[int, float]:
    """Fewer sub-nets first, then the faster."""
    return count_subnets(targets, scaled.scenario.planning_range_m), scaled.time_s(targets)


def _check_size(uavs: int, branches: int = 1) -> None:
    """Refuse a swarm whose features, (branches, N, d_s) in every layer, would not fit memory."""
    if uavs * branches > MOST_NODES:
        size = f"{uavs} UAVs in {branches} branches at once"
        limit = f"{MOST_NODES} UAVs times branches trained at once"
        raise TooLarge("ml-dagl", size, limit, "certified")


def _branches(
    given: Sequence[int] | str | None, preset: tuple[int, ...] | None
) -> tuple[int, ...] | None:
    if given is None:
        return preset
    if isinstance(given, str):
        if given != "rule":
            raise InvalidParameter("branches", given, "'rule' or whole numbers of at least 1")
        return None
    return tuple(given)


def _changed(base: _Part, **values: Any) -> _Part:
    """The dataclass with those values replaced that are given."""
    return replace(base, **{name: value for name, value in values.items() if value is not None})
