"""The options of a log: sizes, and the sources of time, salt and token counts."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pagestore.interface import TokenCounter
from pagestore.tokens import EstimateCounter


def now() -> datetime:
    """The time of day, with its zone."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """How pages are cut and where a log gets time, salt and token counts from.

    A page seals when the next turn would take it past `page_tokens`. A turn longer than `hard_limit` times
    that is cut into parts. A log begins a new file after `segment_bytes`. Pages that were read are kept in
    `kept_bytes` of memory, about; 0 keeps none.
    """

    page_tokens: int = 1_000
    hard_limit: int = 4
    segment_bytes: int = 4 << 20
    kept_bytes: int = 8 << 20
    counter: TokenCounter = field(default_factory=EstimateCounter)
    clock: Callable[[], datetime] = now
    salt: Callable[[int], bytes] = secrets.token_bytes
