"""Starting trees from ML-DAGL's branches: learning proposes, convexity disposes.

Every connected output of a branch is a swarm with a spanning tree of links that hold there. The
cone program on that tree is at least as good as the output. Few swarms need it: the search from
the EMST settles most of them with a proof, long before torch would be loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec

import numpy as np

from reknit.algorithms.base import Context
from reknit.network.emst import emst
from reknit.scenario.scenario import Scenario
from reknit.types import IntArray

MOST_UAVS = 2_000
"""Larger swarms would wait longer for the network than for the search."""

LOADING_S = 4.0
"""Loading torch takes a few seconds; with less time left nothing is asked of the network."""

_ITERATIONS = 12
_OUTPUTS = 1_000
"""All connected outputs of all branches; few have a tree of their own."""


def proposed_trees(scenario: Scenario, context: Context) -> Iterator[IntArray]:
    """Different spanning trees of ML-DAGL's best outputs, the fastest output first."""
    if scenario.uavs > MOST_UAVS or context.budget.left_s < LOADING_S or not find_spec("torch"):
        return
    # Not at the top: the network is the one part of this planner that needs torch.
    from reknit.algorithms.learning.case import Case
    from reknit.algorithms.ml_dagl.planner import MlDagl

    planner = MlDagl()
    rule = replace(planner.settings.online, iterations=_ITERATIONS, keep=(), solutions=_OUTPUTS)
    _, outcome = planner.train(Case.of(scenario), rule, context)
    seen: set[bytes] = set()
    for output in outcome.solutions:
        tree = emst(np.asarray(output.targets))
        if tree.tobytes() not in seen:
            seen.add(tree.tobytes())
            yield tree
