"""Erasing: the words, everything that rests on them, and every trace of both in log and index.

The order: announce in the ledger which turns go; erase turns and records in one step of the log, with
what replaces them; take out of the index what they left there and have its storage rewritten; record
that it is done. A crash before the second step leaves an announcement, after it only the index to do: both
are finished by running the same steps again, which `finish` does at opening. It puts the whole space into
the index again, for it no longer knows what stood there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from itertools import count
from typing import Literal

from anyio import from_thread, to_thread

from pagestore import OpenInfo, Page, PageId, PageInfo, PageLine, SessionId, Span, Turn, TurnAddress
from pagestore.address import is_address, seq_in
from pagestore.codec import opened_as
from pagestore.errors import Locked, PageStoreError
from tiermem.collector import pause_collector
from tiermem.dialogue import AgentTurnKind, chat_of, is_of_coding_agent
from tiermem.errors import InvalidInput, SummaryIndexError, UnknownId, unexpected
from tiermem.ledger import ErasedEntry, Erasing, Ledger, LoggedEntry, Tier1, TurnAt, Unread, records_left
from tiermem.model import AnswerId, CitedSentence, FindingId, UnitId
from tiermem.text.fingerprints import FEW, Fingerprints, fingerprints, fingerprints_of
from tiermem.writing.closure import Closure, ErasedTurns, closure
from tiermem.writing.projection import Projection
from tiermem.writing.versions import is_version_of, version_id

_SAMPLED_PAGES = 32
"""Pages that are read to tell which words are rare."""
_TRIES = 50
"""How often an erasing is tried again because another process recorded something meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expiry:
    """The turns of coding agents of one kind that were said before a moment. Without a time none was."""

    kind: AgentTurnKind
    before: datetime

    def takes(self, turn: Turn) -> bool:
        """Whether a turn of a coding agent's session expires."""
        if turn.said_at is None or turn.said_at.utcoffset() is None:
            return False
        return turn.metadata.get("kind") == self.kind and turn.said_at < self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What to erase: one turn (by its address, or by its id in a session), a page, a session, all, or what
    expires of the sessions of coding agents.

    With a message by its id go all of its versions, and with a chat by its id the sessions of all its days.
    """

    turn: str | None = None
    page: PageId | None = None
    session: SessionId | None = None
    space: bool = False
    expiry: Expiry | None = None
    agent: str | None = None
    """Whose things alone may be taken; `None` for anybody's."""

    def __post_init__(self) -> None:
        session = self.session is not None and self.turn is None
        whole = sum((self.page is not None, self.space, session, self.expiry is not None))
        if whole + (self.turn is not None) != 1:
            raise InvalidInput("name one thing to erase: a turn, a page, a session, or the space")

    def has_session(self, session: str) -> bool:
        """Whether the session is named, or its chat, or no session is; what expires is of coding agents."""
        if self.expiry is not None:
            return is_of_coding_agent(session)
        return self.session in (None, session, chat_of(session))

    @property
    def has_whole_sessions(self) -> bool:
        """Whether sessions go with what was asked of them, not a turn, a page or one agent's own alone."""
        return all(one is None for one in (self.turn, self.page, self.agent, self.expiry))

    @property
    def seq(self) -> int | None:
        """The number of the turn that is named by its address; `None` where none is."""
        return seq_in(self.turn) if self.turn is not None and is_address(self.turn) else None

    def takes(self, line: PageLine) -> bool:
        """Whether the line, of a page with something that is selected, has a turn that goes."""
        if self.expiry is not None:
            return line.turn is not None and self.expiry.takes(line.turn)
        return self.turn is None or self.is_turn(line)

    def is_turn(self, line: PageLine) -> bool:
        """Whether the line has the turn that is named."""
        if self.turn is None or self.seq is not None:
            return self.turn == line.address
        return line.turn is not None and (
            self.turn == line.turn.turn_id or is_version_of(line.turn, self.turn)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """What one erasure took. Ids are of things that are gone, or changed; the log keeps their hashes.

    `records` went as they were; `stripped` of them stay without what rested on the words: units, and what
    a step that was shown the words wrote of its own (reasons, scenes, rejected claims). `narrowed` units
    stay, proved by the words that are left; `returned` ones were superseded by what is gone. `index` says
    what became of the index: `rewritten` (nothing removed is left in its storage), `removed` (its own storage
    forgets when it pleases), `untouched` (of a dry run, or where nothing went), or why it must wait.
    `also_said` are addresses of turns that stay and hold some of the words that are looked for: these are
    theirs, so they are left out.
    """

    turns: tuple[TurnAt, ...]
    pages: tuple[PageId, ...]
    records: int
    stripped: int
    units: tuple[UnitId, ...]
    narrowed: tuple[UnitId, ...]
    returned: tuple[UnitId, ...]
    findings: tuple[FindingId, ...]
    answers: tuple[AnswerId, ...]
    also_said: tuple[TurnAddress, ...]
    index: str


_NOTHING = Erasure(
    turns=(),
    pages=(),
    records=0,
    stripped=0,
    units=(),
    narrowed=(),
    returned=(),
    findings=(),
    answers=(),
    also_said=(),
    index="untouched",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What an erasure would take, the turns with their words, and what these would be looked for by."""

    erasure: Erasure
    fingerprints: Fingerprints
    words: tuple[CitedSentence, ...]


class Eraser:
    """Erases in one space. Nothing else may write meanwhile."""

    def __init__(self, ledger: Ledger, projection: Projection) -> None:
        self._ledger = ledger
        self._projection = projection

    async def erase(self, selection: Selection, reason: str) -> tuple[Erasure, Fingerprints]:
        """Take what is selected out of the space for ever; with it, what its words are known by.

        Raises `InvalidInput` for a selection that names nothing or several things, and for a reason that
        repeats the words: it stays in the log. Where nothing expires, nothing is written.
        """
        announced, erased = await self._select_turns(selection, reason)
        if not announced.turns:
            return _NOTHING, erased.words
        record = await self._ledger.write(announced)
        return await self._carry_out(record.seq, announced, erased, from_its_start=True), erased.words

    async def propose(self, selection: Selection, reason: str) -> Proposal:
        """What `erase` would take now; nothing is written. Raises the same."""
        announced, erased = await self._select_turns(selection, reason)
        entries, found = await self._closure(erased)

        def folds() -> tuple[Tier1, Tier1]:
            left = records_left(entries, erased=found.records, instead=found.instead)
            return Tier1.from_records(records_left(entries)), Tier1.from_records(left)

        before, after = await to_thread.run_sync(folds)
        changed = _changed_units(before, after)
        return Proposal(
            erasure=_erasure(
                announced, erased, found, changed, before=before, after=after, index="untouched"
            ),
            fingerprints=erased.words,
            words=_sentences(announced, erased),
        )

    async def _select_turns(self, selection: Selection, reason: str) -> tuple[Erasing, ErasedTurns]:
        pages, unread = await self._select_pages(selection)
        announced = _announce(selection, pages, reason, unread)
        erased = await self._erased_turns(announced)
        if erased.words.are_in(reason):
            raise InvalidInput("the reason repeats words that are to go, and it stays: say it without them")
        return announced, erased

    async def _closure(self, erased: ErasedTurns) -> tuple[Sequence[LoggedEntry], Closure]:
        """All entries, and which of them go or change."""
        entries = await self._ledger.logged_entries()
        return entries, await to_thread.run_sync(lambda: closure(entries, erased))

    async def finish(self) -> tuple[Erasure, ...]:
        """Finish what a crash left announced; without one, nothing happens."""
        done = []
        for seq in self._ledger.tier1.erasing:
            announced = await self._ledger.announced_erasing(seq)
            erased = await self._erased_turns(announced)
            done.append(await self._carry_out(seq, announced, erased))
        return tuple(done)

    async def _carry_out(
        self, seq: int, announced: Erasing, erased: ErasedTurns, *, from_its_start: bool = False
    ) -> Erasure:
        before, found = await self._erase(seq, announced, erased)
        after = self._ledger.tier1
        pages = tuple({page.id: page for page in erased.pages.values()}.values())
        # What the index holds of a page that it went on without is not known.
        known = from_its_start and before.aside_at("index").keys().isdisjoint(erased.pages)
        changed = _changed_units(before, after)
        index = await self._index(pages if known else None, changed)
        erasure = _erasure(announced, erased, found, changed, before=before, after=after, index=index)
        if index in ("rewritten", "removed"):
            await self._ledger.write(
                ErasedEntry(
                    intent=seq,
                    turns=len(erasure.turns),
                    units=len(erasure.units),
                    findings=len(erasure.findings),
                    answers=erasure.answers,
                )
            )
        return erasure

    async def _erase(self, seq: int, announced: Erasing, erased: ErasedTurns) -> tuple[Tier1, Closure]:
        """Erase turns and records in the log; returns the state before, and what goes or changes."""
        # The reason is in the ledger alone, where a later erasing reaches it.
        reason = f"record {seq} tells the reason"
        for _ in range(_TRIES):
            await self._ledger.catch_up()
            upto, before = await self._ledger.head(), self._ledger.tier1
            with pause_collector():
                entries, found = await self._closure(erased)
                # What another process recorded meanwhile may rest on the words.
                if await self._ledger.erase(
                    announced.turns,
                    entries=entries,
                    records=found.records,
                    instead=found.instead,
                    reason=reason,
                    upto=upto,
                ):
                    return before, found
        raise Locked(
            f"other processes record so much in space {self._ledger.space!r} that nothing could be erased "
            "yet; erase again when they ask less"
        )

    async def _index(
        self, pages: Sequence[Page] | None, units: Sequence[UnitId]
    ) -> Literal["rewritten", "removed"] | str:
        """Take pages and units out of the index; put the space into it again where the pages are unknown."""
        try:
            done = self._projection.purge() if pages is None else self._projection.take_out(pages, units)
            return "rewritten" if await done else "removed"
        except SummaryIndexError as error:
            return f"waits for the next opening: {error}"
        except PageStoreError:
            raise
        except Exception as error:  # noqa: BLE001  # reported in the receipt, and logged: the words are erased
            return f"waits for the next opening: {unexpected(error, 'taking words out of the index')}"

    async def _select_pages(self, selection: Selection) -> tuple[tuple[Page, ...], tuple[Unread, ...]]:
        """Pages with all that is selected, and why others that may hold a part of it cannot be read.

        Raises why a page that goes as a whole cannot be read.
        """
        there: Sequence[PageInfo | OpenInfo] = (*await self._ledger.pages(), *await self._ledger.filling())
        infos = [info for info in there if selection.agent in (None, info.agent)]
        if selection.turn is None:
            wanted = [info for info in infos if self._goes(selection, info)]
        else:
            found = await self._pages_of_turn(selection.turn, selection.seq, infos)
            # A page on which nothing is found may be one that cannot be read.
            wanted = [info for info in infos if info.id in found] or infos
        ids = dict.fromkeys(info.id for info in wanted)
        pages, unread = await self._read(ids)
        if unread and selection.turn is None:
            raise unread[0]
        near = _pages_of_parts(pages, infos)
        others, unread_others = await self._read(page_id for page_id in near if page_id not in ids)
        return (*pages, *others), (*unread, *unread_others)

    async def _read(self, page_ids: Iterable[PageId]) -> tuple[tuple[Page, ...], tuple[Unread, ...]]:
        """Pages, and why others cannot be read."""
        read = await self._ledger.read(tuple(page_ids))
        pages = tuple(page for page in read if isinstance(page, Page))
        return pages, tuple(page for page in read if not isinstance(page, Page))

    async def _pages_of_turn(
        self, turn: str, seq: int | None, infos: Sequence[PageInfo | OpenInfo]
    ) -> set[PageId]:
        """The pages of a turn by its number, else of a message by its id and of its later versions."""
        if seq is not None:
            return {page_id for page_id in await self._ledger.locate_turns([seq]) if page_id is not None}
        found = set(await self._ledger.pages_of_turn(turn))
        first = [info for info in infos if info.id in found]
        for session, agent in dict.fromkeys((info.session, info.agent) for info in first):
            for number in count(2):
                named = version_id(turn, number)
                later = Turn(speaker="", text="", turn_id=named, agent=agent)
                if (await self._ledger.taken_ids(session, (later,))) == ("free",):
                    break
                found |= set(await self._ledger.pages_of_turn(named))
        return found

    def _goes(self, selection: Selection, info: PageInfo | OpenInfo) -> bool:
        """Whether a selection names a page, its session, or the space."""
        if selection.page is not None:
            return selection.page in (info.id, opened_as(self._ledger.space, info))
        return selection.has_session(info.session)

    async def _erased_turns(self, announced: Erasing) -> ErasedTurns:
        named = tuple(dict.fromkeys(turn.page_id for turn in announced.turns))
        read = {page.id: page for page in [await self._ledger.page(page_id) for page_id in named]}
        affected = tuple(read.values())
        seqs = frozenset(turn.seq for turn in announced.turns)
        known = read | {opened_as(page.space, page): page for page in affected}
        # The log erases a turn with all of its parts: the words of every part are looked for.
        whole = _all_parts(line for page in affected for line in page.lines if line.seq in seqs)
        others = dict.fromkeys(await self._ledger.locate_turns(sorted(whole - seqs)))
        rest = await self._ledger.read([one for one in others if one is not None and one not in read])
        going = (*affected, *(page for page in rest if isinstance(page, Page)))
        sample = await self._sample_text()
        pages = await self._saying_the_same(going, whole, sample)
        agents = (page.agent for page in affected if page.agent is not None)
        names = (*await self._ledger.sessions(), *await self._speakers(affected, seqs), *agents)
        words, also = await to_thread.run_sync(lambda: _words(pages, whole, names, sample))
        return ErasedTurns(
            pages=known,
            read=cache(lambda page_id: from_thread.run(self._ledger.page, page_id)),
            seqs=seqs,
            words=words,
            also=also,
            sessions=frozenset(announced.whole_sessions),
            chats=await self._chats_without_turns(affected, whole),
            everything=announced.whole_space,
        )

    async def _chats_without_turns(
        self, going: Iterable[Page], seqs: frozenset[int]
    ) -> frozenset[tuple[str, str | None]]:
        """The chats with a title of which no turn stays; a page that cannot be read may have one."""
        titled = self._ledger.tier1.titled_chats
        chats = {chat for page in going if (chat := (chat_of(page.session), page.agent)) in titled}
        infos: Sequence[PageInfo | OpenInfo] = (*await self._ledger.pages(), *await self._ledger.filling())
        for info in infos if chats else ():
            if (info_chat := (chat_of(info.session), info.agent)) in chats:
                (page,) = await self._ledger.read([info.id])
                if not isinstance(page, Page) or _has_turns_left(page, seqs):
                    chats.discard(info_chat)
        return frozenset(chats)

    async def _sample_text(self) -> str:
        """Text of pages from all over the log, by which rare words are known."""
        ids = await self._ledger.page_ids()
        read = await self._ledger.read(ids[:: len(ids) // _SAMPLED_PAGES + 1], kept=True)
        return "\n".join(page.text for page in read if isinstance(page, Page))

    async def _saying_the_same(
        self, going: Sequence[Page], seqs: frozenset[int], sample: str
    ) -> tuple[Page, ...]:
        """The pages of the turns that go, and those that say some of it too; of these the ones that can be
        read.
        """
        pages = {page.id: page for page in going}
        wanted = _known_by([turn.text for turn in _turns_of(pages.values(), seqs)], (), sample)
        if len(wanted.required_words) > FEW:
            ids = await self._ledger.page_ids()
        elif wanted:
            ids = await self._ledger.pages_with(wanted.groups, wanted.are_in)
        else:
            ids = ()
        read = await self._ledger.read([page_id for page_id in ids if page_id not in pages])
        return (*pages.values(), *(page for page in read if isinstance(page, Page)))

    async def _speakers(self, going: Sequence[Page], seqs: frozenset[int]) -> Iterator[str]:
        """Everybody of whom a turn stays."""
        goes = Counter(turn.speaker for turn in _turns_of(going, seqs))
        speakers = await self._ledger.speakers()
        return (name for name, turns in speakers.items() if turns > goes[name])


def _sentences(announced: Erasing, erased: ErasedTurns) -> tuple[CitedSentence, ...]:
    """The turns that go, with who says what and when; those that were erased before have no words."""
    pages = {page.id: page for page in erased.pages.values()}
    there = {line.seq: (page, line) for page in pages.values() for line in page.lines}
    placed = (there[turn.seq] for turn in announced.turns if turn.seq in there)
    return tuple(
        CitedSentence(
            text=line.turn.text,
            speaker=line.turn.speaker,
            said_at=line.turn.said_at,
            span=Span(page_id=page.id, start=line.body, end=line.end),
            turn=line.address,
        )
        for page, line in placed
        if line.turn is not None
    )


def _has_turns_left(page: Page, seqs: frozenset[int]) -> bool:
    return any(line.turn is not None and line.seq not in seqs for line in page.lines)


def _turns_of(pages: Iterable[Page], seqs: frozenset[int]) -> Iterator[Turn]:
    return (line.turn for page in pages for line in page.lines if line.turn is not None and line.seq in seqs)


def _announce(
    selection: Selection, pages: Sequence[Page], reason: str, unread: Sequence[Unread] = ()
) -> Erasing:
    """The turns of a selection, each with all of its parts.

    Raises `UnknownId` where there are none and `InvalidInput` where several sessions have the turn. Raises
    the error of a page that cannot be read where it may hold the turn or a part of it.
    """
    found = _selected_lines(selection, pages)
    if not found and unread:
        raise unread[0]
    if not found and selection.expiry is None:
        raise _nothing_found(selection, pages)
    sessions = tuple(dict.fromkeys(page.session for page, _ in found))
    if selection.turn is not None and len(sessions) > 1:
        names = ", ".join(map(repr, sessions))
        raise InvalidInput(f"several sessions have a turn {selection.turn!r}: name one of {names}")
    # Every part of a turn that is in parts, on whatever page.
    wanted = _all_parts(line for _, line in found)
    if unread and not wanted.issubset(line.seq for page in pages for line in page.lines):
        raise unread[0]
    at = (TurnAt(page_id=page.id, seq=line.seq) for page in pages for line in page.lines)
    return Erasing(
        turns=tuple(sorted((turn for turn in at if turn.seq in wanted), key=lambda turn: turn.seq)),
        reason=reason,
        whole_sessions=sessions if selection.has_whole_sessions else (),
        whole_space=selection.space,
    )


def _selected_lines(selection: Selection, pages: Sequence[Page]) -> list[tuple[Page, PageLine]]:
    return [
        (page, line)
        for page in pages
        if (selection.page in (None, page.id, opened_as(page.space, page)))
        and selection.has_session(page.session)
        for line in page.lines
        if selection.takes(line)
    ]


def _pages_of_parts(pages: Iterable[Page], infos: Iterable[PageInfo | OpenInfo]) -> list[PageId]:
    """The pages that may hold a part of a turn on some pages: as near to them as the turn has parts."""
    parts = {
        (page.session, page.agent, number)
        for page in pages
        for reach in [max((line.parts for line in page.lines), default=1)]
        for number in range(page.number - reach + 1, page.number + reach)
    }
    return [info.id for info in infos if (info.session, info.agent, info.number) in parts]


def _nothing_found(selection: Selection, pages: Sequence[Page]) -> InvalidInput | UnknownId:
    """Why no turn is of the selection, and what to name instead."""
    numbered = [(page, line) for page in pages for line in page.lines if line.seq == selection.seq]
    for page, line in numbered:
        if line.address == selection.turn:
            return InvalidInput(
                f"turn {selection.turn!r} is of session {page.session!r}, not of {selection.session!r}: "
                "leave the session out, or name this one"
            )
    if numbered:
        return InvalidInput(
            f"{selection.turn!r} does not name turn {selection.seq} of this space: the characters after the "
            "hyphen are those of another turn; copy the address that `search`, `page` or `audit` displays"
        )
    if selection.agent is not None:
        return UnknownId(
            f"nothing to erase: agent {selection.agent!r} added nothing of {_selection_text(selection)}: "
            "an agent erases what is its own, and the owner of the space everything"
        )
    if selection.turn is not None:
        hint = "copy an address that `search`, `page` or `audit` displays; the id of a page is no turn"
    elif selection.page is not None:
        hint = "give an id that `pages` lists; the address of a turn is no page"
    else:
        hint = "give an id that `pages` lists, or the id of a chat of several days; a title is none"
    return UnknownId(f"nothing to erase: {_selection_text(selection)} is not in this space: {hint}")


def _all_parts(lines: Iterable[PageLine]) -> frozenset[int]:
    """The record numbers of all parts of the turns that these lines are parts of."""
    firsts = ((line.seq - line.part + 1, line.parts) for line in lines)
    return frozenset(seq for first, parts in firsts for seq in range(first, first + parts))


def _selection_text(selection: Selection) -> str:
    parts = {"turn": selection.turn, "page": selection.page, "session": selection.session}
    return ", ".join(f"{name} {value!r}" for name, value in parts.items() if value is not None) or "a turn"


def _words(
    pages: Iterable[Page], seqs: frozenset[int], names: Iterable[str], sample: str
) -> tuple[Fingerprints, tuple[TurnAddress, ...]]:
    """What the turns that go are known by, and the turns that stay and say some of it too.

    Names of sessions and speakers stay, and so do all other turns.
    """
    erased: list[str] = []
    stays: list[str] = []
    saying: list[TurnAddress | None] = []
    for page in pages:
        for line in page.lines:
            if line.turn is None:
                continue
            if line.seq in seqs:
                erased.append(line.turn.text)
            else:
                stays += ("\n".join(line.turn.texts()), line.turn.turn_id or "")
                saying += [line.address] * 2
    found = _known_by(erased, (*stays, *names), sample)
    also = dict.fromkeys(saying[place] for place in found.also if place < len(saying))
    return found, tuple(address for address in also if address is not None)


def _changed_units(before: Tier1, after: Tier1) -> tuple[UnitId, ...]:
    """The units that are erased, say something else, or are in force again or no longer."""
    return tuple(
        unit.id
        for unit in before.all_units()
        if after.unit(unit.id) != unit or after.is_active(unit.id) != before.is_active(unit.id)
    )


def _known_by(erased: Sequence[str], stays: Sequence[str], sample: str) -> Fingerprints:
    """Their fingerprints; a text on which these raise something unexpected is known by all of its words."""
    try:
        return fingerprints(erased, stays, sample=sample)
    except Exception as error:  # noqa: BLE001  # logged; whatever one text does, the words of all can go
        unexpected(error, "telling what words are known by")
    odd = [text for text in erased if not _have_fingerprints([text], [])]
    plain = fingerprints(
        [text for text in erased if text not in odd],
        [text if _have_fingerprints([], [text]) else "" for text in stays],
    )
    whole = fingerprints_of(odd)
    sizes = tuple(sorted({*plain.sizes, *whole.sizes}))
    return replace(plain, phrases=plain.phrases | whole.phrases, sizes=sizes)


def _have_fingerprints(erased: Sequence[str], stays: Sequence[str]) -> bool:
    try:
        fingerprints(erased, stays)
    except Exception:  # noqa: BLE001  # the first one was logged
        return False
    return True


def _missing_findings(before: Tier1, after: Tier1) -> tuple[FindingId, ...]:
    """The findings that waited or were decided on before, and are neither after."""
    left = {*after.pending, *after.decisions}
    return tuple(finding for finding in (*before.pending, *before.decisions) if finding not in left)


def _erasure(
    announced: Erasing,
    erased: ErasedTurns,
    found: Closure,
    changed: Sequence[UnitId],
    *,
    before: Tier1,
    after: Tier1,
    index: str,
) -> Erasure:
    left = {unit_id: unit for unit_id in changed if (unit := after.unit(unit_id)) is not None}
    worded = {line.seq for page in erased.pages.values() for line in page.lines if line.turn is not None}
    return Erasure(
        turns=tuple(turn for turn in announced.turns if turn.seq in worded),
        pages=tuple(dict.fromkeys(page.id for page in erased.pages.values())),
        records=len(found.records),
        stripped=found.stripped,
        units=tuple(unit_id for unit_id in changed if unit_id not in left),
        narrowed=tuple(
            unit.id
            for unit in left.values()
            if (old := before.unit(unit.id)) is not None and old.spans != unit.spans
        ),
        returned=tuple(
            unit_id for unit_id in left if after.is_active(unit_id) and not before.is_active(unit_id)
        ),
        findings=_missing_findings(before, after),
        answers=tuple(answer for answer in before.answers if answer not in after.answers),
        also_said=erased.also,
        index=index,
    )
