"""A bounded pool of worker processes with a bounded queue in front of it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import os
import signal
import sys
import time
from collections import deque
from dataclasses import dataclass

from reknit.serve.jobs import Job
from reknit.serve.problems import Problem, ProblemError, problem
from reknit.serve.settings import ServeSettings
from reknit.serve.wire import (
    CANCEL,
    HEADER,
    PROBLEM,
    PROGRESS,
    READY,
    RESULT,
    TASK,
    Order,
    WorkerProgress,
    frame,
)

_START_S = 120.0
_CANCEL_S = 0.1
"""A cancelled task has this long to end by itself; then its worker is killed."""
_ATTEMPTS = 3
"""A job whose worker dies is begun again, so often in all."""
_TURNS_TO_WAKE = 8
"""Turns of the event loop, more than a stream that waits for a report needs to wake up."""
_log = logging.getLogger("reknit.serve")


class WorkerDied(Exception):
    """A worker process ended, or never got ready."""


class WorkerProcess:
    """One worker process and the pipes to it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, memory_mib: int) -> WorkerProcess:
        """A worker that is ready for a task."""
        # Workers share the cores: threads inside each would only get in each other's way.
        environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **os.environ}
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "reknit.serve.worker",
            str(memory_mib),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=environment,
        )
        worker = cls(process)
        try:
            async with asyncio.timeout(_START_S):
                kind, _ = await worker.receive()
            if kind != READY:
                raise WorkerDied("a worker process did not get ready")
        except BaseException:
            await worker.kill()
            raise
        return worker

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    async def send(self, kind: bytes, payload: bytes = b"") -> None:
        """Write one frame."""
        stdin = self._process.stdin
        if stdin is None:
            raise WorkerDied("no pipe")
        try:
            stdin.write(frame(kind, payload))
            await stdin.drain()
        except (ConnectionError, OSError) as error:
            raise WorkerDied(str(error)) from error

    async def receive(self) -> tuple[bytes, bytes]:
        """Read one frame."""
        stdout = self._process.stdout
        if stdout is None:
            raise WorkerDied("no pipe")
        try:
            kind, length = HEADER.unpack(await stdout.readexactly(HEADER.size))
            return kind, await stdout.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError, OSError) as error:
            raise WorkerDied(f"worker process {self.pid} ended") from error

    async def wait(self) -> None:
        """Wait for its end."""
        await self._process.wait()

    async def kill(self) -> None:
        """End it at once and wait until it is gone."""
        # Not by the process object, which would collect the exit code that asyncio waits for.
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        if self._process.stdin is not None:
            self._process.stdin.close()
        await asyncio.gather(self._process.wait(), self._discard())

    async def _discard(self) -> None:
        """Read what nobody wants any more: while there is some, a process does not count as ended
        for asyncio, even if it was killed.
        """
        stdout = self._process.stdout
        # Somebody who is still reading, which is told by a RuntimeError, does the same.
        with contextlib.suppress(RuntimeError, ConnectionError, OSError):
            while stdout is not None and await stdout.read(1 << 16):
                pass


@dataclass
class PoolCounts:
    """What the pool has seen, for the metrics."""

    restarts: int = 0
    killed: int = 0
    retried: int = 0
    refused: int = 0


class Pool:
    """Runs jobs on worker processes, in the order they came."""

    def __init__(self, settings: ServeSettings) -> None:
        self._settings = settings
        self._waiting: deque[Job] = deque()
        self._wake = asyncio.Event()
        self._lanes: list[asyncio.Task[None]] = []
        self._running: set[Job] = set()
        self._workers: set[WorkerProcess] = set()
        self._service_s = 0.1
        self._closed: Problem | None = None
        self.counts = PoolCounts()

    async def start(self) -> None:
        """Start every worker; they get ready in the background."""
        self._lanes = [
            asyncio.create_task(self._lane(), name=f"lane-{number}")
            for number in range(self._settings.workers)
        ]

    @property
    def ready(self) -> int:
        """Workers that can take or have a job."""
        return len(self._workers)

    @property
    def busy(self) -> int:
        """Workers that have a job."""
        return len(self._running)

    @property
    def waiting(self) -> int:
        """Jobs that wait for a worker."""
        return sum(not job.is_over for job in self._waiting)

    @property
    def pids(self) -> list[int]:
        """Of the worker processes."""
        return sorted(worker.pid for worker in self._workers)

    def submit(self, job: Job) -> None:
        """Queue a job; a `ProblemError` (429, 503) if it cannot be taken."""
        if self._closed is not None:
            raise ProblemError(self._closed)
        waiting = self.waiting
        free = max(0, self._settings.workers - self.busy)
        if waiting >= self._settings.queue + free:
            self.counts.refused += 1
            wait_s = math.ceil((waiting + 1) * self._service_s / self._settings.workers)
            raise ProblemError(
                problem(
                    429,
                    "QueueFull",
                    f"{waiting} jobs wait already; allowed: {self._settings.queue}",
                    retry_after_s=min(60, max(1, wait_s)),
                )
            )
        self._waiting.append(job)
        self._wake.set()

    def close(self) -> None:
        """Take no more jobs."""
        self._closed = problem(
            503, "ShuttingDown", "the service is shutting down; send it again", retry_after_s=5
        )

    async def drain(self, limit_s: float) -> None:
        """Take no more jobs, let those accepted finish, hand back the ones that are too late."""
        self.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                for job in [*self._running, *self._waiting]:
                    await job.ended.wait()
        for job in [*self._waiting, *self._running]:
            if not job.is_over and self._closed is not None:
                job.fail(self._closed)

    async def stop(self) -> None:
        """End every worker; jobs that are left are handed back."""
        await self.drain(0.0)
        for lane in self._lanes:
            lane.cancel()
        await asyncio.gather(*self._lanes, return_exceptions=True)
        await asyncio.gather(*(worker.kill() for worker in self._workers))
        self._workers.clear()

    async def _lane(self) -> None:
        """Keeps one worker alive and gives it one job after the other."""
        worker: WorkerProcess | None = None
        while True:
            try:
                if worker is None:
                    worker = await WorkerProcess.start(self._settings.worker_memory_mib)
                    self._workers.add(worker)
                job = await self._next_job(worker)
                if job is None or not await self._run(worker, job):
                    self._workers.discard(worker)
                    await worker.kill()
                    worker = None
                    self.counts.restarts += 1
            except (WorkerDied, TimeoutError, OSError) as error:
                _log.warning("a worker did not start: %s", error)
                await asyncio.sleep(1.0)

    async def _next_job(self, worker: WorkerProcess) -> Job | None:
        """The next job; None if the idle worker ended meanwhile."""
        gone = asyncio.create_task(worker.wait())
        try:
            while True:
                while self._waiting:
                    job = self._waiting.popleft()
                    if not job.is_over:
                        return job
                self._wake.clear()
                woken = asyncio.create_task(self._wake.wait())
                try:
                    await asyncio.wait({woken, gone}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    woken.cancel()
                if gone.done():
                    return None
        finally:
            gone.cancel()

    async def _run(self, worker: WorkerProcess, job: Job) -> bool:
        """Let a worker do a job; whether the worker can be used again."""
        settings = self._settings
        order = _order(job, settings.max_budget_s)
        limit_s = order.deadline_s + settings.grace_s
        job.begin()
        self._running.add(job)
        began_s = time.monotonic()
        work = asyncio.create_task(self._converse(worker, job, order))
        stop = asyncio.create_task(job.cancelled.wait())
        try:
            await asyncio.wait({work, stop}, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
            if not work.done() and job.cancelled.is_set():
                with contextlib.suppress(WorkerDied):
                    await worker.send(CANCEL)
                await asyncio.wait({work}, timeout=_CANCEL_S)
            if not work.done():
                self.counts.killed += 1
                await worker.kill()
                await asyncio.wait({work})
                if not job.is_over and not job.cancelled.is_set():
                    job.fail(_too_long(limit_s))
            return self._conclude(job, work)
        finally:
            self._running.discard(job)
            stop.cancel()
            work.cancel()
            seconds = time.monotonic() - began_s
            self._service_s += 0.1 * (seconds - self._service_s)

    def _conclude(self, job: Job, work: asyncio.Task[tuple[bytes, bytes]]) -> bool:
        """Give the job what the worker answered; whether the worker can be used again."""
        error = work.exception()
        if job.is_over:  # handed back while it ran
            return error is None
        if job.cancelled.is_set():
            job.end_cancelled()
            return error is None
        if error is None:
            kind, payload = work.result()
            if kind == RESULT:
                job.finish(payload)
            else:
                job.fail(Problem.model_validate_json(payload))
            return True
        if not isinstance(error, WorkerDied):
            _log.error("a job failed", exc_info=error)
        if job.attempts < _ATTEMPTS and self._closed is None:
            self.counts.retried += 1
            job.requeue()
            self._waiting.appendleft(job)
            self._wake.set()
        else:
            job.fail(_lost(job.attempts))
        return False

    async def _converse(self, worker: WorkerProcess, job: Job, order: Order) -> tuple[bytes, bytes]:
        await worker.send(TASK, order.model_dump_json().encode() + b"\n" + job.body)
        while True:
            kind, payload = await worker.receive()
            if kind == PROGRESS:
                progress = WorkerProgress.model_validate_json(payload)
                job.report(progress.fraction, progress.message, progress.preview)
                if progress.preview is not None:
                    await _let_streams_speak()
            elif kind in (RESULT, PROBLEM):
                return kind, payload


async def _let_streams_speak() -> None:
    """Have whoever waits for a job's next report read it before another takes its place."""
    for _ in range(_TURNS_TO_WAKE):
        await asyncio.sleep(0)


def _order(job: Job, most_s: float) -> Order:
    """What a worker is told; the wait in the queue is part of what the client granted."""
    waited_s = time.monotonic() - job.accepted_s
    asked_s = most_s if job.budget_s is None else min(job.budget_s, most_s)
    left_s = max(0.0, asked_s - waited_s)
    budget_s = None if job.budget_s is None else left_s
    return Order(name=job.operation, budget_s=budget_s, deadline_s=left_s)


def _too_long(limit_s: float) -> Problem:
    return problem(504, "Deadline", f"the job was stopped after {limit_s:.0f} s")


def _lost(attempts: int) -> Problem:
    detail = f"{attempts} worker processes ended under this job, the last one just now"
    return problem(503, "WorkerLost", detail, retry_after_s=5)
