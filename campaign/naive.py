"""A second judge of plans, written from docs/bounds.md alone, slowly and with fractions.

It shares no code with the checker: cases are walked by recursion, cuts by breadth-first search,
candidates and inequalities are compared as exact rationals. Square roots are bracketed, always so
that the result is an upper limit of what a certificate proves: a claim above it is surely false.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

import reknit
from campaign.naive_partings import parting_s
from reknit.base.types import FloatArray, IntArray

_DIGITS = 10**60
_FOREVER_S = 1e300

_Links = frozenset[tuple[int, int]]


_MOST_SUBSETS_OF = 14
"""Forces on so many survivors are tried subset by subset; on more they are not judged."""

_ROUNDING = 1e-9
"""What float64 may have lost where this judge uses it, as a share."""


class NoProof(Exception):
    """The certificate is no proof at all."""


class OutOfReach(Exception):
    """The certificate is too large for this judge."""


def root_between(square: Fraction) -> tuple[Fraction, Fraction]:
    """Two rationals around a square root."""
    scaled = square.numerator * _DIGITS * _DIGITS // square.denominator
    low = math.isqrt(scaled)
    return Fraction(low, _DIGITS), Fraction(low + 1, _DIGITS)


def vector(values: FloatArray) -> list[Fraction]:
    """The very numbers that float64 holds."""
    return [Fraction(float(x)) for x in values]


def _hull_order(points: FloatArray) -> list[int]:
    """Corners of the convex hull in turn, by wrapping a line around it."""
    first = int(np.lexsort((points[:, 1], points[:, 0]))[0])
    order, at = [first], first
    while True:
        ahead = (at + 1) % len(points)
        for k in range(len(points)):
            a, b = points[ahead] - points[at], points[k] - points[at]
            turn = a[0] * b[1] - a[1] * b[0]
            if turn < 0 or (turn == 0 and (b @ b) > (a @ a)):
                ahead = k
        if ahead == first or len(order) > len(points):
            return order
        order.append(ahead)
        at = ahead


class Judge:
    """Truth about one scenario."""

    def __init__(self, scenario: reknit.Scenario) -> None:
        self.scenario = scenario
        self.start = [vector(row) for row in scenario.survivor_positions]
        self.speeds = vector(scenario.survivor_speeds_mps)
        self.range_m = Fraction(scenario.planning_range_m)
        self.lost: int | None = None

    def proves_at_most_s(self, certificate: reknit.Certificate) -> Fraction:
        """No more than this is proved, in real numbers, by any part of a certificate.

        `OutOfReach` if it has forces on more survivors than can be tried subset by subset.
        """
        others = [
            self._apart_s(certificate),
            self._pulls_s(certificate),
            self._hole_s(certificate),
            self._crowd_s(certificate),
            self._bundles_s(certificate),
            Fraction(min(parting_s(certificate, self.scenario), _FOREVER_S)),
        ]
        try:
            others.append(self._cases_s(certificate))
        except NoProof:
            if max(others) == 0:
                raise
        return max(others)

    def _apart_s(self, certificate: reknit.Certificate) -> Fraction:
        """Two that start too close need that long to part."""
        if certificate.apart is None:
            return Fraction(0)
        i, j = certificate.apart
        low, _ = root_between(self._square(i, j))
        speed = self.speeds[i] + self.speeds[j]
        short = Fraction(self.scenario.min_separation_m) - low
        return short / speed if short > 0 and speed > 0 else Fraction(0)

    def _pulls_s(self, certificate: reknit.Certificate) -> Fraction:
        """(3) with (4), and g(k) from every subset of the survivors."""
        if certificate.pulls is None:
            return Fraction(0)
        n = len(self.start)
        if n > _MOST_SUBSETS_OF:
            raise OutOfReach
        forces = np.array(certificate.pulls, dtype=np.float64)
        forces /= max(float(np.abs(forces).max()), 1e-300)
        forces[-1] -= forces.sum(axis=0)  # forces that add up to 0, or there is no proof
        sums, sizes = np.zeros((1, forces.shape[1])), np.zeros(1, dtype=np.int64)
        for force in forces:
            sums, sizes = np.vstack([sums, sums + force]), np.concatenate([sizes, sizes + 1])
        lengths = np.sqrt((sums * sums).sum(axis=1))
        g = [float(lengths[sizes <= k].max()) for k in range(n)]
        spread = sum(g[min(k, n - k)] for k in range(1, n))
        pulled = forces * (self.scenario.survivor_positions - self.scenario.survivor_positions[0])
        through = self.scenario.planning_range_m * spread
        # Float64 suffices: g is exact but for rounding, which is counted in the claim's favour.
        pull = float(pulled.sum()) - through + _ROUNDING * (float(np.abs(pulled).sum()) + through)
        sizes_z = np.sqrt((forces * forces).sum(axis=1))
        give = float((self.scenario.survivor_speeds_mps * sizes_z).sum())
        return Fraction(max(0.0, pull / give)) if give > 0 else Fraction(0)

    def _hole_s(self, certificate: reknit.Certificate) -> Fraction:
        """Ways around a hole, covered from a few places where everybody can be.

        More places could only cover more, so what is covered from these is no proof at all, and
        where they leave a way uncovered the claim is given the benefit of the doubt.
        """
        if certificate.hole is None:
            return Fraction(0)
        trial_s = float(certificate.trial_s)
        seen = self.scenario.survivor_positions - np.asarray(certificate.hole)
        starts = seen[:, 0] + 1j * seen[:, 1]
        reach = self.scenario.survivor_speeds_mps * trial_s
        nearest = float((np.abs(starts) - reach).min())
        if nearest <= 0 or self.scenario.planning_range_m > 2 * nearest:
            return Fraction(0)
        # Twelve directions and the middle, whence 24 points half a link away.
        spots = np.append(0, np.exp(2j * math.pi * np.arange(12) / 12))
        about = self.scenario.planning_range_m / 2 * np.exp(2j * math.pi * np.arange(24) / 24)
        discs = starts[:, None, None] + (reach[:, None] * spots)[:, :, None] + about
        around = [int(row) for row in np.argsort(np.angle(starts))]
        windings = certificate.windings or (
            reknit.Winding(np.arange(len(starts)), 0.0, np.ones(1, dtype=np.int64)),
        )
        gaps = sorted(int(row) for winding in windings for row in winding.gaps)
        if gaps != sorted(around) or any(w.weights.min() < 0 for w in windings):
            return Fraction(0)
        for winding in windings:
            for gap in winding.gaps:
                first = around.index(int(gap))
                order = around[first:] + around[:first]
                if self._is_covered(discs[order], starts[order], winding, nearest):
                    return Fraction(0)
        return Fraction(trial_s)

    def _is_covered(self, discs: Any, starts: Any, winding: reknit.Winding, nearest: float) -> bool:
        """Whether the first to the last of a way reach around it, each from the best of its spots
        on the way between them.
        """
        turned = np.mod(np.angle(starts / starts[0]), 2 * math.pi)
        turned[0] = 0
        last = float(turned[-1])
        angle = turned[:, None, None] + np.angle(discs / starts[:, None, None])
        low, high = winding.straight_rad, last - winding.straight_rad
        before = np.abs(discs) * np.sin(np.clip(low - angle, -math.pi / 2, math.pi / 2))
        beyond = np.abs(discs) * np.sin(np.clip(angle - high, -math.pi / 2, math.pi / 2))
        far = np.where(angle < low, low - before / nearest, angle)
        far = np.where(angle > high, high + beyond / nearest, far)
        margin = 1 - self.scenario.planning_range_m / nearest
        weights = np.asarray(winding.weights, dtype=np.float64)
        edges = np.linspace(low - margin, high + margin, len(weights) + 1)
        counts = np.interp(far, edges, np.append(0, np.cumsum(weights)))
        most, least = counts.max(axis=2), counts.min(axis=2)
        covered = float((most - least)[1:-1].max(axis=1).sum())
        left = float(least[-1].min() - most[0].max())
        return covered >= left + _ROUNDING * float(weights.sum())

    def _bundles_s(self, certificate: reknit.Certificate) -> Fraction:
        """(6), link by link."""
        if not certificate.bundles:
            return Fraction(0)
        n = len(self.start)
        self.lost, self.trial_s = None, Fraction(float(certificate.trial_s))
        clash_s: dict[frozenset[tuple[int, int]], Fraction] = {}
        for clash in certificate.clashes:
            links = [(int(i), int(j)) for i, j in clash.links]
            proved_s = self._clash_s(links, clash.forces)
            names = frozenset(links)
            clash_s[names] = max(proved_s, clash_s.get(names, Fraction(0)))
        bound_s, price = self.trial_s, 0
        weight = {(i, j): 0 for j in range(n) for i in range(j) if self._is_candidate(i, j)}
        for bundle in certificate.bundles:
            if len(bundle.nodes):
                inside = {int(i) for i in bundle.nodes}
                names = frozenset((i, j) for i in inside for j in inside if i < j)
                price += bundle.weight * (len(inside) - 1)
            else:
                names = frozenset((int(i), int(j)) for i, j in bundle.links)
                if names in clash_s:
                    rests_on, most = [names], len(names) - 1
                else:
                    rests_on, most = [frozenset((a, b)) for a in names for b in names if a < b], 1
                bound_s = min([bound_s, *(clash_s.get(pair, Fraction(0)) for pair in rests_on)])
                price += bundle.weight * most
            for link in names & weight.keys():
                weight[link] += bundle.weight
        is_proof = weight and price < min(weight.values()) * (n - 1)
        return bound_s if is_proof else Fraction(0)

    def _crowd_s(self, certificate: reknit.Certificate) -> Fraction:
        """Oler's inequality, with the trial flight halved again and again."""
        if certificate.crowd is None or self.scenario.dim != 2:
            return Fraction(0)
        rows = np.asarray(certificate.crowd)
        points = self.scenario.survivor_positions[rows]
        speed, s = self.scenario.survivor_speeds_mps[rows].max(), self.scenario.min_separation_m
        if len(set(rows.tolist())) < len(rows) or not (speed > 0 and s > 0):
            return Fraction(0)
        angle = np.linspace(0, 2 * math.pi, 720, endpoint=False)
        along = points @ np.stack([np.cos(angle), np.sin(angle)])  # support of the hull
        width = along.max(axis=0)
        perimeter = float(width.sum()) * (2 * math.pi / 720)  # Cauchy: no more than a hair less
        x, y = points.T
        order = _hull_order(points)
        x, y = x[order], y[order]
        area = abs(float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum())) / 2

        def room(r: float) -> float:
            grown = area + perimeter * r + math.pi * r * r
            return 2 * grown / (math.sqrt(3) * s * s) + (perimeter + 2 * math.pi * r) / (2 * s) + 1

        low, high = 0.0, len(rows) * float(s)
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if room(middle) < len(rows) else (low, middle)
        return Fraction(high / float(speed) * (1 + 1e-3))

    def _cases_s(self, certificate: reknit.Certificate) -> Fraction:
        """The tree of cases."""
        if len(certificate.cases) == 0:
            return Fraction(0)
        self.lost = certificate.lost
        if self.lost is not None and (
            self.scenario.connectivity < 2 or not 0 <= self.lost < len(self.start)
        ):
            raise NoProof
        self.trial_s = Fraction(float(certificate.trial_s))
        self.clashes = certificate.clashes
        self.lemmas: list[tuple[_Links, _Links, Fraction]] = []
        for lemma in certificate.lemmas:
            used, unused = self._links(lemma.used), self._links(lemma.unused)
            self.lemmas.append((used, unused, self._tree_s(lemma.cases, used, unused)))
        return self._tree_s(certificate.cases, frozenset(), frozenset())

    def _links(self, rows: IntArray) -> _Links:
        links = [(int(i), int(j)) for i, j in rows]
        for i, j in links:
            self._pair(i, j)
        return frozenset(links)

    def _tree_s(self, rows: IntArray, used: _Links, unused: _Links) -> Fraction:
        """What one tree of cases proves of plans that use some links and others not."""
        self.rows = [(int(i), int(j)) for i, j in rows]
        self.at = 0
        proved = self._case(used, unused)
        if self.at != len(self.rows):
            raise NoProof
        return proved

    def _case(self, used: _Links, unused: _Links) -> Fraction:
        if self.at >= len(self.rows):
            raise NoProof
        i, j = self.rows[self.at]
        self.at += 1
        if i >= 0:
            self._pair(i, j)
            first = self._case(used | {(i, j)}, unused)
            return min(first, self._case(used, unused | {(i, j)}))
        if i == -3:  # a clash rules out the only one of its links that is not used
            if not 0 <= j < len(self.clashes):
                raise NoProof
            links = [(int(a), int(b)) for a, b in self.clashes[j].links]
            left = set(links) - used
            if len(left) != 1 or left & unused:
                raise NoProof
            ends = self._clash_s(links, self.clashes[j].forces)
            return min(ends, self._case(used, unused | left))
        if i == -4:  # a lemma decides the only link that is not as it supposes
            if not 0 <= j < len(self.lemmas):
                raise NoProof
            needs, lacks, proved_s = self.lemmas[j]
            (barred, forced) = (needs - used, lacks - unused)
            if len(barred) + len(forced) != 1 or (barred | forced) & (used | unused):
                raise NoProof
            return min(proved_s, self._case(used | forced, unused | barred))
        if i == -2:
            if not 0 <= j < len(self.lemmas):
                raise NoProof
            needs, lacks, proved_s = self.lemmas[j]
            if not (needs <= used and lacks <= unused):
                raise NoProof
            return proved_s
        if j == -1:
            if self._connects(unused, self.lost):
                raise NoProof
            return self.trial_s
        if j < -1:  # a cut when one more is lost
            row = -2 - j
            is_asked = self.scenario.connectivity >= 2 and len(self.start) >= 3
            if not is_asked or self.lost is not None or row >= len(self.start):
                raise NoProof
            if self._connects(unused, row):
                raise NoProof
            return self.trial_s
        if not 0 <= j < len(self.clashes):
            raise NoProof
        links = [(int(a), int(b)) for a, b in self.clashes[j].links]
        if not set(links) <= used:
            raise NoProof
        return min(self.trial_s, self._clash_s(links, self.clashes[j].forces))

    def _pair(self, i: int, j: int) -> None:
        if not 0 <= i < j < len(self.start) or self.lost in (i, j):
            raise NoProof

    def _connects(self, unused: _Links, lost: int | None) -> bool:
        nodes = [i for i in range(len(self.start)) if i != lost]
        reached, frontier = {nodes[0]}, [nodes[0]]
        while frontier:
            i = frontier.pop()
            for j in nodes:
                pair = (min(i, j), max(i, j))
                if j not in reached and pair not in unused and self._is_candidate(i, j):
                    reached.add(j)
                    frontier.append(j)
        return len(reached) == len(nodes)

    def _is_candidate(self, i: int, j: int) -> bool:
        square = self._square(i, j)
        limit = self.range_m + (self.speeds[i] + self.speeds[j]) * self.trial_s
        return square <= limit * limit

    def _square(self, i: int, j: int) -> Fraction:
        return sum(
            ((a - b) ** 2 for a, b in zip(self.start[i], self.start[j], strict=True)), Fraction(0)
        )

    def _clash_s(self, links: list[tuple[int, int]], forces: FloatArray) -> Fraction:
        if not np.isfinite(np.asarray(forces, dtype=np.float64)).all():
            raise NoProof
        dim = len(self.start[0])
        pull = Fraction(0)
        balance = {i: [Fraction(0)] * dim for link in links for i in link}
        for (i, j), force in zip(links, forces, strict=True):
            self._pair(i, j)
            y = vector(force)
            low, _ = root_between(sum((x * x for x in y), Fraction(0)))
            pull -= self.range_m * low
            for axis in range(dim):
                pull += y[axis] * (self.start[i][axis] - self.start[j][axis])
                balance[i][axis] += y[axis]
                balance[j][axis] -= y[axis]
        give = Fraction(0)
        for i, z in balance.items():
            low, _ = root_between(sum((x * x for x in z), Fraction(0)))
            give += self.speeds[i] * low
        if pull <= 0:
            return Fraction(0)
        return pull / give if give > 0 else Fraction(10**400)

    def is_true(self, plan: reknit.Plan) -> bool:
        """Whether everything that a plan claims is so."""
        start, targets = self.scenario.survivor_positions, plan.targets
        speeds = self.scenario.max_speed_mps[self.scenario.survivors]
        time_s = max(
            math.sqrt(sum((float(a) - float(b)) ** 2 for a, b in zip(p, x, strict=True))) / float(v)
            for p, x, v in zip(start, targets, speeds, strict=True)
        )
        if not math.isclose(time_s, plan.recovery_time_s, rel_tol=1e-14, abs_tol=1e-300):
            return False
        try:
            if Fraction(plan.lower_bound_s) > self.proves_at_most_s(plan.certificate):
                return False
        except NoProof:
            return plan.lower_bound_s == 0.0 and self._status_is_true(plan)
        return self._status_is_true(plan)

    def _status_is_true(self, plan: reknit.Plan) -> bool:
        stays = np.array_equal(plan.targets, self.scenario.survivor_positions)
        near = plan.recovery_time_s <= plan.lower_bound_s * 1.001
        text = plan.status.value
        if self.meets_demands(plan.targets):
            expected = {"optimal"} if near else {"feasible", "deadline"}
            if stays:
                expected.add("already connected")
            return text in expected
        if text == "infeasible (proved)":
            return stays and plan.lower_bound_s > self._horizon_s()
        return text == "not connected" or (text == "not found" and stays)

    def _horizon_s(self) -> float:
        """(width of the swarm + n d) / slowest speed."""
        start = self.scenario.survivor_positions
        across_m = max(math.dist(p, q) for p in start for q in start)
        slowest = min(float(v) for v in self.speeds if v > 0)
        return (across_m + len(start) * self.scenario.planning_range_m) / slowest

    def meets_demands(self, points: FloatArray) -> bool:
        """Links, anchors, separation and 2-connectivity, each by going through all pairs."""
        scenario = self.scenario
        start = scenario.survivor_positions
        for row, uav in enumerate(scenario.survivors):
            if uav in scenario.anchors and not np.array_equal(points[row], start[row]):
                return False
        if scenario.min_separation_m > 0.0:
            for i in range(len(points)):
                for j in range(i):
                    square = sum(
                        float(a - b) ** 2 for a, b in zip(points[i], points[j], strict=True)
                    )
                    if math.sqrt(square) < scenario.min_separation_m:
                        return False
        if scenario.connectivity >= 2 and len(points) > 2:
            without = (np.delete(points, i, axis=0) for i in range(len(points)))
            if not all(self._is_connected(rest) for rest in without):
                return False
        return self._is_connected(points)

    def _is_connected(self, points: FloatArray) -> bool:
        return self.is_connected(points, self.scenario.planning_range_m)

    def is_connected(self, points: FloatArray, range_m: float) -> bool:
        """Whether links of at most a range connect all points."""
        reached, frontier = {0}, [0]
        while frontier:
            i = frontier.pop()
            for j in range(len(points)):
                square = sum(
                    float(a - b) * float(a - b) for a, b in zip(points[i], points[j], strict=True)
                )
                if j not in reached and math.sqrt(square) <= range_m:
                    reached.add(j)
                    frontier.append(j)
        return len(reached) == len(points)
