"""Reads a segment line by line and tells intact records from broken ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pagestore.line import MALFORMED, Fields, Line, as_written, decode, line_of, split
from pagestore.lines.segments import Place, Segments

_FARTHEST = 1 << 24
"""No log misses so many lines in a row: a greater number is taken for damage of this line alone."""


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """An intact record and where it lies."""

    place: Place
    line: Line


@dataclass(frozen=True, slots=True)
class Broken:
    """A place where the next record should be and is not, and what is there."""

    place: Place
    what: str


class Scanner:
    """Goes through one segment in order.

    A line that an unfinished erasure left half-written counts as intact: its intent says what belongs there.
    Once a done record says that the tombstones are durable, they are lines like any other.
    """

    def __init__(self, segments: Segments, number: int, *, after: int, size: int | None = None) -> None:
        self.number = number
        self.data = segments.read_all(number)[:size]
        self.expected = after + 1
        """The number of the record that should come next."""
        self._segments = segments
        self._tombstones: dict[int, Fields] | None = None

    def __iter__(self) -> Iterator[PlacedLine | Broken]:
        read = 0
        for offset, raw in split(self.data):
            read = offset + len(raw)
            place = Place(self.number, offset, len(raw))
            fields = decode(raw) or self._begun_tombstone()
            if fields is None:
                yield Broken(place, f"record {self.expected} is unreadable")
                continue
            if not self.expected <= fields["q"] < self.expected + _FARTHEST:
                yield Broken(place, f"record {fields['q']} is where {self.expected} should be")
                continue
            if fields["q"] > self.expected:
                missing = f"records {self.expected} to {fields['q'] - 1} are missing"
                yield Broken(Place(self.number, offset, 0), missing)
            self.expected = fields["q"] + 1
            try:
                yield PlacedLine(place, line_of(raw, fields))
            except MALFORMED as error:
                yield Broken(place, f"record {fields['q']} is no record of this format: {error!r}")
        if read < len(self.data):
            rest = Place(self.number, read, len(self.data) - read)
            yield Broken(rest, f"record {self.expected} is cut off")

    def _begun_tombstone(self) -> Fields | None:
        """The tombstone of the expected record in an unfinished intent, here or in a later segment."""
        if self._tombstones is None:
            self._tombstones = _intended_tombstones(self._segments, self.number)
        return self._tombstones.get(self.expected)


def _intended_tombstones(segments: Segments, first: int) -> dict[int, Fields]:
    """What erasures begun in segment `first` or later, and not known to be done, put over records."""
    begun: dict[int, Fields] = {}
    for number in segments.numbers():
        if number < first:
            continue
        for fields in _erasing_in(segments.read_all(number)):
            if fields["t"] == "erase":
                begun[fields["q"]] = fields
            else:
                begun.pop(fields.get("e", -1), None)
    with as_written(f"the erasures begun in segment {first} or later"):
        return {tombstone["q"]: tombstone for intent in begun.values() for tombstone in intent["e"]}


def _erasing_in(data: bytes) -> Iterator[Fields]:
    """Every intact record in `data` that begins an erasure or says that one is done."""
    for _, raw in split(data):
        if b'"t":"erase' in raw:
            fields = decode(raw)
            if fields is not None and fields["t"] in ("erase", "erased"):
                yield fields


def later_evidence(data: bytes) -> int:
    """The highest `d` of any intact line in `data`, wherever it starts; -1 when there is none."""
    highest = -1
    start = data.find(b'{"q":')
    while start >= 0:
        end = data.find(b"\n", start) + 1
        if not end:
            break
        fields = decode(data[start:end])
        if fields is not None:
            highest = max(highest, fields["d"])
        start = data.find(b'{"q":', start + 1)
    return highest
