"""The compiled search as a Python object.

Installers build it where there is a C compiler; elsewhere `is_available` is false, and the search
by cases does its work, more slowly.
"""

from __future__ import annotations

import ctypes
import importlib
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from reknit.base.types import FloatArray, IntArray

USED = 1
CLASH, CUT, LEARNED = 0, 1, 2
"""Kinds of clauses: links that do not hold together, links across a cut, and what follows."""

PROVED, CONNECTED, UNDECIDED, FULL = 0, 1, 2, 3
"""How a search ends: no plan in time; links in use connect everything; the work is used up; there
is no more room."""

_INT8, _INT32, _INT64 = (ctypes.POINTER(c) for c in (ctypes.c_int8, ctypes.c_int32, ctypes.c_int64))


class _Search(ctypes.Structure):
    """The first members of the structure of that name in kernel.h."""

    _fields_ = (
        ("clauses", ctypes.c_int32),
        ("final", ctypes.c_int32),
        ("decided", ctypes.c_int32),
        ("conflicts", ctypes.c_int32),
        ("tests", ctypes.c_int64),
        ("visits", ctypes.c_int64),
        ("literal_count", ctypes.c_int64),
        ("step_count", ctypes.c_int64),
        ("value", _INT8),
        ("trail", _INT32),
        ("reason", _INT32),
        ("kind", _INT8),
        ("begin", _INT32),
        ("size", _INT32),
        ("literals", _INT32),
        ("step_begin", _INT64),
        ("steps", _INT32),
        ("step", _INT32),
    )


@cache
def _library() -> ctypes.CDLL | None:
    try:
        module = importlib.import_module("reknit.exact.compiled._kernel")
    except ImportError:
        return None
    library = ctypes.CDLL(str(module.__file__))
    handle, integer, pointer = ctypes.POINTER(_Search), ctypes.c_int32, ctypes.c_void_p
    library.kernel_new.restype = handle
    library.kernel_new.argtypes = [
        integer, pointer, pointer, integer, pointer, pointer,
        integer, pointer, pointer, pointer, integer,
    ]  # fmt: skip
    library.kernel_free.restype, library.kernel_free.argtypes = None, [handle]
    library.kernel_hold.restype, library.kernel_hold.argtypes = None, [handle, integer]
    library.kernel_search.argtypes = [handle, ctypes.c_int64]
    library.kernel_work.restype, library.kernel_work.argtypes = ctypes.c_int64, [handle]
    library.kernel_refute.argtypes = [handle, pointer, integer]
    library.kernel_needed.restype, library.kernel_needed.argtypes = integer, [handle, pointer]
    library.kernel_descend.restype = ctypes.c_double
    library.kernel_descend.argtypes = [
        handle, pointer, integer, pointer, ctypes.c_int64, ctypes.c_double, ctypes.c_double,
    ]  # fmt: skip
    library.kernel_forces.restype = ctypes.c_double
    library.kernel_forces.argtypes = [handle, pointer, integer, pointer]
    return library


def is_available() -> bool:
    """Whether the search was compiled when reknit was installed."""
    return _library() is not None


class Kernel:
    """One search by clauses among links in the plane.

    Parameters
    ----------
    centres, radii
        (u, 2) and (u,) where the UAVs start and how far they get, in ranges.
    links, ends
        (m, 2) the links as UAVs, and as nodes of the graph that has to be connected.
    nodes
        How many nodes that has.
    length
        (m,) how long each link is at the start, in ranges.
    clauses
        How many clauses there is room for.
    """

    def __init__(
        self,
        centres: FloatArray,
        radii: FloatArray,
        links: IntArray,
        ends: IntArray,
        nodes: int,
        length: FloatArray,
        clauses: int,
    ) -> None:
        library = _library()
        if library is None:
            raise RuntimeError("the search by clauses was not compiled")
        self._library = library
        self._links, self._room = len(links), clauses
        self._views: dict[str, npt.NDArray[Any]] = {}
        columns = [np.ascontiguousarray(c, dtype=np.int32) for c in (*links.T, *ends.T)]
        centres, radii, length = (
            np.ascontiguousarray(a, dtype=np.float64) for a in (centres, radii, length)
        )
        self._handle = library.kernel_new(
            len(centres), centres.ctypes.data, radii.ctypes.data,
            len(links), columns[0].ctypes.data, columns[1].ctypes.data,
            nodes, columns[2].ctypes.data, columns[3].ctypes.data, length.ctypes.data, clauses,
        )  # fmt: skip
        if not self._handle:
            raise MemoryError("no memory for the search by clauses")

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._library.kernel_free(self._handle)
            self._handle = None

    @property
    def _search(self) -> Any:
        return self._handle.contents

    @property
    def work(self) -> int:
        """Regions computed so far, and clauses looked at as so many of them."""
        return int(self._library.kernel_work(self._handle))

    @property
    def conflicts(self) -> int:
        """Conflicts so far."""
        return int(self._search.conflicts)

    def hold(self, start: int) -> None:
        """Before a search: have the links from one number on in use, whatever else is decided."""
        self._library.kernel_hold(self._handle, start)

    def search(self, tests: int) -> int:
        """Go on for about as much work as so many regions take; how the search stands then."""
        return int(self._library.kernel_search(self._handle, tests))

    def links_in_use(self) -> IntArray:
        """The numbers of the links that are used at the moment."""
        return np.flatnonzero(self._array("value", self._links) == USED)

    def refute(self, links: IntArray) -> tuple[int, int]:
        """Learn that some links in use do not hold together; the clause, and how it stands then."""
        given = np.ascontiguousarray(links, dtype=np.int32)
        clause = int(self._search.clauses)
        return clause, int(self._library.kernel_refute(self._handle, given.ctypes.data, len(given)))

    def needed(self) -> npt.NDArray[np.bool_] | None:
        """(clauses,) which of them a finished proof needs; None if there is no room to tell."""
        is_needed = np.zeros(self._room, dtype=np.uint8)
        count = int(self._library.kernel_needed(self._handle, is_needed.ctypes.data))
        return None if count < 0 else is_needed[:count].astype(bool)

    @property
    def kinds(self) -> npt.NDArray[np.int8]:
        """(clauses,) the kind of each."""
        return self._of_clauses("kind")

    def count_steps(self, is_needed: npt.NDArray[np.bool_]) -> int:
        """In how many steps the needed clauses were resolved from others."""
        return int(self._of_clauses("steps")[is_needed].sum())

    def links_of(self, clause: int) -> IntArray:
        """The links of a clause, sorted."""
        begin = int(self._of_clauses("begin")[clause])
        end = begin + int(self._of_clauses("size")[clause])
        literals = self._array("literals", self._search.literal_count)[begin:end]
        return np.sort(literals >> 1).astype(np.int64)

    def steps_of(self, clause: int) -> list[list[int]]:
        """What a learned clause was resolved from: others, and the link resolved on (first: -1)."""
        begin = int(self._of_clauses("step_begin")[clause])
        end = begin + int(self._of_clauses("steps")[clause])
        rows = self._array("step", 2 * self._search.step_count)[2 * begin : 2 * end]
        steps: list[list[int]] = rows.reshape(-1, 2).tolist()
        return steps

    @property
    def final(self) -> int:
        """The refuted clause with which a proof ends."""
        return int(self._search.final)

    def decided(self) -> list[tuple[int, int]]:
        """The links decided, in their order, and the clause for each."""
        trail = self._array("trail", self._search.decided)
        reasons = self._array("reason", self._links)
        return list(zip(trail.tolist(), reasons[trail].tolist(), strict=True))

    def forces(self, links: IntArray) -> tuple[FloatArray, float]:
        """Forces (k, 2) on the links of a clash, from the first end of each to the second, and the
        part of the trial time that they prove; 0 where the regions do not tell.
        """
        given = np.ascontiguousarray(links, dtype=np.int32)
        forces = np.zeros((len(given), 2))
        part = self._library.kernel_forces(
            self._handle, given.ctypes.data, len(given), forces.ctypes.data
        )
        return forces, float(part)

    def _of_clauses(self, name: str) -> npt.NDArray[Any]:
        return self._array(name, self._search.clauses)

    def _array(self, name: str, size: int) -> npt.NDArray[Any]:
        """A view of one of the arrays, kept until more of it is asked for; it lives as long as this
        object.
        """
        view = self._views.get(name)
        if view is None or len(view) != size:
            view = np.ctypeslib.as_array(getattr(self._search, name), (int(size),))
            self._views[name] = view
        return view


def descend(
    kernel: Kernel, tree: IntArray, rng: np.random.Generator, tests: int, now: float, goal: float
) -> tuple[float, IntArray]:
    """Look for a tree that holds within a shorter time, from one that holds within another.

    Parameters
    ----------
    kernel
        A search that has not begun, for a time longer than both.
    tree
        (n - 1,) numbers of its links.
    rng
        Chooses the way.
    tests
        How many regions may be computed.
    now, goal
        The parts of the search's time within which the tree holds, and is meant to hold.

    Returns
    -------
    The part within which the tree found holds, and the tree.
    """
    links = np.array(tree, dtype=np.int32)
    state = rng.integers(1, 2**63, dtype=np.uint64, size=1)
    share = kernel._library.kernel_descend(
        kernel._handle, links.ctypes.data, len(links), state.ctypes.data, tests, now, goal
    )
    return float(share), links.astype(np.int64)
