"""What an index is given and gives: entries, hits, and what a search is confined to."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

from pagestore import Page, SessionId

Collection = Literal["units", "turns"]

COLLECTIONS: tuple[Collection, ...] = ("units", "turns")

Mode = Literal["hybrid", "dense", "words"]


Period = tuple[date, date]
"""A first and a last day, both of them in it."""

ALL_TIME: Period = (date.min, date.max)

About = Literal["said", "event"]
"""When something was said, or when what it says happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeframe:
    """The periods to which a search is confined; where there are none, nothing is found.

    What reaches over several days (an event of a month) is found by any of them. What names no such
    time is not found.
    """

    periods: tuple[Period, ...]
    about: About = "said"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnContext:
    """How a turn was said: it is found by this too.

    `page` is its page, and `line` the number of its line there. `around` are the words of the conversation
    around it, its own included; `near` are the ids of the turns beside it.
    """

    page: Page = field(compare=False, repr=False)
    line: int = field(compare=False)
    around: str = ""
    near: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing to be found: its id, the words to find it by, and what searches filter on."""

    id: str
    session: SessionId
    text: str
    said_at: datetime | None = None
    event: Period | None = None
    """For units: the days in which what it says may have happened."""
    active: bool = True
    """Superseded and retired units stay findable for `as_of` questions only."""
    context: TurnContext | None = None
    """For turns."""
    owner: str = ""
    """Whose it is, under one name; empty: everybody's."""
    scene: str = ""
    """For units: what was going on. Words that only it holds find the unit too, and count for little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One result: the caller's id, its score, and the cosine where the search was dense or hybrid.

    `score` is the cosine in `dense` mode, BM25 in `words` mode, and in `hybrid` the fused rank score,
    1.0 for what is first by meaning and by words.
    """

    id: str
    score: float
    similarity: float | None = None


def turn_id(seq: int) -> str:
    """The id of a turn, by its number in the log."""
    return str(seq)
