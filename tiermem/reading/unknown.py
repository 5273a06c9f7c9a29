"""What is raised for an id of nothing that may be seen, with where ids are listed."""

from __future__ import annotations

from pagestore import Page, PageId
from pagestore.errors import PageNotFound
from tiermem.errors import UnknownId
from tiermem.ledger import Visibility
from tiermem.reading.interface import ReadsLedger


async def visible_page(ledger: ReadsLedger, page_id: PageId, sees: Visibility) -> Page:
    """A page with all its words; raises `Corrupt`, and `UnknownId` where it may not be seen."""
    try:
        page = await ledger.page(page_id)
    except PageNotFound as error:
        raise unknown_page(ledger.space, page_id) from error
    if not sees.page(page):
        raise unknown_page(ledger.space, page_id)
    return page


def unknown_page(space: str, page_id: str) -> UnknownId:
    """What is said of a page that there is not, or that may not be seen."""
    return UnknownId(f"space {space!r} has no page {page_id!r}; list them with `pages`")


def unknown_unit(space: str, unit_id: str) -> UnknownId:
    """The same of a unit."""
    return UnknownId(f"space {space!r} has no unit {unit_id!r}; list them with `units`")


def unknown_answer(space: str, answer_id: str) -> UnknownId:
    """The same of an answer."""
    return UnknownId(f"space {space!r} gave no answer {answer_id!r}; list them with `answers`")
