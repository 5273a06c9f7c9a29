"""Recall: what Tier 1 brings to a question, and what was said last and is in no unit yet."""

from __future__ import annotations

from collections.abc import Sequence

from pagestore import Page, PageLine, TokenCounter
from tiermem.ledger import Ledger
from tiermem.model import Evidence, Recalled
from tiermem.reading.lookup import Found, LookUp
from tiermem.reading.options import ReadingOptions
from tiermem.reading.quoting import line_evidence, page_evidence


async def recall(
    question: str, lookup: LookUp, *, ledger: Ledger, counter: TokenCounter, options: ReadingOptions
) -> Recalled:
    """The best units and the tail of the open pages; pages where search is degraded and finds no unit."""
    found = await lookup.units(question, limit=options.units)
    if found.degradations and not found.units:
        found = await _pages_instead(question, lookup, found, limit=options.units)
    scope = lookup.scope
    open_pages = () if scope.as_of is not None else await ledger.open_pages(scope.session)
    return Recalled(
        units=found.units,
        tail=tail([scope.seen(page) for page in open_pages], counter, options.tail_tokens),
        session=scope.session,
        as_of=scope.as_of,
        min_trust=scope.min_trust,
        dropped=found.dropped,
        degradations=tuple(dict.fromkeys(found.degradations)),
    )


async def _pages_instead(question: str, lookup: LookUp, found: Found, *, limit: int) -> Found:
    ranked = await lookup.pages(question, limit=limit, mode="words")
    pages = await lookup.read(ranked.pages, limit=limit)
    return Found(
        units=tuple(page_evidence(page, score=hit.score) for hit, page in pages.read if page.sealed_at),
        dropped=found.dropped + pages.dropped,
        degradations=(*found.degradations, *ranked.degradations, *pages.degradations),
    )


def tail(open_pages: Sequence[Page], counter: TokenCounter, limit: int) -> tuple[Evidence, ...]:
    """The last turns of the open pages, oldest first, as many as fit in `limit` tokens.

    The newest turns of all sessions count, in the order of the log. A turn that alone is longer than
    the limit is passed over: research can read it on its page.
    """
    said: list[tuple[PageLine, Page]] = [
        (line, page) for page in open_pages for line in page.lines if line.turn
    ]
    kept: list[Evidence] = []
    left = limit
    for line, page in sorted(said, key=lambda pair: -pair[0].seq):
        evidence = line_evidence(page, line)
        tokens = counter.count(evidence.text)
        if tokens > limit:
            continue
        if tokens > left:
            break
        kept.append(evidence)
        left -= tokens
    return tuple(reversed(kept))
