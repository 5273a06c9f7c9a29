"""Explains what `as_of` leaves out: it goes by when turns were stored, not by when they were said."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, time

from pagestore import Page, PageId, SessionId
from tiermem.model import Degradation, TurnFilter
from tiermem.reading.view import View

_STAGE = "as_of"
_PAGES_A_READ = 100


def future_notes(moment: datetime, *, now: datetime) -> tuple[Degradation, ...]:
    """A note that `moment` is in the future; none for a past one and for the end of today."""
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    today = now.astimezone(moment.tzinfo).date()
    if moment <= max(now, datetime.combine(today, time.max, moment.tzinfo)):
        return ()
    reason = f"{_in_utc(moment)} is in the future"
    return (Degradation(stage=_STAGE, reason=reason, fallback="memory as it is now"),)


async def empty_past_notes(view: View) -> tuple[Degradation, ...]:
    """A note on a view of a past moment by which nothing that it may see was stored.

    It says when the first turn was stored. If turns were said by the moment, it points to `said_before`.
    """
    moment = view.scope.as_of
    if moment is None:
        return ()
    stored: list[datetime] = []
    has_said = False
    async for page in _first_pages(view):
        if view.has_stored(page):
            return ()
        stored += [line.recorded_at for line in page.lines if line.recorded_at is not None]
        turns = (line.turn for line in page.lines if line.turn is not None)
        has_said = has_said or any(map(TurnFilter(said_before=moment).keeps, turns))
    if not stored:
        return ()
    reason = f"nothing was stored by {_in_utc(moment)}; the first turn was stored at {_in_utc(min(stored))}"
    if has_said:
        reason += ". Use said_before (--before) to go by when turns were said"
    return (Degradation(stage=_STAGE, reason=reason, fallback="an empty memory"),)


async def _first_pages(view: View) -> AsyncIterator[Page]:
    """The first sealed page of each session and agent, and the pages being filled, that may be seen."""
    sees, session, ledger = view.scope.sees, view.scope.session, view.ledger
    first_ids: dict[tuple[SessionId, str | None], PageId] = {}
    for info in await ledger.pages(session):
        if sees.page(info):
            first_ids.setdefault((info.session, info.agent), info.id)
    ids = tuple(first_ids.values())
    for start in range(0, len(ids), _PAGES_A_READ):
        for page in await ledger.read(ids[start : start + _PAGES_A_READ]):
            if isinstance(page, Page):
                yield page
    for page in await ledger.open_pages(session):
        if sees.page(page):
            yield page


def _in_utc(moment: datetime) -> str:
    try:
        return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except OverflowError:  # at the ends of the calendar
        return moment.isoformat(" ", "minutes")
