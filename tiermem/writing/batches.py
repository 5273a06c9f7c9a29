"""Which sealed pages are summarised together, so that many short sessions do not cost a call each. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from pagestore import PageInfo


def batches(pages: Iterable[PageInfo], *, page_tokens: int) -> tuple[tuple[PageInfo, ...], ...]:
    """The pages in their order, as many together as hold `page_tokens`; one that holds more is alone.

    Pages of different sessions and days share a batch, those of different agents never: a summary
    of one may repeat words of another. No page is cut, left out or moved before another.
    """
    found: list[tuple[PageInfo, ...]] = []
    batch: tuple[PageInfo, ...] = ()
    for page in pages:
        full = sum(info.tokens for info in batch) + page.tokens > page_tokens
        if batch and (full or batch[-1].agent != page.agent):
            found.append(batch)
            batch = ()
        batch = (*batch, page)
    return (*found, batch) if batch else tuple(found)
