"""Compute the dates of units again where rules compute others than when the units were made.

The rules:
- Only units in the words of rules change, and nothing of them but dates. The new wording is linked to the
  words of the page as any claim is. Where code does not confirm the dates, there is none.
- A unit keeps its id: the record has its next revision. A unit that superseded it would bring the old date
  back when it is withdrawn.
- Each page is a record of its own. Wherever a run ends, the next one goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import date

from anyio import to_thread

from pagestore import Page, PageId, Turn
from tiermem.ledger import Ledger, RedatedUnits
from tiermem.model import Claim, LinkedFact, SummaryUnit
from tiermem.proof import link
from tiermem.reasoning.rules.distil import claims_at, without_computed_dates
from tiermem.reasoning.rules.undated import is_made_by_rules
from tiermem.text import parse_iso, resolve_dates, words
from tiermem.text.dates import WEEKDAYS
from tiermem.writing.values import DateReport, Progress, UnitRevision
from tiermem.writing.writer import Writer

_DAYS_A_WEEK = 7


async def redate_units(
    writer: Writer,
    ledger: Ledger,
    *,
    moment: Callable[[], AbstractAsyncContextManager[None]],
    dry_run: bool = False,
    progress: Progress | None = None,
) -> DateReport:
    """Date the units of a space again, page by page, each within a `moment`. A second run changes nothing."""
    page_ids = await to_thread.run_sync(_pages_with_dates, ledger.tier1.all_units())
    pages: list[DateReport] = []
    for page_id in page_ids:
        async with moment(), writer.deciding():
            pages.append(await _redate_page(writer, ledger, page_id, dry_run=dry_run))
        if progress is not None:
            progress(len(pages), len(page_ids))
    return DateReport(
        redated=tuple(each for page in pages for each in page.redated),
        listed=tuple(each for page in pages for each in page.listed),
        proposed=dry_run,
    )


def _pages_with_dates(units: Iterable[SummaryUnit]) -> tuple[PageId, ...]:
    """The pages on which the first words of some unit with a date are, in order of creation of the units."""
    return tuple(dict.fromkeys(unit.spans[0].page_id for unit in units if _has_date(unit)))


def _has_date(unit: SummaryUnit) -> bool:
    return unit.event_at is not None or bool(resolve_dates(unit.text, unit.said_at))


async def _redate_page(writer: Writer, ledger: Ledger, page_id: PageId, *, dry_run: bool) -> DateReport:
    """Date the units again whose first words are on a page; again from the start where words were erased."""
    while True:
        since, tier1 = ledger.erasures_by_others, ledger.tier1
        on_page = tier1.units_of_page(page_id, inactive=True)
        units = [unit for unit in on_page if unit.spans[0].page_id == page_id and _has_date(unit)]
        pages = await _read_pages(writer, ledger, units)
        report = await to_thread.run_sync(date_again, units, pages)
        listed = tuple(unit for unit in report.listed if tier1.is_active(unit.id))
        revisions = report.redated
        if revisions and not dry_run:
            entry = RedatedUnits(units=tuple(each.after for each in revisions))
            if await ledger.write_unless_erased(entry, since=since) is None:
                continue
            revisions = tuple(each for each in revisions if ledger.tier1.unit(each.after.id) == each.after)
        return DateReport(redated=revisions, listed=listed)


async def _read_pages(writer: Writer, ledger: Ledger, units: Iterable[SummaryUnit]) -> Mapping[PageId, Page]:
    """The pages of units that can be read, as engines read them."""
    ids = tuple(dict.fromkeys(span.page_id for unit in units for span in unit.spans))
    pages = zip(ids, await ledger.read(ids), strict=True)
    return {page_id: writer.readable_page(page) for page_id, page in pages if isinstance(page, Page)}


def date_again(units: Sequence[SummaryUnit], pages: Mapping[PageId, Page]) -> DateReport:
    """The units with other dates by today's rules: those in the words of rules, and the others."""
    revisions: list[UnitRevision] = []
    listed: list[SummaryUnit] = []
    for unit in units:
        page = pages.get(unit.spans[0].page_id)
        claims = () if page is None else _claims_of_rules(unit, page)
        if page is None or any(claim.text == unit.text for claim in claims):
            continue
        revision = _next_revision(unit, claims, page)
        if revision is not None:
            revisions.append(UnitRevision(before=unit, after=revision))
        elif _has_other_day(unit, tuple(_turns_of(unit, pages))):
            listed.append(unit)
    return DateReport(redated=tuple(revisions), listed=tuple(listed))


def _claims_of_rules(unit: SummaryUnit, page: Page) -> tuple[Claim, ...]:
    """A unit in the words of rules, as they word it today: a claim for each turn that has these words."""
    if not is_made_by_rules(unit) or unit.kind not in ("summary", "finding"):
        return ()
    plain = without_computed_dates(unit.text)
    claims = claims_at(page, unit.spans)
    return tuple(claim for claim in claims if without_computed_dates(claim.text) == plain)


def _next_revision(unit: SummaryUnit, claims: Sequence[Claim], page: Page) -> SummaryUnit | None:
    """The unit as the first claim that code confirms, else without computed dates; `None` for no change."""
    undated = (replace(claim, text=without_computed_dates(claim.text), event_at=None) for claim in claims)
    for fact in (link(claim, (page,)) for claim in (*claims, *undated)):
        if isinstance(fact, LinkedFact) and fact.is_supported and set(fact.spans) <= set(unit.spans):
            return None if fact.claim == unit.text else _revision(unit, fact)
    return None


def _revision(unit: SummaryUnit, fact: LinkedFact) -> SummaryUnit:
    return replace(
        unit,
        text=fact.claim,
        event_at=fact.event_at,
        support=unit.support if unit.support == "worded" else fact.support,
        derivations=fact.derivations,
        revision=unit.revision + 1,
    )


def _turns_of(unit: SummaryUnit, pages: Mapping[PageId, Page]) -> Iterator[Turn]:
    for span in unit.spans:
        page = pages.get(span.page_id)
        lines = () if page is None else page.lines
        yield from (line.turn for line in lines if line.turn is not None and line.touches(span))


def _has_other_day(unit: SummaryUnit, turns: Sequence[Turn]) -> bool:
    """Whether a unit has a day that its turns name by a weekday, and that today's rules do not compute."""
    computed = {
        (found.first, found.last) for turn in turns for found in resolve_dates(turn.text, turn.said_at)
    }
    return any(
        (day, day) not in computed and any(_names_weekday_of(turn, day) for turn in turns)
        for day in _days_of(unit)
    )


def _days_of(unit: SummaryUnit) -> set[date]:
    """The days that a unit names outright, and that of its event."""
    ranges = [
        (found.first, found.last)
        for found in resolve_dates(unit.text, unit.said_at)
        if found.kind == "absolute"
    ]
    event = None if unit.event_at is None else parse_iso(unit.event_at)
    return {first for first, last in (*ranges, *([event] if event else ())) if first == last}


def _names_weekday_of(turn: Turn, day: date) -> bool:
    """Whether a turn names the weekday of a day less than a week before or after it was said."""
    if turn.said_at is None or abs((day - turn.said_at.date()).days) >= _DAYS_A_WEEK:
        return False
    return WEEKDAYS[day.weekday()] in words(turn.text)
