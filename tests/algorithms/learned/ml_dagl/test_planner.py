"""The planner as a whole: presets, switches, and what a plan says of itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import reknit
from reknit.algorithms.learned.common.checkpoint import plain
from reknit.algorithms.learned.common.weights import read_manifest
from reknit.algorithms.learned.ml_dagl.dgcn import Shape
from reknit.algorithms.learned.ml_dagl.planner import MlDagl
from reknit.algorithms.learned.ml_dagl.recipe import paper_recipe, published_recipe
from reknit.algorithms.learned.ml_dagl.settings import PAPER, PUBLISHED, PresetName
from reknit.algorithms.learned.ml_dagl.weight_files import (
    SHIPPED_SIZES,
    WEIGHTS,
    tensor_shapes,
    weight_file,
)
from reknit.base.context import Context
from reknit.base.errors import InvalidParameter, InvalidWeights, TooLarge

BY_SIZE = [(preset, n) for preset, sizes in SHIPPED_SIZES.items() for n in sizes]
SHIPPED = [("relaxed", 2, None), ("relaxed", 3, None), *((name, 2, n) for name, n in BY_SIZE)]


def _relaxed(scenario: reknit.Scenario, **switches: Any) -> reknit.Plan:
    return reknit.plan(scenario, "ml-dagl", preset="relaxed", **switches)


def _scenario(uavs: int = 40, lost: int = 20, seed: int = 910_000, **rest: Any) -> reknit.Scenario:
    return reknit.generate(uavs=uavs, destroyed=lost, seed=seed, split=True, **rest)


@pytest.mark.parametrize("preset", ["default", "relaxed"])
@pytest.mark.parametrize("dim", [2, 3])
def test_close_to_the_bound(dim: int, preset: str) -> None:
    """An ordinary case is connected by the net itself, within twice the bound."""
    scenario = _scenario(60, 30, dim=dim)
    run = reknit.recover(scenario, "ml-dagl", preset=preset)
    assert run.plan is not None
    assert run.plan.status.is_connected
    assert run.metrics.converged
    assert run.plan.details["contracted"] == "no"
    assert run.plan.recovery_time_s < 2.0 * run.plan.lower_bound_s


def test_the_same_seed_gives_the_same_plan() -> None:
    """Targets are equal to the last bit, dropout included."""
    scenario = _scenario()
    for preset in ("relaxed", "paper", "published"):
        first, second = (
            reknit.plan(scenario, "ml-dagl", seed=3, preset=preset, iterations=4) for _ in range(2)
        )
        assert np.array_equal(first.targets, second.targets)
        assert first.details == second.details


def test_another_seed_drops_other_features() -> None:
    """Under the paper's dropout the seed decides the plan."""
    scenario = _scenario()
    first, second = (
        reknit.plan(scenario, "ml-dagl", seed=seed, preset="paper", iterations=2) for seed in (1, 2)
    )
    assert not np.array_equal(first.targets, second.targets)


def test_torch_global_state_is_left_alone() -> None:
    """Planning neither uses nor changes torch's own random numbers."""
    torch.manual_seed(0)
    before = torch.get_rng_state()
    reknit.plan(_scenario(), "ml-dagl", preset="paper", weights="random", iterations=2)
    assert torch.equal(torch.get_rng_state(), before)


def test_more_iterations_are_never_worse() -> None:
    """The best so far is kept, so the planned time does not rise while the schedule is the same."""
    scenario = _scenario()
    times = []
    for iterations in (0, 30):
        plan = _relaxed(scenario, iterations=iterations)
        times.append(plan.recovery_time_s)
    assert times[1] <= times[0]


def test_no_output_connected_is_contracted_and_said() -> None:
    """From random weights and without iterations the plan is a contraction, and says so."""
    scenario = _scenario(60, 30)
    plan = _relaxed(scenario, weights="random", branches=(1,), iterations=0, refine=0)
    assert plan.status.is_connected
    assert plan.details["contracted"] in ("output", "original positions")
    best_s = reknit.plan(scenario, "contraction").recovery_time_s
    assert plan.recovery_time_s <= best_s + 1e-9


def test_without_contraction_a_split_output_stays_split() -> None:
    """The paper preset never contracts: its plan may be not connected, and says so."""
    scenario = _scenario(100, 60)
    plan = _relaxed(
        scenario, branches=(1,), iterations=0, refine=0, contraction=False, epsilon=1e-9
    )
    assert plan.status is reknit.Status.NOT_CONNECTED
    assert plan.details["contracted"] == "no"
    assert plan.details["network_time_s"] is None


def test_k_star_is_the_fastest_connected_branch() -> None:
    """Of several branches the plan is the one with the least time among the connected ones."""
    scenario = _scenario(60, 30)
    switches: dict[str, Any] = {
        "iterations": 0,
        "refine": 0,
        "trimming": False,
        "contraction": False,
    }
    alone = {}
    for k in (1, 3, 5, 7):
        plan = _relaxed(scenario, branches=(k,), epsilon=0.02, **switches)
        if plan.status.is_connected:
            alone[k] = plan.recovery_time_s
    assert alone
    together = _relaxed(scenario, branches=(1, 3, 5, 7), epsilon=0.02, **switches)
    assert together.recovery_time_s == pytest.approx(min(alone.values()), rel=1e-4)
    assert together.details["best_branch"] == min(alone, key=lambda k: alone[k])


@pytest.mark.parametrize(
    "switch",
    [
        {"gco": "ordinary"},
        {"residual": False},
        {"branches": (3,)},
        {"weights": "random"},
        {"disconnection": "count"},
        {"epsilon": "uavs"},
        {"drop_branches": False},
        {"trimming": False},
        {"awake_only": False},
    ],
)
def test_each_switch_changes_the_plan(switch: dict[str, Any]) -> None:
    """No ablation switch is a dead letter, and each still gives a connected plan."""
    scenario = _scenario(60, 30, seed=910_003)
    base = _relaxed(scenario, iterations=6, refine=0)
    other = _relaxed(scenario, iterations=6, refine=0, **switch)
    assert other.status.is_connected
    assert not np.array_equal(base.targets, other.targets)


def test_paper_preset_is_literal() -> None:
    """Count term, eps = 1/N, K by the rule, 50 iterations, dropout 0.1, nothing added but another
    start where no output is connected.
    """
    assert MlDagl(preset="paper").settings == PAPER
    assert (PAPER.loss.disconnection, PAPER.loss.power, PAPER.loss.margin) == ("count", None, 0.0)
    assert PAPER.loss.weight >= 1000.0
    assert (PAPER.epsilon, PAPER.branches, PAPER.dropout) == ("uavs", None, 0.1)
    assert (PAPER.online.iterations, PAPER.online.learning_rate) == (50, 1e-4)
    assert (PAPER.online.keep, PAPER.online.patience) == ((), None)
    assert not PAPER.contraction
    assert not PAPER.trimming
    assert not PAPER.awake_only
    assert PAPER.untrained_restart


def test_published_preset_is_the_paper_s_with_what_the_text_leaves_out() -> None:
    """Eps by the norm with a virtual node, ten branches, the area's scale, dropout after layer 1,
    first weights by fan-out; loss, optimiser and iterations are those of the preset "paper".
    """
    assert MlDagl(preset="published").settings == PUBLISHED
    assert (PUBLISHED.epsilon, PUBLISHED.epsilon_share) == ("norm", 0.5)
    assert PUBLISHED.branches == tuple(range(1, 11))
    assert PUBLISHED.loss.weight == 5000.0
    assert PUBLISHED.virtual_node
    assert PUBLISHED.area_scale
    assert PUBLISHED.first_dropout
    assert PUBLISHED.fan_out
    assert PUBLISHED.online == PAPER.online
    with pytest.raises(InvalidParameter, match="virtual node"):
        MlDagl(preset="published", gco="ordinary")


def test_settings_that_came_later_leave_stored_runs_alone() -> None:
    """They are among what decides a plan only where they are switched on."""
    later = {"virtual_node", "area_scale", "first_dropout", "fan_out"}
    assert not later & set(MlDagl(preset="paper").resolved())
    assert later <= set(MlDagl(preset="published").resolved())


def test_the_published_scale_moves_with_the_swarm() -> None:
    """Inputs are 500 m each about the centre of the area, with the virtual node there; outputs
    of one are at its edge.
    """
    points = np.array([[0.0, 0.0], [800.0, 100.0], [300.0, 400.0]])
    scaled = PUBLISHED.scaled(reknit.Scenario(points + 5000.0, [2]))
    expected = [[-0.8, -0.4], [0.8, -0.2], [-0.2, 0.4], [0.0, 0.0]]
    np.testing.assert_allclose(scaled.unit.numpy(), expected, atol=1e-6)
    corner = scaled.targets(torch.ones(1, 2, 2))[0]
    np.testing.assert_allclose(corner, [[5800.0, 5600.0]] * 2)


def test_lambda_follows_the_disconnection_term() -> None:
    """Switching the term switches lambda's unit, unless a value of one's own is given."""
    assert MlDagl(preset="relaxed", disconnection="count").settings.loss.weight == PAPER.loss.weight
    assert MlDagl(preset="paper", disconnection="excess").settings.loss.weight < 10.0
    assert MlDagl(preset="paper", penalty=7.0).settings.loss.weight == 7.0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_refined_is_no_slower_than_descent_or_the_network_alone(seed: int) -> None:
    """The plan is the best of the network's own, its refined output and plain descent."""
    scenario = _scenario(60, 40, seed=seed)
    plan = _relaxed(scenario)
    alone = _relaxed(scenario, refine=0)
    descent = reknit.plan(scenario, "descent")
    assert plan.recovery_time_s <= min(alone.recovery_time_s, descent.recovery_time_s)
    assert plan.details["refined"] in ("no", "output", "positions")
    assert "refined" not in alone.details


def test_an_untrained_network_can_start_as_identity() -> None:
    """Before any iteration and without links, such a network leaves everyone in place."""
    scenario = _scenario()
    switches: dict[str, Any] = {"iterations": 0, "epsilon": 1e-9, "refine": 0}
    switches["contraction"] = False
    plan = _relaxed(scenario, weights="identity", **switches)
    assert plan.recovery_time_s < 1.0
    assert MlDagl(preset="relaxed", weights="identity").weight_files() == ()


def test_weights_that_decide_a_size() -> None:
    """Of the paper preset's models only the one for a swarm's size counts, in the plane; all do
    where the size is open.
    """
    planner = MlDagl(preset="paper")
    assert len(planner.weight_files()) == len(SHIPPED_SIZES["paper"])
    names = [path.name for path in planner.weight_files(uavs=190, dim=2)]
    assert names == ["paper-2d-200.safetensors"]
    assert planner.weight_files(uavs=190, dim=3) == ()
    assert len(MlDagl(preset="relaxed").weight_files(uavs=190, dim=3)) == 1


@pytest.mark.parametrize("lost", [0, 1])
def test_hardly_any_loss(lost: int) -> None:
    """A swarm that was split before, with no or one destroyed UAV, is planned for too."""
    points = [[0.0, 0.0], [60.0, 0.0], [300.0, 0.0], [360.0, 0.0]]
    scenario = reknit.Scenario(points, destroyed=list(range(lost)))
    plan = _relaxed(scenario, iterations=20)
    assert plan.status.is_connected


@pytest.mark.parametrize(
    ("preset", "switch"),
    [
        ("default", {"iterations": 3}),
        ("default", {"epsilon": 0.1}),
        ("default", {"branches": (1,)}),
        ("default", {"weights": "identity"}),
        ("paper", {"trees": 4}),
        ("relaxed", {"attention": True}),
        ("relaxed", {"links": False}),
    ],
)
def test_what_a_preset_has_no_use_for_is_refused(
    preset: PresetName, switch: dict[str, Any]
) -> None:
    """A parameter of another preset's network is an error that says so, not ignored."""
    with pytest.raises(InvalidParameter, match=rf"{next(iter(switch))} .*preset"):
        MlDagl(preset=preset, **switch)


def test_two_survivors() -> None:
    """Two survivors out of many meet half way."""
    scenario = _scenario(40, 38, seed=910_001)
    plan = reknit.plan(scenario, "ml-dagl")
    assert plan.status.is_connected
    assert plan.recovery_time_s <= 1.2 * plan.lower_bound_s


def test_a_budget_that_is_over_still_gives_a_plan() -> None:
    """With no time at all there is a verified plan, marked as cut short."""
    plan = _relaxed(_scenario(80, 50), budget_s=0.0)
    assert plan.status is reknit.Status.DEADLINE
    assert plan.details["stopped_by"] == "deadline"


@pytest.mark.parametrize(
    "switch",
    [
        {"preset": "best"},
        {"gco": "other"},
        {"fastest": "soon"},
        {"disconnection": "none"},
        {"epsilon": "auto"},
        {"epsilon": -1.0},
        {"branches": (0,)},
        {"branches": (2, 2)},
        {"branches": ()},
        {"branches": "all"},
        {"iterations": -1},
        {"learning_rate": 0.0},
        {"dropout": 1.0},
        {"penalty": 0.0},
        {"weights": 3},
    ],
)
def test_wrong_parameters_are_refused(switch: dict[str, Any]) -> None:
    """Each wrong value gets a typed error before any work is done."""
    with pytest.raises(InvalidParameter):
        reknit.plan(_scenario(), "ml-dagl", **{"preset": "relaxed"} | switch)


@pytest.mark.parametrize(("preset", "dim", "uavs"), SHIPPED)
def test_shipped_weights_match_their_manifest(
    preset: PresetName, dim: int, uavs: int | None
) -> None:
    """Every shipped file loads, and its manifest tells how it was made."""
    path = weight_file(preset, dim, uavs)
    manifest = read_manifest(path)
    planner = MlDagl(preset=preset)
    planner.dgcn(dim, uavs or 200, seed=0)
    width = planner.settings.hidden
    assert manifest["parameters"] == Shape(dim, hidden=width).parameters
    assert set(manifest["tensors"]) == set(tensor_shapes(Shape(dim)))
    for fact in ("recipe", "versions", "loss_curve", "validation_curve", "steps_trained"):
        assert manifest[fact]


def test_nothing_else_is_shipped() -> None:
    """The weights folder holds the listed files and no others."""
    names = {"default", *(weight_file(*shipped).stem for shipped in SHIPPED)}
    assert {one.stem for one in WEIGHTS.iterdir()} == names


def test_weights_are_light() -> None:
    """All weights of the package, those of other planners included, take at most 30 MiB."""
    files = WEIGHTS.parents[1].rglob("*.safetensors")
    assert sum(path.stat().st_size for path in files) <= 30 * 2**20


@pytest.mark.parametrize(("preset", "uavs"), BY_SIZE)
def test_weights_come_from_within_the_boundary(preset: str, uavs: int) -> None:
    """Every validation swarm had a connected branch at the step whose weights are shipped."""
    manifest = read_manifest(weight_file(preset, 2, uavs))
    recipe_of = paper_recipe if preset == "paper" else published_recipe
    recorded, recipe = manifest["recipe"], plain(recipe_of(uavs))
    for name in ("loss", "epsilon", "branches", "gco", "residual", "dropout"):
        assert recorded["settings"][name] == recipe["settings"][name]
    assert recorded | {"settings": None} == recipe | {"settings": None}
    [look] = [one for one in manifest["validation_curve"] if one["step"] == manifest["kept_step"]]
    assert {kind["connected"] for kind in look["0"].values()} == {1.0}


@pytest.mark.parametrize(
    ("uavs", "nearest"), [(4, 20), (31, 20), (32, 50), (400, 500), (9000, 1000)]
)
def test_paper_weights_are_those_of_the_nearest_size(uavs: int, nearest: int) -> None:
    """Another size than the paper's six takes the model of the nearest one, by ratio."""
    assert weight_file("paper", 2, uavs).stem == f"paper-2d-{nearest}"


@pytest.mark.parametrize(("uavs", "branches"), [(50_001, (1,)), (30_000, (1, 2))])
def test_a_swarm_too_large_is_refused_in_plain_words(uavs: int, branches: tuple[int, ...]) -> None:
    """What would not fit memory gets one error with the limit and what to use instead."""
    points = np.stack(np.divmod(np.arange(uavs), 250), axis=1) * 100.0
    scenario = reknit.Scenario(points, destroyed=range(10_000, 10_500))
    planner = MlDagl(preset="paper", branches=branches)
    with pytest.raises(TooLarge, match=r"'ml-dagl' .* 50000 .* certified"):
        planner.propose(scenario, Context())


def test_paper_weights_are_for_the_plane() -> None:
    """The paper has no 3-D swarms, so its preset says that it ships no weights for them."""
    with pytest.raises(InvalidParameter, match="3-D"):
        reknit.plan(_scenario(dim=3), "ml-dagl", preset="paper")


def test_a_foreign_weight_file_is_refused(tmp_path: Path) -> None:
    """Weights for 3-D swarms do not serve a 2-D one; neither does a file of something else."""
    with pytest.raises(InvalidWeights, match="shape"):
        _relaxed(_scenario(), weights=weight_file("relaxed", 3))
    other = tmp_path / "weights.safetensors"
    other.write_text("no weights")
    with pytest.raises(InvalidWeights, match="not a safetensors file"):
        _relaxed(_scenario(), weights=str(other))


def test_where_no_output_is_connected_it_begins_again_untrained() -> None:
    """A swarm that the shipped weights do not reconnect in 50 iterations is reconnected from
    untrained ones, which begin with all UAVs together; that can be switched off, and the plan
    tells of it.
    """
    scenario = reknit.generate(20, 0.5, 731_028, split=True)
    settings: dict[str, Any] = {"seed": 731_028, "preset": "paper"}
    stuck = reknit.plan(scenario, "ml-dagl", **settings, untrained_restart=False)
    assert stuck.status is reknit.Status.NOT_CONNECTED
    assert "restarted" not in stuck.details
    plan = reknit.plan(scenario, "ml-dagl", **settings)
    assert plan.status.is_connected
    assert plan.details["restarted"] is True
    assert plan.details["iterations"] <= 50
    plan.verify(scenario)


def test_a_swarm_that_is_reconnected_is_not_begun_again() -> None:
    """Then the rule changes nothing, to the bit."""
    scenario = reknit.generate(20, 0.5, 4, split=True)
    plans = [
        reknit.plan(scenario, "ml-dagl", preset="paper", iterations=8, untrained_restart=restart)
        for restart in (True, False)
    ]
    assert plans[0].targets.tobytes() == plans[1].targets.tobytes()
    assert "restarted" not in plans[0].details
