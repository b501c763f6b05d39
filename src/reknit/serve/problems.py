"""Errors as `application/problem+json` (RFC 9457): the field, the value and what is allowed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reknit.base.errors import InvalidInput, MissingExtra, ReknitError, UnknownName
from reknit.base.faults import first_allowed, first_fault, location_of

if TYPE_CHECKING:
    from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"


class Problem(BaseModel):
    """What went wrong with a request or a job."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:reknit:InvalidScenario",
                    "title": "Unprocessable Content",
                    "status": 422,
                    "detail": "radio_range_m is -1.0; allowed: a finite number above 0",
                    "field": "radio_range_m",
                    "value": "-1.0",
                    "allowed": "a finite number above 0",
                }
            ]
        }
    )

    type: str = Field(description="urn:reknit: and the kind of error, a class of reknit.errors.")
    title: str
    status: int
    detail: str
    field: str | None = Field(None, description="The field that is wrong.")
    value: str | None = Field(None, description="Its value, shortened.")
    allowed: str | None = Field(None, description="What would be allowed.")
    retry_after_s: int | None = Field(None, description="When to try again.")


class ProblemError(Exception):
    """Ends a request with a problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(problem.detail)


def problem(status: int, kind: str, detail: str, **more: Any) -> Problem:
    """A problem of this HTTP status."""
    return Problem(
        type=f"urn:reknit:{kind}",
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        **more,
    )


CANCELLED = problem(410, "Cancelled", "the job was cancelled")
"""What is left of a job that nobody wants any more."""


def problem_of(error: ReknitError) -> Problem:
    """The problem that an error of reknit is: the caller's, so 422 (501: an extra is missing)."""
    kind = type(error).__name__
    if isinstance(error, InvalidInput):
        return problem(
            422,
            kind,
            str(error),
            field=error.field,
            value=_shorten(error.value),
            allowed=error.allowed,
        )
    if isinstance(error, UnknownName):
        allowed = ", ".join(error.known)
        return problem(
            422, kind, str(error), field=error.kind, value=_shorten(error.name), allowed=allowed
        )
    return problem(501 if isinstance(error, MissingExtra) else 422, kind, str(error))


def problem_of_fields(error: ValidationError, model: type[BaseModel]) -> Problem:
    """The problem of a body that does not fit its model."""
    where, text = first_fault(error, model)
    fault = next((row for row in error.errors() if location_of(row) == where), error.errors()[0])
    is_json = fault["type"] == "json_invalid"
    return problem(
        400 if is_json else 422,
        "InvalidBody",
        f"the body is no JSON: {fault['msg']}" if is_json else text,
        field=".".join(str(part) for part in where) or None,
        value=None if is_json else _shorten(fault.get("input")),
        allowed="JSON" if is_json else first_allowed(error, model),
    )


def problem_response(answer: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """The response that carries a problem."""
    from starlette.responses import Response  # workers and clients do without it

    more = dict(headers or {})
    if answer.retry_after_s is not None:
        more["Retry-After"] = str(answer.retry_after_s)
    text = json.dumps(answer.model_dump(exclude_none=True), ensure_ascii=True)
    return Response(text, answer.status, more, MEDIA_TYPE)


def _shorten(value: object, limit: int = 120) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= limit else text[: limit - 3] + "..."
