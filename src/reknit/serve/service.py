"""`Service`: the pool, the kept jobs and what the endpoints ask of them."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request

from reknit.serve.jobs import Job, JobStore
from reknit.serve.metrics import RequestMetrics, gauge_lines
from reknit.serve.models import JobStatus
from reknit.serve.pool import Pool
from reknit.serve.problems import Problem, ProblemError, problem, problem_of_fields
from reknit.serve.settings import ServeSettings

_BODY_S = 30.0
_HEARTBEAT_S = 10.0
_COLLECT_S = 5.0
"""How long a service that ends waits for results to be fetched."""
_Model = TypeVar("_Model", bound=BaseModel)


class HungUp(Exception):
    """The client went away; its job has been cancelled."""


class Service:
    """State of one running service."""

    def __init__(self, settings: ServeSettings) -> None:
        self.settings = settings
        self.metrics = RequestMetrics()
        self.pool = Pool(settings)
        self.store = JobStore(
            settings.result_ttl_s, settings.max_results, settings.max_result_bytes
        )
        self.is_draining = False
        self._drain: asyncio.Task[None] | None = None

    async def drain(self) -> None:
        """Take no more jobs, finish or hand back the accepted ones, and wait a little until
        their clients have fetched what came of them; called when the end is near.
        """
        if self._drain is None:
            self._drain = asyncio.create_task(self._drained())
        await self._drain

    async def _drained(self) -> None:
        self.is_draining = True
        awaited = [job for job in self.store.jobs() if job.is_awaited(_COLLECT_S)]
        await self.pool.drain(self.settings.drain_s)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(_COLLECT_S, self.settings.drain_s)):
                for job in awaited:
                    await job.collected.wait()

    async def stop(self) -> None:
        """Finish or hand back every job, then end the workers."""
        await self.drain()
        await self.pool.stop()

    async def body(self, request: Request) -> bytes:
        """The request's body, read within its limits of size and time."""
        limit = self.settings.max_body_bytes
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise ProblemError(
                problem(
                    415,
                    "WrongMediaType",
                    f"content-type is {kind[:80]!r}; allowed: application/json",
                    field="content-type",
                    value=kind[:80],
                    allowed="application/json",
                )
            )
        length = request.headers.get("content-length", "")
        if length.isdigit() and len(length) < 20 and int(length) > limit:
            raise ProblemError(_too_large(limit))
        chunks: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(_BODY_S):
                async for chunk in request.stream():
                    size += len(chunk)
                    if size > limit:
                        raise ProblemError(_too_large(limit))
                    chunks.append(chunk)
        except TimeoutError:
            detail = f"the body did not arrive within {_BODY_S:.0f} s"
            raise ProblemError(problem(408, "SlowBody", detail)) from None
        except ClientDisconnect:
            raise HungUp from None
        return b"".join(chunks)

    def parse(self, model: type[_Model], body: bytes) -> _Model:
        """The body as the model; a `ProblemError` if it does not fit."""
        try:
            return model.model_validate_json(body)
        except ValidationError as error:
            raise ProblemError(problem_of_fields(error, model)) from None

    def check_size(self, uavs: int, field: str) -> None:
        """Refuse a swarm beyond the limit."""
        most = self.settings.max_uavs
        if uavs > most:
            raise ProblemError(
                problem(
                    413,
                    "SwarmTooLarge",
                    f"{field} is {uavs} UAVs; allowed: at most {most}",
                    field=field,
                    value=str(uavs),
                    allowed=f"at most {most} UAVs",
                )
            )

    def submit(self, operation: str, body: bytes, budget_s: float | None, *, keep: bool) -> Job:
        """Accept a job, or refuse it with a `ProblemError`."""
        job = Job(operation, body, budget_s)
        self.pool.submit(job)
        if keep:
            self.store.add(job)
        return job

    async def result(self, job: Job, request: Request) -> bytes:
        """What comes of a job; a client that hangs up cancels it."""
        gone = asyncio.create_task(_hang_up(request))
        ended = asyncio.create_task(_wait(job.ended.wait()))
        try:
            await asyncio.wait({gone, ended}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            ended.cancel()
            if not job.is_over:
                job.cancel()
        return self.outcome(job)

    def outcome(self, job: Job) -> bytes:
        """The result of a job that ended, or its problem."""
        job.collected.set()
        if job.result is not None:
            return job.result
        if job.problem is not None:
            raise ProblemError(job.problem)
        raise HungUp

    async def events(self, job: Job) -> AsyncIterator[str]:
        """Server-sent events: a `progress` at each report, then `end`."""
        while True:
            status = job.status()
            yield _event("end" if job.is_over else "progress", status)
            if job.is_over:
                job.tell()
                return
            try:
                await asyncio.wait_for(job.changed(), _HEARTBEAT_S)
            except TimeoutError:
                yield ": still here\n\n"

    def metrics_text(self) -> str:
        """Everything that is counted."""
        pool, counts = self.pool, self.pool.counts
        values = {
            "reknit_workers": ("gauge", "Worker processes wanted.", self.settings.workers),
            "reknit_workers_ready": ("gauge", "Worker processes that are ready.", pool.ready),
            "reknit_workers_busy": ("gauge", "Worker processes with a job.", pool.busy),
            "reknit_jobs_waiting": ("gauge", "Jobs that wait for a worker.", pool.waiting),
            "reknit_jobs_kept": ("gauge", "Jobs that are known by id.", len(self.store)),
            "reknit_worker_restarts_total": ("counter", "Workers replaced.", counts.restarts),
            "reknit_workers_killed_total": ("counter", "Workers killed.", counts.killed),
            "reknit_jobs_retried_total": ("counter", "Jobs begun again.", counts.retried),
            "reknit_jobs_refused_total": ("counter", "Jobs refused by 429.", counts.refused),
        }
        return "\n".join([*gauge_lines(values), *self.metrics.lines()]) + "\n"


def _event(name: str, status: JobStatus) -> str:
    return f"event: {name}\ndata: {json.dumps(status.model_dump(mode='json'))}\n\n"


async def _hang_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _wait(what: Awaitable[object]) -> None:
    await what


def _too_large(limit: int) -> Problem:
    return problem(
        413,
        "BodyTooLarge",
        f"the body is larger than {limit} bytes",
        field="body",
        allowed=f"at most {limit} bytes",
    )
