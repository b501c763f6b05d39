"""Counters of a service in the text format that Prometheus reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class RequestMetrics:
    """Requests by route and status, and how long they took."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._durations: dict[str, list[int]] = {}
        self._sums_s: Counter[str] = Counter()

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """One answered request."""
        self._requests[method, route, status] += 1
        counts = self._durations.setdefault(route, [0] * (len(_BUCKETS_S) + 1))
        counts[sum(seconds > edge for edge in _BUCKETS_S)] += 1
        self._sums_s[route] += seconds  # type: ignore[assignment]

    def lines(self) -> list[str]:
        """The text of the counters."""
        text = [
            "# HELP reknit_requests_total Answered requests.",
            "# TYPE reknit_requests_total counter",
        ]
        for (method, route, status), count in sorted(self._requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            text.append(f"reknit_requests_total{{{labels}}} {count}")
        name = "reknit_request_seconds"
        text += [f"# HELP {name} Time until the answer.", f"# TYPE {name} histogram"]
        for route, counts in sorted(self._durations.items()):
            total = 0
            for edge, count in zip([*map(str, _BUCKETS_S), "+Inf"], counts, strict=True):
                total += count
                text.append(f'{name}_bucket{{route="{route}",le="{edge}"}} {total}')
            text.append(f'{name}_sum{{route="{route}"}} {self._sums_s[route]:.6f}')
            text.append(f'{name}_count{{route="{route}"}} {total}')
        return text


def gauge_lines(values: Mapping[str, tuple[str, str, float]]) -> list[str]:
    """Single values: name -> (counter or gauge, what it is, value)."""
    text: list[str] = []
    for name, (kind, meaning, value) in values.items():
        text += [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}", f"{name} {value:g}"]
    return text
