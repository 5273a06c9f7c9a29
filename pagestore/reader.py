"""Reads pages, turns and records back from their places. What does not agree with its hash is `Corrupt`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain, islice

from pagestore.codec import key_of, open_page_id, page_id, said_of
from pagestore.errors import Corrupt, PageNotFound, RecordNotFound
from pagestore.line import Fields, Line, Place, as_written, decode, line_of, split
from pagestore.lines.segments import Segments
from pagestore.pager import full_page
from pagestore.rendering import render_page
from pagestore.staging import Stored
from pagestore.state import Session, State, page_info, runs_of, unpacked
from pagestore.values import History, Page, PageId, PageInfo, Record, SessionId, Taken, Turn


class Reader:
    """The reading end of one log. The caller holds the lock under which `state` changes."""

    def __init__(self, segments: Segments, state: State, *, page_tokens: int, counter: str) -> None:
        self._segments = segments
        self._state = state
        self._page_tokens = page_tokens
        self._counter = counter

    def page(self, wanted: PageId) -> Page:
        """A sealed page, or an open one by its `o1:` id."""
        sealed = self._state.pages.get(self._state.sealed_as.get(wanted, wanted))
        if sealed is not None:
            return self._sealed_page(sealed)
        name = self._state.filling.get(wanted)
        if name is not None:
            return self._open_page(name, self._state.sessions[name])
        raise PageNotFound(f"space {self._state.space!r} has no page {wanted!r}")

    def open_page(self, name: SessionId) -> Page | None:
        """The page a session is filling."""
        session = self._state.sessions.get(name)
        return self._open_page(name, session) if session and session.waiting else None

    def turn(self, wanted: PageId, seq: int) -> list[Line]:
        """The line of a turn on a page, with the lines of its other parts when it has any."""
        page = self.page(wanted)
        found = next((line for line in page.lines if line.seq == seq), None)
        if found is None:
            raise RecordNotFound(f"page {wanted!r} holds no turn {seq}")
        first = seq - found.part + 1
        seqs = range(first, first + found.parts)
        nearby = range(page.number - found.parts, page.number + found.parts + 1)
        session = self._state.sessions[page.session]
        sealed = (self.runs(p) for p in session.pages if p.number in nearby)
        lines = self._turn_lines(chain(*sealed, runs_of(session.waiting)))
        return [line for line in lines if line.seq in seqs]

    def record_line(self, seq: int) -> Line:
        """The line of a record that a caller wrote, or its stub; raises `RecordNotFound` for any other."""
        row = self._state.records.row(seq)
        place = self._state.records.place(row) if row is not None else None
        raw = self._segments.read(place) if place is not None else b""
        fields = decode(raw)
        if place is None or fields is None or fields["t"] not in ("rec", "void"):
            raise RecordNotFound(f"space {self._state.space!r} has no record {seq} that could be erased")
        return line_of(raw, fields, place)

    def lines_of(self, info: PageInfo) -> list[Line]:
        """The lines of a sealed page's turns, in order; raises `Corrupt` when they do not make its id."""
        lines = list(self._turn_lines(self.runs(info)))
        self._check_id(info, lines)
        return lines

    def runs(self, info: PageInfo) -> list[list[int]]:
        """Where the turns of a sealed page lie: `[segment, offset, length, turns]` each."""
        runs: list[list[int]] = self._seal(info)["u"]
        return runs

    def stored(self, key: bytes) -> Stored | None:
        """The turn stored under a key."""
        packed = self._state.keys.get(key)
        if packed is None:
            return None
        segment, offset = unpacked(packed)
        with as_written(self._segments.where(segment, offset)):
            line = self._turn_at(segment, offset)
            fields = line.fields
            if fields["t"] == "gone":
                return Stored(seq=fields["q"], words=None)
            texts = [line.fields["x"] for line in self._parts(line, fields.get("p", (1, 1))[1])]
            return Stored(seq=fields["q"], words=(fields["sp"], "".join(texts)))

    def taken(self, session: SessionId, turn: Turn) -> Taken:
        """How the id of a turn is taken."""
        salts = (self._state.salt, b"")
        keys = () if turn.turn_id is None else (key_of(session, turn.turn_id, salt) for salt in salts)
        found = next((stored for key in keys if (stored := self.stored(key)) is not None), None)
        if found is None:
            return "free"
        if found.words is None:
            return "erased"
        return "same" if found.words == (turn.speaker, turn.text) else "other"

    def record(self, row: int) -> Record:
        """The record of a row, as callers see it; of an erased one only when it was."""
        place = self._state.records.place(row)
        fields = self._state.stub_at(place.segment, place.offset) or self._segments.fields(place)
        if fields["t"] == "page":
            return _seal_as_record(fields)
        at = datetime.fromisoformat(fields["at"])
        if fields["t"] == "void":
            return Record(seq=fields["q"], kind="void", at=at, body={})
        return Record(seq=fields["q"], kind=fields["n"], at=at, body=fields["b"])

    def history(self, seq: int) -> History | None:
        """The log up to a record; `None` where there is no such one.

        The root of the tree binds everything but turns that no page sealed by then, and a turn's line has a
        salt: where the newest line is the same one, so is all before it.
        """
        if not 0 <= seq <= self._state.head:
            return None
        size = self._state.records.first_after(seq)
        newest = self._state.newest_digest if seq == self._state.head else b""
        root = self._state.tree.root(size)
        return History(
            seq=seq, digest=hashlib.sha256(root + (newest or self._digest(size - 1, seq))).hexdigest()
        )

    def _digest(self, row: int, seq: int) -> bytes:
        """The digest of line `seq`: of the record of a row, or of one of the turns that lie behind it."""
        records = self._state.records
        turns, place = seq - records.seq(row), records.place(row)
        if not turns:
            return self._state.tree.leaf(row)
        behind = Place(place.segment, place.end, self._segments.size(place.segment) - place.end)
        at, raw = next(islice(split(self._segments.read(behind)), turns - 1, None), (0, b""))
        return self._turn_of(raw, Place(place.segment, place.end + at, len(raw))).digest

    def _sealed_page(self, info: PageInfo) -> Page:
        seal = self._seal(info)
        lines = list(self._turn_lines(seal["u"]))
        self._check_id(info, lines)
        text, page_lines = render_page(said_of(line.fields) for line in lines)
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
        )

    def _check_id(self, info: PageInfo, lines: Sequence[Line]) -> None:
        hashes = [line.digest for line in lines]
        if info.id != page_id(self._state.space, info.session, info.number, hashes):
            raise Corrupt(f"page {info.id!r}: its turns are not the ones it was sealed with; run `verify`")

    def _open_page(self, name: SessionId, session: Session) -> Page:
        # More than a page waits only where a crash took the seals and nobody has opened to write since.
        full = full_page((turn.tokens for turn in session.waiting), self._page_tokens)
        turns = session.waiting[: full or None]
        lines = self._turn_lines(runs_of(turns))
        text, page_lines = render_page(said_of(line.fields) for line in lines)
        return Page(
            id=open_page_id(self._state.space, name, session.next_number),
            space=self._state.space,
            session=name,
            number=session.next_number,
            text=text,
            lines=page_lines,
            tokens=sum(turn.tokens for turn in turns),
            token_counter=self._counter,
            sealed_at=None,
        )

    def _seal(self, info: PageInfo) -> Fields:
        row = self._state.records.row(info.seq)
        if row is None:
            raise Corrupt(f"page {info.id!r}: its seal, record {info.seq}, is missing; run `verify`")
        fields = self._segments.fields(self._state.records.place(row))
        if fields.get("id") != info.id:
            raise Corrupt(f"page {info.id!r}: record {info.seq} is not its seal; run `verify`")
        return fields

    def _turn_lines(self, runs: Iterable[Sequence[int]]) -> Iterator[Line]:
        for segment, offset, length, _ in runs:
            for at, raw in split(self._segments.read(Place(segment, offset, length))):
                yield self._turn_of(raw, Place(segment, offset + at, len(raw)))

    def _turn_at(self, segment: int, offset: int) -> Line:
        raw = self._segments.read_line(segment, offset)
        return self._turn_of(raw, Place(segment, offset, len(raw)))

    def _parts(self, line: Line, parts: int) -> Iterator[Line]:
        """A first part and those that follow: they lie behind one another."""
        yield line
        for _ in range(1, parts):
            line = self._turn_at(line.place.segment, line.place.end)
            yield line

    def _turn_of(self, raw: bytes, place: Place) -> Line:
        fields = self._state.stub_at(place.segment, place.offset) or decode(raw)
        if fields is None or fields["t"] not in ("turn", "gone"):
            where = self._segments.where(place.segment, place.offset)
            raise Corrupt(f"{where}: the turn there is unreadable; run `verify`")
        return line_of(raw, fields, place)


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
    text, _ = render_page([said_of(line.fields)])
    return len(text)
