"""A file of SQLite as JSON: its tables by name, each a list of rows. Nothing in it is run or changed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing

from tiermem.errors import InvalidInput

_MAGIC = b"SQLite format 3\x00"


def is_database(data: bytes) -> bool:
    """Whether these bytes are a file of SQLite."""
    return data.startswith(_MAGIC)


def as_json(data: bytes, tables: Iterable[str]) -> str:
    """Some tables of a database as one JSON object; `InvalidInput` where one is not there."""
    try:
        with closing(sqlite3.connect(":memory:")) as opened:
            opened.deserialize(data)
            opened.execute("PRAGMA trusted_schema = OFF")
            opened.execute("PRAGMA query_only = ON")
            opened.row_factory = sqlite3.Row
            found = {name: _rows(opened, name) for name in tables}
    except (sqlite3.Error, OverflowError) as error:
        raise InvalidInput(f"a database of SQLite that is none of Mem0's: {error}") from error
    return json.dumps(found)


def _rows(opened: sqlite3.Connection, table: str) -> list[dict[str, object]]:
    known = opened.execute("SELECT type FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    if known is None or known["type"] != "table":
        raise InvalidInput(f"a database of SQLite without a table {table!r}: of these only Mem0's is read")
    rows = opened.execute(f'SELECT * FROM "{table}" ORDER BY rowid')  # noqa: S608  # a name of ours
    return [{key: _plain(row[key]) for key in row.keys()} for row in rows]  # noqa: SIM118


def _plain(value: object) -> object:
    return value.hex() if isinstance(value, bytes) else value
