"""Reads a segment line by line and tells intact records from broken ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pagestore.line import MALFORMED, Fields, Line, Place, as_written, decode, line_of, split
from pagestore.lines.segments import Segments


@dataclass(frozen=True, slots=True)
class Broken:
    """A place where the next record should be and is not, and what is there."""

    place: Place
    what: str


class Scanner:
    """Goes through one segment in order.

    A line that an unfinished erasure left half-written counts as intact: its intent says what belongs there.
    Once a done record says that the stubs are durable, they are lines like any other.
    """

    def __init__(self, segments: Segments, number: int, *, after: int, size: int | None = None) -> None:
        self.number = number
        self.data = segments.read_all(number)[:size]
        self._segments = segments
        self._expected = after + 1
        self._stubs: dict[tuple[int, int], Fields] | None = None

    def __iter__(self) -> Iterator[Line | Broken]:
        read = 0
        for offset, raw in split(self.data):
            read = offset + len(raw)
            place = Place(self.number, offset, len(raw))
            fields = decode(raw)
            if fields is None or fields["q"] != self._expected:
                fields = self._begun_stub(place) or fields
            if fields is None:
                yield Broken(place, f"record {self._expected} is unreadable")
                continue
            if fields["q"] < self._expected:
                yield Broken(place, f"record {fields['q']} stands where {self._expected} should")
                continue
            if fields["q"] > self._expected:
                yield Broken(
                    Place(self.number, offset, 0),
                    f"records {self._expected} to {fields['q'] - 1} are missing",
                )
            self._expected = fields["q"] + 1
            try:
                yield line_of(raw, fields, place)
            except MALFORMED as error:
                yield Broken(place, f"record {fields['q']} is no record of this format: {error!r}")
        if read < len(self.data):
            rest = Place(self.number, read, len(self.data) - read)
            yield Broken(rest, f"record {self._expected} is cut off")

    def _begun_stub(self, place: Place) -> Fields | None:
        """The stub an unfinished intent, here or in a later segment, says belongs at `place`."""
        if self._stubs is None:
            self._stubs = _intended_stubs(self._segments, self.number)
        stub = self._stubs.get((place.segment, place.offset))
        if stub is None or stub["q"] != self._expected:
            return None
        return stub


def _intended_stubs(segments: Segments, first: int) -> dict[tuple[int, int], Fields]:
    """Where the erasures begun in segment `first` or later, and not known to be done, put their stubs."""
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
        targets = [target for intent in begun.values() for target in intent["e"]]
        return {(target["g"], target["o"]): dict(target["stub"]) for target in targets}


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
