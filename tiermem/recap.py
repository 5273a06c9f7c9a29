"""The recap of a space for a new session of a coding agent: what was stated, and what the person said last.

It is read from the log alone, by a process that ends with it: no index, no model, no network and no lock.
Everything is as it was said, with its date and its address. `Memory.profile` reads and displays its items in
the same way.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from itertools import chain, zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

import anyio

from pagestore import (
    EstimateCounter,
    OpenInfo,
    Page,
    PageId,
    PageInfo,
    PageLine,
    PageLog,
    SessionId,
    SpaceId,
    Span,
    Store,
    Turn,
)
from tiermem.dialogue.agent_folders import is_of_coding_agent
from tiermem.ledger import Ledger, Tier1, Visibility
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
_UNNAMED: Final = "user"
"""The speaker of a statement whose speaker was not named."""
_OTHERS: Final = ("agent", "sub-agent")
_KINDS: Final[Mapping[str, str]] = {
    "prompt": "prompt",
    "queued_prompt": "queued prompt",
    "rejection": "rejection",
    "answer": "answer",
}
"""The kinds of turns that a recap has, and what it calls them. A command for the agent's menu is none."""
_STEERING: Final = _KINDS.keys() - {"prompt"}
"""The kinds in which the person corrects, decides or adds."""
_UNITS: Final = {"summary": "summarised", "finding": "found for a question", "quote": "as said"}
"""What a profile calls the kinds of units that a model made."""
_SPEAKING: Final = frozenset({None, "user"})
"""The roles of turns of people in sessions that are not of coding agents."""
_OF_NO_AGENT: Final = Visibility(agents=frozenset())
"""Who sees what is of no agent of TierMem, and nothing else."""
_NAME = re.compile(r"[A-Za-z][\w-]{0,40}", re.ASCII)
"""A name of an agent or a tool that may be displayed next to what memory writes itself."""
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_LATEST = datetime.max.replace(tzinfo=UTC)


RecapGroup = Literal["statement", "unit", "steering", "turn"]
"""What an item is: a statement, another unit, a turn in which the person corrects, decides or adds, another
turn. They are displayed in this order.
"""
_GROUPS: Final = get_args(RecapGroup)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapItem:
    """A unit, or a turn of the person: its words, what is said of it, and when it was said.

    `time` orders it: where `said_at` is unknown, that of the nearest turn on its page with a time. `page` and
    `line` are where its words are, as far as they may be seen, without words that were taken back.
    """

    text: str
    notes: tuple[str, ...]
    said_at: datetime | None
    time: datetime
    group: RecapGroup = "turn"
    question: str | None = None
    page: Page | None = None
    line: PageLine | None = None
    unit: SummaryUnit | None = None


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
    """Return as many of the items as fit into `max_tokens` as a marked block; "" where none fits."""
    most = max_tokens - count(mark_block("", space))
    block, _ = compose_block(items, max_tokens=most, count=count)
    return mark_block(block, space) if block else ""


def compose_block(
    items: Sequence[RecapItem], *, max_tokens: int, count: Callable[[str], int]
) -> tuple[str, tuple[RecapItem, ...]]:
    """Return as many of the items as fit into `max_tokens` as a block, and which, in the order of the block.

    They are ordered by group, and within one by time. The newest are kept, one of each group by turns.
    "" where none fits.
    """
    newest = sorted(items, key=lambda item: item.time, reverse=True)
    groups = [[item for item in newest if item.group == group] for group in reversed(_GROUPS)]
    left = max_tokens - count(f"{HEADING}\n")
    kept: list[RecapItem] = []
    for item in filter(None, chain.from_iterable(zip_longest(*groups))):
        tokens = count(f"{_rows(len(items), item)}\n")
        if tokens > left:
            break
        left -= tokens
        kept.append(item)
    if not kept:
        return "", ()
    kept.reverse()
    kept.sort(key=lambda item: (_GROUPS.index(item.group), item.time))
    rows = (_rows(number, item) for number, item in enumerate(kept, start=1))
    return "\n".join([HEADING, *rows]), tuple(kept)


def _rows(number: int, item: RecapItem) -> str:
    """The lines of an item, as a context has them: words open with `| `."""
    said = "undated" if item.said_at is None else f"said {_moment(item.said_at)}"
    noted = "noted; " if item.group in ("statement", "unit") else ""
    head = "; ".join((f"[{number}] {noted}{said}", *item.notes))
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


async def _read_items(log: PageLog) -> Sequence[RecapItem]:
    """The items of a recap."""
    ledger = await Ledger.open(log, read_only=True)
    units = [unit for unit in ledger.tier1.units() if unit.kind == "stated" and _OF_NO_AGENT.unit(unit)]
    stated = [await _unit_item(ledger, _OF_NO_AGENT, unit) for unit in units[-_STATED:]]
    pages = await ledger.pages_with([(_PERSON,)], lambda text: text == _PERSON)
    said = await _newest_said(ledger, _OF_NO_AGENT, pages, _is_recapped, most=_SAID)
    return (*stated, *(replace(item, group="turn") for item in said))


async def read_profile_items(ledger: Ledger, sees: Visibility, *, most: int) -> Sequence[RecapItem]:
    """Return the items of a profile, at most so many of each group: the newest of what may be seen.

    Units hold, and are statements or were made by a model. Turns are those of a recap, and in sessions that
    are not of coding agents those of the role `user` or of none.
    """
    held = [unit for unit in ledger.tier1.units() if sees.unit(unit) and not unit.is_extract]
    statements = [unit for unit in held if unit.kind == "stated"]
    stated = statements[-most:]
    made = [unit for unit in held if unit.kind != "stated"][-most:]
    units = [await _unit_item(ledger, sees, unit) for unit in (*stated, *made)]
    noted: dict[PageId, list[Span]] = {}
    for span in (unit.spans[0] for unit in statements):
        noted.setdefault(span.page_id, []).append(span)
    of_person = await ledger.pages_with([(_PERSON,)], lambda text: text == _PERSON)
    chats = [page.id for page in await _pages_of(ledger, sees) if not is_of_coding_agent(page.session)]
    turns = await _newest_said(ledger, sees, (*of_person, *chats), _is_other_turn, most=most, noted=noted)
    pages = await ledger.pages_with([(kind,) for kind in _STEERING], _STEERING.__contains__)
    steering = await _newest_said(ledger, sees, pages, _is_steering, most=most)
    return (*units, *steering, *turns)


async def _unit_item(ledger: Ledger, sees: Visibility, unit: SummaryUnit) -> RecapItem:
    """A unit with the page and the line on which its words begin, where these may be seen."""
    page: Page | None = await ledger.page(unit.spans[0].page_id)
    line = None if page is None or not sees.page(page) else page.line_at(unit.spans[0].start)
    notes = (_UNITS.get(unit.kind, ""), trust_mark(unit.trust), "" if line is None else line.address or "")
    speaker = "" if line is None or line.turn is None else line.turn.speaker
    is_named = speaker in ("", _UNNAMED) or unit.text.startswith(f"{speaker}: ")
    return RecapItem(
        text=unit.text if is_named or unit.kind != "stated" else f"{speaker}: {unit.text}",
        said_at=unit.said_at,
        time=_with_zone(unit.said_at) or _LONG_AGO,
        group="statement" if unit.kind == "stated" else "unit",
        notes=tuple(note for note in notes if note),
        page=None if line is None else page,
        line=line,
        unit=unit,
    )


async def _newest_said(
    ledger: Ledger,
    sees: Visibility,
    page_ids: Collection[PageId],
    is_wanted: Callable[[Turn], bool],
    *,
    most: int,
    noted: Mapping[PageId, Sequence[Span]] = MappingProxyType({}),
) -> Sequence[RecapItem]:
    """The newest turns that are wanted, of those on these pages; each text once, where it was said last.

    Turns with spans that are `noted` are left out. No more pages are read than these turns need, and of each
    session the last.
    """
    # A page of noted turns alone is not read.
    pages = [page for page in await _pages_of(ledger, sees) if page.turns != len(noted.get(page.id, ()))]
    sessions = _pages_by_session(pages, frozenset(page_ids))
    streams = [_said_in(ledger, places, is_wanted, noted) for places in sessions.values()]
    seen: dict[str, RecapItem] = {}
    async for item in _merge_newest(streams):
        seen.setdefault(fold_text(item.text), item)
        if len(seen) == most:
            break
    return tuple(seen.values())


async def _merge_newest(streams: Iterable[AsyncIterator[RecapItem]]) -> AsyncIterator[RecapItem]:
    """The items of streams, each of which has its newest first, the newest of all first."""
    left: list[tuple[timedelta, int, RecapItem, AsyncIterator[RecapItem]]] = []
    for number, stream in enumerate(streams):
        async for item in stream:
            heappush(left, (_LATEST - item.time, number, item, stream))
            break
    while left:
        _, number, item, stream = heappop(left)
        yield item
        async for following in stream:
            heappush(left, (_LATEST - following.time, number, following, stream))
            break


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A page of a session, and whether turns that are wanted may be on it."""

    page_id: PageId
    is_read: bool


async def _pages_of(ledger: Ledger, sees: Visibility) -> Sequence[PageInfo | OpenInfo]:
    """The pages that may be seen, in order, those being filled last."""
    # Open pages are read first: one that is sealed meanwhile is met twice, and not missed.
    filling = await ledger.filling()
    pages: tuple[PageInfo | OpenInfo, ...] = (*await ledger.pages(), *filling)
    return tuple(filter(sees.page, pages))


def _pages_by_session(
    pages: Iterable[PageInfo | OpenInfo], wanted: Collection[PageId]
) -> Mapping[SessionId, Sequence[_Place]]:
    """The pages of each session with a page that is wanted, the newest first."""
    places: dict[SessionId, list[_Place]] = {}
    for page in pages:
        places.setdefault(page.session, []).append(_Place(page_id=page.id, is_read=page.id in wanted))
    return {session: ours[::-1] for session, ours in places.items() if any(one.is_read for one in ours)}


async def _said_in(
    ledger: Ledger,
    places: Iterable[_Place],
    is_wanted: Callable[[Turn], bool],
    noted: Mapping[PageId, Sequence[Span]],
) -> AsyncIterator[RecapItem]:
    """The turns that are wanted in a session, the newest first; no more pages are read than are asked for."""
    is_replied = False
    for place in places:
        if not place.is_read:
            is_replied = True
            continue
        page = _visible_page(await ledger.page(place.page_id), ledger.tier1)
        lines = page.lines
        for line, time in zip(reversed(lines), reversed(_times(lines)), strict=True):
            turn = line.turn
            if turn is None or turn.metadata.get("author") in _OTHERS:
                is_replied = True
            elif any(line.touches(span) for span in noted.get(place.page_id, ())):
                continue
            elif line.part == 1 and is_wanted(turn):
                yield _recap_item(page, turn, line, time, is_replied=is_replied)


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


def _visible_page(page: Page, tier1: Tier1) -> Page:
    return without_own_contexts(without(page, tier1.taken_back(page.id)))


def _is_recapped(turn: Turn) -> bool:
    """Whether the person said it, other than to the agent's menu, and did not take it back by a rewind."""
    known = turn.metadata
    is_known = known.get("author") == _PERSON and str(known.get("kind")) in _KINDS
    return is_known and known.get("abandoned") is not True


def _is_steering(turn: Turn) -> bool:
    """Whether the person corrected, decided or added with it, by its format."""
    return _is_recapped(turn) and turn.metadata["kind"] in _STEERING


def _is_other_turn(turn: Turn) -> bool:
    """Whether it is another turn of a person. In a session without authors the role decides."""
    if "author" not in turn.metadata:
        return turn.role in _SPEAKING
    return _is_recapped(turn) and not _is_steering(turn)


def _recap_item(page: Page, turn: Turn, line: PageLine, time: datetime, *, is_replied: bool) -> RecapItem:
    known = turn.metadata
    is_of_agent = "author" in known
    of_tool = f" of {tool}" if known.get("kind") == "rejection" and (tool := _name(known.get("tool"))) else ""
    to_agent = f" to {agent}" if (agent := _name(known.get("agent"))) else ""
    question = known.get("question")
    notes = (
        f"{_KINDS[known['kind']]}{of_tool}{to_agent}" if is_of_agent else "",
        "" if is_replied or not is_of_agent else "no reply is stored",
        trust_mark(DEFAULT_TRUST.of(turn)),
        line.address or "",
    )
    return RecapItem(
        text=turn.text if is_of_agent else f"{turn.speaker}: {turn.text}",
        said_at=turn.said_at,
        time=time,
        group="steering" if _is_steering(turn) else "turn",
        notes=tuple(note for note in notes if note),
        question=question if isinstance(question, str) else None,
        page=page,
        line=line,
    )


def _name(value: Any) -> str | None:
    return value if isinstance(value, str) and _NAME.fullmatch(value) else None
