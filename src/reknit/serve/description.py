"""The OpenAPI description: every answer with its headers and an example that really came about."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Protocol

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from reknit.serve.models import VerificationRequest
from reknit.serve.problems import MEDIA_TYPE, Problem
from reknit.serve.tasks import TASKS, Call


@dataclass(frozen=True)
class _Meaning:
    """What a status means here, the kind of problem that has it, and its header, if any."""

    text: str
    kind: str
    header: str | None = None


_RETRY = "Retry-After"
_MEANINGS = {
    400: _Meaning("No JSON", "InvalidBody"),
    401: _Meaning("The token is missing or wrong", "TokenNeeded", "WWW-Authenticate"),
    403: _Meaning("A page of another origin", "ForeignOrigin"),
    404: _Meaning("No such job", "NoSuchJob"),
    408: _Meaning("The body came too slowly", "SlowBody"),
    410: _Meaning("The job was cancelled", "Cancelled"),
    413: _Meaning("The body or the swarm is too large", "SwarmTooLarge"),
    415: _Meaning("Not application/json", "WrongMediaType"),
    421: _Meaning("Not the service's own host name", "WrongHost"),
    422: _Meaning("The request names something that is not allowed", "InvalidScenario"),
    425: _Meaning("The job has not ended yet", "NotYet", _RETRY),
    429: _Meaning("The queue is full", "QueueFull", _RETRY),
    500: _Meaning("A fault of the service", "InternalError"),
    501: _Meaning("A planner's optional packages are not installed", "MissingExtra"),
    503: _Meaning("Shutting down, or the job's workers were lost", "WorkerLost", _RETRY),
    504: _Meaning("The job took too long", "Deadline"),
}
_HEADERS = {
    _RETRY: {"description": "Seconds until it is worth asking again.", "type": "integer"},
    "WWW-Authenticate": {"description": "Which kind of token is asked for.", "type": "string"},
    "Location": {"description": "Of the job.", "type": "string"},
    "Preference-Applied": {"description": "respond-async.", "type": "string"},
}


class Described(Protocol):
    """What the description has to know of an operation."""

    @property
    def name(self) -> str: ...
    @property
    def request(self) -> type[BaseModel]: ...


def headers(*names: str) -> dict[str, Any]:
    """Headers that an answer always has."""
    described: dict[str, Any] = {}
    for name in names:
        schema = dict(_HEADERS[name])
        text = schema.pop("description")
        described[name] = {"description": text, "required": True, "schema": schema}
    return described


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The answers of these statuses, and of those that any request may get."""
    answers: dict[int | str, dict[str, Any]] = {}
    for status in (401, 403, 421, *statuses):
        meaning = _MEANINGS[status]
        example = {
            "type": f"urn:reknit:{meaning.kind}",
            "title": HTTPStatus(status).phrase,
            "status": status,
            "detail": meaning.text,
        }
        if status == 422:
            example = _field_problem()
        schema = {"$ref": "#/components/schemas/Problem"}
        answers[status] = {
            "description": meaning.text,
            "content": {MEDIA_TYPE: {"schema": schema, "example": example}},
        }
        if meaning.header is not None:
            answers[status]["headers"] = headers(meaning.header)
    return answers


def openapi(
    app: FastAPI, operations: Sequence[Described], *, has_token: bool, open_paths: Sequence[str]
) -> dict[str, Any]:
    """The whole description; it takes a moment, because the examples' work is done.

    Parameters
    ----------
    app
        Whose routes are described.
    operations
        Those whose bodies FastAPI does not know.
    has_token
        Whether a token is asked for.
    open_paths
        Where it is not.
    """
    document = get_openapi(
        title=app.title, version=app.version, summary=app.summary, routes=app.routes
    )
    parts = document.setdefault("components", {}).setdefault("schemas", {})
    bodies: list[type[BaseModel]] = [*(operation.request for operation in operations), Problem]
    for model in bodies:
        schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
        for name, part in schema.pop("$defs", {}).items():
            parts.setdefault(name, part)
        parts[model.__name__] = schema
    for path, items in document["paths"].items():
        for operation in items.values():
            _say_problem_of_parameters(operation)
            if has_token and path not in open_paths:
                operation["security"] = [{"token": []}]
    for name in ("HTTPValidationError", "ValidationError"):  # FastAPI's own, never sent
        parts.pop(name, None)
    if has_token:
        scheme = {"type": "http", "scheme": "bearer"}
        document["components"]["securitySchemes"] = {"token": scheme}
    _add_examples(document, operations)
    return document


def _say_problem_of_parameters(operation: dict[str, Any]) -> None:
    """FastAPI's own answer to a bad parameter is a problem here, like all others."""
    fault = operation["responses"].get("422", {})
    if "application/json" in fault.get("content", {}):
        operation["responses"] |= {str(k): v for k, v in problems(422).items()}


def _add_examples(document: dict[str, Any], operations: Sequence[Described]) -> None:
    """What is answered to the requests' own examples."""
    parts, paths = document["components"]["schemas"], document["paths"]
    for operation in operations:
        if operation.request is VerificationRequest:
            asked = {
                "scenario": parts["PlanRequest"]["examples"][0]["scenario"],
                "plan": _answered(paths, "/v1/plans")["example"]["plan"],
            }
            parts[operation.request.__name__]["examples"] = [asked]
        asked = parts[operation.request.__name__]["examples"][0]
        described = paths[f"/v1/{operation.name}"]["post"]
        described["requestBody"]["content"]["application/json"]["example"] = asked
        answer = TASKS[operation.name](json.dumps(asked).encode(), _AT_LEISURE)
        _answered(paths, f"/v1/{operation.name}")["example"] = json.loads(answer)
    result = _answered(paths, "/v1/jobs/{job_id}/result", "get")
    result["example"] = _answered(paths, "/v1/plans")["example"]


def _answered(paths: dict[str, Any], path: str, method: str = "post") -> dict[str, Any]:
    content: dict[str, Any] = paths[path][method]["responses"]["200"]["content"]
    return content["application/json"]  # type: ignore[no-any-return]


def _never() -> bool:
    return False


def _unheard(fraction: float, message: str) -> None:
    pass


_AT_LEISURE = Call(budget_s=None, progress=_unheard, cancel=_never, stop=_never)


def _field_problem() -> dict[str, Any]:
    examples: list[dict[str, Any]] = Problem.model_json_schema()["examples"]
    return examples[0]
