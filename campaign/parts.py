"""The parts of the campaign, how much of each is wanted, and whose turn it is."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
import traceback
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version

import reknit
from campaign.forgeries import forgeries
from campaign.fuzz import fuzzed_files
from campaign.limits import ending_within
from campaign.log import Log, Record
from campaign.outcome import Outcome, Part
from campaign.plans import deadlines, invariance, judged_plans
from campaign.processes import kills, same_bytes

LONGEST_S = 600.0
"""Processor time after which a seed counts as one that does not end: most take a second."""

_PACKAGES = ("numpy", "scipy", "clarabel", "torch", "duckdb", "pydantic")


@dataclass(frozen=True)
class Entry:
    """One part.

    Parameters
    ----------
    run
        From a seed to its outcome.
    about
        What must hold, for the page.
    wanted
        Cases that a whole campaign has tried. The part that is furthest from it is next, so that
        a campaign of any length has something of all.
    version
        One more with every change of what a seed tries; what was logged before is then stale.
    """

    run: Part
    about: str
    wanted: int
    version: int = 1


PARTS = {
    "plans": Entry(
        judged_plans, "each plan passes the checker and a naive second judge", 100_000, 3
    ),
    "invariance": Entry(
        invariance, "renumbered, turned, moved by 1e6 m, scaled: the same to 1e-6", 5_000
    ),
    "bytes": Entry(same_bytes, "the same bytes in 20 processes, of 1 and of 2 threads", 500, 3),
    "deadlines": Entry(deadlines, "at most 1 s of computing beyond the budget", 5_000, 2),
    "forgeries": Entry(forgeries, "no false certificate or plan file passes", 10_000, 2),
    "files": Entry(fuzzed_files, "broken files: one line, exit code 2, under 10 s", 10_000, 2),
    "kills": Entry(kills, "kill -9 of studies and pre-training: nothing lost, nothing twice", 200),
}


def open_log(path: Path) -> Log:
    """The log of these parts in their present versions."""
    return Log(path, {name: part.version for name, part in PARTS.items()})


def run_seed(name: str, seed: int) -> Record:
    """Run one seed of a part; whatever it raises is a finding."""
    started_s, computed_s = time.perf_counter(), _computing_s()
    with tempfile.TemporaryDirectory(prefix="reknit-campaign-") as folder:
        try:
            with ending_within(
                LONGEST_S, TimeoutError(f"no end within {LONGEST_S:g} s of computing")
            ):
                outcome = PARTS[name].run(seed, Path(folder))
        except Exception as error:
            at = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(at.filename).name}:{at.lineno}"
            outcome = Outcome(1, (f"{type(error).__name__} at {where}: {error}",))
    return Record(
        name,
        seed,
        PARTS[name].version,
        outcome,
        time.perf_counter() - started_s,
        _computing_s() - computed_s,
        _versions(),
    )


def run_for(minutes: float, log: Log, only: Collection[str] | None = None) -> Iterator[Record]:
    """Open findings again, then the part furthest from what is wanted, until time is over.

    Parameters
    ----------
    minutes
        The time.
    log
        What was done before, and where each seed is written as it ends.
    only
        These parts; None: all.
    """
    end_s = time.monotonic() + minutes * 60.0
    mine = [name for name in PARTS if only is None or name in only]
    for record in log.open_findings() if minutes > 0 else ():
        if record.part not in mine:
            continue
        again = run_seed(record.part, record.seed)
        log.add(again)
        yield again
    cases = {name: log.cases(name) for name in mine}
    seeds = {name: log.next_seed(name) for name in mine}
    while time.monotonic() < end_s:
        name = min(mine, key=lambda part: cases[part] / PARTS[part].wanted)
        record = run_seed(name, seeds[name])
        log.add(record)
        # A seed that tried nothing counts as a case, or its part would stay the furthest.
        cases[name] += max(1, record.outcome.cases)
        seeds[name] += 1
        yield record


def _computing_s() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@cache
def _versions() -> dict[str, str]:
    known = {"reknit": reknit.__version__, "Python": python_version(), "sources": _sources()}
    for package in _PACKAGES:
        try:
            known[package] = version(package)
        except PackageNotFoundError:
            continue
    return known


def _sources() -> str:
    """A digest of reknit's own files, those in C too, which change between releases."""
    folder = Path(reknit.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(file for kind in ("*.py", "*.[ch]") for file in folder.rglob(kind)):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]
