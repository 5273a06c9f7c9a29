"""Lines in a table of a PostgreSQL database. Every batch is one transaction, under a lock of the space.

The rules:
- Any process may write: a writer has the lock of the space from `begin_write` until its batch is committed.
- What is read ends where this object's last `begin_write`, `read_appended`, `append` or `begin` ended.
- Whether a batch is kept when the connection breaks while it is committed is unknown; the next `begin_write`
  returns it if it is.
- Tombstones replace lines in their rows. PostgreSQL keeps the old rows until it vacuums the table.
"""

# ruff: noqa: D102 - the protocol says what each call does

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from threading import get_ident
from typing import LiteralString

from pagestore import SpaceId
from pagestore.errors import Corrupt, InvalidInput, Poisoned
from pagestore.line import MALFORMED, Fields, Line, canonical, decode, line_of
from pagestore.snapshot import VERSION
from pagestore.store import directory_name
from pagestore.values import Damage
from tiermem.storage.postgres.database import Database, Row, Statement, Transaction

_LAST = (1 << 63) - 1
_SELECT: LiteralString = (
    "SELECT q, raw FROM tiermem.lines WHERE space = %s AND q BETWEEN %s AND %s ORDER BY q"
)
_SELECT_PART: LiteralString = (
    "SELECT q, raw FROM tiermem.lines WHERE space = %s AND q BETWEEN %s AND %s"
    " AND q < coalesce((SELECT first FROM tiermem.parts WHERE space = lines.space AND part = %s), %s)"
    " ORDER BY q"
)
_SELECT_SOME: LiteralString = "SELECT q, raw FROM tiermem.lines WHERE space = %s AND q = ANY(%s::bigint[])"
_INSERT: LiteralString = (
    "INSERT INTO tiermem.lines (space, q, raw)"
    " SELECT %s, %s + number - 1, raw FROM unnest(%b::bytea[]) WITH ORDINALITY AS batch (raw, number)"
)
_CACHE: LiteralString = "UPDATE tiermem.parts SET cache = %s WHERE space = %s AND part = %s"
_REMOVE_CACHES: LiteralString = "UPDATE tiermem.parts SET cache = NULL WHERE space = %s AND part = ANY(%s)"
_OVERWRITE: LiteralString = (
    "UPDATE tiermem.lines SET raw = tombstones.raw"
    " FROM unnest(%s::bigint[], %b::bytea[]) AS tombstones (q, raw)"
    " WHERE space = %s AND lines.q = tombstones.q AND octet_length(lines.raw) = octet_length(tombstones.raw)"
    " RETURNING lines.q"
)


class PostgresLines:
    """Implements `Lines` for a space of a database. A part ends after `segment_bytes`."""

    is_shared = True

    def __init__(self, database: Database, space: SpaceId, *, segment_bytes: int) -> None:
        self._database = database
        self._space = space
        self._key = directory_name(space)
        self._segment_bytes = segment_bytes
        self._transaction: Transaction | None = None
        self._writer = 0
        """The thread that has the transaction."""
        parts = database.rows("SELECT first FROM tiermem.parts WHERE space = %s ORDER BY part", [self._key])
        self._firsts: list[int] = [first for (first,) in parts]
        """The number of the first line of each part."""
        self._end = 0
        """The number of the next line; 0 before the last part was scanned."""
        self._size = 0
        """The bytes of the last part."""

    def parts(self) -> Sequence[int]:
        return tuple(range(1, len(self._firsts) + 1))

    def scan(self, part: int, after: int) -> Iterator[Line | Damage]:
        rows = self._part(part, after + 1)
        if part == len(self._firsts) and not self._end:
            self._end = rows[-1][0] + 1 if rows else after + 1
            self._size = sum(len(raw) for _, raw in rows)
        yield from self._read_lines(rows, after + 1)

    def cached(self, part: int) -> Fields | None:
        query: LiteralString = "SELECT cache FROM tiermem.parts WHERE space = %s AND part = %s"
        ((cache,),) = self._rows(query, [self._key, part])
        if cache is None:
            return None
        try:
            content = json.loads(cache)
            return dict(content["content"]) if content["v"] == VERSION else None
        except MALFORMED:
            return None

    def cache(self, part: int, content: Fields) -> None:
        data = canonical({"v": VERSION, "content": content})
        with closing(self._database.begin(self._lock)) as transaction:
            transaction.commit((_CACHE, [data, self._key, part]))

    def repair(self) -> None:
        """A transaction that was not committed left nothing."""

    def read_appended(self, after: int) -> Sequence[Line]:
        rows = self._rows(_SELECT, [self._key, after + 1, _LAST])
        lines = list(self._intact(rows, after + 1))
        for line in lines:
            self._note(line.length, begins_part=line.kind == "seg")
        return lines

    def begin_write(self, after: int) -> Sequence[Line]:
        self._transaction, self._writer = self._database.begin(self._lock), get_ident()
        return self.read_appended(after)

    def end_write(self) -> None:
        transaction, self._transaction = self._transaction, None
        if transaction is not None:
            transaction.close()

    def claim(self, work: Collection[str]) -> frozenset[str]:
        names = {f"{self._key} {one}": one for one in work}
        return frozenset(names[name] for name in self._database.claims.claim(names))

    def release(self, work: Collection[str]) -> None:
        self._database.claims.release([f"{self._key} {one}" for one in work])

    def due(self) -> int | None:
        has_room = self._firsts and self._size < self._segment_bytes
        return None if has_room else len(self._firsts) + 1

    def begin(self, part: int, header: bytes) -> None:
        name = self._space.encode("utf-8", "surrogatepass")
        self._commit(
            ("INSERT INTO tiermem.spaces VALUES (%s, %s) ON CONFLICT DO NOTHING", [self._key, name]),
            ("INSERT INTO tiermem.parts VALUES (%s, %s, %s)", [self._key, part, self._end]),
            (_INSERT, [self._key, self._end, [header]]),
        )
        self._note(len(header), begins_part=True)

    def append(self, batch: Sequence[bytes]) -> None:
        self._commit((_INSERT, [self._key, self._end, list(batch)]))
        for raw in batch:
            self._note(len(raw))

    def overwrite(self, tombstones: Mapping[int, bytes]) -> None:
        with closing(self._database.begin(self._lock)) as transaction:
            given = [list(tombstones), list(tombstones.values()), self._key]
            overwritten = {number for (number,) in transaction.rows(_OVERWRITE, given)}
            wrong = tombstones.keys() - overwritten
            if wrong:
                raise InvalidInput(f"the tombstone of record {min(wrong)} is not as long as its line")
            parts = sorted({bisect_right(self._firsts, number) for number in tombstones})
            transaction.commit((_REMOVE_CACHES, [self._key, parts]))

    def read(self, first: int, count: int = 1) -> list[bytes]:
        found: dict[int, bytes] = dict(self._rows(_SELECT, [self._key, first, first + count - 1]))
        return [found.get(number, b"") for number in range(first, first + count)]

    def read_some(self, numbers: Sequence[int]) -> list[bytes]:
        found: dict[int, bytes] = dict(self._rows(_SELECT_SOME, [self._key, list(numbers)]))
        return [found.get(number, b"") for number in numbers]

    def data(self, part: int) -> bytes:
        return b"".join(raw for _, raw in self._part(part, self._firsts[part - 1]))

    def where(self, number: int) -> str:
        return f"record {number} of space {self._space!r} in {self._database.name}"

    def torn(self) -> tuple[str, ...]:
        return ()

    def check_held(self) -> None:
        """Nothing is held between two batches: other processes may write."""

    def close(self) -> None:
        self.end_write()

    @property
    def _lock(self) -> str:
        return f"tiermem lines {self._key}"

    def _part(self, part: int, first: int) -> list[Row]:
        """The numbers and lines of a part from a number on, as far as this object reads."""
        last = self._end - 1 if self._end else _LAST
        return self._rows(_SELECT_PART, [self._key, first, last, part + 1, _LAST])

    def _read_lines(self, rows: Sequence[Row], expected: int) -> Iterator[Line | Damage]:
        """The lines of rows, of which the first should have the number `expected`."""
        for number, raw in rows:
            if number > expected:
                what = f"records {expected} to {number - 1} are missing"
                yield Damage(where=self.where(expected), what=what)
            expected = number + 1
            fields = decode(raw)
            if fields is not None and fields["q"] == number:
                yield line_of(raw, fields)
            else:
                yield Damage(where=self.where(number), what=f"record {number} is unreadable")

    def _intact(self, rows: Sequence[Row], expected: int) -> Iterator[Line]:
        """The lines of rows; raises `Corrupt` at the first damage."""
        for item in self._read_lines(rows, expected):
            if isinstance(item, Damage):
                raise Corrupt(f"{item.where}: {item.what}; run `verify`")
            yield item

    def _note(self, length: int, *, begins_part: bool = False) -> None:
        """Note the next line, which is committed."""
        if begins_part:
            self._firsts.append(self._end)
            self._size = 0
        self._size += length
        self._end += 1

    def _commit(self, *statements: Statement) -> None:
        if self._transaction is None:
            raise Poisoned(f"space {self._space!r} is written without its lock; close and reopen")
        self._transaction.commit(*statements)

    def _rows(self, query: LiteralString, parameters: Sequence[object]) -> list[Row]:
        """The rows of a query, in the transaction of this thread if it has one."""
        if self._transaction is not None and self._writer == get_ident():
            return self._transaction.rows(query, parameters)
        return self._database.rows(query, parameters)
