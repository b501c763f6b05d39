"""A service in a process of its own, and what is asked of it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

import reknit
from reknit.swarm.files import scenario_file

JSON = {"content-type": "application/json"}


@dataclass(frozen=True)
class Served:
    """A service and how many workers it should have."""

    url: str
    pid: int
    workers: int

    def worker_pids(self) -> list[int]:
        """Its worker processes."""
        text = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        return [int(pid) for pid in text.split()]

    def memory_mib(self) -> float:
        """Resident memory of the service itself, without its workers."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
        return 0.0

    def cpu_s(self) -> float:
        """Processor time of the service and of its present workers."""
        return sum(process_cpu_s(pid) for pid in (self.pid, *self.worker_pids()))

    def health(self) -> dict[str, int]:
        """What it says of itself."""
        answer: dict[str, int] = httpx.get(f"{self.url}v1/health", timeout=60).json()
        return answer

    def settled(self, limit_s: float = 120.0) -> bool:
        """Whether within the limit no job is left and exactly the wanted workers are there."""
        end_s = time.monotonic() + limit_s
        while time.monotonic() < end_s:
            health = self.health()
            idle = health["busy"] == 0 and health["waiting"] == 0
            if idle and health["workers_ready"] == self.workers == len(self.worker_pids()):
                return True
            time.sleep(0.1)
        return False


def process_cpu_s(pid: int) -> float:
    """Processor time of one process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100.0


@contextmanager
def served(workers: int, *options: str) -> Iterator[Served]:
    """`reknit serve` on a free port, all workers ready."""
    command = [sys.executable, "-m", "reknit", "serve", "--port", "0"]
    command += ["--workers", str(workers), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        url = next(word for word in line.split() if word.startswith("http"))
        service = Served(url, process.pid, workers)
        while service.health()["workers_ready"] < workers:
            time.sleep(0.1)
        yield service
    finally:
        process.terminate()
        process.wait()


def body_of(seed: int, uavs: int = 200) -> bytes:
    """A request for a certified plan of a swarm that lost half of its UAVs."""
    scenario = reknit.generate(uavs, 0.5, seed=seed, split=True)
    text = scenario_file(scenario).model_dump_json()
    return f'{{"scenario": {text}, "planner": "certified"}}'.encode()


def post(http: httpx.Client, path: str, body: bytes) -> httpx.Response:
    """One request."""
    return http.post(path, content=body, headers=JSON)
