"""How much a job still works after it was cancelled."""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from typing import Any

import httpx

import reknit
from benchmarks.serving.service import Served, process_cpu_s
from reknit.swarm.files import scenario_file

_LATER = {"prefer": "respond-async"}


def measure_cancels(service: Served, cancels: int) -> dict[str, Any]:
    """Cancel jobs of many seconds in the midst of their work; the time until the service says
    that they have ended, and the processor time that their workers used meanwhile.
    """
    scenario = reknit.generate(3_000, 0.5, seed=1)
    body = {
        "scenario": scenario_file(scenario).model_dump(mode="json"),
        "planners": ["certified"] * 16,
        "frames": 2,
    }
    waits_s: list[float] = []
    works_s: list[float] = []
    with httpx.Client(base_url=service.url, timeout=600) as http:
        for number in range(cancels):
            while service.health()["workers_ready"] < service.workers:
                time.sleep(0.05)
            place = http.post("/v1/comparisons", json=body, headers=_LATER).headers["location"]
            while http.get(place).json()["state"] != "running":
                time.sleep(0.02)
            time.sleep(0.1 + 0.05 * (number % 10))
            with _Watch(service.worker_pids()) as watch:
                began_s = time.perf_counter()
                answer = http.delete(place)
                waits_s.append(time.perf_counter() - began_s)
            assert answer.json()["state"] == "cancelled"
            works_s.append(watch.worked_s)
    return {
        "cancels": cancels,
        "median_s": statistics.median(waits_s),
        "most_s": max(waits_s),
        "work_median_s": statistics.median(works_s),
        "work_most_s": max(works_s),
    }


def cancels_text(row: dict[str, Any]) -> str:
    """The sentence on cancelling."""
    return (
        f"**Cancel**: {row['cancels']} jobs were cancelled by `DELETE` in the midst of their "
        f"work. Their workers used another {row['work_median_s'] * 1e3:.0f} ms of processor time "
        f"in the median and {row['work_most_s'] * 1e3:.0f} ms at most, in steps of 10 ms (100 ms "
        f"are allowed); the answer, which waits for the end, came after "
        f"{row['median_s'] * 1e3:.0f} ms in the median and {row['most_s'] * 1e3:.0f} ms at most."
    )


class _Watch:
    """Follows the processor time of processes that may end at any moment."""

    def __init__(self, pids: list[int]) -> None:
        self._first = {pid: process_cpu_s(pid) for pid in pids}
        self._last = dict(self._first)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._follow)

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    @property
    def worked_s(self) -> float:
        """Processor time since the beginning."""
        return sum(self._last.values()) - sum(self._first.values())

    def _follow(self) -> None:
        while not self._is_over.wait(0.003):
            for pid in self._first:
                with contextlib.suppress(OSError, IndexError):
                    self._last[pid] = process_cpu_s(pid)
