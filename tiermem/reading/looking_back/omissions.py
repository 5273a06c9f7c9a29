"""What the summaries lost: literals and rare words of pages that no unit keeps, and since when."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from anyio import to_thread

from pagestore import Page, PageId, SessionId
from pagestore.errors import Corrupt, PageNotFound
from tiermem.errors import InvalidInput
from tiermem.ledger import EVERYTHING_SEEN, Loss, Visibility
from tiermem.model import Rejected, SummaryUnit
from tiermem.reading.interface import ReadsLedger
from tiermem.reading.unknown import visible_page
from tiermem.text import omissions_and_count
from tiermem.text.taken_back import without


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOmissions:
    """What one page's units do not keep now; `lost_at_first` counts what its first units did not.

    `rejected` are wordings that were refused when the page was first summarised, and why: their quotes are
    not on the pages, or plainly say otherwise. Those of pages that were read in one call are listed with the
    first of these pages, and only for the owner of the space.

    `literals` includes rare words. `lost_at_first` is counted by the rules of the version that summarised the
    page, and so are `OmissionsAt` and the figures of `stats`.
    """

    page_id: PageId
    session: SessionId
    number: int
    literals: int
    lost: tuple[str, ...]
    lost_at_first: int
    redistilled: int
    rejected: tuple[Rejected, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OmissionsAt:
    """Literals of the pages distilled by a moment, and how many of them were lost then."""

    at: datetime
    literals: int
    lost: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OmissionReport:
    """Omissions of pages as they are now, and their number over time, one point for each distillation."""

    pages: tuple[PageOmissions, ...]
    over_time: tuple[OmissionsAt, ...]
    unreadable: tuple[PageId, ...] = ()

    @property
    def literals(self) -> int:
        """How many numbers, dates, names, negated statements and rare words the pages hold.

        Names are words with a capital that are not common; of German pages none is counted, since every noun
        has one there. Dates in words, negation and rare words are found in English.
        """
        return sum(page.literals for page in self.pages)

    @property
    def lost(self) -> int:
        """How many of them no unit keeps."""
        return sum(len(page.lost) for page in self.pages)

    @property
    def rate(self) -> float | None:
        """Omissions per literal; `None` where there are no literals."""
        return self.lost / self.literals if self.literals else None


async def omission_report(
    ledger: ReadsLedger,
    *,
    page: PageId | None = None,
    session: SessionId | None = None,
    sees: Visibility = EVERYTHING_SEEN,
) -> OmissionReport:
    """Read the distilled pages again (one page, one session, or all) and compare them with their units.

    What was taken back is not counted: that no unit keeps it is meant.
    Raises `UnknownId`, and `InvalidInput` for a page that is not distilled.
    """
    wanted = await _select_pages(ledger, page, session, sees)
    found: list[PageOmissions] = []
    unreadable: list[PageId] = []
    for page_id in wanted:
        try:
            read = await ledger.page(page_id)
            read = without(read, ledger.tier1.taken_back(read.id))
        except (PageNotFound, Corrupt):
            unreadable.append(page_id)
            continue
        lost = await to_thread.run_sync(_of_page, ledger, read, sees)
        found.append(replace(lost, rejected=await _rejected_claims(ledger, read.id, sees)))
    losses = [loss for loss in ledger.tier1.losses if loss.page_id in set(wanted)]
    return OmissionReport(pages=tuple(found), over_time=over_time(losses), unreadable=tuple(unreadable))


def over_time(losses: list[Loss]) -> tuple[OmissionsAt, ...]:
    """Running totals: each distilling of a page replaces what the one before it counted."""
    newest: dict[PageId, Loss] = {}
    literals = lost = 0
    points: list[OmissionsAt] = []
    for loss in losses:
        before = newest.get(loss.page_id)
        literals += (loss.literals or 0) - ((before.literals or 0) if before else 0)
        lost += loss.lost - (before.lost if before else 0)
        newest[loss.page_id] = loss
        points.append(OmissionsAt(at=loss.at, literals=literals, lost=lost))
    return tuple(points)


async def _select_pages(
    ledger: ReadsLedger, page: PageId | None, session: SessionId | None, sees: Visibility
) -> list[PageId]:
    distilled = ledger.tier1.pages
    if page is not None:
        read = await visible_page(ledger, page, sees)
        if read.id not in distilled:
            raise InvalidInput(f"page {read.id!r} is not summarised yet: `index_pending` does it")
        return [read.id] if session in (None, read.session) else []
    seen = filter(sees.page, await ledger.pages(session))
    return [info.id for info in seen if info.id in distilled]


async def _rejected_claims(ledger: ReadsLedger, page: PageId, sees: Visibility) -> tuple[Rejected, ...]:
    if not sees.all or not ledger.tier1.pages[page].rejected:
        return ()
    return (await ledger.distilled(page)).rejected


def _of_page(ledger: ReadsLedger, page: Page, sees: Visibility) -> PageOmissions:
    units: tuple[SummaryUnit, ...] = tuple(filter(sees.unit, ledger.tier1.units_of_page(page.id)))
    lost, count = omissions_and_count(page, [unit.text for unit in units])
    first = next(loss for loss in ledger.tier1.losses if loss.page_id == page.id)
    return PageOmissions(
        page_id=page.id,
        session=page.session,
        number=page.number,
        literals=count,
        lost=lost,
        lost_at_first=first.lost,
        redistilled=ledger.tier1.pages[page.id].redistilled,
    )
