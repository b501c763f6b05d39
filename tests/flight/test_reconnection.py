"""The first instant at which a flying swarm is connected."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from reknit.flight import reconnection
from reknit.flight.motion import Leg
from reknit.flight.reconnection import first_connected_s
from reknit.network.connectivity import is_k_connected


def _gathering(count: int, seed: int) -> Leg:
    """Everybody flies to the middle, at a speed of its own, and arrives after ten seconds."""
    start = np.random.default_rng(seed).uniform(-500.0, 500.0, (count, 2))
    end = 0.02 * start
    return Leg(start, (end - start) / 10.0, np.full(count, 10.0), 10.0, end)


@pytest.mark.parametrize("order", [2, 3])
def test_the_first_k_connected_instant_takes_few_looks(
    order: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of some thousand instants at which a link begins about as many are looked at as halving
    takes, and networkx agrees that the network is k-connected then, and not just before.
    """
    leg = _gathering(80, seed=order)
    looks: list[int] = []

    def counted(*given: object) -> bool:
        looks.append(1)
        return is_k_connected(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(reconnection, "is_k_connected", counted)
    instant_s = first_connected_s(leg, 120.0, order)
    assert instant_s is not None
    assert len(looks) < 40

    def connectivity(time_s: float) -> int:
        position = dict(enumerate(leg.at(time_s).tolist()))
        return int(nx.node_connectivity(nx.random_geometric_graph(80, 120.0, pos=position)))

    assert connectivity(instant_s + 1e-6) >= order
    assert connectivity(instant_s - 1e-6) < order


@pytest.mark.parametrize("seed", range(12))
def test_the_first_instant_that_is_also_apart(seed: int) -> None:
    """With a separation demanded, the instant is the first of ten thousand at which the swarm is
    connected and nobody is too close, both counted pair by pair.
    """
    rng = np.random.default_rng(seed)
    start, end = rng.uniform(0.0, 300.0, (7, 2)), rng.uniform(0.0, 200.0, (7, 2))
    leg = Leg(start, (end - start) / 10.0, np.full(7, 10.0), 10.0, end)
    order = 1 + seed % 2

    def holds(time_s: float) -> bool:
        apart = np.linalg.norm(leg.at(time_s)[:, None] - leg.at(time_s)[None], axis=2)
        graph = nx.from_numpy_array((apart <= 120.0) & ~np.eye(7, dtype=bool))
        return bool(apart[np.triu_indices(7, 1)].min() >= 30.0) and (
            nx.node_connectivity(graph) >= order
        )

    instants_s = np.linspace(0.0, 10.0, 10_001)
    expected_s = next((time_s for time_s in instants_s if holds(time_s)), None)
    instant_s = first_connected_s(leg, 120.0, order, separation_m=30.0)
    if expected_s is None:
        assert instant_s is None or not holds(min(10.0, instant_s + 2e-3))
    else:
        assert instant_s is not None
        assert expected_s - 1e-3 <= instant_s <= expected_s
