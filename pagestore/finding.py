"""Finds pages by what is on them without reading each: by one look through the bytes of the log."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from pagestore.line import Fields, decode, field_bytes, split
from pagestore.lines.interface import Lines
from pagestore.state import State
from pagestore.values import PageId, texts_in

Says = Callable[[str], bool]
Groups = Collection[Sequence[str]]
"""Words that must be together, in each group that first by which a line is found."""

_TURN = b'"t":"turn"'
_HEAD = 80
"""Bytes within which a line says of what type it is: behind two numbers."""
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_SPEAKER = re.compile(rb',"sp":("(?:[^"\\]|\\.)*")')


class Finder:
    """Looks through one log. The caller holds the lock under which `state` changes."""

    def __init__(self, lines: Lines, state: State) -> None:
        self._lines = lines
        self._state = state

    def pages_with(self, groups: Groups, says: Says, part: int) -> Iterator[PageId]:
        """See `FindsPages.pages_with`; for one part of the log."""
        for raw in lines_with(self._lines.data(part), groups):
            fields = _turn_in(raw)
            if fields is not None:
                texts = (fields["x"], fields.get("k", ""), *texts_in(fields.get("m")))
                if any(map(says, texts)):
                    yield from self._page_of(fields)

    def pages_of_turn(self, turn: str, part: int) -> Iterator[PageId]:
        """See `FindsPages.pages_of_turn`; for one part of the log."""
        data = self._lines.data(part)
        for start, end in _line_ranges(data, partial(data.find, field_bytes("k", turn))):
            fields = _turn_in(data[start:end])
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


def lines_with(data: bytes, groups: Groups) -> Iterator[bytes]:
    """The lines that hold all words of a group, whatever their case, perhaps within other words.

    Bytes are searched where case is a matter of ASCII; any other line is read as text.
    """
    lowered = data.lower()
    rest_by_first: dict[bytes, list[list[bytes]]] = {}
    for group in groups:
        if all(map(str.isascii, group)):
            first, *rest = (word.encode() for word in group)
            rest_by_first.setdefault(first, []).append(rest)
    found = {
        start
        for first, rests in rest_by_first.items()
        for start, end in _line_ranges(lowered, partial(lowered.find, first))
        if any(all(lowered.find(word, start, end) >= 0 for word in rest) for rest in rests)
    }
    for start, end in () if data.isascii() else _line_ranges(data, partial(_find_non_ascii, data)):
        text = data[start:end].decode("utf-8", "replace").casefold()
        if any(all(word in text for word in group) for group in groups):
            found.add(start)
    for start in sorted(found):
        yield data[start : data.find(b"\n", start) + 1]


def _find_non_ascii(data: bytes, start: int) -> int:
    found = _NOT_ASCII.search(data, start)
    return -1 if found is None else found.start()


def _line_ranges(data: bytes, find: Callable[[int], int]) -> Iterator[tuple[int, int]]:
    """Where the complete lines begin and end in which `find`, given a place to start, finds something."""
    at = find(0)
    while at >= 0:
        end = data.find(b"\n", at) + 1
        if not end:  # a last piece without a line break is no line
            return
        yield data.rfind(b"\n", 0, at) + 1, end
        at = find(end)
