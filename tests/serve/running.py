"""A real service in a process of its own, as a user starts it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

import reknit
from reknit.swarm.files import scenario_file


@dataclass(frozen=True)
class Running:
    """A service that answers at `url`."""

    url: str
    process: subprocess.Popen[str]

    def http(self, **options: Any) -> httpx.Client:
        """A client of it."""
        return httpx.Client(base_url=self.url, timeout=120.0, **options)

    def worker_pids(self) -> list[int]:
        """Processes that the service started."""
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in path.read_text().split()]


@contextmanager
def running(*options: str, token: str | None = None) -> Iterator[Running]:
    """`reknit serve` on a free port, with two workers that are ready."""
    command = [sys.executable, "-m", "reknit", "serve", "--port", "0", *options]
    environment = dict(os.environ)
    environment.pop("REKNIT_TOKEN", None)
    if token is not None:
        environment["REKNIT_TOKEN"] = token
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        url = next(word for word in line.split() if word.startswith("http"))
        service = Running(url.replace("0.0.0.0", "127.0.0.1"), process)
        with service.http() as http:
            until(lambda: http.get("/v1/health").json()["workers_ready"] > 0)
        yield service
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        process.wait(60)
        if process.stdout is not None:
            process.stdout.close()


def until(
    holds: Callable[[], bool],
    limit_s: float = 60.0,
    instead: Callable[[], object] = lambda: "nothing more is known",
) -> None:
    """Wait until something holds; fail with what is `instead` if it does not within the limit."""
    end_s = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < end_s, f"it never held: {instead()}"
        time.sleep(0.02)


def body_of(scenario: reknit.Scenario, **more: Any) -> dict[str, Any]:
    """A request body."""
    return {"scenario": scenario_file(scenario).model_dump(mode="json"), **more}


def busy_body() -> dict[str, Any]:
    """A comparison of about a second: it can be met at work, and its end can be waited for."""
    scenario = reknit.generate(2_000, 0.5, seed=4)
    return body_of(scenario, planners=["certified"] * 5, frames=2)


def slow_body() -> dict[str, Any]:
    """A comparison that keeps a worker busy for many seconds."""
    scenario = reknit.generate(3_000, 0.5, seed=1)
    return body_of(scenario, planners=["certified"] * 16, frames=2)


def value_of(text: str, name: str) -> float:
    """One value of the metrics."""
    return next(float(line.split()[1]) for line in text.splitlines() if line.startswith(name + " "))
