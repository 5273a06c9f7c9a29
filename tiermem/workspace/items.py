"""One item of a workspace: words, how many tokens they take, and where they are in memory."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from pagestore import Span
from tiermem.model import Evidence, Named, UnitId

UNKNOWN_IMPORTANCE = 0.5
"""The importance of an item that was not judged: between what matters and what does not."""

_HOUR = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Words held in mind, with what they cite. It is what it was when it was asked for; use makes a new one.

    `key` is what it is called: the id of a unit, the page and line of a turn, the id of a page, or what the
    caller says. `added_at` and `last_used` are set by its holder; a time without a zone is UTC.
    Raises `ValueError` for an importance outside 0 to 1, and for less than no tokens or uses.
    """

    key: str
    text: str
    tokens: int
    importance: float = UNKNOWN_IMPORTANCE
    added_at: datetime | None = None
    last_used: datetime | None = None
    uses: int = 0
    from_recall: bool = False
    """Whether a search brought it, and not the present talk."""
    pinned: bool = False
    """Whether it stays, whatever comes."""
    spans: tuple[Span, ...] = ()
    source: Literal["unit", "turn", "page"] = "turn"
    quote: str = ""
    unit_id: UnitId | None = None
    trust: Named | None = None
    said_at: datetime | None = None
    event_at: Named | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.importance <= 1:
            raise ValueError(f"importance runs from 0 to 1, and is not {self.importance!r}")
        if self.tokens < 0 or self.uses < 0:
            raise ValueError(f"tokens and uses are counted from 0: not {self.tokens!r} and {self.uses!r}")

    def evidence(self) -> Evidence:
        """The item as a source for a prompt: the same words and citations, its importance as the score."""
        return Evidence(
            text=self.text,
            spans=self.spans,
            score=self.importance,
            source=self.source,
            quote=self.quote,
            unit_id=self.unit_id,
            said_at=self.said_at,
            event_at=self.event_at,
            trust=self.trust,
        )


def faded_importance(item: Item, now: datetime) -> float:
    """Its importance, half after an hour, a quarter after three; never more, also where a clock went back."""
    hours = 0.0 if item.added_at is None else (now - aware(item.added_at)).total_seconds() / _HOUR
    return item.importance / (1 + max(0.0, hours))


def aware(moment: datetime) -> datetime:
    """In UTC; a time without a zone is meant so."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
