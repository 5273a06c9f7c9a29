"""How much a unit matters: as judged when it was made, or more where it rests on a turn that matters more."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from pagestore import Page, Span

UNKNOWN = 0.5
"""Where it is not given how much something matters: neither much nor little."""


def importance_of(judged: float, spans: Sequence[Span], pages: Iterable[Page]) -> float:
    """What the unit's maker judged, or more where a turn under `spans` was stored with more."""
    return max((clamp(judged), *told_under(spans, pages)))


def told_under(spans: Sequence[Span], pages: Iterable[Page]) -> tuple[float, ...]:
    """The importance that callers gave to the turns of the spans, where they gave one."""
    return tuple(
        line.turn.importance
        for page in pages
        for span in spans
        if span.page_id == page.id
        for line in page.lines
        if line.touches(span)
        if line.turn is not None and line.turn.importance is not None
    )


def clamp(importance: float) -> float:
    """`importance` within 0 and 1; a value that is no number counts as unknown."""
    return min(max(importance, 0.0), 1.0) if math.isfinite(importance) else UNKNOWN
