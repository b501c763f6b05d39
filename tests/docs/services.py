"""A service that a command starts, for as long as a test wants it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

PATIENCE_S = 120.0


@contextmanager
def answering(words: Sequence[str], port: int, folder: Path | None = None) -> Iterator[None]:
    """Run a command, without a browser, and go on when the service it starts answers."""
    environment = {**os.environ, "BROWSER": "true"}
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        words, cwd=folder, env=environment, stdout=quiet, stderr=quiet, start_new_session=True
    ) as process:
        try:
            until = time.monotonic() + PATIENCE_S
            while time.monotonic() < until and process.poll() is None:
                with suppress(httpx.HTTPError):
                    httpx.get(f"http://127.0.0.1:{port}/v1/health").raise_for_status()
                    break
                time.sleep(0.1)
            else:
                raise AssertionError(f"no answer at port {port}: {' '.join(words)}")
            yield
        finally:
            # The command may have started others (make, a shell): all of them end.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=60)
