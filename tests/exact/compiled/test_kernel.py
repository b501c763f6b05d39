"""The compiled search, held against linear programs and all spanning trees."""

from __future__ import annotations

import itertools
import os

import numpy as np
import pytest
from scipy.optimize import linprog

from reknit.base.types import FloatArray, IntArray
from reknit.exact.compiled.kernel import (
    CONNECTED,
    PROVED,
    UNDECIDED,
    Kernel,
    descend,
    is_available,
)
from reknit.network.links import components

pytestmark = pytest.mark.skipif(
    not is_available() and "CI" not in os.environ, reason="no C compiler at installation"
)

DIRECTIONS = 64


def _links(centres: FloatArray, radii: FloatArray) -> IntArray:
    """All pairs that can be linked."""
    pairs = np.asarray(list(itertools.combinations(range(len(centres)), 2)))
    apart = np.linalg.norm(centres[pairs[:, 0]] - centres[pairs[:, 1]], axis=1)
    return np.asarray(pairs[apart <= 1.0 + radii[pairs].sum(axis=1)])


def _kernel(centres: FloatArray, radii: FloatArray, links: IntArray) -> Kernel:
    length = np.linalg.norm(centres[links[:, 0]] - centres[links[:, 1]], axis=1)
    return Kernel(centres, radii, links, links, len(centres), length, 20_000)


def _room(centres: FloatArray, radii: FloatArray, links: IntArray) -> float:
    """By how much all balls and links could shrink (negative: must grow) for the polygons about
    them to have places: a linear program, which shares nothing with the search.
    """
    angle = 2.0 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    u = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    count = len(centres)
    rows, limits = [], []
    for i in range(count):
        block = np.zeros((DIRECTIONS, 2 * count + 1))
        block[:, 2 * i : 2 * i + 2], block[:, -1] = u, 1.0
        rows.append(block)
        limits.append(u @ centres[i] + radii[i])
    for i, j in links:
        block = np.zeros((DIRECTIONS, 2 * count + 1))
        block[:, 2 * i : 2 * i + 2], block[:, 2 * j : 2 * j + 2], block[:, -1] = u, -u, 1.0
        rows.append(block)
        limits.append(np.ones(DIRECTIONS))
    goal = np.zeros(2 * count + 1)
    goal[-1] = -1.0
    free = [(None, None)] * (2 * count + 1)
    solved = linprog(goal, np.concatenate(rows), np.concatenate(limits), bounds=free)
    return float(solved.x[-1])


def _spanning_trees(count: int, links: IntArray) -> list[IntArray]:
    return [
        links[list(rows)]
        for rows in itertools.combinations(range(len(links)), count - 1)
        if components(links[list(rows)], count).max() == 0
    ]


@pytest.mark.parametrize("seed", range(40))
def test_small_swarms_by_all_trees(seed: int) -> None:
    """The search finds a tree exactly if one of all trees has places, by linear programs."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 6))
    centres = rng.random((count, 2)) * rng.uniform(2.0, 5.0)
    radii = np.full(count, rng.uniform(0.3, 1.2))
    links = _links(centres, radii)
    if len(links) == 0:
        pytest.skip("nobody can be linked")
    best = max(
        (_room(centres, radii, tree) for tree in _spanning_trees(count, links)), default=-1.0
    )
    if abs(best) < 1e-6:
        pytest.skip("on the verge, where rounding decides")
    kernel = _kernel(centres, radii, links)
    standing = kernel.search(10**6)
    assert standing == (CONNECTED if best > 0.0 else PROVED)
    if standing == CONNECTED:
        tree = links[kernel.links_in_use()]
        assert components(tree, count).max() == 0
        assert _room(centres, radii, tree) > -1e-6


@pytest.mark.parametrize("seed", range(30))
def test_forces_prove_their_clash(seed: int) -> None:
    """Of every clash that a proof needs, the forces prove at least the trial time by weak duality,
    and a linear program finds no places for its links.
    """
    rng = np.random.default_rng(1_000 + seed)
    centres = rng.random((9, 2)) * 7.0
    radii = rng.uniform(0.4, 0.9, 9)
    links = _links(centres, radii)
    kernel = _kernel(centres, radii, links)
    if len(links) == 0 or kernel.search(10**6) != PROVED:
        pytest.skip("a plan exists")
    needed = kernel.needed()
    assert needed is not None
    clashes = np.flatnonzero(needed & (kernel.kinds == 0)).tolist()
    for clause in clashes:
        rows = kernel.links_of(clause)
        forces, part = kernel.forces(rows)
        balance = np.zeros((9, 2))
        np.add.at(balance, links[rows, 0], forces)
        np.subtract.at(balance, links[rows, 1], forces)
        delta = centres[links[rows, 0]] - centres[links[rows, 1]]
        pull = (forces * delta).sum() - np.linalg.norm(forces, axis=1).sum()
        give = (radii * np.linalg.norm(balance, axis=1)).sum()
        assert pull / give == pytest.approx(part, rel=1e-9)
        assert part >= 1.0 - 1e-9
        assert _room(centres, radii, links[rows]) < 0.0


@pytest.mark.parametrize("seed", range(10))
def test_anchors_have_a_place(seed: int) -> None:
    """UAVs that cannot move are balls of no size: a chain between them is found if it fits."""
    rng = np.random.default_rng(seed)
    fits = rng.uniform(0.9, 0.99)
    centres = np.array([[0.0, 0.0], [1.0, 1.0], [2.0 * fits, 0.0]])
    radii = np.array([0.0, 1.1, 0.0])
    links = np.array([[0, 1], [1, 2]])
    assert _kernel(centres, radii, links).search(10**5) == CONNECTED
    centres[2, 0] = 2.0 / fits
    assert _kernel(centres, radii, links).search(10**5) == PROVED


def test_the_same_input_gives_the_same_search() -> None:
    """Two searches of one swarm make the same clauses, also when one of them pauses often."""
    rng = np.random.default_rng(5)
    centres, radii = rng.random((22, 2)) * 15.0, np.full(22, 3.2)
    links = _links(centres, radii)
    whole, paused = (_kernel(centres, radii, links) for _ in range(2))
    standing = whole.search(200_000)
    pauses = UNDECIDED
    while pauses == UNDECIDED and paused.work < whole.work:
        pauses = paused.search(100)
    assert whole.conflicts > 50
    assert standing == pauses
    assert whole.conflicts == paused.conflicts
    assert np.array_equal(whole.kinds, paused.kinds)


def test_held_links_stay_in_use() -> None:
    """A link that is held is part of what is found, and where it cannot hold nothing is."""
    centres = np.array([[0.0, 0.0], [1.5, 0.0], [3.0, 0.0]])
    links = np.array([[0, 1], [1, 2], [0, 2]])
    ends = np.array([[0, 0], [0, 1], [0, 1]])
    length = np.array([1.5, 1.5, 3.0])
    for radius, expected in ((0.6, CONNECTED), (0.2, PROVED)):
        kernel = Kernel(
            centres, np.full(3, radius), links[::-1], ends[::-1], 2, length[::-1], 1_000
        )
        kernel.hold(2)
        assert kernel.search(10**5) == expected
        assert 2 in kernel.links_in_use()


def test_no_room_ends_the_search() -> None:
    """A search that runs out of clauses says so, and nothing is written beyond its arrays."""
    rng = np.random.default_rng(5)
    centres, radii = rng.random((22, 2)) * 15.0, np.full(22, 3.2)
    links = _links(centres, radii)
    length = np.linalg.norm(centres[links[:, 0]] - centres[links[:, 1]], axis=1)
    kernel = Kernel(centres, radii, links, links, 22, length, 40)
    assert kernel.search(10**6) == 3
    assert len(kernel.kinds) <= 40


@pytest.mark.parametrize("seed", range(8))
def test_descents_find_faster_trees(seed: int) -> None:
    """A descent that says that a tree holds within a time has one: spanning, and with places."""
    rng = np.random.default_rng(seed)
    centres = rng.random((12, 2)) * 8.0
    radii = np.full(12, 2.0)
    while True:  # the least size at which the links of the shortest tree have places
        links = _links(centres, 1.2 * radii)
        length = np.linalg.norm(centres[links[:, 0]] - centres[links[:, 1]], axis=1)
        order = np.argsort(length)
        tree: list[int] = []
        for row in order.tolist():
            rows = [*tree, row]
            label = components(links[tree], 12) if tree else np.arange(12)
            if label[links[row, 0]] != label[links[row, 1]]:
                tree = rows
        if len(tree) == 11 and _room(centres, radii, links[tree]) > 0.0:
            break
        radii = radii * 1.1
    kernel = Kernel(centres, 1.2 * radii, links, links, 12, length, 0)
    share, other = descend(kernel, np.asarray(tree), rng, 200_000, 1.0 / 1.2, 0.7 / 1.2)
    assert components(links[other], 12).max() == 0
    assert share <= 1.0 / 1.2
    assert _room(centres, 1.2 * share * radii, links[other]) > -1e-6
    # It goes on until it has what was asked for, or until the work is done.
    assert share < 0.7 / 1.2 * 1.01 or kernel.work >= 200_000
