"""A worker process: reads tasks from its standard input, writes what comes of them.

Run by the pool as ``python -m reknit.serve.worker MEMORY_MIB``. It ends when its input does, so
a service that dies leaves no worker behind.
"""

from __future__ import annotations

import logging
import os
import queue
import signal
import sys
import threading
import time
from typing import BinaryIO

import numpy as np

from reknit.base.errors import ReknitError
from reknit.base.progress import Report
from reknit.serve.models import Preview
from reknit.serve.problems import CANCELLED, Problem, problem, problem_of
from reknit.serve.tasks import TASKS, Call, Unwanted
from reknit.serve.wire import (
    CANCEL,
    PROBLEM,
    PROGRESS,
    READY,
    RESULT,
    TASK,
    Order,
    WorkerProgress,
    frame,
    read_frame,
)

_PROGRESS_PERIOD_S = 0.05
_PREVIEW_NUMBERS_PER_S = 40_000
"""Coordinates of previews that a worker sends; large swarms are shown less often."""
_PREVIEW_DIGITS = 2
"""Of a metre: a preview is only looked at."""
_log = logging.getLogger("reknit.serve.worker")


def main() -> None:
    """Cap the memory, then serve until the input ends."""
    _cap_memory(int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the service's to handle
    # A library that prints must not write between the frames: they get a descriptor of their own.
    with os.fdopen(os.dup(1), "wb", buffering=0) as answers:
        os.dup2(2, 1)
        _Worker(sys.stdin.buffer, answers).serve()


class _Worker:
    def __init__(self, requests: BinaryIO, answers: BinaryIO) -> None:
        self._requests = requests
        self._answers = answers
        self._tasks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._is_cancelled = threading.Event()
        self._next_told_s = 0.0
        self._held: tuple[float, str] | None = None
        self._unseen: Report | None = None

    def serve(self) -> None:
        threading.Thread(target=self._listen, daemon=True).start()
        self._write(READY)
        while True:
            payload = self._tasks.get()
            self._next_told_s, self._held, self._unseen = 0.0, None, None
            kind, answer = self._do(payload)
            self._tell_held()
            self._write(kind, answer)

    def _listen(self) -> None:
        """Read frames while the main thread computes, so that it can be told to stop."""
        while True:
            arrived = read_frame(self._requests)
            if arrived is None:
                os._exit(0)
            kind, payload = arrived
            if kind == CANCEL:
                self._is_cancelled.set()
            elif kind == TASK:
                self._is_cancelled.clear()
                self._tasks.put(payload)

    def _do(self, payload: bytes) -> tuple[bytes, bytes]:
        head, _, body = payload.partition(b"\n")
        order = Order.model_validate_json(head)
        end_s = time.monotonic() + order.deadline_s

        def stop() -> bool:
            return self._is_cancelled.is_set() or time.monotonic() >= end_s

        call = Call(order.budget_s, self._progress, self._is_cancelled.is_set, stop)
        try:
            return RESULT, TASKS[order.name](body, call).encode()
        except Unwanted:
            return PROBLEM, _encode(CANCELLED)
        except ReknitError as error:
            return PROBLEM, _encode(problem_of(error))
        except MemoryError:
            answer = problem(
                422, "OutOfMemory", "the request needs more memory than a worker may use"
            )
            return PROBLEM, _encode(answer)
        except Exception:
            _log.exception("%s failed", order.name)
            return PROBLEM, _encode(problem(500, "InternalError", "the service has a fault"))

    def _progress(self, fraction: float, message: str) -> None:
        if isinstance(message, Report):
            self._unseen = message
        self._held = fraction, message
        if time.monotonic() >= self._next_told_s:
            self._tell_held()

    def _tell_held(self) -> None:
        """Tell what came last, with the last that a planner had to show if nobody saw it yet."""
        if self._held is None:
            return
        (fraction, message), report = self._held, self._unseen
        self._held = self._unseen = None
        self._next_told_s = time.monotonic() + _PROGRESS_PERIOD_S
        if report is not None and report.targets is not None:
            self._next_told_s += report.targets.size / _PREVIEW_NUMBERS_PER_S
        progress = WorkerProgress(
            fraction=float(fraction),
            message=str(message)[:200],
            preview=None if report is None else _preview(report),
        )
        self._write(PROGRESS, progress.model_dump_json().encode())

    def _write(self, kind: bytes, payload: bytes = b"") -> None:
        view = memoryview(frame(kind, payload))
        try:
            while view:
                view = view[self._answers.write(view) :]
        except BrokenPipeError:
            os._exit(0)


def _preview(report: Report) -> Preview:
    targets = report.targets
    return Preview(
        targets_m=None if targets is None else np.round(targets, _PREVIEW_DIGITS).tolist(),
        recovery_time_s=report.recovery_time_s,
        lower_bound_s=report.lower_bound_s,
    )


def _encode(answer: Problem) -> bytes:
    return answer.model_dump_json().encode()


def _cap_memory(mebibytes: int) -> None:
    if sys.platform == "linux":
        import resource

        limit = mebibytes * 2**20
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
