"""What a service listens on, and every limit it keeps."""

from __future__ import annotations

import ipaddress
import math
import os
from dataclasses import dataclass, field

from reknit.base.errors import InvalidParameter

DEFAULT_PORT = 8321
TOKEN_VARIABLE = "REKNIT_TOKEN"  # noqa: S105  (the name of a variable, not a token)
_SHORTEST_TOKEN = 16


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class ServeSettings:
    """Address and limits of a service, checked on creation.

    Parameters
    ----------
    host
        Address to listen on. Any but a loopback address needs a `token`.
    port
        TCP port; 0 lets the system choose.
    token
        Clients must send it as ``Authorization: Bearer``; None: no token is asked for.
    workers
        Worker processes, each with one job at a time.
    queue
        Jobs that may wait for a worker; the next one is answered 429.
    max_body_bytes
        Largest request body.
    max_uavs
        Largest swarm.
    max_budget_s
        Most computing time a request may ask for, and what it gets if it asks for none.
    grace_s
        Time beyond its budget that a job gets for the bound, the flight and the check, after
        which its worker is killed.
    worker_memory_mib
        Data segment of a worker process (RLIMIT_DATA).
    result_ttl_s
        How long the result of a job is kept.
    max_results
        How many finished jobs are kept at most; the oldest go first.
    max_result_bytes
        How large all kept results may be together.
    drain_s
        Time that accepted jobs have to finish when the service shuts down.
    """

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    token: str | None = None
    workers: int = field(default_factory=_cores)
    queue: int = 64
    max_body_bytes: int = 16 * 2**20
    max_uavs: int = 10_000
    max_budget_s: float = 60.0
    grace_s: float = 30.0
    worker_memory_mib: int = 4096
    result_ttl_s: float = 600.0
    max_results: int = 256
    max_result_bytes: int = 256 * 2**20
    drain_s: float = 15.0

    def __post_init__(self) -> None:
        for name, least, most in (
            ("port", 0, 65_535),
            ("workers", 1, 256),
            ("queue", 0, 100_000),
            ("max_body_bytes", 1, 2**30),
            ("max_uavs", 1, 1_000_000),
            ("worker_memory_mib", 256, 2**20),
            ("max_results", 1, 1_000_000),
            ("max_result_bytes", 1, 2**40),
        ):
            value = getattr(self, name)
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not whole or not least <= value <= most:
                raise InvalidParameter(name, value, f"a whole number from {least} to {most}")
        for name in ("max_budget_s", "grace_s", "result_ttl_s", "drain_s"):
            value = getattr(self, name)
            if not isinstance(value, (int, float)) or not (math.isfinite(value) and value >= 0):
                raise InvalidParameter(name, value, "a finite number of seconds, at least 0")
        if self.token is not None and not _is_token(self.token):
            allowed = f"at least {_SHORTEST_TOKEN} printable ASCII characters, no spaces"
            raise InvalidParameter("token", "what was given", allowed)
        if self.token is None and not self.is_loopback:
            allowed = f"a loopback address, or any address with a token in {TOKEN_VARIABLE}"
            raise InvalidParameter("host", self.host, allowed)

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the service."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def _is_token(text: str) -> bool:
    return len(text) >= _SHORTEST_TOKEN and all("!" <= letter <= "~" for letter in text)
