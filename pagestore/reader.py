"""Reads pages, turns and records back by number. What does not agree with its hash is `Corrupt`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from pagestore.codec import key_of_turn, open_page_id, page_id, turn_part_of
from pagestore.errors import Corrupt, PageNotFound, RecordNotFound
from pagestore.line import TURNS, Fields, Line, as_written, decode, line_of
from pagestore.lines.interface import Lines
from pagestore.page_cache import KeptPages
from pagestore.pager import full_page
from pagestore.rendering import render_page
from pagestore.staging import StoredTurn
from pagestore.state import Run, Session, State, Thread, page_info, runs_of
from pagestore.values import History, Page, PageId, PageInfo, Record, SessionId, Taken, Turn


class LogReader:
    """The reading end of one log. The caller holds the lock under which `state` changes."""

    def __init__(
        self, lines: Lines, state: State, kept: KeptPages, *, page_tokens: int, counter: str
    ) -> None:
        self._lines = lines
        self._state = state
        self._page_tokens = page_tokens
        self._counter = counter
        self._kept = kept

    def page(self, wanted: PageId) -> Page:
        """A sealed page, or an open one by its `o1:` id, read from the lines and checked."""
        sealed = self._state.pages.get(self._state.sealed_as.get(wanted, wanted))
        try:
            if sealed is not None:
                return self._sealed_page(sealed)
            name = self._state.filling.get(wanted)
            if name is not None:
                return self._open_page(name, self._state.sessions[name])
        except Corrupt:
            self._kept.forget(wanted if sealed is None else sealed.id)
            raise
        raise PageNotFound(f"space {self._state.space!r} has no page {wanted!r}")

    def kept_page(self, wanted: PageId) -> Page:
        """`page`, as it was read before where nothing of it changed."""
        sealed = self._state.sealed_as.get(wanted, wanted)
        state = self._filled_up_to(sealed)
        kept = self._kept.get(sealed, state)
        if kept is None:
            kept = self.page(wanted)
            self._kept.put_page(kept, state)
        return kept

    def pages_at_hand(self, wanted: Sequence[PageId]) -> tuple[Page, ...] | None:
        """Pages as they were read before; `None` where one would have to be read."""
        pages: list[Page] = []
        for one in wanted:
            sealed = self._state.sealed_as.get(one, one)
            kept = self._kept.get(sealed, self._filled_up_to(sealed))
            if kept is None:
                return None
            pages.append(kept)
        return tuple(pages)

    def _filled_up_to(self, page_id: PageId) -> int | None:
        """The newest turn of an open page: it stays as it is while that is the same. `None` of any other."""
        name = self._state.filling.get(page_id)
        return None if name is None else self._state.sessions[name].waiting[-1].seq

    def open_page(self, name: SessionId, agent: str | None) -> Page | None:
        """The page a session is filling, for an agent or for none."""
        session = self._state.sessions.get((name, agent))
        return self._open_page((name, agent), session) if session and session.waiting else None

    def turn(self, wanted: PageId, seq: int) -> list[Line]:
        """The line of a turn on a page, with the lines of its other parts when it has any."""
        page = self.page(wanted)
        found = next((line for line in page.lines if line.seq == seq), None)
        if found is None:
            raise RecordNotFound(f"page {wanted!r} holds no turn {seq}")
        return list(self._turns([(seq - found.part + 1, found.parts)]))

    def record_line(self, seq: int) -> Line:
        """The line of a record that a caller wrote, or its tombstone; `RecordNotFound` for any other."""
        raw = self._lines.read(seq)[0] if self._state.records.row(seq) is not None else b""
        fields = decode(raw)
        if fields is None or fields["t"] not in ("rec", "void"):
            raise RecordNotFound(f"space {self._state.space!r} has no record {seq} that could be erased")
        return line_of(raw, fields)

    def lines_of(self, info: PageInfo) -> list[Line]:
        """The lines of a sealed page's turns, in order; raises `Corrupt` when they do not make its id."""
        try:
            lines = list(self._turns(self._state.turns_of[info.id]))
        except Corrupt:
            self._kept.forget(info.id)
            raise
        hashes = [line.digest for line in lines]
        if info.id != page_id(self._state.space, info.session, info.number, hashes):
            self._kept.forget(info.id)
            raise Corrupt(f"page {info.id!r}: its turns are not the ones it was sealed with; run `verify`")
        return lines

    def stored_turn(self, key: bytes) -> StoredTurn | None:
        """The turn stored under a key."""
        seq = self._state.keys.get(key)
        if seq is None:
            return None
        with as_written(self._lines.where(seq)):
            (line,) = self._turns([(seq, 1)])
            if line.kind == "gone":
                return StoredTurn(seq=seq, words=None)
            _, parts = line.fields.get("p", (1, 1))
            texts = [part.fields["x"] for part in (line, *self._turns([(seq + 1, parts - 1)]))]
            return StoredTurn(seq=seq, words=(line.fields["sp"], "".join(texts)))

    def taken_id(self, session: SessionId, turn: Turn) -> Taken:
        """How the id of a turn is taken."""
        key = key_of_turn(session, turn, self._state.salt)
        found = None if key is None else self.stored_turn(key)
        if found is None:
            return "free"
        if found.words is None:
            return "erased"
        return "same" if found.words == (turn.speaker, turn.text) else "other"

    def record(self, seq: int) -> Record:
        """A record that is no turn, as callers see it; of an erased one only when it was."""
        return self.records([seq])[0]

    def records(self, seqs: Sequence[int]) -> list[Record]:
        """Several as `record` gives them, read together."""
        lines = zip(seqs, self._lines.read_some(seqs), strict=True)
        return [self._record(self._state.tombstone_of(seq) or self._decode(seq, raw)) for seq, raw in lines]

    def _record(self, fields: Fields) -> Record:
        if fields["t"] == "page":
            return _seal_as_record(fields)
        at = datetime.fromisoformat(fields["at"])
        if fields["t"] == "void":
            return Record(seq=fields["q"], kind="void", at=at, body={})
        return Record(seq=fields["q"], kind=fields["n"], at=at, body=fields["b"])

    def history(self, seq: int) -> History | None:
        """The log up to a record; `None` where there is no such one."""
        if not 0 <= seq <= self._state.head:
            return None
        return History(seq=seq, digest=self._state.tree.root(seq + 1).hex())

    def _sealed_page(self, info: PageInfo) -> Page:
        seal = self._decode(info.seq, self._lines.read(info.seq)[0])
        if seal.get("id") != info.id:
            raise Corrupt(f"page {info.id!r}: record {info.seq} is not its seal; run `verify`")
        lines = self.lines_of(info)
        text, page_lines = render_page(map(turn_part_of, lines))
        return Page(
            id=info.id,
            space=self._state.space,
            session=info.session,
            number=info.number,
            text=text,
            lines=page_lines,
            tokens=info.tokens,
            token_counter=seal["m"],
            sealed_at=info.sealed_at,
            agent=info.agent,
        )

    def _open_page(self, thread: Thread, session: Session) -> Page:
        # More than a page waits only where a crash took the seals and no writer has opened since.
        full = full_page((turn.tokens for turn in session.waiting), self._page_tokens)
        turns = session.waiting[: full or None]
        lines = self._turns(runs_of(turns))
        text, page_lines = render_page(map(turn_part_of, lines))
        name, agent = thread
        return Page(
            id=open_page_id(self._state.space, name, session.next_number, agent),
            space=self._state.space,
            session=name,
            number=session.next_number,
            text=text,
            lines=page_lines,
            tokens=sum(turn.tokens for turn in turns),
            token_counter=self._counter,
            sealed_at=None,
            agent=agent,
        )

    def _turns(self, runs: Iterable[Run]) -> Iterator[Line]:
        """The lines of turns, or their tombstones."""
        for first, count in runs:
            for seq, raw in enumerate(self._lines.read(first, count), start=first):
                fields = self._state.tombstone_of(seq) or decode(raw)
                if fields is None or fields["t"] not in TURNS or fields["q"] != seq:
                    raise Corrupt(f"{self._lines.where(seq)}: the turn there is unreadable; run `verify`")
                yield line_of(raw, fields)

    def _decode(self, seq: int, raw: bytes) -> Fields:
        fields = decode(raw)
        if fields is None or fields["q"] != seq:
            raise Corrupt(f"{self._lines.where(seq)}: the record there is unreadable")
        return fields


def _seal_as_record(fields: Fields) -> Record:
    info = page_info(fields)
    body = {
        "page": info.id,
        "session": info.session,
        "number": info.number,
        "turns": info.turns,
        "tokens": info.tokens,
    }
    return Record(seq=info.seq, kind="page", at=info.sealed_at, body=body)


def rendered_length(line: Line) -> int:
    """How many characters a turn's line takes on its page."""
    text, _ = render_page([turn_part_of(line)])
    return len(text)
