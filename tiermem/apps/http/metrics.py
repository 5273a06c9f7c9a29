"""What a server has done, in the text format of Prometheus. No space, key or word of anybody is in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
"""Seconds by which requests are counted."""


class Metrics:
    """Counts of one process."""

    def __init__(self) -> None:
        self.under_way = 0
        self._requests: Counter[tuple[str, int]] = Counter()
        self._seconds: Counter[str] = Counter()
        self._within: Counter[tuple[str, float]] = Counter()

    def note(self, operation: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._requests[operation, status] += 1
        self._seconds[operation] += seconds  # type: ignore[assignment]  # a Counter adds any numbers
        for bound in _BOUNDS:
            self._within[operation, bound] += seconds <= bound

    def text(self, *, spaces: int) -> str:
        """All counts; `spaces` are open now."""
        return "\n".join([*self._lines(spaces), ""])

    def _lines(self, spaces: int) -> Iterator[str]:
        yield "# HELP tiermem_requests_total Requests answered, by operation and status."
        yield "# TYPE tiermem_requests_total counter"
        for (operation, status), count in sorted(self._requests.items()):
            yield f'tiermem_requests_total{{operation="{operation}",status="{status}"}} {count}'
        yield "# HELP tiermem_request_seconds How long requests took."
        yield "# TYPE tiermem_request_seconds histogram"
        for operation in sorted(self._seconds):
            count = sum(number for (name, _), number in self._requests.items() if name == operation)
            labels = f'operation="{operation}"'
            for bound in _BOUNDS:
                within = self._within[operation, bound]
                yield f'tiermem_request_seconds_bucket{{{labels},le="{bound:g}"}} {within}'
            yield f'tiermem_request_seconds_bucket{{{labels},le="+Inf"}} {count}'
            yield f"tiermem_request_seconds_sum{{{labels}}} {self._seconds[operation]:.6f}"
            yield f"tiermem_request_seconds_count{{{labels}}} {count}"
        for name, value, said in (
            ("tiermem_requests_under_way", self.under_way, "Requests under way now."),
            ("tiermem_spaces_open", spaces, "Spaces open now."),
        ):
            yield f"# HELP {name} {said}"
            yield f"# TYPE {name} gauge"
            yield f"{name} {value}"
