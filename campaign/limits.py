"""A limit on the processor time of a piece of work."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ending_within(seconds: float, error: BaseException) -> Iterator[None]:
    """Raise an error after so much processor time of this process. A limit around this one goes
    on counting.
    """

    def end(*_: object) -> None:
        raise error

    before = signal.signal(signal.SIGPROF, end)
    left_s, _ = signal.setitimer(signal.ITIMER_PROF, seconds)
    began_s = time.process_time()
    try:
        yield
    finally:
        signal.signal(signal.SIGPROF, before)
        used_s = time.process_time() - began_s
        signal.setitimer(signal.ITIMER_PROF, max(left_s - used_s, 1e-3) if left_s else 0.0)
