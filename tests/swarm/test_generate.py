"""Generated swarms: connected before the damage, damaged as asked, the same for a seed."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reknit import Radio, generate
from reknit.base.errors import InvalidParameter, NoSplitFound, ReknitError, UnknownName
from reknit.network.cuts import cut_nodes_and_bridges
from reknit.network.links import count_subnets, degrees
from reknit.swarm.layouts import LAYOUTS, Box, connected_swarm, uniform_sampler


@given(
    uavs=st.integers(2, 120),
    ratio=st.floats(0.0, 0.99),
    seed=st.integers(0, 10_000),
    layout=st.sampled_from(sorted(LAYOUTS)),
    damage=st.sampled_from(["random", "disc", "corridor", "degree", "articulation"]),
    dim=st.sampled_from([2, 3]),
)
def test_every_swarm_is_connected_before_the_damage(**given_values: Any) -> None:
    """For every layout, size and dimension the N UAVs form one network, and the damage has the
    size asked for.
    """
    uavs, ratio = given_values.pop("uavs"), given_values.pop("ratio")
    count = int(np.floor(ratio * uavs + 0.5))
    if count >= uavs:
        with pytest.raises(InvalidParameter, match="destroyed"):
            generate(uavs, ratio, **given_values)
        return
    scenario = generate(uavs, ratio, **given_values)
    assert scenario.uavs == uavs
    assert count_subnets(scenario.positions, scenario.radio_range_m) == 1
    assert len(scenario.destroyed) == count
    again = generate(uavs, ratio, **given_values)
    assert again.positions.tobytes() == scenario.positions.tobytes()
    assert again == scenario


@pytest.mark.parametrize("dim", [2, 3])
def test_large_swarms_are_connected_too(dim: int) -> None:
    """Fifty thousand UAVs, for which a whole draw is never connected by chance."""
    scenario = generate(50_000, 0.5, seed=1, dim=dim)
    assert count_subnets(scenario.positions, 120.0) == 1
    assert len(scenario.survivors) == 25_000


def test_the_density_and_allowed_time_are_the_papers() -> None:
    """200 UAVs at 200 per square kilometre: a side of 1 km, and T_max = 50 s."""
    scenario = generate(200, 100, seed=7)
    assert scenario.allowed_time_s == pytest.approx(50.0)
    assert scenario.positions.min() >= 0.0
    assert scenario.positions.max() <= 1000.0


def test_a_sparse_swarm_is_connected_by_construction() -> None:
    """In an area where chance never connects, UAVs are placed near one another."""
    box, rng = Box((4e3, 4e3)), np.random.default_rng(0)
    draw = uniform_sampler(box)
    swarm = connected_swarm(draw(rng, 30), draw, box, 120.0, rng)
    assert count_subnets(swarm, 120.0) == 1


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize(("density", "range_m"), [(0.5, 120.0), (200.0, 30.0), (22.0, 120.0)])
def test_a_density_that_no_connected_swarm_has_is_refused(
    density: float, range_m: float, dim: int
) -> None:
    """With less than one other UAV in range on average the swarm would be many times as dense as
    asked for; the message says from where on it works, and there it does.
    """
    with pytest.raises(InvalidParameter, match="density_per_km2") as caught:
        generate(30, 0, dim=dim, density_per_km2=density, radio_range_m=range_m)
    least = float(re.findall(r"at least (\S+)", caught.value.allowed)[0])
    generate(30, 0, dim=dim, density_per_km2=1.01 * least, radio_range_m=range_m)


def test_split_is_kept() -> None:
    """split=True gives damage that splits, for damage that often does not."""
    for seed in range(20):
        assert generate(100, 10, seed=seed, split=True).is_split


def test_split_fails_clearly() -> None:
    """Three UAVs in a huddle cannot be split by losing one."""
    with pytest.raises(NoSplitFound, match="destroy more"):
        generate(3, 1, seed=0, density_per_km2=5000.0, split=True)
    with pytest.raises(NoSplitFound, match="list others"):
        generate(3, [0], seed=0, density_per_km2=5000.0, split=True)


def test_a_strike_hits_the_nearest() -> None:
    """Disc damage is the UAVs within some radius of a point: a disc holds only the destroyed."""
    scenario = generate(200, 40, seed=3, damage="disc")
    lost = scenario.destroyed_positions
    reach = np.linalg.norm(lost - lost.mean(axis=0), axis=1).max()
    assert reach < 400.0  # forty random UAVs would span the whole square kilometre


def test_a_corridor_is_narrow() -> None:
    """Corridor damage lies along a line: its spread across is far below the one along it."""
    lost = generate(400, 40, seed=3, damage="corridor").destroyed_positions
    spread = np.linalg.svd(lost - lost.mean(axis=0), compute_uv=False)
    assert spread[1] < 0.25 * spread[0]


def test_degree_damage_takes_the_best_connected() -> None:
    """No survivor had more links than any of the destroyed."""
    scenario = generate(100, 20, seed=5, damage="degree")
    degree = degrees(scenario.positions, 120.0)
    assert degree[scenario.survivors].max() <= degree[scenario.destroyed].min()


def test_articulation_damage_takes_cut_nodes_first() -> None:
    """All articulation points are among the destroyed when enough are destroyed."""
    scenario = generate(100, 40, seed=5, damage="articulation")
    cut, _ = cut_nodes_and_bridges(scenario.links, scenario.uavs)
    assert len(cut) > 0
    assert set(cut.tolist()) <= set(scenario.destroyed.tolist())


def test_an_explicit_list_is_taken() -> None:
    """Ids are destroyed as listed."""
    assert generate(20, [3, 5, 8], seed=0).destroyed.tolist() == [3, 5, 8]


BAD: list[tuple[str, dict[str, Any]]] = [
    ("uavs", {"uavs": 1}),
    ("uavs", {"uavs": 2.5}),
    ("uavs", {"uavs": 10**9}),
    ("destroyed", {"destroyed": 20}),
    ("destroyed", {"destroyed": -1}),
    ("destroyed", {"destroyed": 1.0}),
    ("destroyed", {"destroyed": float("nan")}),
    ("destroyed", {"destroyed": [1, 99]}),
    ("seed", {"seed": -1}),
    ("seed", {"seed": 1.5}),
    ("dim", {"dim": 4}),
    ("density_per_km2", {"density_per_km2": 0.0}),
    ("radio_range_m", {"radio_range_m": -1.0}),
    ("max_speed_mps", {"max_speed_mps": 0.0}),
]


@pytest.mark.parametrize(("field", "change"), BAD, ids=[f"{f}-{i}" for i, (f, _) in enumerate(BAD)])
def test_bad_requests_are_named(field: str, change: dict[str, Any]) -> None:
    """One typed error names what is wrong."""
    with pytest.raises(ReknitError, match=field):
        generate(**{"uavs": 20, "destroyed": 5, **change})


def test_unknown_names_suggest_the_nearest() -> None:
    """A misspelt layout or damage suggests the right one."""
    with pytest.raises(UnknownName, match="did you mean 'uniform'"):
        generate(20, 5, layout="unifrom")
    with pytest.raises(UnknownName, match="did you mean 'disc'"):
        generate(20, 5, damage="disk")


def test_a_radio_brings_its_range() -> None:
    """A swarm with a radio is laid out for its range; a range that is not the radio's is named."""
    radio = Radio(transmit_power_w=0.2)
    scenario = generate(50, 25, seed=1, radio=radio)
    assert scenario.radio == radio
    assert scenario.radio_range_m == radio.range_m
    assert count_subnets(scenario.positions, radio.range_m) == 1
    with pytest.raises(ReknitError, match="radio_range_m is 99"):
        generate(50, 25, seed=1, radio=radio, radio_range_m=99.0)


def test_one_layout_can_be_damaged_many_times() -> None:
    """With a seed of its own the layout stays while seeds draw the damage, and is the one that a
    swarm of that seed has.
    """
    swarms = [generate(40, 20, seed, layout_seed=7) for seed in range(6)]
    whole = generate(40, 0, seed=7).positions
    assert all(np.array_equal(swarm.positions, whole) for swarm in swarms)
    assert len({tuple(swarm.destroyed.tolist()) for swarm in swarms}) == 6
    assert generate(40, 20, 7, layout_seed=7) == generate(40, 20, 7)
    with pytest.raises(InvalidParameter, match="layout_seed"):
        generate(40, 20, layout_seed=-1)


@pytest.mark.parametrize("value", [[], None, 3, {}])
def test_a_layout_that_is_no_text_is_named(value: Any) -> None:
    """Also where it cannot be looked up at all."""
    with pytest.raises(UnknownName, match="layout"):
        generate(20, 5, layout=value)
    with pytest.raises(UnknownName, match="damage"):
        generate(20, 5, damage=value)
