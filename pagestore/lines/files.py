"""Lines in the numbered files of a directory. Where in them a line lies is known here and nowhere above.

The rules of opening:
- A broken line is a torn tail only if no later intact line proves that its record was durable. Then it was
  never acknowledged: it is moved to a file of its own, cut off and reported. Otherwise it is damage.
- Lines beyond the last evidence may exist in the page cache alone, marked clean by an fsync that failed
  before a restart. They are written again and synced before anyone builds on them.
- A turn in parts is there whole or not at all.

And of writing: a new file has its header and its name on disk before anything follows.
"""

# ruff: noqa: D102 - the protocol says what each call does

from __future__ import annotations

import json
import zlib
from array import array
from base64 import b64decode, b64encode
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from threading import RLock

from pagestore import snapshot
from pagestore.errors import Full, InvalidInput, Poisoned
from pagestore.files import Files, translating
from pagestore.line import MALFORMED, Fields, Line, canonical, decode, goes_on
from pagestore.lines.scan import Broken, PlacedLine, Scanner, later_evidence
from pagestore.lines.segments import Place, Segments
from pagestore.values import Damage


@dataclass(slots=True)
class _Part:
    """Where the lines of one file lie: `first` is the number of the first, `end` the length of all."""

    first: int
    offsets: array[int] = field(default_factory=lambda: array("q"))
    lengths: array[int] = field(default_factory=lambda: array("I"))
    end: int = 0

    def add(self, number: int, place: Place, broken: Sequence[Place]) -> None:
        """Note the next line. Where some before it are missing, what is broken there counts for them."""
        missing = range(self.first + len(self.offsets), number)
        for at, _ in enumerate(missing):
            self._add_place(broken[at] if at < len(broken) else Place(place.segment, place.offset, 0))
        self._add_place(place)

    def _add_place(self, place: Place) -> None:
        self.offsets.append(place.offset)
        self.lengths.append(place.length)
        self.end = place.offset + place.length


class FileLines:
    """Implements `Lines` in a directory, which is made where it is to be written.

    A file ends after `segment_bytes`. Who writes holds the lock file, and the first file too, so that there
    is one writer even where somebody removed the lock file; raises `Locked`, `Inaccessible`.
    """

    is_shared = False

    def __init__(self, files: Files, directory: str, *, writable: bool, segment_bytes: int) -> None:
        self._files = files
        self._lock_path = f"{directory}/LOCK"
        self._segment_bytes = segment_bytes
        self._lock = RLock()
        self._known: dict[int, _Part] = {}
        self._read: list[int] = []
        """The parts that are known, in order."""
        self._torn: list[Place] = []
        self._unproved: list[tuple[int, Place]] = []
        self._evidence = -1
        self._held: int | None = None
        with ExitStack() as undo, translating(directory):
            if writable:
                files.make_directory(directory)
                self._held = files.lock(self._lock_path)
                undo.callback(files.close, self._held)
            self._segments = Segments(files, directory, writable=writable)
            undo.callback(self._segments.close)
            self._born, unborn = _by_birth(self._segments)
            sizes = {number: self._segments.size(number) for number in unborn}
            undo.pop_all()
        self._torn += [Place(number, 0, size) for number, size in sizes.items() if size]

    def parts(self) -> Sequence[int]:
        return tuple(self._born)

    def scan(self, part: int, after: int) -> Iterator[Line | Damage]:
        return self._scan_again(part, after) if part in self._known else self._scan_first(part, after)

    def cached(self, part: int) -> Fields | None:
        content, size = self._read_cache(part), self._segments.size(part)
        if content is None or (content.get("v"), content.get("bytes")) != (snapshot.VERSION, size):
            return None
        try:
            known = _Part(content["first"], end=size)
            known.lengths.frombytes(b64decode(content["lengths"], validate=True))
            offset = 0
            for length in known.lengths:
                known.offsets.append(offset)
                offset += length
            kept: Fields = dict(content["content"])
        except MALFORMED:
            return None
        if offset != size:
            return None
        self._learn(part, known)
        return kept

    def cache(self, part: int, content: Fields) -> None:
        known = self._known[part]
        data = canonical(
            {
                "v": snapshot.VERSION,
                "bytes": known.end,
                "first": known.first,
                "lengths": b64encode(known.lengths.tobytes()).decode(),
                "content": content,
            }
        )
        self._segments.write_cache(part, b"%s\n%08x\n" % (data, zlib.crc32(data)))

    def repair(self) -> None:
        for torn in self._torn:
            self._segments.set_aside(torn.segment, torn.offset, self._segments.read(torn))
            self._segments.truncate(torn.segment, torn.offset)
        if self._born:
            rewrite(self._segments, [place for _, place in self._unproved])
            for number in {self._born[-1], *(place.segment for _, place in self._unproved)}:
                self._segments.sync(number)
            self._segments.sync_directory()
        self._torn, self._unproved = [], []

    def read_appended(self, after: int) -> Sequence[Line]:
        return ()

    def begin_write(self, after: int) -> Sequence[Line]:
        return ()

    def end_write(self) -> None:
        """The lock file is held until `close`: there is one writer."""

    def claim(self, work: Collection[str]) -> frozenset[str]:
        return frozenset(work)

    def release(self, work: Collection[str]) -> None:
        """There is one writer, whose claims need no end."""

    def due(self) -> int | None:
        if not self._born:
            return 1
        last = self._born[-1]
        return last + 1 if self._known[last].end >= self._segment_bytes else None

    def begin(self, part: int, header: bytes) -> None:
        self._segments.create(part)
        self._write(part, 0, header)
        self._segments.sync(part)
        self._segments.sync_directory()
        known = _Part(self._next_number())
        known.add(known.first, Place(part, 0, len(header)), ())
        self._learn(part, known)
        self._born.append(part)

    def append(self, batch: Sequence[bytes]) -> None:
        number = self._born[-1]
        part = self._known[number]
        self._write(number, part.end, b"".join(batch))
        self._segments.sync(number)
        for raw in batch:
            part.add(part.first + len(part.offsets), Place(number, part.end, len(raw)), ())

    def overwrite(self, tombstones: Mapping[int, bytes]) -> None:
        places = {number: self._place(number) for number in tombstones}
        for number, tombstone in tombstones.items():
            if len(tombstone) != places[number].length:
                raise InvalidInput(f"the tombstone of record {number} is not as long as its line")
        with self._lock:
            for number, tombstone in tombstones.items():
                self._segments.write(places[number].segment, places[number].offset, tombstone)
        changed = sorted({place.segment for place in places.values()})
        for segment in changed:
            self._segments.sync(segment)
        self._segments.purge_torn()
        for segment in changed:
            self._segments.remove_cache(segment)

    def read(self, first: int, count: int = 1) -> list[bytes]:
        found: list[bytes] = []
        while len(found) < count:
            part, start = self._part_of(first + len(found))
            known = self._known[part]
            wanted = range(start, min(start + count - len(found), len(known.offsets)))
            begin, end = known.offsets[start], known.offsets[wanted[-1]] + known.lengths[wanted[-1]]
            with self._lock:
                data = self._segments.read(Place(part, begin, end - begin))
            for at in wanted:
                offset = known.offsets[at] - begin
                found.append(data[offset : offset + known.lengths[at]])
        return found

    def read_some(self, numbers: Sequence[int]) -> list[bytes]:
        return [self.read(number)[0] for number in numbers]

    def data(self, part: int) -> bytes:
        with self._lock:
            return self._segments.read(Place(part, 0, self._known[part].end))

    def where(self, number: int) -> str:
        return self._segments.where(self._place(number))

    def torn(self) -> tuple[str, ...]:
        return (*self._segments.torn(), *(self._segments.where(place) for place in self._torn))

    def check_held(self) -> None:
        with translating(self._lock_path):
            in_place = self._held is not None and self._files.is_at(self._held, self._lock_path)
        if not in_place:
            raise Poisoned(f"{self._lock_path!r} was removed or replaced while it was held; close and reopen")

    def close(self) -> None:
        self._segments.close()
        if self._held is not None:
            self._files.close(self._held)
            self._held = None

    def sizes(self) -> dict[int, int]:
        """The intact length of every file."""
        return {part: self._known[part].end for part in self._read}

    def chunk(self, part: int, offset: int, length: int) -> bytes:
        """Bytes of a file; fewer where it ends."""
        return self._segments.read(Place(part, offset, length))

    def _scan_first(self, part: int, after: int) -> Iterator[Line | Damage]:
        """Learn where the lines of a part lie, and in the last one what is torn off."""
        last, known = part == self._born[-1], _Part(after + 1)
        self._learn(part, known)
        scanner = self._scanner(part, after)
        end = len(scanner.data)
        parts_read: list[PlacedLine] = []
        broken: list[Place] = []
        for item in scanner:
            if isinstance(item, Broken):
                rest = Place(part, item.place.offset, len(scanner.data) - item.place.offset)
                is_tail = last and rest.offset > 0
                if is_tail and later_evidence(self._segments.read(rest)) < scanner.expected:
                    self._torn.append(rest)
                    end = rest.offset
                    break
                yield Damage(where=self._segments.where(item.place), what=item.what)
                broken += [item.place] if item.place.length else []
                continue
            known.add(item.line.seq, item.place, broken)
            broken = []
            parts_read.append(item)
            if not goes_on(item.line.fields):
                for placed in parts_read:
                    self._note(placed)
                    yield placed.line
                parts_read = []
        known.end = end
        if parts_read:
            yield from self._half_a_turn(part, parts_read, last=last)

    def _half_a_turn(self, part: int, parts_read: list[PlacedLine], *, last: bool) -> Iterator[Damage]:
        place, known = parts_read[0].place, self._known[part]
        rest = Place(part, place.offset, self._segments.size(part) - place.offset)
        if not last:
            yield Damage(where=self._segments.where(rest), what="a turn lacks some of its parts")
            return
        self._torn = [torn for torn in self._torn if torn.segment != part]
        self._torn.append(rest)
        kept = parts_read[0].line.seq - known.first
        del known.offsets[kept:], known.lengths[kept:]
        known.end = place.offset

    def _note(self, placed: PlacedLine) -> None:
        if placed.line.evidence > self._evidence:
            self._evidence = placed.line.evidence
            self._unproved = [one for one in self._unproved if one[0] > self._evidence]
        self._unproved.append((placed.line.seq, placed.place))

    def _scan_again(self, part: int, after: int) -> Iterator[Line | Damage]:
        size = self._known[part].end
        if not self._segments.in_place(part):
            where = self._segments.where(Place(part, 0, 0))
            yield Damage(where=where, what="the file was removed or replaced while it was open")
        scanner = self._scanner(part, after, size=size)
        if len(scanner.data) < size:
            where = self._segments.where(Place(part, len(scanner.data), 0))
            yield Damage(where=where, what=f"{size - len(scanner.data)} bytes are missing at the end")
        for item in scanner:
            if isinstance(item, PlacedLine):
                yield item.line
            else:
                yield Damage(where=self._segments.where(item.place), what=item.what)

    def _scanner(self, part: int, after: int, *, size: int | None = None) -> Scanner:
        return Scanner(self._segments, part, after=after, size=size)

    def _learn(self, part: int, known: _Part) -> None:
        self._known[part] = known
        self._read.append(part)

    def _part_of(self, number: int) -> tuple[int, int]:
        """The part in which a line lies, and which of its lines it is."""
        at = bisect_right(self._read, number, key=lambda part: self._known[part].first) - 1
        part = self._read[max(at, 0)]
        return part, number - self._known[part].first

    def _place(self, number: int) -> Place:
        part, at = self._part_of(number)
        known = self._known[part]
        return Place(part, known.offsets[at], known.lengths[at])

    def _next_number(self) -> int:
        if not self._born:
            return 0
        last = self._known[self._born[-1]]
        return last.first + len(last.offsets)

    def _read_cache(self, part: int) -> Fields | None:
        data = self._segments.read_cache(part)
        if data is None or data[-10:] != b"\n%08x\n" % zlib.crc32(data[:-10]):
            return None
        try:
            content = json.loads(data[:-10])
        except ValueError:
            return None
        return content if isinstance(content, dict) else None

    def _write(self, part: int, offset: int, data: bytes) -> None:
        try:
            self._segments.write(part, offset, data)
        except Full as error:
            # Synced, or a power cut could bring back what was reported as not stored.
            self._segments.truncate(part, offset)
            self._segments.sync(part)
            raise Full(f"{error}; this write was taken back, and what was stored before it stays") from error


def _by_birth(segments: Segments) -> tuple[list[int], list[int]]:
    """Segments in use, and those at the end that a crash left without their first record.

    Nothing follows a header before it is durable: a segment with any later record was in use.
    """
    numbers = segments.numbers()
    born = len(numbers)
    while born and decode(segments.read_line(numbers[born - 1], 0)) is None:
        if later_evidence(segments.read_all(numbers[born - 1])) >= 0:
            break
        born -= 1
    return numbers[:born], numbers[born:]


def rewrite(segments: Segments, places: Sequence[Place]) -> None:
    """Write lines over themselves, so that the page cache cannot take them for clean."""
    for place in places:
        segments.write(place.segment, place.offset, segments.read(place))
