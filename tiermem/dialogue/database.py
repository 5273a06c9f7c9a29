"""A file of SQLite as JSON: its tables by name, each a list of rows.

The file is read into memory, or some of its rows where it is, and never written. An authorizer allows to
read the named tables and nothing else, so that no function runs, and views, virtual tables and computed
columns are refused. Rows and the steps of reading them are counted against the size of the file: a damaged
file can hold rows without end.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from urllib.parse import quote

from tiermem.errors import InvalidInput

_MAGIC = b"SQLite format 3\x00"
_MOST_COLUMNS = 64
"""Columns of a table at most. Mem0 has ten."""
_TIMES = 4
"""How many times the size of the file its rows may take: a byte for each value, and the length of texts."""
_SPARE = 1 << 20
"""Bytes and steps on top, for a small file."""
_STEPS = 20
"""Steps of SQLite's machine for each byte of the file; rows take one or two."""
_LONGEST = 2**31 - 1
"""The longest value that SQLite allows."""
_LOOKS_EVERY = 10_000
"""Steps of SQLite's machine after which they are counted."""


def is_database(data: bytes) -> bool:
    """Whether these bytes are a file of SQLite."""
    return data.startswith(_MAGIC)


def with_log(data: bytes, path: Path) -> bytes:
    """Return the bytes of a database with the changes that are so far in its `-wal` file only.

    Raises `InvalidInput` where SQLite cannot read it.
    """
    log = Path(f"{path}-wal")
    if not log.is_file() or not log.stat().st_size:
        return data
    try:
        with closing(_open_file(path)) as opened:
            return opened.serialize()
    except sqlite3.Error as error:
        raise InvalidInput(f"a database of SQLite that cannot be read with its log: {error}") from error


def _open_file(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)


def rows_as_json(path: Path, columns: Mapping[str, str], values: Sequence[str]) -> str:
    """The rows of a file, with its `-wal` file, that have one of the values in a column, as one JSON object.

    `columns` names the column of each table; tables that are not there are left out. The file is not read as
    a whole where the columns have an index. Raises `InvalidInput` as `as_json` does.
    """
    try:
        with closing(_open_file(path)) as opened:
            size = path.stat().st_size
            _restrict(opened, size)
            names = opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            tables = [name for (name,) in names if name in columns]
            marks = ", ".join("?" * len(values))
            # Not in quotation marks: of a column that is not there SQLite would make a text.
            where = {table: f" WHERE {columns[table]} IN ({marks})" for table in tables}
            return _tables_as_json(opened, tables, size, where=where, values=tuple(values))
    except (sqlite3.Error, OverflowError, OSError) as error:
        raise InvalidInput(f"a database of SQLite that cannot be read: {error}") from error


def choose_tables(data: bytes, choices: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The tables of each choice that a database has as a whole; without one those of the first choice."""
    given = [tuple(choice) for choice in choices]
    names = _table_names(data)
    whole = [choice for choice in given if names.issuperset(choice)]
    return tuple(name for choice in whole for name in choice) or given[0]


def _table_names(data: bytes) -> frozenset[str]:
    try:
        with closing(sqlite3.connect(":memory:")) as opened:
            _restrict(opened, len(data))
            opened.deserialize(_without_log(data))
            names = opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    except (sqlite3.Error, OverflowError):
        return frozenset()  # `as_json` says what is wrong with it
    return frozenset(name for (name,) in names if isinstance(name, str))


_LOGGED = slice(18, 20)
"""Where a file says that it has a `-wal` file, which a database in memory cannot have."""


def _without_log(data: bytes) -> bytes:
    return (
        data[: _LOGGED.start] + b"\x01\x01" + data[_LOGGED.stop :] if data[_LOGGED] == b"\x02\x02" else data
    )


def as_json(data: bytes, tables: Iterable[str]) -> str:
    """Some tables of a database as one JSON object.

    Raises `InvalidInput` where one is not there or no plain table, and where rows take more than four times
    the size of the file.
    """
    try:
        with closing(sqlite3.connect(":memory:")) as opened:
            _restrict(opened, len(data))
            opened.deserialize(_without_log(data))
            return _tables_as_json(opened, tuple(tables), len(data), where={}, values=())
    except (sqlite3.Error, OverflowError) as error:
        raise InvalidInput(f"a database of SQLite that cannot be read: {error}") from error


def _tables_as_json(
    opened: sqlite3.Connection,
    tables: Sequence[str],
    size: int,
    *,
    where: Mapping[str, str],
    values: tuple[str, ...],
) -> str:
    """Some tables of a database of this size as one JSON object; of one with a condition what fulfils it."""
    for name in tables:
        _check_table(opened, name)
    opened.set_authorizer(partial(_authorize, tuple(tables)))
    left = _TIMES * size + _SPARE
    found: dict[str, list[dict[str, object]]] = {}
    for name in tables:
        found[name] = []
        for row, length in _rows(opened, name, where.get(name, ""), values):
            left -= length
            if left < 0:
                raise InvalidInput(
                    f"a database of SQLite whose rows take more than {_TIMES} times its size: it is damaged "
                    "or made to fill the memory"
                )
            found[name].append(row)
    return json.dumps(found)


def _restrict(opened: sqlite3.Connection, size: int) -> None:
    """Limit what reading a file of this size may take."""
    opened.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(size + _SPARE, _LONGEST))
    opened.setlimit(sqlite3.SQLITE_LIMIT_COLUMN, _MOST_COLUMNS)
    opened.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    opened.execute("PRAGMA trusted_schema = OFF")
    opened.execute("PRAGMA query_only = ON")
    looks = iter(range((_STEPS * size + _SPARE) // _LOOKS_EVERY))
    opened.set_progress_handler(lambda: next(looks, None) is None, _LOOKS_EVERY)


def _check_table(opened: sqlite3.Connection, table: str) -> None:
    """Raise `InvalidInput` for what is no table, or one whose rows are computed."""
    # A view and a virtual table have no pages of their own.
    where = "name = ? AND type = 'table' AND rootpage > 0"
    if opened.execute(f"SELECT 1 FROM sqlite_master WHERE {where}", (table,)).fetchone() is None:  # noqa: S608
        raise InvalidInput(
            f"a database of SQLite without a table {table!r}: of these Mem0's and OpenCode's are read"
        )
    columns = opened.execute(f'PRAGMA main.table_xinfo("{table}")')
    computed = [name for _, name, *_, hidden in columns if hidden]
    if computed:
        raise InvalidInput(
            f"a database of SQLite whose table {table!r} computes its column {computed[0]!r}, which none "
            "that is read does: copy the rows into a table without it"
        )


def _authorize(tables: tuple[str, ...], action: int, table: str | None, *_: str | None) -> int:
    """Allow to read some tables, and nothing else."""
    is_read = action == sqlite3.SQLITE_READ and table in tables
    return sqlite3.SQLITE_OK if is_read or action == sqlite3.SQLITE_SELECT else sqlite3.SQLITE_DENY


def _rows(
    opened: sqlite3.Connection, table: str, where: str, values: tuple[str, ...]
) -> Iterator[tuple[dict[str, object], int]]:
    """Each row that is asked for by the names of its columns, and the bytes that it takes."""
    query = f'SELECT * FROM "{table}"{where} ORDER BY rowid'  # noqa: S608  # names of ours
    rows = opened.execute(query, values if where else ())
    names = [name for name, *_ in rows.description]
    for row in rows:
        sizes = [len(value) if isinstance(value, str | bytes) else 0 for value in row]
        yield dict(zip(names, map(_plain, row), strict=True)), len(row) + sum(sizes)


def _plain(value: object) -> object:
    return value.hex() if isinstance(value, bytes) else value
