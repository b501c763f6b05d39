"""The loss against loops written from its definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import reknit
from reknit.algorithms.learned.common.loss import LossRule, judge
from reknit.algorithms.learned.common.scaled import ScaledScenario
from reknit.algorithms.objective import largest
from reknit.base.errors import InvalidParameter, UnknownName
from reknit.network.emst import emst
from tests.algorithms.learned.ml_dagl.literal import subnets_by_spectrum


def _batch(seed: int = 1, spread: float = 0.1) -> tuple[ScaledScenario, torch.Tensor]:
    scenario = reknit.generate(uavs=30, destroyed=15, seed=seed, split=True)
    scaled = ScaledScenario.of(scenario)
    noise = torch.randn(3, *scaled.start.shape, generator=torch.Generator().manual_seed(seed))
    pull = torch.tensor([1.0, 0.8, 0.3])[:, None, None]
    return scaled, scaled.start * pull + spread * noise


def _prim_lengths(points: np.ndarray) -> list[float]:
    """Edge lengths of the EMST, by Prim's method on all pairs."""
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    inside, found = {0}, []
    while len(inside) < len(points):
        outside = [j for j in range(len(points)) if j not in inside]
        length, j = min((distance[i, j], j) for i in inside for j in outside)
        inside.add(j)
        found.append(float(length))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_count_loss_is_the_papers(seed: int) -> None:
    """L^k is the largest displacement plus lambda (N_s - 1), N_s by zero eigenvalues."""
    scaled, output = _batch(seed)
    judged = judge(output, scaled, LossRule("count", weight=1000.0))
    start = scaled.scenario.survivor_positions
    for row, targets in enumerate(judged.targets):
        farthest = max(np.linalg.norm(a - b) for a, b in zip(targets, start, strict=True))
        pieces = subnets_by_spectrum(targets, 120.0)
        assert judged.subnets[row] == pieces
        assert float(judged.loss[row]) == pytest.approx(farthest + 1000.0 * (pieces - 1), rel=1e-4)
        assert judged.times_s[row] == pytest.approx(farthest / 10.0)


@pytest.mark.parametrize("margin", [0.0, 0.1])
def test_excess_loss_sums_over_the_tree(margin: float) -> None:
    """The relaxed term is lambda times the sum of max(0, |e| - (1 - margin) d_tr)."""
    scaled, output = _batch(2)
    judged = judge(output, scaled, LossRule("excess", weight=2.5, margin=margin))
    start = scaled.scenario.survivor_positions
    for row, targets in enumerate(judged.targets):
        farthest = max(np.linalg.norm(a - b) for a, b in zip(targets, start, strict=True))
        reach = 120.0 * (1.0 - margin)
        excess = sum(max(0.0, length - reach) for length in _prim_lengths(targets))
        assert float(judged.loss[row]) == pytest.approx(farthest + 2.5 * excess, rel=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_excess_and_count_vanish_together(seed: int) -> None:
    """The excess is zero exactly for connected outputs."""
    scaled, output = _batch(seed, spread=0.02)
    count = judge(output, scaled, LossRule("count", weight=1e6))
    excess = judge(output, scaled, LossRule("excess", weight=1e6))
    plain = judge(output, scaled, LossRule("excess", weight=1e-9))
    no_excess = (excess.loss - plain.loss).detach().numpy() < 1e-3
    np.testing.assert_array_equal(no_excess, count.connected)


def test_only_the_excess_has_a_gradient() -> None:
    """Where displacements count for nothing, the count gives no direction and the excess does."""
    scaled, output = _batch(1)
    for disconnection, moves in (("count", False), ("excess", True)):
        leaf = output.clone().requires_grad_()
        loss = judge(leaf, scaled, LossRule(disconnection, weight=1e9)).loss.sum()
        (gradient,) = torch.autograd.grad(loss, leaf)
        assert (gradient.abs().max() > 1e6) == moves


def test_gradient_matches_finite_differences() -> None:
    """The gradient of the relaxed loss is that of the function, tree included."""
    scaled, output = _batch(3)
    rule = LossRule("excess", weight=1.0, power=8.0)
    leaf = output.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(judge(leaf, scaled, rule).loss.sum(), leaf)
    direction = torch.randn(output.shape, generator=torch.Generator().manual_seed(9))
    step = 1e-3
    ahead = judge(output + step * direction, scaled, rule).loss.double().sum()
    behind = judge(output - step * direction, scaled, rule).loss.double().sum()
    expected = float((gradient * direction).sum())
    assert float(ahead - behind) / (2 * step) == pytest.approx(expected, rel=0.02)


def _automatic(output: torch.Tensor, scaled: ScaledScenario, rule: LossRule) -> torch.Tensor:
    """The loss left to automatic differentiation, in float64."""
    scenario = scaled.scenario
    targets = output * scaled.scale.size_m + torch.tensor(scaled.scale.centre)
    speeds = torch.tensor(scenario.max_speed_mps[scenario.survivors])
    start = torch.tensor(scenario.survivor_positions)
    moved = (targets - start).norm(dim=2) * (speeds.max() / speeds)
    power = rule.power
    far = moved.amax(dim=1) if power is None else moved.pow(power).sum(dim=1).pow(1 / power)
    reach = scenario.planning_range_m * (1.0 - rule.margin)
    excess = []
    for one in targets:
        first, second = torch.from_numpy(emst(one.detach().numpy())).T
        excess.append(((one[first] - one[second]).norm(dim=1) - reach).clamp(min=0.0).sum())
    loss: torch.Tensor = far + rule.weight * torch.stack(excess)
    return loss


@pytest.mark.parametrize("power", [None, 1.0, 10.0])
@pytest.mark.parametrize("margin", [0.0, 0.3])
def test_value_and_gradient_are_those_of_automatic_differentiation(
    power: float | None, margin: float
) -> None:
    """The written-out gradient of displacements and excess is the one torch finds."""
    scaled, output = _batch(4)
    rule = LossRule("excess", weight=1.7, power=power, margin=margin)
    leaf = output.double().requires_grad_()
    found, expected = judge(leaf, scaled, rule).loss, _automatic(leaf, scaled, rule)
    torch.testing.assert_close(found, expected)
    scale = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    (own,) = torch.autograd.grad((found * scale).sum(), leaf)
    (automatic,) = torch.autograd.grad((expected * scale).sum(), leaf)
    torch.testing.assert_close(own, automatic)


@pytest.mark.parametrize("power", [None, 1.0, 10.0])
def test_a_swarm_that_stays_has_a_finite_gradient(power: float | None) -> None:
    """Where nobody moves the displacements give no direction, and no number that is none."""
    scaled, _ = _batch(1)
    leaf = scaled.start[None].double().requires_grad_()
    judged = judge(leaf, scaled, LossRule("count", weight=1.0, power=power))
    (gradient,) = torch.autograd.grad(judged.loss.sum(), leaf)
    assert torch.isfinite(gradient).all()


def test_p_norm_is_close_to_the_maximum_from_above() -> None:
    """The stand-in lies between the maximum and n^(1/p) times it."""
    values = np.random.default_rng(0).random((5, 40)) + 1e-3
    smooth, _ = largest(values, 12.0)
    top, shares = largest(values, None)
    np.testing.assert_array_equal(top, values.max(axis=1))
    np.testing.assert_array_equal(shares.argmax(axis=1), values.argmax(axis=1))
    assert (smooth >= top).all()
    assert (smooth <= top * 40 ** (1 / 12) + 1e-6).all()
    np.testing.assert_allclose(smooth, (values**12).sum(axis=1) ** (1 / 12))


def test_the_farthest_share_the_gradient_of_the_maximum() -> None:
    """Two that are equally far get half of it each."""
    _, shares = largest(np.array([[3.0, 1.0, 3.0]]), None)
    assert shares.tolist() == [[0.5, 0.0, 0.5]]


def test_slow_uavs_count_for_more() -> None:
    """With different speeds the time of the slowest flight decides, not the longest way."""
    points = [[0.0, 0.0], [100.0, 0.0], [300.0, 0.0]]
    scenario = reknit.Scenario(points, max_speed_mps=[10.0, 10.0, 2.0])
    scaled = ScaledScenario.of(scenario)
    moved = np.array([[60.0, 0.0], [100.0, 0.0], [280.0, 0.0]])
    judged = judge(scaled.scale.to_unit(moved)[None], scaled, LossRule("count", weight=1.0))
    assert judged.times_s[0] == pytest.approx(10.0, rel=1e-5)
    assert float(judged.loss[0]) == pytest.approx(100.0 + 1.0, rel=1e-4)


def test_anchors_stay_and_get_no_gradient() -> None:
    """An anchor's target is its position, whatever the network says."""
    points = [[0.0, 0.0], [100.0, 0.0], [300.0, 0.0]]
    scaled = ScaledScenario.of(reknit.Scenario(points, anchors=[2]))
    leaf = (scaled.start * 0.5)[None].requires_grad_()
    judged = judge(leaf, scaled, LossRule("excess", weight=1.0))
    (gradient,) = torch.autograd.grad(judged.loss.sum(), leaf)
    np.testing.assert_array_equal(judged.targets[0, 2], points[2])
    assert not gradient[0, 2].any()
    assert gradient[0, 0].any()


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"disconnection": "guess"}, UnknownName),
        ({"weight": 0.0}, InvalidParameter),
        ({"weight": float("nan")}, InvalidParameter),
        ({"power": 0.5}, InvalidParameter),
        ({"margin": 1.0}, InvalidParameter),
    ],
)
def test_wrong_rules_are_refused(values: dict[str, object], error: type[Exception]) -> None:
    """Each wrong value gets a typed error."""
    with pytest.raises(error):
        LossRule(**values)  # type: ignore[arg-type]
