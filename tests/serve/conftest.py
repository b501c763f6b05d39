"""One service for all tests that do not harm it."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.serve.running import Running, running


@pytest.fixture(scope="session")
def service() -> Iterator[Running]:
    with running("--workers", "2", "--max-uavs", "4000") as service:
        yield service


@pytest.fixture
def http(service: Running) -> Iterator[httpx.Client]:
    with service.http() as client:
        yield client
