"""Finds pages by what is on them without reading each: by one look through the bytes of the log."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

from pagestore.line import Fields, decode, field_bytes, split
from pagestore.lines.interface import Lines
from pagestore.state import State
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
                yield from self._page_of(fields)

    def pages_of_turn(self, turn: str, part: int) -> Iterator[PageId]:
        """See `FindsPages.pages_of_turn`; for one part of the log."""
        for raw in _lines_holding(self._lines.data(part), field_bytes("k", turn)):
            fields = _turn_in(raw)
            if fields is not None and fields.get("k") == turn:
                yield from self._page_of(fields)

    def speakers(self, part: int) -> Iterator[bytes]:
        """Who said each turn of one part of the log, as JSON."""
        for _, raw in split(self._lines.data(part)):
            said = _SPEAKER.search(raw) if raw.find(_TURN, 0, _HEAD) >= 0 else None
            if said is not None:
                yield said[1]

    def _page_of(self, fields: Fields) -> Iterator[PageId]:
        """The page a turn is on."""
        page_id = self._state.page_of_turn(fields["q"])
        if page_id is not None:
            yield page_id


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
