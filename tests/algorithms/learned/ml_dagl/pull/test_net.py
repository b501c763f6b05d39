"""The pulling net: what it must not depend on, and its layer beside a slow one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import reknit
from reknit.algorithms.learned.ml_dagl.pull.net import PullNet, PullShape, pull_weight_name
from reknit.algorithms.learned.ml_dagl.pull.survivors import PullGraph, Survivors
from reknit.base.errors import InvalidParameter

SMALL = PullShape(hidden=8, blocks=2, repeats=2)


def _net(shape: PullShape = SMALL) -> PullNet:
    return PullNet(shape, torch.Generator().manual_seed(3)).double()


def _graph(seed: int = 5, *, attention: bool = False) -> PullGraph:
    scenario = reknit.generate(30, 15, seed=seed, split=True, dim=2)
    swarm = Survivors.of(scenario, 2, np.random.default_rng(1), attention=attention)
    graph = PullGraph.of([swarm, swarm], [0, 1])
    floats = {
        name: getattr(graph, name).double()
        for name in ("start", "need", "delay", "moves", "size", "damage")
    }
    return replace(graph, **floats)


@pytest.fixture(autouse=True)
def _double() -> object:
    """Sums in float64, so that equal means equal."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_outputs_turn_with_the_swarm(seed: int) -> None:
    """Rotated, reflected or shifted positions give rotated, reflected and shifted outputs."""
    graph, net = _graph(attention=True), _net(replace(SMALL, attention=True))
    rng = np.random.default_rng(seed)
    turn = torch.from_numpy(np.linalg.qr(rng.normal(size=(3, 3)))[0])
    shift = torch.from_numpy(rng.normal(size=3))
    damage = graph.damage.clone()
    damage[:, :, 1:] = damage[:, :, 1:] @ turn
    turned = replace(graph, start=graph.start @ turn + shift, damage=damage)
    for own, other in zip(net(graph), net(turned), strict=True):
        torch.testing.assert_close(own @ turn + shift, other, rtol=0.0, atol=1e-9)


def test_a_swarm_in_the_plane_stays_there() -> None:
    """The third coordinate of every output is 0."""
    for place in _net()(_graph()):
        assert not place[:, 2].any()
        assert place[:, :2].any()


def test_swarms_side_by_side_do_not_hear_of_each_other() -> None:
    """Two in one graph come out as each alone."""
    first, second = _graph(5), _graph(6)
    count = len(first.start)
    both = PullGraph(
        **{
            name: torch.cat([getattr(first, name), getattr(second, name)])
            for name in ("start", "need", "delay", "moves", "size", "damage")
        },
        near=torch.cat([first.near, second.near + count]),
        far=torch.cat([first.far, second.far + count]),
        swarm=torch.cat([first.swarm, second.swarm + first.swarms]),
        swarms=first.swarms + second.swarms,
    )
    net = _net()
    together = net(both)[-1]
    torch.testing.assert_close(together[:count], net(first)[-1], rtol=0.0, atol=1e-12)
    torch.testing.assert_close(together[count:], net(second)[-1], rtol=0.0, atol=1e-12)


def test_the_order_of_the_survivors_does_not_matter() -> None:
    """Permuted rows give permuted outputs."""
    graph, net = _graph(), _net()
    order = torch.randperm(len(graph.start), generator=torch.Generator().manual_seed(1))
    place_of = torch.empty_like(order)
    place_of[order] = torch.arange(len(order))
    other = replace(
        graph,
        **{
            name: getattr(graph, name)[order]
            for name in ("start", "need", "delay", "moves", "size", "damage", "swarm")
        },
        near=place_of[graph.near],
        far=place_of[graph.far],
    )
    torch.testing.assert_close(net(graph)[-1][order], net(other)[-1], rtol=0.0, atol=1e-12)


def test_who_may_not_move_does_not() -> None:
    """The outputs of an anchor are its position, to the bit, in every layer."""
    graph = _graph()
    moves = graph.moves.clone()
    moves[4] = 0.0
    for place in _net()(replace(graph, moves=moves)):
        assert torch.equal(place[4], graph.start[4])
        assert not torch.equal(place[5], graph.start[5])


def test_without_links_nobody_moves() -> None:
    """A survivor that hears nothing has nowhere to go, unless it knows of the damage."""
    shape = replace(SMALL, links=False)
    graph = _graph(attention=True)
    assert torch.equal(_net(shape)(graph)[-1], graph.start)
    told = _net(replace(shape, attention=True))(graph)[-1]
    assert not torch.equal(told, graph.start)


def test_a_layer_moves_by_the_formula() -> None:
    """Places after one layer, survivor by survivor and link by link in plain loops."""
    graph, net = _graph(), _net()
    state = net.begin(graph)
    state = net.advance(graph, state, 0)
    after = net.advance(graph, state, 1)
    layer: Any = net.layers[0]
    gone = state.positions - graph.start
    for node in range(0, len(graph.start), 7):
        pull = torch.zeros(3)
        for near, far in zip(graph.near.tolist(), graph.far.tolist(), strict=True):
            if near != node:
                continue
            way = state.positions[far] - state.positions[near]
            length = torch.sqrt((way @ way) + 1e-3)
            towards, need = way / length, graph.need[near]
            lack = torch.clamp(torch.relu(length - 0.99) / need, max=4.0)
            moved = [
                torch.clamp(torch.sqrt(gone[i] @ gone[i] + 1e-12) / need, max=8.0)
                for i in (near, far)
            ]
            along = [torch.clamp(gone[i] @ towards / need, -5.0, 5.0) for i in (near, far)]
            before = (graph.start[far] - graph.start[near]).norm()
            ratio = torch.clamp((length - 1.0) / need * 0.1, -1.0, 1.0)
            facts = torch.stack([length, before, ratio, torch.log1p(lack), *along, *moved])
            own, other = layer.own(state.features[near]), layer.other(state.features[far])
            told = torch.nn.functional.silu(own + other + layer.link(facts))
            told = torch.nn.functional.silu(layer.message(told))
            pull = pull + torch.tanh(layer.pull(told)) * (lack + 0.3) * need * towards
        keep, back = torch.sigmoid(layer.hold(after.features[node]) - 1.0)
        move = pull + keep * state.move[node] - back * gone[node]
        torch.testing.assert_close(after.positions[node], state.positions[node] + move)


def test_a_weight_file_is_named_by_its_switches() -> None:
    """So that weights for an ablation are never taken for the shipped ones."""
    assert pull_weight_name(PullShape()) == "default.safetensors"
    assert "without-links" in pull_weight_name(PullShape(links=False))
    other = PullShape(attention=not PullShape().attention)
    assert "attention" in pull_weight_name(other)


def test_a_shape_without_layers_is_refused() -> None:
    """Each size is at least 1."""
    with pytest.raises(InvalidParameter, match="blocks"):
        PullShape(blocks=0)
