"""Jobs: what was asked for, how far it is, and what came of it."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict

from reknit.serve.models import JobState, JobStatus, Preview
from reknit.serve.problems import CANCELLED, Problem

_ENDED = frozenset({JobState.DONE, JobState.FAILED, JobState.CANCELLED})


class Job:
    """One piece of work for a worker. Lives in the event loop's thread alone."""

    def __init__(self, operation: str, body: bytes, budget_s: float | None) -> None:
        self.id = secrets.token_urlsafe(16)
        self.operation = operation
        self.body = body
        self.budget_s = budget_s
        self.accepted_s = time.monotonic()
        self.ended_s: float | None = None
        self.state = JobState.QUEUED
        self.fraction = 0.0
        self.message = "waiting for a worker"
        self.preview: Preview | None = None
        self.result: bytes | None = None
        self.problem: Problem | None = None
        self.attempts = 0
        self.cancelled = asyncio.Event()
        self.ended = asyncio.Event()
        self.collected = asyncio.Event()
        """Its client knows what came of it."""
        self._changed = asyncio.Event()

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in _ENDED

    def is_awaited(self, patience_s: float) -> bool:
        """Whether a client may still come for what comes of it.

        A job that ended just now counts too: its client may be on the way.
        """
        if self.collected.is_set():
            return False
        return self.ended_s is None or time.monotonic() - self.ended_s < patience_s

    def status(self) -> JobStatus:
        """What a client is told."""
        return JobStatus(
            id=self.id,
            operation=self.operation,
            state=self.state,
            fraction=self.fraction,
            message=self.message,
            preview=self.preview,
            problem=self.problem,
        )

    def begin(self) -> None:
        """A worker has it."""
        self.state = JobState.RUNNING
        self.attempts += 1
        self.report(0.0, "working")

    def requeue(self) -> None:
        """Its worker ended under it; it waits for another."""
        self.state = JobState.QUEUED
        self.report(0.0, "its worker ended; waiting for another")

    def report(self, fraction: float, message: str, preview: Preview | None = None) -> None:
        """So far."""
        self.fraction, self.message = min(1.0, max(0.0, fraction)), message
        self.preview = preview
        self._wake()

    def finish(self, result: bytes) -> None:
        """It is done."""
        self.result, self.fraction, self.message = result, 1.0, "done"
        self._end(JobState.DONE)

    def fail(self, reason: Problem) -> None:
        """It cannot be done."""
        self.problem, self.message = reason, reason.detail
        self._end(JobState.FAILED)

    def cancel(self) -> None:
        """Nobody wants it any more; a worker that has it is told by the event."""
        if not self.is_over:
            self.cancelled.set()
            if self.state is JobState.QUEUED:
                self.end_cancelled()

    def end_cancelled(self) -> None:
        """It was cancelled and no worker has it any more."""
        self.problem = CANCELLED
        self.message = "cancelled"
        self._end(JobState.CANCELLED)

    def tell(self) -> None:
        """A client has seen its status; of a job without result there is nothing more to fetch."""
        if self.problem is not None:
            self.collected.set()

    async def changed(self) -> None:
        """Wait for the next report or the end."""
        await self._changed.wait()

    def _end(self, state: JobState) -> None:
        self.state = state
        self.body = b""
        self.preview = None
        self.ended_s = time.monotonic()
        self.ended.set()
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class JobStore:
    """Jobs that clients ask for by id; those that ended go when they are old or many."""

    def __init__(self, ttl_s: float, most: int, most_bytes: int) -> None:
        self._ttl_s = ttl_s
        self._most = most
        self._most_bytes = most_bytes
        self._jobs: OrderedDict[str, Job] = OrderedDict()

    def __len__(self) -> int:
        return len(self._jobs)

    def add(self, job: Job) -> None:
        """Keep a job."""
        self.tidy()
        self._jobs[job.id] = job

    def get(self, job_id: str) -> Job | None:
        """The job of this id, if it is still kept."""
        self.tidy()
        return self._jobs.get(job_id)

    def jobs(self) -> list[Job]:
        """All that are kept."""
        return list(self._jobs.values())

    def remove(self, job: Job) -> None:
        """Forget a job."""
        self._jobs.pop(job.id, None)

    def tidy(self) -> None:
        """Forget what expired, then the oldest results beyond the limits."""
        now_s = time.monotonic()
        ended = [job for job in self._jobs.values() if job.ended_s is not None]
        ended.sort(key=lambda job: job.ended_s or 0.0)
        count = len(ended)
        size = sum(len(job.result or b"") for job in ended)
        for job in ended:
            is_old = now_s - (job.ended_s or 0.0) > self._ttl_s
            if not is_old and count <= self._most and size <= self._most_bytes:
                break
            del self._jobs[job.id]
            count -= 1
            size -= len(job.result or b"")
