"""What became of pages: what was distilled of each, what that lost, and which a step goes on without."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from pagestore import PageId


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSummary:
    """What Tier 1 keeps of a distilled page: how much linked, how much did not, and what was lost.

    `worded` claims left their words and not their wording. Of pages that were read in one call, the first
    counts what was rejected and worded of all. `seq` is the record of its first distilling; later ones count
    in `redistilled`.
    """

    page_id: PageId
    units: int
    rejected: int
    omissions: tuple[str, ...]
    seq: int
    literals: int
    redistilled: int = 0
    worded: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What one distilling of a page lost of its literals, and when."""

    at: datetime
    page_id: PageId
    literals: int
    lost: int


class PagesFold:
    """Every distilled page, and every page that is set aside."""

    def __init__(self) -> None:
        super().__init__()
        self._pages: dict[PageId, PageSummary] = {}
        self._losses: list[Loss] = []
        self._aside: dict[tuple[PageId, str], str] = {}

    def is_distilled(self, page_id: PageId) -> bool:
        """Whether the log holds what became of this page."""
        return page_id in self._pages

    @property
    def pages(self) -> Mapping[PageId, PageSummary]:
        """Every distilled page, in the order they were distilled."""
        return MappingProxyType(self._pages)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What every distilling lost, oldest first."""
        return tuple(self._losses)

    def aside_at(self, step: str) -> Mapping[PageId, str]:
        """The pages that a step goes on without, and why."""
        return {page: reason for (page, at), reason in self._aside.items() if at == step}

    def put_page(self, page: PageSummary, at: datetime) -> None:
        """A page was distilled, or once more; either loses something."""
        self._pages[page.page_id] = page
        loss = Loss(at=at, page_id=page.page_id, literals=page.literals, lost=len(page.omissions))
        self._losses.append(loss)

    def put_aside(self, page_id: PageId, step: str, reason: str | None) -> None:
        """A step goes on without a page, and why; without a reason, with it again."""
        self._aside.pop((page_id, step), None)
        if reason is not None:
            self._aside[page_id, step] = reason
