"""`hedge`: move so that every place where somebody may live comes into range.

Three facts are behind it. (1) The closest pair (b, c) of two sub-nets B and C stands in both lists
"(my nearest member, silent UAV)": b is B's nearest member to c, and c is C's to b. So if every
sub-net sends, for every silent UAV that may live, its nearest member to it, the pairs that matter
move straight at each other without a word. (2) A large sub-net can do so in many directions at
once; a small one cannot, and need not: the large ones come. (3) A silent UAV whose nearer
neighbours may live is reached through them first, so it is worth less by the chance that they do.

So each sub-net solves one cone program (`pull`): the weighted sum of what the silent places lack to
the range is least, the links of its own tree hold. Who stays silent at a place in range is presumed
dead; but it may have moved on, so the place is looked at again, from nearer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.spatial import cKDTree

from reknit.algorithms.certified import Certified
from reknit.algorithms.parameters import Range, check_fields
from reknit.base.context import Context
from reknit.base.types import BoolArray, FloatArray, IntArray
from reknit.knowledge.policies.believe import (
    announced,
    believed_positions,
    believed_scenario,
    holds,
    margin,
)
from reknit.knowledge.policies.protocols import Briefing, Orders, View
from reknit.knowledge.policies.pull import Places, pulled
from reknit.network.emst import emst
from reknit.network.links import lengths

_LEAST_WEIGHT = 1e-3
"""Places worth less than this share of the best one are left out of the program."""

_HAIR = 5e-5
"""A place counts as looked at when it is in range up to this share, half of the planned margin."""


@dataclass(frozen=True)
class Hedge:
    """Look for everybody who may live, in all directions at once.

    Parameters
    ----------
    alive
        Chance that a silent UAV lives, as far as nothing more is known.
    decay_m
        A place this much farther than the nearest is worth 1/e of it, metres.
    window_m
        Places that lack more than this to the range wait, metres.
    every_s
        The program is solved anew after this time, and at every piece of news.
    effort
        What a metre flown costs against a metre nearer to the best place.
    nearer
        Share of the range from which a place is looked at again after it was silent in range.
    """

    alive: Annotated[float, Range(above=0.0, below=1.0)] = 0.5
    decay_m: Annotated[float, Range(above=0.0)] = 25.0
    window_m: Annotated[float, Range(above=0.0)] = 100.0
    every_s: Annotated[float, Range(above=0.0)] = 0.5
    effort: Annotated[float, Range(above=0.0)] = 0.02
    nearer: Annotated[float, Range(above=0.0, most=1.0)] = 0.75

    def __post_init__(self) -> None:
        check_fields(self)

    def brief(self, briefing: Briefing) -> _HedgePilot:
        """Begin."""
        return _HedgePilot(self, briefing)

    def promised_s(self, briefing: Briefing) -> float | None:
        """Nothing: that is what ``+deadline`` is for."""
        return None


class _HedgePilot:
    def __init__(self, policy: Hedge, briefing: Briefing) -> None:
        self._policy, self._briefing = policy, briefing
        self._range_m = briefing.link_m * (1.0 - margin(briefing))
        self.replans = 0

    def act(self, view: View) -> Orders:
        """Look around, presume, and plan anew on news or after a while."""
        if view.leads:
            positions = believed_positions(self._briefing, view)
            self._presume(view, positions)
            sought = _sought(view)
            news = view.crew.tobytes() + np.packbits(sought).tobytes()
            memory = view.memory
            if memory.get("news") != news or view.now_s >= memory["due_s"] - 1e-9:
                memory["news"] = news
                memory["due_s"] = view.now_s + self._policy.every_s
                targets = self._gathered(view, positions, sought)
                if targets is None:
                    targets = self._targets(view, positions, sought)
                else:
                    memory["due_s"] = np.inf  # it is planned to the end; only news changes it
                view.belief.targets[view.crew] = targets
                view.belief.announced_s[view.crew] = view.now_s
        return Orders(announced(view))

    def _presume(self, view: View, positions: FloatArray) -> None:
        """Somebody at whose place we look, and who is silent, is presumed dead."""
        sought = np.flatnonzero(_sought(view))
        if len(sought):
            distance, _ = cKDTree(positions[view.crew]).query(positions[sought])
            in_sight = sought[distance <= self._range_m * (1.0 + _HAIR)]
            view.belief.presumed_s[in_sight] = view.now_s

    def _gathered(self, view: View, positions: FloatArray, sought: BoolArray) -> FloatArray | None:
        """Where the crew should fly once nobody else is sought and it is not yet connected as
        demanded: told of each other by a station, or linked, but not as well as asked for.
        """
        briefing = self._briefing
        if sought.any() or not (briefing.has_station or briefing.swarm.has_demands):
            return None
        dead = np.ones(view.belief.uavs, dtype=bool)
        dead[view.crew] = False
        if holds(view, dead, briefing):
            return None
        self.replans += 1
        scenario = believed_scenario(briefing, view, dead, positions)
        return Certified().propose(scenario, Context(briefing.seed)).targets

    def _targets(self, view: View, positions: FloatArray, sought: BoolArray) -> FloatArray:
        """Where the crew should fly. Places in range and silent are looked at again from nearer:
        who lived there may have moved on.
        """
        policy, crew = self._policy, positions[view.crew]
        # A former neighbour that fell silent needs no second look: it had no time to move on.
        missing = np.isinf(view.belief.dead_s) & (view.belief.silences < 1.0)
        missing[view.crew] = False
        tree = emst(crew)
        stretched = self._stretched(crew, tree)
        if not missing.any() and len(stretched) == 0:
            return crew  # nobody is left to look for
        self.replans += 1
        sought_places = self._places(crew, positions[missing], sought[missing])
        return pulled(
            crew,
            tree,
            sought_places.joined(self._shortened(crew, stretched)),
            self._range_m,
            policy.effort,
            self._briefing.speeds_mps[view.crew] > 0.0,
        )

    def _stretched(self, crew: FloatArray, tree: IntArray) -> IntArray:
        """Links of the tree that are longer than what is demanded, or too long for a link."""
        briefing = self._briefing
        if briefing.link_m >= briefing.range_m and not briefing.has_station:
            return tree[:0]
        return tree[lengths(crew, tree) > briefing.link_m]

    def _shortened(self, crew: FloatArray, pairs: IntArray) -> Places:
        """Either end of a stretched link is a place that the other should come near to."""
        near, far = np.concatenate([pairs, pairs[:, ::-1]]).T
        return Places(crew[far], np.full(len(far), self._range_m), near, np.ones(len(far)))

    def _places(self, crew: FloatArray, places: FloatArray, is_sought: BoolArray) -> Places:
        """Where somebody may be, how near to come, by whom, and what it is worth."""
        policy = self._policy
        if len(places) == 0:
            return Places(places, np.empty(0), np.empty(0, dtype=np.int64), np.empty(0))
        sight_m = self._range_m * np.where(is_sought, 1.0, policy.nearer)
        distance, nearest = cKDTree(crew).query(places)
        lack_m = distance - sight_m
        near = lack_m <= max(policy.window_m, float(lack_m.min()) + 1.0)
        places, sight_m, nearest = places[near], sight_m[near], nearest[near]
        weights = self._weights(places, lack_m[near])
        kept = weights > _LEAST_WEIGHT * weights.max()
        return Places(places[kept], sight_m[kept], nearest[kept], weights[kept] / weights.max())

    def _weights(self, places: FloatArray, lack_m: FloatArray) -> FloatArray:
        """``q (1 - q)^k exp(-lack / decay)``, k the silent neighbours of a place nearer to us."""
        policy = self._policy
        pairs = cKDTree(places).query_pairs(self._briefing.range_m, output_type="ndarray")
        left, right = pairs[:, 0], pairs[:, 1]
        behind = np.concatenate(
            [right[lack_m[left] < lack_m[right]], left[lack_m[right] < lack_m[left]]]
        )
        in_front = np.bincount(behind, minlength=len(places))
        chance = policy.alive * (1.0 - policy.alive) ** in_front
        return np.asarray(chance * np.exp(-(lack_m - lack_m.min()) / policy.decay_m))


def _sought(view: View) -> BoolArray:
    """(N,) who may live and is not in touch."""
    belief = view.belief
    sought = np.isinf(belief.dead_s) & ~(belief.presumed_s > belief.heard_s)
    sought[view.crew] = False
    return np.asarray(sought)
