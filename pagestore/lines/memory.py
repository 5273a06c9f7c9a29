"""Lines in memory: as long as this object lives."""

# ruff: noqa: D102 - the protocol says what each call does; an implementation has nothing to add

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from threading import Lock

from pagestore.errors import Corrupt
from pagestore.line import Fields, Line, decode, line_of
from pagestore.values import Damage


class MemoryLines:
    """Implements `Lines`, all in one part. Closing keeps what is there, so that it can be opened again."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._write_lock = Lock()
        self._is_writing = False
        self._claimed: set[str] = set()
        self._claim_lock = Lock()
        self._end = 0
        self.is_shared = False

    def share(self) -> MemoryLines:
        """Return an object with the same lines, for another writer in this process."""
        self.is_shared = True
        return copy(self)

    def parts(self) -> Sequence[int]:
        return (1,) if self._lines else ()

    def scan(self, part: int, after: int) -> Iterator[Line | Damage]:
        self._end = self._end or len(self._lines)
        yield from self._scan(0, self._end)

    def cached(self, part: int) -> Fields | None:
        return None

    def cache(self, part: int, content: Fields) -> None:
        """The only part never ends."""

    def repair(self) -> None:
        """Nothing is here that was not acknowledged."""

    def read_appended(self, after: int) -> Sequence[Line]:
        self._end = len(self._lines)
        appended = list(self._scan(after + 1, self._end))
        lines = [item for item in appended if isinstance(item, Line)]
        if len(lines) < len(appended):
            raise Corrupt("what another writer appended in memory is unreadable; run `verify`")
        return lines

    def begin_write(self, after: int) -> Sequence[Line]:
        self._write_lock.acquire()
        self._is_writing = True
        return self.read_appended(after)

    def end_write(self) -> None:
        if self._is_writing:
            self._is_writing = False
            self._write_lock.release()

    def claim(self, work: Collection[str]) -> frozenset[str]:
        with self._claim_lock:
            claimed = frozenset(work) - self._claimed
            self._claimed |= claimed
        return claimed

    def release(self, work: Collection[str]) -> None:
        with self._claim_lock:
            self._claimed.difference_update(work)

    def due(self) -> int | None:
        return None if self._lines else 1

    def begin(self, part: int, header: bytes) -> None:
        self.append([header])

    def append(self, batch: Sequence[bytes]) -> None:
        self._lines += batch
        self._end = len(self._lines)

    def overwrite(self, tombstones: Mapping[int, bytes]) -> None:
        for number, tombstone in tombstones.items():
            self._lines[number] = tombstone

    def read(self, first: int, count: int = 1) -> list[bytes]:
        return self._lines[first : first + count]

    def read_some(self, numbers: Sequence[int]) -> list[bytes]:
        return [self._lines[number] for number in numbers]

    def data(self, part: int) -> bytes:
        return b"".join(self._lines[: self._end])

    def where(self, number: int) -> str:
        return f"record {number} in memory"

    def torn(self) -> tuple[str, ...]:
        return ()

    def check_held(self) -> None:
        """No other process can reach what is in this object."""

    def close(self) -> None:
        """Nothing is held."""

    def _scan(self, first: int, end: int) -> Iterator[Line | Damage]:
        for number, raw in enumerate(self._lines[first:end], start=first):
            fields = decode(raw)
            if fields is None or fields["q"] != number:
                yield Damage(where=self.where(number), what=f"record {number} is unreadable")
            else:
                yield line_of(raw, fields)
