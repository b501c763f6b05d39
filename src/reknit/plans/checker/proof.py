"""The part of the checker that goes through a certificate's cases.

No solver, nothing shared with the planners, and rounding counts against the claim: candidates
are taken a hair too generously and every bound a hair too low.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from reknit.base.errors import InvalidProof
from reknit.base.types import FloatArray, IntArray
from reknit.plans.certificate import CUT, Certificate, Clash

if TYPE_CHECKING:
    from reknit.swarm.scenario import Scenario

_SAFE = 1e-12
_EPS = 2.0**-52
_ROWS_AT_ONCE = 512
_LINKS_AT_ONCE = 2_000_000

_Link = tuple[int, int]


def certified_bound_s(certificate: Certificate, scenario: Scenario) -> float:
    """The bound that a certificate really proves, from raw positions."""
    return max(_cases_s(certificate, scenario), _parting_s(certificate, scenario))


def _parting_s(certificate: Certificate, scenario: Scenario) -> float:
    if certificate.apart is None:
        return 0.0
    swarm = _Swarm(scenario, None)
    swarm.check_link(certificate.apart)
    i, j = certificate.apart
    distance_m = swarm.distance_m(np.asarray([i]), np.asarray([j]))[0]
    speed_mps = swarm.speeds[i] + swarm.speeds[j]
    lack_m = scenario.min_separation_m * (1.0 - _SAFE) - distance_m * (1.0 + _SAFE)
    return max(0.0, float(lack_m / speed_mps)) * (1.0 - _SAFE) if speed_mps > 0.0 else 0.0


def _cases_s(certificate: Certificate, scenario: Scenario) -> float:
    trial_s = certificate.trial_s
    cases = np.asarray(certificate.cases)
    if len(cases) == 0:
        return 0.0
    if not (np.isfinite(trial_s) and trial_s > 0):
        raise InvalidProof(f"the certificate's trial_s is {trial_s!r}; it must be above 0")
    if cases.ndim != 2 or cases.shape[1] != 2 or not np.issubdtype(cases.dtype, np.integer):
        raise InvalidProof("the certificate's cases are not rows of two whole numbers")
    swarm = _Swarm(scenario, certificate.lost)
    times_s = [swarm.clash_time_s(clash) for clash in certificate.clashes]
    held = [{(int(i), int(j)) for i, j in clash.links} for clash in certificate.clashes]
    decided = {(int(i), int(j)) for i, j in cases if i >= 0}
    for link in decided:
        swarm.check_link(link)
    graph = _Contracted(swarm, decided, trial_s)
    proved_s = trial_s * (1.0 - _SAFE)
    for end, used, unused in _walk(cases):
        if end == CUT:
            if graph.is_connected_without(unused):
                raise InvalidProof("the certificate claims a cut where the candidates connect")
        elif not 0 <= end < len(times_s):
            raise InvalidProof(f"the certificate refers to clash {end}, which it does not have")
        elif not held[end] <= used:
            raise InvalidProof(f"the certificate uses clash {end} where not all its links hold")
        else:
            proved_s = min(proved_s, times_s[end])
    return max(0.0, proved_s)


def _walk(cases: IntArray) -> list[tuple[int, set[_Link], set[_Link]]]:
    """Every end of the tree: what it refers to, the links used and the links not used there."""
    ends = []
    path: list[tuple[_Link, bool]] = []
    complete = False
    for i, j in cases.tolist():
        if complete:
            raise InvalidProof("the certificate's cases go on after the last one")
        if i >= 0:
            path.append(((i, j), True))
            continue
        used = {link for link, is_used in path if is_used}
        unused = {link for link, is_used in path if not is_used}
        ends.append((j, used, unused))
        while path and not path[-1][1]:
            path.pop()
        if path:
            path[-1] = (path[-1][0], False)
        else:
            complete = True
    if not complete:
        raise InvalidProof("the certificate's cases stop before all are covered")
    return ends


class _Swarm:
    """The survivors as the proof sees them, straight from the scenario's arrays."""

    def __init__(self, scenario: Scenario, lost: int | None) -> None:
        alive = np.setdiff1d(np.arange(len(scenario.positions)), np.asarray(scenario.destroyed))
        self.start = np.asarray(scenario.positions)[alive]
        speeds = np.asarray(scenario.max_speed_mps)[alive]
        self.speeds = np.where(np.isin(alive, np.asarray(scenario.anchors)), 0.0, speeds)
        self.range_m = scenario.planning_range_m
        self.lost = lost
        if lost is None:
            return
        if scenario.connectivity < 2 or len(alive) < 3:
            raise InvalidProof("the certificate supposes a loss that the scenario does not")
        if not 0 <= lost < len(alive):
            raise InvalidProof(
                f"the certificate supposes the loss of survivor {lost}; there is none"
            )

    def check_link(self, link: _Link) -> None:
        i, j = link
        if not 0 <= i < j < len(self.start):
            raise InvalidProof(f"the certificate names the link {link}, which cannot be")
        if self.lost in link:
            raise InvalidProof(f"the certificate uses survivor {self.lost}, which it supposes lost")

    def distance_m(self, one: IntArray, two: IntArray) -> FloatArray:
        delta = self.start[one] - self.start[two]
        return np.asarray(np.sqrt((delta * delta).sum(axis=1)))

    def clash_time_s(self, clash: Clash) -> float:
        """What weak duality proves, less what rounding may have added."""
        links, forces = np.asarray(clash.links), np.asarray(clash.forces)
        if links.ndim != 2 or links.shape[1] != 2 or len(links) == 0:
            raise InvalidProof("a clash of the certificate has no list of links")
        if forces.shape != (len(links), self.start.shape[1]) or not np.isfinite(forces).all():
            raise InvalidProof("a clash of the certificate lacks a finite vector for every link")
        named = [(int(i), int(j)) for i, j in links]
        for link in named:
            self.check_link(link)
        if len(set(named)) < len(named):
            raise InvalidProof("a clash of the certificate names a link twice")
        one, two = links[:, 0], links[:, 1]
        size = np.sqrt((forces * forces).sum(axis=1))
        if not size.any():
            return 0.0
        forces, size = forces / size.max(), size / size.max()
        pull = (forces * (self.start[one] - self.start[two])).sum() - self.range_m * size.sum()
        scale = (size * (self.distance_m(one, two) + self.range_m)).sum()
        pull -= (len(links) + 16) * _EPS * scale
        balance = np.zeros_like(self.start)
        np.add.at(balance, one, forces)
        np.subtract.at(balance, two, forces)
        give = (self.speeds * np.sqrt((balance * balance).sum(axis=1))).sum()
        give = give * (1.0 + _SAFE) + (len(links) + 16) * _EPS * self.speeds.max() * size.sum()
        if pull <= 0.0:
            return 0.0
        return float(pull / give) if give > 0.0 else float(np.finfo(np.float64).max)


def _merge(piece: IntArray, links: list[tuple[IntArray, IntArray]]) -> IntArray:
    """The pieces when these links are added."""
    if not links:
        return piece
    one, two = (np.concatenate(ends) for ends in zip(*links, strict=True))
    count = len(piece)
    graph = coo_array((np.ones(len(one)), (piece[one], piece[two])), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1].astype(np.int64)[piece])


class _Contracted:
    """The candidate links at the trial time; what no case decides is merged once."""

    def __init__(self, swarm: _Swarm, decided: set[_Link], trial_s: float) -> None:
        count = len(swarm.start)
        key = np.asarray(sorted(i * count + j for i, j in decided), dtype=np.int64)
        tree = cKDTree(swarm.start)
        reach_m = swarm.range_m + 2.0 * float(swarm.speeds.max()) * trial_s
        piece: IntArray = np.arange(count)
        present: set[_Link] = set()
        merged: list[tuple[IntArray, IntArray]] = []
        for first in range(0, count, _ROWS_AT_ONCE):
            block = np.arange(first, min(first + _ROWS_AT_ONCE, count))
            near = cKDTree(swarm.start[block]).sparse_distance_matrix(
                tree, reach_m * (1.0 + 1e-9), output_type="coo_matrix"
            )
            one, two = block[near.row], near.col.astype(np.int64)
            keep = one < two
            if swarm.lost is not None:
                keep &= (one != swarm.lost) & (two != swarm.lost)
            one, two = one[keep], two[keep]
            limit_m = swarm.range_m + (swarm.speeds[one] + swarm.speeds[two]) * trial_s
            keep = swarm.distance_m(one, two) <= limit_m * (1.0 + _SAFE)
            one, two = one[keep], two[keep]
            asked = np.isin(one * count + two, key)
            present.update(zip(one[asked].tolist(), two[asked].tolist(), strict=True))
            merged.append((one[~asked], two[~asked]))
            if sum(len(part[0]) for part in merged) > _LINKS_AT_ONCE:
                piece, merged = _merge(piece, merged), []
        piece = _merge(piece, merged)
        counted = np.ones(count, dtype=bool)
        if swarm.lost is not None:
            counted[swarm.lost] = False
        names = {int(name): k for k, name in enumerate(np.unique(piece[counted]))}
        self._pieces = len(names)
        self._links = {
            (i, j): (names[int(piece[i])], names[int(piece[j])]) for i, j in sorted(present)
        }

    def is_connected_without(self, unused: set[_Link]) -> bool:
        """Whether the candidates but these connect the survivors."""
        root = list(range(self._pieces))
        left = self._pieces
        for link, (a, b) in self._links.items():
            if link in unused:
                continue
            while root[a] != a:
                root[a] = root[root[a]]
                a = root[a]
            while root[b] != b:
                root[b] = root[root[b]]
                b = root[b]
            if a != b:
                root[a] = b
                left -= 1
        return left == 1
