"""Settings for all tests: hypothesis is deterministic, and no test asserts on the clock."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "reknit",
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("reknit")
