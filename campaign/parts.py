"""The parts of the campaign, and how often each has its turn."""

from __future__ import annotations

import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version

import reknit
from campaign.forgeries import forgeries
from campaign.fuzz import fuzzed_files
from campaign.log import Log, Record
from campaign.outcome import Outcome, Part
from campaign.plans import deadlines, invariance, judged_plans
from campaign.processes import kills, same_bytes

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
    turns
        Seeds in one round; cheap parts have more, so that every round has something of all.
    """

    run: Part
    about: str
    turns: int


PARTS = {
    "plans": Entry(judged_plans, "each plan passes the checker and a naive second judge", 40),
    "invariance": Entry(invariance, "renumbered, turned, moved by 1e6 m, scaled: to 1e-6", 2),
    "bytes": Entry(same_bytes, "the same bytes in two processes, with 1 and 2 threads", 1),
    "deadlines": Entry(deadlines, "at most 1 s of computing beyond the budget", 8),
    "forgeries": Entry(forgeries, "no false certificate or plan file passes", 3),
    "files": Entry(fuzzed_files, "broken files: one line, exit code 2, under 10 s", 4),
    "kills": Entry(kills, "kill -9 of studies and pre-training: nothing lost, nothing twice", 1),
}


def run_seed(name: str, seed: int) -> Record:
    """Run one seed of a part; whatever it raises is a finding."""
    started_s = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="reknit-campaign-") as folder:
        try:
            outcome = PARTS[name].run(seed, Path(folder))
        except Exception as error:
            at = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(at.filename).name}:{at.lineno}"
            outcome = Outcome(1, (f"{type(error).__name__} at {where}: {error}",))
    return Record(name, seed, outcome, time.perf_counter() - started_s, _versions())


def run_for(minutes: float, log: Log) -> Iterator[Record]:
    """Open findings again, then new seeds of all parts in turns, until the minutes are over."""
    end_s = time.monotonic() + minutes * 60.0
    for record in log.open_findings():
        again = run_seed(record.part, record.seed)
        log.add(again)
        yield again
    while True:
        for name, part in PARTS.items():
            for _ in range(part.turns):
                if time.monotonic() >= end_s:
                    return
                record = run_seed(name, log.next_seed(name))
                log.add(record)
                yield record


def _versions() -> dict[str, str]:
    known = {"reknit": reknit.__version__, "Python": python_version()}
    for package in _PACKAGES:
        try:
            known[package] = version(package)
        except PackageNotFoundError:
            continue
    return known
