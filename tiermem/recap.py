"""The recap of a space for a new session of a coding agent: what was stated, and what the person said last.

It is read from the log alone, by a process that ends with it: no index, no model, no network and no lock.
Everything is as it was said, with its date and its address.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from heapq import merge
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any, Final

import anyio

from pagestore import (
    DiskLog,
    EstimateCounter,
    OpenInfo,
    Page,
    PageId,
    PageInfo,
    PageLine,
    SessionId,
    SpaceId,
    Store,
    Turn,
)
from tiermem.ledger import Ledger, Tier1
from tiermem.model import SummaryUnit, trust_mark
from tiermem.text.normalise import fold_text
from tiermem.text.own_context import HEADING, mark_block, without_own_contexts
from tiermem.text.taken_back import without
from tiermem.text.unicode import join_surrogates, show_controls
from tiermem.trust import DEFAULT_TRUST

MOST_TOKENS: Final = 1_500
"""The most tokens of a recap: some agents put what is longer into a file."""
_STATED: Final = 8
_SAID: Final = 12
"""The most statements, and turns of the person."""
_LONGEST: Final = 300
_LONGEST_QUESTION: Final = 120
"""Characters of a text, and of the question of an answer, that are displayed."""
_PERSON: Final = "person"
_OTHERS: Final = ("agent", "sub-agent")
_KINDS: Final[Mapping[str, str]] = {
    "prompt": "prompt",
    "queued_prompt": "queued prompt",
    "rejection": "rejection",
    "answer": "answer",
}
"""The kinds of turns that a recap has, and what it calls them. A command for the agent's menu is none."""
_NAME = re.compile(r"[A-Za-z][\w-]{0,40}", re.ASCII)
"""A name of an agent or a tool that may be displayed next to what memory writes itself."""
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapItem:
    """A statement, or a turn of the person: its words, what is said of it, and when it was said.

    `time` orders it: where `said_at` is unknown, that of the nearest turn on its page with a time.
    """

    text: str
    notes: tuple[str, ...]
    said_at: datetime | None
    time: datetime
    is_stated: bool = False
    question: str | None = None


def read_recap(store: Path, space: str, *, max_tokens: int = MOST_TOKENS) -> str:
    """Return the recap of a space, between marks by which a transcript is read without it; "" without items.

    Has the statements that hold and belong to no agent (`Memory.remember`), the newest 8, and the newest 12
    turns of sessions of coding agents whose author is the person, without commands, what a rewind left, and
    words that were taken back. Texts are cut after 300 characters. What does not fit into `max_tokens`, which
    are estimated, is left out, the oldest first. Raises what opening a space read-only raises.
    """
    with closing(Store(store, read_only=True).open_space(SpaceId(space))) as log:
        items = anyio.run(_read_items, log)
    return compose_recap(items, space=space, max_tokens=max_tokens, count=EstimateCounter().count)


def compose_recap(
    items: Sequence[RecapItem], *, space: str, max_tokens: int, count: Callable[[str], int]
) -> str:
    """Return as many of the items as fit into `max_tokens` as a marked block, in the order of time.

    Statements come first. The newest are kept, statements and turns by turns. "" where none fits.
    """
    newest = sorted(items, key=lambda item: item.time, reverse=True)
    stated = [item for item in newest if item.is_stated]
    said = [item for item in newest if not item.is_stated]
    left = max_tokens - count(mark_block(f"{HEADING}\n", space))
    kept: list[RecapItem] = []
    for item in filter(None, chain.from_iterable(zip_longest(said, stated))):
        tokens = count(f"{_rows(len(items), item)}\n")
        if tokens > left:
            break
        left -= tokens
        kept.append(item)
    if not kept:
        return ""
    kept.reverse()
    kept.sort(key=lambda item: (not item.is_stated, item.time))
    rows = (_rows(number, item) for number, item in enumerate(kept, start=1))
    return mark_block("\n".join([HEADING, *rows]), space)


def _rows(number: int, item: RecapItem) -> str:
    """The lines of an item, as a context has them: words open with `| `."""
    said = "undated" if item.said_at is None else f"said {_moment(item.said_at)}"
    head = "; ".join((f"[{number}] {'noted; ' if item.is_stated else ''}{said}", *item.notes))
    asked = [] if item.question is None else [f"| asked: {_shorten(item.question, _LONGEST_QUESTION)}"]
    return "\n".join([head, *asked, f"| {_shorten(item.text, _LONGEST)}"])


def _moment(said_at: datetime) -> str:
    if said_at.tzinfo is None:
        return f"{said_at:%Y-%m-%d %H:%M}"
    return f"{said_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _with_zone(moment: datetime | None) -> datetime | None:
    return moment if moment is None or moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _shorten(text: str, longest: int) -> str:
    """A text on one line, cut to so many characters."""
    plain = show_controls(join_surrogates(" ".join(text.split())))
    return plain if len(plain) <= longest else f"{plain[: longest - 1]}…"


async def _read_items(log: DiskLog) -> tuple[RecapItem, ...]:
    ledger = await Ledger.open(log, read_only=True)
    units = [unit for unit in ledger.tier1.units() if unit.kind == "stated" and not unit.agents]
    stated = [_statement(log, unit) for unit in units[-_STATED:]]
    pages = await ledger.pages_with([(_PERSON,)], lambda text: text == _PERSON)
    sessions = _pages_by_session(log, frozenset(pages))
    said = merge(
        *(_said_in(log, ledger.tier1, places) for places in sessions.values()),
        key=lambda item: item.time,
        reverse=True,
    )
    return (*stated, *islice(_without_repeats(said), _SAID))


def _statement(log: DiskLog, unit: SummaryUnit) -> RecapItem:
    page = log.page(unit.spans[0].page_id)
    address = page.line_at(unit.spans[0].start).address
    notes = (trust_mark(unit.trust), address or "")
    return RecapItem(
        text=unit.text,
        said_at=unit.said_at,
        time=_with_zone(unit.said_at) or _LONG_AGO,
        is_stated=True,
        notes=tuple(note for note in notes if note),
    )


def _without_repeats(items: Iterable[RecapItem]) -> Iterator[RecapItem]:
    """The items, each text once: where it was said last."""
    seen: set[str] = set()
    for item in items:
        words = fold_text(item.text)
        if words not in seen:
            seen.add(words)
            yield item


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A page of a session, and whether the person may be among its speakers."""

    page_id: PageId
    has_person: bool


def _pages_by_session(log: DiskLog, of_person: frozenset[PageId]) -> Mapping[SessionId, Sequence[_Place]]:
    """The pages of each session with words of the person, the newest first. Those of agents are left out."""
    pages: dict[SessionId, list[_Place]] = {}
    # Open pages are read first: one that is sealed meanwhile is met twice, and not missed.
    filling = log.filling()
    all_pages: tuple[PageInfo | OpenInfo, ...] = (*log.pages(), *filling)
    for page in all_pages:
        if page.agent is None:
            place = _Place(page_id=page.id, has_person=page.id in of_person)
            pages.setdefault(page.session, []).append(place)
    return {
        session: places[::-1]
        for session, places in pages.items()
        if any(place.has_person for place in places)
    }


def _said_in(log: DiskLog, tier1: Tier1, places: Iterable[_Place]) -> Iterator[RecapItem]:
    """The turns of the person in a session, the newest first; no more pages are read than are asked for."""
    is_replied = False
    for place in places:
        if not place.has_person:
            is_replied = True
            continue
        lines = _visible_page(log, tier1, place.page_id).lines
        for line, time in zip(reversed(lines), reversed(_times(lines)), strict=True):
            turn = line.turn
            if turn is None or turn.metadata.get("author") in _OTHERS:
                is_replied = True
            elif line.part == 1 and _is_recapped(turn):
                yield _said(turn, line, time, is_replied=is_replied)


def _times(lines: Sequence[PageLine]) -> list[datetime]:
    """When each turn was said; of one without a time that of the one before it, else of the first that has
    one.
    """
    known = [None if line.turn is None else _with_zone(line.turn.said_at) for line in lines]
    latest = next(filter(None, known), _LONG_AGO)
    times: list[datetime] = []
    for moment in known:
        latest = moment or latest
        times.append(latest)
    return times


def _visible_page(log: DiskLog, tier1: Tier1, page_id: PageId) -> Page:
    page = log.page(page_id)
    return without_own_contexts(without(page, tier1.taken_back(page.id)))


def _is_recapped(turn: Turn) -> bool:
    """Whether the person said it, other than to the agent's menu, and did not take it back by a rewind."""
    known = turn.metadata
    is_known = known.get("author") == _PERSON and str(known.get("kind")) in _KINDS
    return is_known and known.get("abandoned") is not True


def _said(turn: Turn, line: PageLine, time: datetime, *, is_replied: bool) -> RecapItem:
    known = turn.metadata
    of_tool = f" of {tool}" if known["kind"] == "rejection" and (tool := _name(known.get("tool"))) else ""
    to_agent = f" to {agent}" if (agent := _name(known.get("agent"))) else ""
    question = known.get("question")
    notes = (
        f"{_KINDS[known['kind']]}{of_tool}{to_agent}",
        "" if is_replied else "no reply is stored",
        trust_mark(DEFAULT_TRUST.of(turn)),
        line.address or "",
    )
    return RecapItem(
        text=turn.text,
        said_at=turn.said_at,
        time=time,
        notes=tuple(note for note in notes if note),
        question=question if isinstance(question, str) else None,
    )


def _name(value: Any) -> str | None:
    return value if isinstance(value, str) and _NAME.fullmatch(value) else None
