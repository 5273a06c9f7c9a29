"""What adapters find in a memory, and what they say of it in plain JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, TypeVar, cast

from anyio import to_thread

import tiermem
from tiermem.wire import plain

NOTHING_FOUND = "Nothing in memory is near this."

Kind = Literal["any", "units", "turns", "pages"]
"""What is found: units and turns side by side, or one kind of what there is."""

_T = TypeVar("_T")


async def in_thread(call: Callable[..., _T], *args: Any, **keywords: Any) -> _T:
    """What a call of a memory gives, awaited by an event loop that goes on meanwhile."""
    return await to_thread.run_sync(partial(call, *args, **keywords))


def id_of(found: tiermem.Evidence) -> str:
    """The id of a unit, or the spans of a turn or page: the same each time it is found."""
    if found.unit_id is not None:
        return found.unit_id
    return ",".join(f"{span.page_id}:{span.start}-{span.end}" for span in found.spans)


def known_of(found: tiermem.Evidence) -> dict[str, Any]:
    """What is known of a piece of evidence besides its text: its score, its source, where its words are."""
    return {name: value for name, value in plain(found).items() if name != "text" and value not in (None, "")}


def as_filters(only: Mapping[str, Any]) -> tiermem.Filters:
    """Filters that a framework carries as a plain mapping; the memory refuses those that it does not know."""
    return cast("tiermem.Filters", dict(only))


def sources_for(memory: tiermem.Memory, said: str, max_tokens: int, only: tiermem.Filters) -> str:
    """Numbered sources on what was said, fenced as data; empty where there are none, or nothing was said."""
    return memory.context(said, max_tokens=max_tokens, **only).text if said.strip() else ""
