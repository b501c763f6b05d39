"""The application: its routes, its OpenAPI description, and what its errors look like."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Header, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import (
    FileResponse,
    JSONResponse,
    PlainTextResponse,
    Response,
    StreamingResponse,
)
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from reknit.algorithms.registry import DEFAULT_PLANNER, registered
from reknit.base.faults import allowed_text
from reknit.base.version import VERSION
from reknit.serve import models
from reknit.serve.description import headers, openapi, problems
from reknit.serve.guard import OPEN_PATHS, Guard
from reknit.serve.jobs import Job
from reknit.serve.problems import ProblemError, problem, problem_response
from reknit.serve.service import HungUp, Service
from reknit.serve.settings import ServeSettings
from reknit.swarm.files import ScenarioFile

STUDIO = Path(__file__).parent / "studio" / "page"
_OPENAPI = "/v1/openapi.json"


@dataclass(frozen=True)
class Endpoint:
    """One kind of work: its path's last part, its models, what it is, and how large it is."""

    name: str
    request: type[BaseModel]
    response: type[BaseModel]
    summary: str
    size: Callable[[Any], tuple[int, str]]


def _scenario_size(request: Any) -> tuple[int, str]:
    return len(request.scenario.positions_m), "scenario.positions_m"


def _generated_size(request: models.GenerationRequest) -> tuple[int, str]:
    return request.uavs, "uavs"


ENDPOINTS = (
    Endpoint(
        "plans",
        models.PlanRequest,
        models.Planned,
        "Where every survivor should fly",
        _scenario_size,
    ),
    Endpoint(
        "recoveries",
        models.RecoveryRequest,
        models.Recovery,
        "Plan or steer, fly and measure",
        _scenario_size,
    ),
    Endpoint(
        "comparisons",
        models.ComparisonRequest,
        models.Comparison,
        "Several planners on one scenario",
        _scenario_size,
    ),
    Endpoint(
        "bounds",
        models.BoundRequest,
        models.Bound,
        "No plan is faster than this, with the proof",
        _scenario_size,
    ),
    Endpoint(
        "verifications",
        models.VerificationRequest,
        models.Verification,
        "Whether every claim of a plan holds",
        _scenario_size,
    ),
    Endpoint(
        "scenarios",
        models.GenerationRequest,
        ScenarioFile,
        "Generate a swarm and damage it",
        _generated_size,
    ),
)


def create_app(settings: ServeSettings | None = None) -> FastAPI:
    """The application of a service with these settings.

    Parameters
    ----------
    settings
        Address and limits; None: the defaults.

    Returns
    -------
    FastAPI
        An ASGI application. ``app.state.service`` is its `Service`. It must run in one process:
        jobs and workers are its own.
    """
    chosen = settings or ServeSettings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service = app.state.service
        await service.pool.start()
        try:
            yield
        finally:
            await service.stop()

    app = FastAPI(
        title="reknit",
        version=VERSION,
        summary="Puts a broken UAV swarm back in touch.",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
        lifespan=lifespan,
    )
    service = Service(chosen)
    app.state.service = service
    _add_errors(app)
    for operation in ENDPOINTS:
        _add_operation(app, service, operation)
    _add_jobs(app, service)
    _add_facts(app, service)
    app.mount("/studio", StaticFiles(directory=STUDIO), name="studio")
    app.add_middleware(Guard, settings=chosen, metrics=service.metrics)
    return app


def _add_operation(app: FastAPI, service: Service, operation: Endpoint) -> None:
    async def endpoint(
        request: Request,
        prefer: Annotated[
            str | None,
            Header(description="respond-async: answer 202 at once, with a job to ask for."),
        ] = None,
    ) -> Response:
        body = await service.body(request)
        asked = service.parse(operation.request, body)
        service.check_size(*operation.size(asked))
        later = "respond-async" in (prefer or "").lower()
        budget_s = getattr(asked, "budget_s", None)
        job = service.submit(operation.name, body, budget_s, keep=later)
        if later:
            address = f"/v1/jobs/{job.id}"
            headers = {"Location": address, "Preference-Applied": "respond-async"}
            return JSONResponse(job.status().model_dump(mode="json"), 202, headers)
        return Response(await service.result(job, request), media_type="application/json")

    app.add_api_route(
        f"/v1/{operation.name}",
        endpoint,
        methods=["POST"],
        summary=operation.summary,
        operation_id=operation.name,
        response_class=JSONResponse,
        response_model=None,
        responses={
            200: {"model": operation.response},
            202: {
                "model": models.JobStatus,
                "description": "Accepted; see Location",
                "headers": headers("Location", "Preference-Applied"),
            },
            **problems(400, 408, 410, 413, 415, 422, 429, 500, 501, 503, 504),
        },
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {
                    "application/json": {
                        "schema": {"$ref": f"#/components/schemas/{operation.request.__name__}"}
                    }
                },
            }
        },
    )


def _add_jobs(app: FastAPI, service: Service) -> None:
    def kept(job_id: str) -> Job:
        job = service.store.get(job_id)
        if job is None:
            raise ProblemError(
                problem(404, "NoSuchJob", "no job of this id is kept; results expire")
            )
        return job

    @app.get("/v1/jobs/{job_id}", summary="How far a job is", responses=problems(404))
    async def job_status(job_id: str) -> models.JobStatus:
        job = kept(job_id)
        job.tell()
        return job.status()

    @app.delete("/v1/jobs/{job_id}", summary="Cancel and forget a job", responses=problems(404))
    async def job_cancel(job_id: str) -> models.JobStatus:
        job = kept(job_id)
        job.cancel()
        await job.ended.wait()
        job.collected.set()
        service.store.remove(job)
        return job.status()

    @app.get(
        "/v1/jobs/{job_id}/result",
        summary="What came of a job, as if it had been waited for",
        response_class=JSONResponse,
        response_model=None,
        responses=problems(404, 410, 422, 425, 500, 501, 503, 504),
    )
    async def job_result(job_id: str) -> Response:
        job = kept(job_id)
        if not job.is_over:
            raise ProblemError(problem(425, "NotYet", "the job has not ended yet", retry_after_s=1))
        return Response(service.outcome(job), media_type="application/json")

    @app.get(
        "/v1/jobs/{job_id}/events",
        summary="Server-sent events: progress, then end",
        response_class=StreamingResponse,
        responses={
            200: {
                "content": {
                    "text/event-stream": {
                        "schema": {"type": "string"},
                        "example": 'event: progress\ndata: {"state": "running", ...}\n\n',
                    }
                }
            },
            **problems(404),
        },
    )
    async def job_events(job_id: str) -> StreamingResponse:
        return StreamingResponse(service.events(kept(job_id)), media_type="text/event-stream")


def _add_facts(app: FastAPI, service: Service) -> None:
    settings, pool = service.settings, service.pool

    @app.get("/v1/planners", summary="Every planner", responses=problems())
    async def planners() -> models.Planners:
        rows = [
            models.PlannerRow(
                name=entry.name,
                summary=entry.summary,
                steers=entry.steers,
                polishes=entry.polishes,
                ready=not entry.not_ready,
                needs=entry.extra,
            )
            for entry in registered().values()
        ]
        return models.Planners(planners=rows, default=DEFAULT_PLANNER)

    @app.get("/v1/health", summary="Whether the service takes work", responses=problems())
    async def health() -> models.Health:
        return models.Health(
            status="draining" if service.is_draining else "ok",
            version=VERSION,
            workers=settings.workers,
            workers_ready=pool.ready,
            busy=pool.busy,
            waiting=pool.waiting,
            queue=settings.queue,
            max_uavs=settings.max_uavs,
            max_body_bytes=settings.max_body_bytes,
            max_budget_s=settings.max_budget_s,
        )

    @app.get(
        "/v1/metrics",
        summary="Counters for Prometheus",
        response_class=PlainTextResponse,
        responses={
            200: {
                "content": {
                    "text/plain": {"schema": {"type": "string"}, "example": "reknit_workers 2\n"}
                }
            },
            **problems(),
        },
    )
    async def metrics() -> PlainTextResponse:
        return PlainTextResponse(
            service.metrics_text(), media_type="text/plain; version=0.0.4; charset=utf-8"
        )

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STUDIO / "index.html")

    @app.get(_OPENAPI, include_in_schema=False)
    async def description() -> JSONResponse:
        if app.openapi_schema is None:
            # Its examples are computed, which must not keep others waiting.
            app.openapi_schema = await asyncio.to_thread(
                openapi,
                app,
                ENDPOINTS,
                has_token=settings.token is not None,
                open_paths=OPEN_PATHS,
            )
        return JSONResponse(app.openapi_schema)


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(ProblemError)
    async def refused(request: Request, error: ProblemError) -> Response:
        return problem_response(error.problem)

    @app.exception_handler(HungUp)
    async def hung_up(request: Request, error: HungUp) -> Response:
        return problem_response(problem(410, "Cancelled", "the client went away"))

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> Response:
        kind = {404: "NotFound", 405: "MethodNotAllowed"}.get(error.status_code, "HttpError")
        return problem_response(problem(error.status_code, kind, str(error.detail)), error.headers)

    @app.exception_handler(RequestValidationError)
    async def bad_parameter(request: Request, error: RequestValidationError) -> Response:
        fault = error.errors()[0]
        where = ".".join(str(part) for part in fault["loc"])
        allowed = allowed_text(fault)
        text = f"{where} is {fault.get('input')!r}; allowed: {allowed}"
        return problem_response(
            problem(422, "InvalidParameter", text, field=where, allowed=allowed)
        )

    @app.exception_handler(Exception)
    async def fault(request: Request, error: Exception) -> Response:
        return problem_response(problem(500, "InternalError", "the service has a fault"))
