"""Makes a profile of a space: the items that `tiermem.recap` reads, as a context with their sources."""

from __future__ import annotations

from tiermem.api.caller import SpaceCaller
from tiermem.llm.tokens import token_counter
from tiermem.model import Evidence
from tiermem.reading.context import Context
from tiermem.reading.quoting import turn_evidence, unit_evidence, with_turn
from tiermem.reading.reader import TURN_TOKENS
from tiermem.recap import RecapItem, compose_block, read_profile_items


async def read_profile(caller: SpaceCaller, *, max_tokens: int) -> Context:
    """Return the profile of a space as the caller may see it; see `AsyncMemory.profile`."""
    most = max(1, max_tokens // TURN_TOKENS)
    items = await read_profile_items(caller.components.ledger, caller.sees, most=most)
    count = token_counter().count
    text, kept = compose_block(items, max_tokens=max_tokens, count=count)
    return Context(
        text=text,
        tokens=count(text),
        sources=tuple(map(_evidence_of, kept)),
        found=len(items),
        max_tokens=max_tokens,
    )


def _evidence_of(item: RecapItem) -> Evidence:
    """The source of an item: a unit with its first turn where that may be seen, or a turn."""
    if item.unit is not None:
        pages = {} if item.page is None else {item.unit.spans[0].page_id: item.page}
        return with_turn(unit_evidence(item.unit, score=0.0), pages)
    assert item.page is not None  # noqa: S101  (a turn is on a page)
    assert item.line is not None  # noqa: S101
    return turn_evidence(item.page, item.line)
