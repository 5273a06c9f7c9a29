"""Fetching pages by id, for showing what stands there; what cannot be read is told, never passed over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pagestore import Page, PageId
from pagestore.errors import Corrupt, PageNotFound
from tiermem.ledger import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """Pages by the id they were asked for, and why others cannot be read."""

    pages: Mapping[PageId, Page]
    missing: Mapping[PageId, str]


async def fetch(ledger: Ledger, ids: Iterable[PageId]) -> Shelf:
    """Every page of `ids` that can be read, each once, whatever session or time it is of."""
    pages: dict[PageId, Page] = {}
    missing: dict[PageId, str] = {}
    for page_id in dict.fromkeys(ids):
        try:
            pages[page_id] = await ledger.page(page_id)
        except (PageNotFound, Corrupt) as error:
            missing[page_id] = f"{type(error).__name__}: {error}"
    return Shelf(pages=pages, missing=missing)
