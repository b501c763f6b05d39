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
