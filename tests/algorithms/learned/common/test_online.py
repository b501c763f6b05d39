"""The online iterations, with a network so simple that every step can be followed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from torch import Tensor

import reknit
from reknit.algorithms.learned.common.loss import LossRule
from reknit.algorithms.learned.common.online import OnlineRule, Outcome, iterate
from reknit.algorithms.learned.common.scaled import ScaledScenario
from reknit.base.budget import Budget
from reknit.base.context import Context
from reknit.base.errors import InvalidParameter

RULE = LossRule("excess", weight=10.0)


def _scaled() -> ScaledScenario:
    """Two UAVs 200 m apart: connected once they are within 120 m, 4 s away at best."""
    return ScaledScenario.of(reknit.Scenario([[0.0, 0.0], [200.0, 0.0]]))


class _Pull:
    """Branch b moves both UAVs towards the middle by its own number, b's first guess."""

    def __init__(self, scaled: ScaledScenario, first: Sequence[float]) -> None:
        self.scaled = scaled
        self.pull = torch.tensor(first, requires_grad=True)
        self.asked: list[tuple[int, ...]] = []
        self.begun: list[tuple[int, ...]] = []

    def begin(self, active: Sequence[int]) -> list[Tensor]:
        self.begun.append(tuple(active))
        return [self.pull]

    def __call__(self, active: Sequence[int]) -> Tensor:
        self.asked.append(tuple(active))
        return self.scaled.start * (1.0 - self.pull[list(active)])[:, None, None]


def _iterate(net: _Pull, rule: OnlineRule, **rest: object) -> Outcome:
    branches = len(net.pull)
    context = rest.pop("context", Context())
    return iterate(net, net.begin, branches, net.scaled, RULE, rule, context, **rest)  # type: ignore[arg-type]


def test_the_best_output_is_kept() -> None:
    """Of all connected outputs over iterations and branches the fastest is returned."""
    net = _Pull(_scaled(), [0.9, 0.6])
    outcome = _iterate(net, OnlineRule(iterations=30, learning_rate=0.01, solutions=99))
    best = outcome.solutions[0]
    assert best.branch == 1
    assert best.time_s == min(one.time_s for one in outcome.solutions)
    assert 4.0 <= best.time_s < 4.2
    assert best.subnets == 1


def test_iterations_count_updates() -> None:
    """So many updates are made, and the output after the last one is seen too."""
    net = _Pull(_scaled(), [0.0])
    outcome = _iterate(net, OnlineRule(iterations=7, learning_rate=1e-3))
    assert outcome.iterations == 7
    assert len(outcome.losses_m) == len(net.asked) == 8
    assert outcome.stop == "iterations"
    assert outcome.solutions == []
    assert outcome.nearest is not None
    assert outcome.nearest.iteration == 7


def test_overtime_ends_with_the_first_connected_output() -> None:
    """Iterations go on beyond their number only until something is connected."""
    rule = OnlineRule(iterations=3, overtime=30, learning_rate=0.05)
    early, late = _iterate(_Pull(_scaled(), [0.5]), rule), _iterate(_Pull(_scaled(), [0.0]), rule)
    assert early.iterations == 3
    assert 3 < late.iterations < 33
    assert [one.iteration for one in late.solutions] == [late.iterations]
    never = _iterate(_Pull(_scaled(), [0.0]), OnlineRule(3, overtime=4, learning_rate=1e-4))
    assert never.iterations == 7
    assert never.solutions == []


def test_losing_branches_are_dropped() -> None:
    """After a first look at all, only the best two go on, and later only the best one."""
    net = _Pull(_scaled(), [0.0, 0.38, 0.8, 0.45])
    rule = OnlineRule(iterations=4, learning_rate=1e-4, keep=((0, 2), (2, 1)))
    _iterate(net, rule)
    assert net.asked[:4] == [(0,), (1,), (2,), (3,)]
    assert net.asked[4:] == [(1, 3), (1, 3), (3,), (3,), (3,)]
    assert net.begun == [(1, 3)]


def test_near_ties_go_to_the_first_branch() -> None:
    """Losses close enough to the lowest count as equal, and others do not."""
    chosen = []
    for tie in (1.0, 1.4, 1.5, 3.0):
        net = _Pull(_scaled(), [0.36, 0.39, 0.4])  # losses of 116, 59 and 40 m
        _iterate(net, OnlineRule(iterations=1, keep=((0, 1),), tie=tie))
        chosen.append(net.begun[0])
    assert chosen == [(2,), (2,), (1,), (0,)]


def test_a_solution_of_a_dropped_branch_is_not_forgotten() -> None:
    """A connected output counts even if its branch does not go on."""
    net = _Pull(_scaled(), [0.9, 0.399])
    outcome = _iterate(net, OnlineRule(iterations=0, keep=((0, 1),)))
    assert [one.branch for one in outcome.solutions] == [0]


def test_stops_when_the_bound_is_reached() -> None:
    """A solution at the bound ends the iterations at once."""
    net = _Pull(_scaled(), [0.40001])
    outcome = _iterate(net, OnlineRule(iterations=50), bound_s=4.0)
    assert outcome.stop == "bound"
    assert outcome.iterations == 0


def test_stops_when_progress_ends() -> None:
    """Without improvement for `patience` iterations there is no point in going on."""
    net = _Pull(_scaled(), [0.0])
    outcome = _iterate(net, OnlineRule(iterations=50, learning_rate=1e-12, patience=5))
    assert outcome.stop == "progress"
    assert outcome.iterations == 5


def test_stops_when_outputs_stay_split() -> None:
    """So many disconnected outputs in a row end it; a connected one starts the count again."""
    rule = OnlineRule(iterations=50, learning_rate=1e-6, split_limit=3)
    apart = _iterate(_Pull(_scaled(), [0.0]), rule)
    assert (apart.stop, apart.iterations) == ("split", 2)
    joined = _iterate(_Pull(_scaled(), [0.5]), OnlineRule(5, learning_rate=1e-6, split_limit=3))
    assert (joined.stop, joined.iterations) == ("iterations", 5)


class _Growing(_Pull):
    """Moves by the square of its number, so that the gradient grows with it."""

    def __call__(self, active: Sequence[int]) -> Tensor:
        return self.scaled.start * (1.0 - self.pull[list(active)] ** 2)[:, None, None]


def test_adam_begins_anew_while_outputs_are_split() -> None:
    """Each step is then a first one, of the full rate whatever the gradients were before."""
    ends = []
    for restart in (True, False):
        net = _Growing(_scaled(), [0.1])
        rule = OnlineRule(iterations=4, learning_rate=0.02, betas=(0.9, 0.9), restart=restart)
        _iterate(net, rule)
        ends.append(net.pull.item())
    assert ends[0] == pytest.approx(0.18, abs=1e-6)
    assert ends[1] < 0.18 - 1e-4


def test_what_was_seen_can_be_copied_at_any_time() -> None:
    """The copy says that the deadline ended it, and does not change any more."""
    outcome = _iterate(_Pull(_scaled(), [0.5]), OnlineRule(iterations=2, solutions=9))
    copy = outcome.cut_short()
    assert (copy.stop, copy.iterations) == ("deadline", 2)
    outcome.solutions.clear()
    assert len(copy.solutions) == 3


def test_stops_at_the_deadline() -> None:
    """A budget that is over leaves what the first look found."""
    net = _Pull(_scaled(), [0.5])
    outcome = _iterate(net, OnlineRule(iterations=50), context=Context(budget=Budget(0.0)))
    assert outcome.stop == "deadline"
    assert outcome.iterations == 0
    assert len(outcome.solutions) == 1


def test_the_first_look_ends_at_the_deadline_too() -> None:
    """Out of time from the start, one branch is looked at and no update is made."""
    net = _Pull(_scaled(), [0.5, 0.6, 0.7])
    rule = OnlineRule(iterations=50, keep=((0, 1),))
    outcome = _iterate(net, rule, context=Context(budget=Budget(0.0)))
    assert net.asked == [(0,)]
    assert outcome.stop == "deadline"
    assert len(outcome.solutions) == 1


def test_progress_is_told() -> None:
    """The listener hears a rising share of the work."""
    heard: list[float] = []
    context = Context(progress=lambda fraction, message: heard.append(fraction))
    _iterate(_Pull(_scaled(), [0.5]), OnlineRule(iterations=4), context=context)
    assert heard == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_learning_rate_falls_linearly() -> None:
    """From the full rate at the first iteration to its share at the end."""
    rule = OnlineRule(learning_rate=1e-3, final_share=0.2)
    rates = [rule.rate(_scaled(), step, 4) for step in range(5)]
    np.testing.assert_allclose(rates, [1e-3, 8e-4, 6e-4, 4e-4, 2e-4])


def test_learning_rate_stays_where_it_fell_to() -> None:
    """In overtime the rate is the last one."""
    rule = OnlineRule(iterations=10, overtime=5, learning_rate=1.0, final_share=0.2)
    assert rule.rate(_scaled(), 14, 10) == pytest.approx(0.2)


def test_a_relative_rate_grows_with_the_need() -> None:
    """Two UAVs 80 m too far apart in an area of 101 m must each go 40 m, and 20 m are added."""
    rule = OnlineRule(learning_rate=1e-3, relative=True)
    assert rule.rate(_scaled(), 0, 4) == pytest.approx(1e-3 * 60.0 / 101.0)


@pytest.mark.parametrize(
    "values",
    [
        {"iterations": -1},
        {"overtime": -1},
        {"tie": 0.9},
        {"learning_rate": 0.0},
        {"final_share": float("inf")},
        {"keep": ((0, 0),)},
        {"patience": 0},
        {"split_limit": 0},
    ],
)
def test_wrong_rules_are_refused(values: dict[str, object]) -> None:
    """Each wrong value gets a typed error."""
    with pytest.raises(InvalidParameter):
        OnlineRule(**values)  # type: ignore[arg-type]
