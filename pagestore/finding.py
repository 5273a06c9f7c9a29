"""Finds pages by what is on them without reading each: by one look through the bytes of the log."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator

from pagestore.codec import open_page_id
from pagestore.line import TURNS, Fields, decode, field_bytes, split
from pagestore.lines.interface import Lines
from pagestore.state import State, thread_of
from pagestore.values import PageId, texts_in

Says = Callable[[str], bool]

_TURN = b'"t":"turn"'
_HEAD = 80
"""Bytes within which a line says of what type it is: behind two numbers."""
_SPEAKER = re.compile(rb',"sp":("(?:[^"\\]|\\.)*")')


class Finder:
    """Looks through one log. The caller holds the lock under which `state` changes."""

    def __init__(self, lines: Lines, state: State) -> None:
        self._lines = lines
        self._state = state

    def pages_with(self, words: Collection[str], says: Says, part: int) -> Iterator[PageId]:
        """See `FindsPages.pages_with`; for one part of the log."""
        for raw in _lines_with(self._lines.data(part), words):
            fields = _turn_in(raw)
            if fields is not None and any(map(says, _texts(fields))):
                yield self._page_of(fields)

    def pages_of_turn(self, turn: int | str, part: int) -> Iterator[PageId]:
        """See `FindsPages.pages_of_turn`; for one part of the log."""
        name = "q" if isinstance(turn, int) else "k"
        for raw in _lines_holding(self._lines.data(part), field_bytes(name, turn)):
            fields = _turn_in(raw)
            if fields is not None and fields.get(name) == turn:
                yield self._page_of(fields)

    def page_of_number(self, seq: int) -> PageId | None:
        """The page of the turn of this number, erased or not; `None` where its line cannot be read."""
        if not 0 <= seq <= self._state.head:
            return None
        fields = self._state.tombstone_of(seq) or decode(self._lines.read(seq)[0])
        is_turn = fields is not None and fields["t"] in TURNS and fields["q"] == seq
        return self._page_of(fields) if fields is not None and is_turn else None

    def speakers(self, part: int) -> Iterator[bytes]:
        """Who said each turn of one part of the log, as JSON."""
        for _, raw in split(self._lines.data(part)):
            said = _SPEAKER.search(raw) if raw.find(_TURN, 0, _HEAD) >= 0 else None
            if said is not None:
                yield said[1]

    def _page_of(self, fields: Fields) -> PageId:
        """The page a turn is on."""
        (name, agent), seq = thread_of(fields), fields["q"]
        session = self._state.sessions[name, agent]
        # It seals later than the turn was said.
        for page in session.pages[bisect_right(session.pages, seq, key=lambda page: page.seq) :]:
            if any(first <= seq < first + count for first, count in self._state.turns_of[page.id]):
                return page.id
        return open_page_id(self._state.space, name, session.next_number, agent)


def _turn_in(raw: bytes) -> Fields | None:
    """The fields of a turn's line; `None` for any other."""
    fields = decode(raw)
    return fields if fields is not None and fields["t"] == "turn" else None


def _texts(fields: Fields) -> Iterator[str]:
    yield from (fields["x"], fields.get("k", ""))
    yield from texts_in(fields.get("m"))


def _lines_with(data: bytes, words: Collection[str]) -> Iterator[bytes]:
    """The lines in which one of some words is, whatever its case, perhaps within another word.

    Bytes are searched where case is a matter of ASCII; any other line is read as text.
    """
    lowered = data.lower()
    found: set[int] = set()
    for word in words:
        if word.isascii():
            found.update(_line_starts(lowered, word.encode()))
    for start, raw in split(data):
        if start in found or (not raw.isascii() and _says(raw, words)):
            yield raw


def _says(raw: bytes, words: Collection[str]) -> bool:
    text = raw.decode("utf-8", "surrogatepass").casefold()
    return any(word in text for word in words)


def _lines_holding(data: bytes, piece: bytes) -> Iterator[bytes]:
    for start in _line_starts(data, piece):
        yield data[start : data.find(b"\n", start) + 1]


def _line_starts(data: bytes, piece: bytes) -> Iterator[int]:
    """Where the lines begin that hold a piece."""
    at = data.find(piece)
    while at >= 0:
        yield data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        at = data.find(piece, end) if end >= 0 else -1
