"""Page logs for tests of what is above them: in memory, or in PostgreSQL with `--store postgresql`.

Tests that call these take the fixture `logs`, so that `--store postgresql` runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

from pagestore import LogOptions, SpaceId
from pagestore.lines.interface import Lines
from pagestore.lines.memory import MemoryLines
from pagestore.log import Log

_NewLines = Callable[[], tuple[Lines, Lines]]


def _lines_in_memory() -> tuple[Lines, Lines]:
    lines = MemoryLines()
    return lines, lines.share()


_sources: list[_NewLines] = [_lines_in_memory]
"""What makes lines; the last counts."""


def new_log(space: SpaceId, *, options: LogOptions | None = None) -> Log:
    """Return a log without turns or records."""
    return Log(new_lines(), space, options=options)


def new_lines() -> Lines:
    """Return the lines of a log that is not begun, for one writer."""
    return MemoryLines() if _sources[-1] is _lines_in_memory else _sources[-1]()[0]


def new_shared_lines() -> tuple[Lines, Lines]:
    """Return the lines of a log that is not begun, as two processes open them."""
    return _sources[-1]()


@contextmanager
def logs_in_database(url: str) -> Iterator[None]:
    """Keep logs in a database until the end of the block, each in a space of its own."""
    from tiermem.storage.postgres.database import Database
    from tiermem.storage.postgres.lines import PostgresLines

    databases = Database(url), Database(url)
    numbers = count()

    def new() -> tuple[Lines, Lines]:
        space = SpaceId(f"log-{next(numbers)}")
        one, other = (PostgresLines(database, space, segment_bytes=1 << 20) for database in databases)
        return one, other

    _sources.append(new)
    try:
        yield
    finally:
        _sources.remove(new)
        for database in databases:
            database.close()
