"""Frames between the service and its worker processes: one letter, a length, that many bytes.

Nothing is pickled: the bytes are JSON text.
"""

from __future__ import annotations

import struct
from typing import BinaryIO

from pydantic import BaseModel

from reknit.serve.models import Preview

HEADER = struct.Struct(">cI")

READY = b"H"
"""Worker: I can take a job."""
TASK = b"T"
"""Service: do this. An `Order`, a line feed, and the request body."""
CANCEL = b"C"
"""Service: stop what you are doing."""
PROGRESS = b"P"
"""Worker: so far. A `WorkerProgress`."""
RESULT = b"R"
"""Worker: the response body."""
PROBLEM = b"E"
"""Worker: it cannot be done. JSON of a `Problem`."""


class Order(BaseModel):
    """What a worker is told to do beside the request body.

    Without a budget the work is counted, not timed, so that the same request has the same
    answer; the deadline then only ends what takes too long.
    """

    name: str
    budget_s: float | None
    deadline_s: float


class WorkerProgress(BaseModel):
    """How far a worker is."""

    fraction: float
    message: str
    preview: Preview | None = None


def frame(kind: bytes, payload: bytes = b"") -> bytes:
    """One frame, ready to be written."""
    return HEADER.pack(kind, len(payload)) + payload


def read_frame(stream: BinaryIO) -> tuple[bytes, bytes] | None:
    """The next frame of a blocking stream; None at its end."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    kind, length = HEADER.unpack(header)
    payload = stream.read(length)
    return (kind, payload) if len(payload) == length else None
