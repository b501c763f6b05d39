"""Plans of the preset "default", made by one pass of the pulling net."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reknit
from reknit.algorithms.learned.ml_dagl.planner import MlDagl
from reknit.algorithms.learned.ml_dagl.pull import proposing
from reknit.base.context import Context
from reknit.base.errors import InvalidParameter, InvalidWeights, TooLarge


def _scenario(seed: int = 910_000, dim: int = 2) -> reknit.Scenario:
    return reknit.generate(60, 36, seed=seed, split=True, dim=dim)


def _plan(scenario: reknit.Scenario, **switches: Any) -> reknit.Plan:
    return reknit.plan(scenario, "ml-dagl", **switches)


@pytest.mark.parametrize("dim", [2, 3])
def test_one_pass_without_any_iteration_connects(dim: int) -> None:
    """Neither refined nor contracted, ten swarms in the plane and in space are connected."""
    connected = 0
    for seed in range(10):
        plan = _plan(_scenario(920_000 + seed, dim), refine=0)
        assert plan.status.is_connected
        assert plan.details["layers"] == 24
        connected += plan.details["contracted"] == "no"
    assert connected >= 9


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_refined_is_no_slower_than_the_network_alone(seed: int) -> None:
    """The best of the pass is still a candidate after descent."""
    scenario = _scenario(seed)
    alone = _plan(scenario, refine=0)
    plan = _plan(scenario)
    assert plan.recovery_time_s <= alone.recovery_time_s
    assert alone.details["refined"] == "no"
    assert plan.details["network_time_s"] == alone.details["network_time_s"]


def test_the_same_seed_gives_the_same_plan() -> None:
    """To the bit; other seeds draw other trees."""
    scenario = reknit.generate(100, 80, seed=910_001, split=True)
    plans = {seed: _plan(scenario, seed=seed, refine=0).targets.tobytes() for seed in range(6)}
    assert len(set(plans.values())) > 1
    assert _plan(scenario, seed=5, refine=0).targets.tobytes() == plans[5]


@pytest.mark.parametrize(
    "switch", [{"trees": 1}, {"links": False}, {"weights": "random"}, {"trimming": False}]
)
def test_each_switch_changes_the_plan(switch: dict[str, Any]) -> None:
    """No ablation switch is a dead letter, and each still gives a connected plan."""
    scenario = reknit.generate(100, 80, seed=910_001, split=True)
    base, other = _plan(scenario, refine=0), _plan(scenario, refine=0, **switch)
    assert other.status.is_connected
    assert not np.array_equal(base.targets, other.targets)


def test_without_links_the_plan_is_the_contraction() -> None:
    """Survivors that hear nothing stay, and what is contracted are the original positions."""
    scenario = _scenario()
    plan = _plan(scenario, links=False, refine=0)
    assert plan.details["contracted"] == "original positions"
    best_s = reknit.plan(scenario, "contraction").recovery_time_s
    assert plan.recovery_time_s == pytest.approx(best_s)


def test_without_contraction_a_split_output_stays_split() -> None:
    """And the plan says so."""
    plan = _plan(_scenario(), links=False, refine=0, contraction=False)
    assert plan.status is reknit.Status.NOT_CONNECTED
    assert plan.details["network_time_s"] is None


def test_anchors_do_not_move() -> None:
    """The swarm is joined about an anchor that stays."""
    base = _scenario()
    scenario = reknit.Scenario(base.positions, base.destroyed, anchors=base.survivors[:1])
    plan = _plan(scenario)
    assert plan.status.is_connected
    assert np.array_equal(plan.targets[0], scenario.survivor_positions[0])


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_the_unit_of_length_does_not_matter(factor: float) -> None:
    """A swarm measured in millimetres takes as long as the same in kilometres."""
    base = _scenario()
    other = reknit.Scenario(
        base.positions * factor,
        base.destroyed,
        base.planning_range_m * factor,
        base.max_speed_mps * factor,
    )
    times_s = [_plan(scenario, refine=0).recovery_time_s for scenario in (base, other)]
    assert times_s[1] == pytest.approx(times_s[0], rel=1e-4)


def test_slow_uavs_move_less() -> None:
    """With half of the UAVs at a quarter of the speed, slow ones fly shorter ways."""
    base = _scenario()
    speeds_mps = np.where(np.arange(base.uavs) % 2, 2.5, 10.0)
    scenario = reknit.Scenario(
        base.positions, base.destroyed, base.planning_range_m, max_speed_mps=speeds_mps
    )
    plan = _plan(scenario)
    assert plan.status.is_connected
    moved_m = np.linalg.norm(plan.targets - scenario.survivor_positions, axis=1)
    slow = speeds_mps[scenario.survivors] < 5.0
    assert moved_m[slow].max() < 0.6 * moved_m[~slow].max()


def test_a_budget_that_is_over_still_gives_a_plan() -> None:
    """With no time at all there is a verified plan, marked as cut short."""
    plan = _plan(_scenario(), budget_s=0.0)
    assert plan.status is reknit.Status.DEADLINE


def test_reports_show_where_the_pass_is() -> None:
    """Each comes with targets, so that a picture can follow the pull."""
    seen: list[tuple[float, Any]] = []
    context = Context(progress=lambda fraction, message: seen.append((fraction, message)))
    MlDagl(refine=0).propose(_scenario(), context)
    layers = [message for _, message in seen if str(message).startswith("layer")]
    assert [str(message) for message in layers] == [f"layer {n}" for n in (4, 8, 12, 16, 20, 24)]
    assert all(message.targets.shape == (24, 2) for message in layers)


def test_a_cancel_ends_the_pass() -> None:
    """Asked after a few looks to stop, it returns what it has."""
    asked = iter([False] * 4)
    proposal = MlDagl().propose(_scenario(), Context(cancel=lambda: next(asked, True)))
    assert proposal.status is reknit.Status.DEADLINE
    assert proposal.details is not None
    assert proposal.details["layers"] < 24


def test_a_swarm_too_large_is_refused_in_plain_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """One error with the limit and what to use instead."""
    monkeypatch.setattr(proposing, "MOST_SURVIVORS", 20)
    with pytest.raises(TooLarge, match=r"'ml-dagl' .* 20 survivors; use certified"):
        MlDagl().propose(_scenario(), Context())


def test_foreign_weights_are_refused(tmp_path: Any) -> None:
    """Weights of the paper's net, or for another shape, do not serve this one."""
    from reknit.algorithms.learned.ml_dagl.weight_files import weight_file

    with pytest.raises(InvalidWeights, match=r"is not a weight|is missing"):
        _plan(_scenario(), weights=weight_file("paper", 2, 20))
    with pytest.raises(InvalidWeights):
        _plan(_scenario(), attention=True)
    with pytest.raises(InvalidParameter, match="trees"):
        _plan(_scenario(), trees=0)
