"""Candidates for every supposed loss: as a graph made link by link has them."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import reknit
from reknit.base.errors import InvalidProof
from reknit.plans.certificate import CANDIDATE_HAIR, CUT, Certificate
from reknit.plans.checker import cases as module
from reknit.plans.checker.cases import Candidates
from reknit.plans.checker.pieces import LinkRule
from reknit.plans.checker.proof import prove
from reknit.plans.checker.survivors import Survivors


@pytest.mark.parametrize("seed", range(12))
def test_candidates_match_a_graph_made_link_by_link(seed: int) -> None:
    """For nobody and for everybody lost in turn: the pieces that the links nobody asks about
    leave, and which pieces the asked links join, are those of a plain graph.
    """
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 30))
    points = rng.random((count, 2)) * float(rng.choice([150.0, 600.0]))
    speeds = rng.uniform(0.0, 20.0, count) if seed % 2 else 10.0
    scenario = reknit.Scenario(points, (), 120.0, speeds, connectivity=2)
    swarm = Survivors.of(scenario)
    trial_s = float(rng.choice([0.0, 1.0, 4.0]))
    i, j = np.triu_indices(count, 1)
    asked = np.sort(rng.choice(i * count + j, size=min(5, len(i)), replace=False))
    losses = np.arange(-1, count)
    candidates = Candidates(swarm, asked, losses, trial_s)
    holds = LinkRule(points, 120.0, swarm.speeds, trial_s, CANDIDATE_HAIR).holds(i, j)
    for lost in losses.tolist():
        there = holds & (i != lost) & (j != lost)
        is_asked = np.isin(i * count + j, asked)
        graph = nx.Graph()
        graph.add_nodes_from(row for row in range(count) if row != lost)
        free = there & ~is_asked
        graph.add_edges_from(zip(i[free].tolist(), j[free].tolist(), strict=True))
        number, keys, ends = candidates.without(lost)
        assert number == nx.number_connected_components(graph)
        assert keys.tolist() == (i * count + j)[there & is_asked].tolist()
        for key, (one, two) in zip(keys.tolist(), ends.tolist(), strict=True):
            assert (one == two) == nx.has_path(graph, key // count, key % count)
            graph.add_edge(key // count, key % count)
            joined = nx.number_connected_components(graph)
            graph.remove_edge(key // count, key % count)
            assert number - joined == (one != two)


def test_losses_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A certificate that supposes a loss at each of its ends is checked in time that does not
    grow with their number times the size of the swarm without limit.
    """
    count = 60
    points = np.stack([np.arange(count) * 100.0, np.zeros(count)], axis=1)
    scenario = reknit.Scenario(points, (), 120.0, 10.0, connectivity=2)
    rows = [row for lost in range(1, count - 1) for row in ([lost - 1, lost + 1], [-1, CUT - 2])]
    certificate = Certificate(1.0, 1.0, np.asarray([*rows, [-1, CUT - 2]]))
    losses = [[-1, CUT - 1 - lost] for lost in range(1, count - 1)]
    certificate.cases[1:-1:2] = losses
    monkeypatch.setattr(module, "_MOST_LOOKUPS", 1_000)
    with pytest.raises(InvalidProof, match="58 different losses"):
        prove(certificate, scenario)


def test_candidates_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A trial time so late that everybody is in reach of everybody is refused before the pairs
    fill the memory.
    """
    rng = np.random.default_rng(1)
    scenario = reknit.Scenario(rng.random((80, 2)) * 1e4, (), 120.0, 10.0)
    rows = [row for other in range(1, 80) for row in ([0, other], [-1, CUT])]
    certificate = Certificate(1e5, 1e5, np.asarray([*rows, [-1, CUT]]))
    monkeypatch.setattr(module, "_MOST_PAIRS", 1_000)
    with pytest.raises(InvalidProof, match="more than 1000 candidate links"):
        prove(certificate, scenario)
