"""From the search's proofs to certificates, with the bound that each of them states.

The bound is evaluated here, by the planners' own arithmetic and on the safe side; the checker
evaluates it again by its own and shares nothing with this module but the certificate's format.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from reknit.base.context import never
from reknit.base.types import FloatArray, IntArray
from reknit.exact.model.problem import Problem
from reknit.exact.proof.chains import chains
from reknit.exact.search.bits import members
from reknit.exact.search.case_search import CaseSearch
from reknit.exact.search.clause_search import ClauseSearch
from reknit.exact.search.proof_tree import LOSS_CUT, Proof, ask, in_order
from reknit.exact.search.state import CaseProof
from reknit.network.links import lengths
from reknit.plans.certificate import (
    BY_LEMMA,
    CANDIDATE_HAIR,
    CUT,
    Certificate,
    Clash,
    Lemma,
)

_BELOW = 4.0 * CANDIDATE_HAIR
"""A trial time has to lie this much (relative) below the time at which a link becomes a candidate
for the link not to be one."""

_ROWS_PER_SUPPOSITION = 0.1
"""How many rows a supposition of a lemma is worth, in space and in the time of the check."""

_LEMMA_PARTS = 50
"""A lemma counts as so many parts of a proof in the question whether to go on."""

_EPSILON = 2.0**-52
_SAFE = 64.0 * _EPSILON
"""Relative margin under every stated time; rounding in a sum of n terms adds n epsilons to it."""


def cut_certificate(problem: Problem, time_s: float, lost: int | None = None) -> Certificate:
    """The certificate that no plan is faster than the last link of the quickest tree needs.

    With one speed that is the EMST bound ``(l - d) / (2 v_max)``: across the cut of the longest
    EMST edge, of length l, every pair is at least l apart, so before that time the candidates do
    not connect.

    Parameters
    ----------
    problem
        The survivors; without the one called `lost`, if one is.
    time_s
        The time, seconds, before which the candidates fail to connect the survivors.
    lost
        Row of the survivor whose loss is supposed (2-connected results only).

    Returns
    -------
    Certificate
        The trivial one where nothing above 0 s can be stated.
    """
    slowest = float(problem.speeds[problem.speeds > 0.0].min(initial=np.inf))
    trial_s = time_s * (1.0 - _BELOW) - _BELOW * problem.range_m / slowest
    if trial_s <= 0.0 or not np.isfinite(trial_s):
        return Certificate.trivial()
    return Certificate(trial_s, trial_s, np.asarray([[-1, CUT]], dtype=np.int64), (), lost)


def certificate_of(
    case: CaseProof, lost: int | None = None, is_over: Callable[[], bool] = never
) -> Certificate:
    """The certificate of a finished proof, with the least of the times that its ends prove.

    Parameters
    ----------
    case
        The proof and its search.
    lost
        Row of the survivor whose loss is supposed; the search's rows then skip it.
    is_over
        Asked now and then; once it is true `GivenUp` is raised.

    Returns
    -------
    Certificate
        Its rows are those of all survivors.
    """
    if isinstance(case.search, CaseSearch):
        assert isinstance(case.outcome, Proof)
        return _of_cases(case.search, case.outcome, lost, is_over)
    written = chains(case.search, _among_all(case.search.pairs, lost), is_over)
    return _certificate(case.search, written.cases, written.lemmas, written.clashes, lost, is_over)


def _of_cases(
    search: CaseSearch, proof: Proof, lost: int | None, is_over: Callable[[], bool]
) -> Certificate:
    """The certificate of a tree of cases."""
    pairs = _among_all(search.pairs, lost)
    order = in_order(proof, is_over)
    lemmas = [part for part in _worth_a_lemma(order, is_over) if part is not proof]
    writer = _Writer(pairs, {id(part): number for number, part in enumerate(lemmas)})
    cases = writer.rows(proof)
    rows: dict[int, IntArray] = {}
    for number in reversed(range(len(lemmas))):
        ask(is_over, number * _LEMMA_PARTS)
        if number in writer.used_lemmas:  # what is decided where it was to be used may make it idle
            rows[number] = writer.rows(lemmas[number])
    renumbered = np.zeros(len(lemmas), dtype=np.int64)
    renumbered[sorted(rows)] = np.arange(len(rows))
    for part_rows in (cases, *rows.values()):
        by_lemma = part_rows[:, 0] == BY_LEMMA
        part_rows[by_lemma, 1] = renumbered[part_rows[by_lemma, 1]]
    written = tuple(
        Lemma(pairs[members(lemma.needs)], pairs[members(lemma.lacks)], rows[number])
        for number, lemma in enumerate(lemmas)
        if number in rows
    )
    return _certificate(search, cases, written, list(writer.clashes), lost, is_over)


def _certificate(
    search: CaseSearch | ClauseSearch,
    cases: IntArray,
    lemmas: tuple[Lemma, ...],
    names: list[int],
    lost: int | None,
    is_over: Callable[[], bool],
) -> Certificate:
    """Rows and lemmas with the clashes that they name."""
    clashes = [search.clash(name) for name in names]
    ask(is_over, 0)
    times_s = provable_times_s(search.problem, clashes)
    return Certificate(
        float(times_s.min(initial=search.time_s)),
        search.time_s,
        cases,
        tuple(Clash(_among_all(clash.links, lost), clash.forces) for clash in clashes),
        lost,
        lemmas=lemmas,
    )


def _among_all(links: IntArray, lost: int | None) -> IntArray:
    """Links as rows of all survivors, where the search did without one."""
    return links if lost is None else links + (links >= lost)


def _worth_a_lemma(order: list[Proof], is_over: Callable[[], bool]) -> list[Proof]:
    """The parts that are used so often that it is shorter to write them once, with what they
    suppose; in order.
    """
    uses: dict[int, int] = {}
    for count, part in enumerate(order):
        ask(is_over, count)
        for other in part.parts:
            uses[id(other)] = uses.get(id(other), 0) + 1
    rows: dict[int, int] = {}  # written where the part is used
    lemmas = []
    for count, part in enumerate(order):
        ask(is_over, count)
        length = 1 + sum(rows[id(other)] for other in part.parts)
        supposed = part.needs.bit_count() + part.lacks.bit_count()
        if (uses.get(id(part), 0) - 1) * (length - 1) > _ROWS_PER_SUPPOSITION * supposed:
            lemmas.append(part)
            length = 1
        rows[id(part)] = length
    return lemmas


class _Writer:
    """Writes proofs as rows, with clashes numbered as they come.

    Parameters
    ----------
    pairs
        (m, 2) the links.
    lemmas
        The number of each part (by identity) that is written as a lemma.
    """

    def __init__(self, pairs: IntArray, lemmas: dict[int, int]) -> None:
        self.clashes: dict[int, int] = {}
        self.used_lemmas: set[int] = set()
        self._pairs: list[tuple[int, int]] = [(int(i), int(j)) for i, j in pairs]
        self._lemmas = lemmas

    def rows(self, proof: Proof) -> IntArray:
        """(c, 2) the cases of a proof in preorder. A part that was proved under other decisions
        may ask what is decided here; only the side that applies is then written.
        """
        rows: list[tuple[int, int]] = []
        decided = dict.fromkeys(members(proof.needs), True)
        decided.update(dict.fromkeys(members(proof.lacks), False))
        stack: list[tuple[int, bool | None, Proof]] = [(-1, None, proof)]
        while stack:
            link, is_used, part = stack.pop()
            if is_used is not None:
                decided[link] = is_used
            elif link >= 0:
                del decided[link]
                continue
            while part.link in decided and (part is proof or id(part) not in self._lemmas):
                part = part.parts[0 if decided[part.link] else 1]
            if part is not proof and id(part) in self._lemmas:
                rows.append((BY_LEMMA, self._lemmas[id(part)]))
                self.used_lemmas.add(self._lemmas[id(part)])
            elif part.parts:
                link = part.link
                used, unused = part.parts
                rows.append(self._pairs[link])
                stack += [(link, None, part), (link, False, unused), (link, True, used)]
            else:
                rows.append((-1, self._end(part)))
        return np.asarray(rows, dtype=np.int64)

    def _end(self, part: Proof) -> int:
        name = part.used
        if isinstance(name, Proof) or name == CUT:
            return CUT
        if name <= LOSS_CUT:
            return CUT - 1 - (LOSS_CUT - name)
        return self.clashes.setdefault(name, len(self.clashes))


def parting_certificate(problem: Problem, pair: tuple[int, int], gap_m: float) -> Certificate:
    """Two UAVs closer than the separation must part: ``(s - |p_i - p_j|) / (v_i + v_j)``.

    Parameters
    ----------
    problem
        All survivors.
    pair
        Rows i < j of the two.
    gap_m
        The demanded separation s, metres.

    Returns
    -------
    Certificate
        The trivial one if the two are far enough apart or cannot move.
    """
    distance_m = float(lengths(problem.start, np.asarray([pair]))[0])
    speed_mps = float(problem.speeds[pair[0]] + problem.speeds[pair[1]])
    lack_m = gap_m * (1.0 - _SAFE) - distance_m * (1.0 + _SAFE)
    if lack_m <= 0.0 or speed_mps == 0.0:
        return Certificate.trivial()
    bound_s = lack_m / speed_mps * (1.0 - _SAFE)
    return Certificate(bound_s, 0.0, np.empty((0, 2), dtype=np.int64), apart=pair)


def provable_times_s(problem: Problem, clashes: Sequence[Clash]) -> FloatArray:
    """The times that clashes prove by weak duality, less what rounding may have added.

    ``t >= (sum_e y_e . (p_i - p_j) - d |y_e|) / sum_i v_i |z_i|`` with z_i the signed sum of the
    y_e at survivor i.

    Parameters
    ----------
    problem
        The survivors whose rows the clashes name.
    clashes
        Links and their dual vectors y_e.

    Returns
    -------
    FloatArray
        (k,) seconds; 0 where the vectors prove nothing, the largest float where they prove that
        the links never hold together.
    """
    count = len(clashes)
    if count == 0:
        return np.zeros(0)
    links = np.concatenate([clash.links for clash in clashes])
    forces = np.concatenate([clash.forces for clash in clashes])
    owner = np.repeat(np.arange(count), [len(clash.links) for clash in clashes])
    top = np.zeros(count)
    with np.errstate(invalid="ignore"):  # what is no number proves nothing
        np.maximum.at(top, owner, np.abs(forces).max(axis=1))
    is_proof = np.isfinite(top) & (top > 0.0)
    forces = np.where(is_proof[owner, None], forces, 0.0)
    forces = forces / np.where(is_proof, top, 1.0)[owner, None]
    size = np.sqrt((forces * forces).sum(axis=1))
    rounding = (np.bincount(owner, minlength=count) + 64) * _EPSILON
    delta = problem.start[links[:, 0]] - problem.start[links[:, 1]]
    scale = np.bincount(owner, size * (lengths(problem.start, links) + problem.range_m), count)
    sizes = np.bincount(owner, size, count)
    along = np.bincount(owner, (forces * delta).sum(axis=1), count)
    pull = along - problem.range_m * sizes - rounding * scale
    # Each survivor of each clash is one node.
    ends = (owner[:, None] * problem.count + links).ravel()
    nodes, at = np.unique(ends, return_inverse=True)
    signed = np.stack([forces, -forces], axis=1).reshape(-1, forces.shape[1])
    balance = np.stack([np.bincount(at.reshape(-1), axis) for axis in signed.T], axis=1)
    of_clash, survivor = np.divmod(nodes, problem.count)
    speeds = problem.speeds[survivor]
    gives = np.bincount(of_clash, speeds * np.sqrt((balance * balance).sum(axis=1)), count)
    fastest = np.zeros(count)
    np.maximum.at(fastest, of_clash, speeds)
    give = gives * (1.0 + _SAFE) + rounding * fastest * sizes
    largest = float(np.finfo(np.float64).max)
    times_s = np.where(pull > 0.0, largest, 0.0)
    moves = (pull > 0.0) & (give > 0.0)
    times_s[moves] = np.minimum(pull[moves] / give[moves] * (1.0 - _SAFE), largest)
    return times_s
