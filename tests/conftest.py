"""Settings for all tests: hypothesis is deterministic, and no test asserts on the clock."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# Several test processes share the cores; more threads in each only get in each other's way.
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile(
    "reknit",
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("reknit")


@pytest.fixture(autouse=True)
def _own_interrupts() -> Iterator[None]:
    """Ctrl-C stays that of the tests, though a command takes the process for its own."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)
