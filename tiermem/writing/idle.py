"""Which open pages have been idle for so long that their session is over. Pure.

A page is idle by the clock when its newest turn was recorded so long ago. It is idle by said time when
another session has gone on for as long since: with turns recorded after the page's newest one and said so
much later than that one, and so much later than what that session had said by then. A session that was far
ahead all along (a live one, while old dialogue is being read in) therefore seals nothing.

What is said is only data: a time that is unknown, naive where others are aware, or out of order raises
nothing, and no difference below zero ever counts.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from pagestore import OpenInfo, SessionId, TurnTimes


def idle_by_clock(pages: Iterable[OpenInfo], *, now: datetime, minutes: float) -> tuple[SessionId, ...]:
    """Sessions whose newest turn was recorded `minutes` ago or earlier, or before logs kept the time."""
    return tuple(page.session for page in pages if _seconds_until_idle(page, now, minutes) <= 0)


def idle_by_said_time(pages: Sequence[OpenInfo], *, minutes: float) -> tuple[SessionId, ...]:
    """Sessions that another one with an open page has left behind by `minutes` of said time."""
    return tuple(
        page.session
        for page in pages
        if any(_went_on(other.turns, page, minutes) for other in pages if other.session != page.session)
    )


def left_behind(
    pages: Iterable[OpenInfo], *, by: SessionId, turns: Iterable[TurnTimes], minutes: float
) -> tuple[SessionId, ...]:
    """The sessions that stayed idle while session `by` went on for `minutes`, by when turns were said.

    The turns of `by` are those on its open page and `turns`, just added, which may have sealed a page.
    """
    opened = list(pages)
    own = (turn for page in opened if page.session == by for turn in page.turns)
    ordered = sorted({turn.seq: turn for turn in (*turns, *own)}.values(), key=lambda turn: turn.seq)
    is_behind = _behind(ordered, minutes)
    return tuple(
        page.session
        for page in opened
        # There may be thousands of pages, and most were written to lately.
        if is_behind(page.turns[-1].said_at) and page.session != by and _went_on(ordered, page, minutes)
    )


def next_look(pages: Iterable[OpenInfo], *, now: datetime, minutes: float) -> float | None:
    """Seconds until the first of the pages is idle by the clock, should nothing be said; `None` without."""
    return min((max(0.0, _seconds_until_idle(page, now, minutes)) for page in pages), default=None)


def _seconds_until_idle(page: OpenInfo, now: datetime, minutes: float) -> float:
    """Seconds until the page is idle. A clock that was set back makes it wait, and never seals."""
    last = page.turns[-1].recorded_at
    if last is None:
        recorded = (turn.recorded_at for turn in reversed(page.turns))
        last = next((moment for moment in recorded if moment is not None), None)
    return 0.0 if last is None else minutes * 60 - (now - last).total_seconds()


def _went_on(ordered: Sequence[TurnTimes], page: OpenInfo, minutes: float) -> bool:
    """Whether the turns of another session went on for so long since the page's newest."""
    last = _last_said(page.turns)
    split = bisect_right(ordered, page.seq, key=lambda turn: turn.seq)
    if last is None or split == len(ordered):
        return False
    known = [moment for moment in (last, _last_said(ordered[:split])) if moment is not None]
    later = (turn.said_at for turn in ordered[split:])
    return any(
        all(_seconds(moment, said) >= minutes * 60 for moment in known) for said in later if said is not None
    )


def _behind(turns: Iterable[TurnTimes], minutes: float) -> Callable[[datetime | None], bool]:
    """Whether a page of which the newest turn was said at some time may be `minutes` behind any of the turns.

    It may be where that time is unknown.
    """
    said = [turn.said_at for turn in turns if turn.said_at is not None]
    by_wall = _before([moment.replace(tzinfo=None) for moment in said], minutes)
    by_zone = _before([moment for moment in said if moment.tzinfo is not None], minutes)
    all_have_zones = all(moment.tzinfo is not None for moment in said)

    def may_be(last: datetime | None) -> bool:
        if last is None:
            return True
        if last.tzinfo is None:
            return by_wall is not None and last <= by_wall
        return (by_zone is not None and last <= by_zone) or (
            not all_have_zones and by_wall is not None and last.replace(tzinfo=None) <= by_wall
        )

    return may_be


def _before(said: Sequence[datetime], minutes: float) -> datetime | None:
    """The time `minutes` before the latest of some; `None` without one, and before the year 1."""
    try:
        return max(said) - timedelta(minutes=minutes) if said else None
    except OverflowError:
        return None


def _last_said(turns: Sequence[TurnTimes]) -> datetime | None:
    """When the newest of the turns that tell it was said."""
    return next((turn.said_at for turn in reversed(turns) if turn.said_at is not None), None)


def _seconds(earlier: datetime, later: datetime) -> float:
    """Seconds from one to the other; by what the clocks on the wall said where one has no zone."""
    if earlier.tzinfo is None or later.tzinfo is None:
        earlier, later = earlier.replace(tzinfo=None), later.replace(tzinfo=None)
    return (later - earlier).total_seconds()
