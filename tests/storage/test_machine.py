"""Any order of what two writers of one space do to a log in PostgreSQL, and of cut connections."""

from collections.abc import Iterator
from itertools import count

import pytest
from hypothesis import settings
from hypothesis.stateful import precondition, rule, run_state_machine_as_test

from pagestore import SessionId, SpaceId
from pagestore.log import Log
from tests.pagestore.test_machine import OPTIONS, AnyLogMachine
from tests.postgres import PostgresServer, execute
from tiermem.storage.postgres.database import Database
from tiermem.storage.postgres.lines import PostgresLines

CUT = (
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
)
_numbers = count()


class PostgresMachine(AnyLogMachine):
    """A log that two writers have open; `log` is the one that acts."""

    url: str
    database: Database

    def __init__(self) -> None:
        super().__init__()
        self.space = SpaceId(f"space-{next(_numbers)}")
        self.other: Log | None = None

    def open(self) -> None:
        lines = PostgresLines(self.database, self.space, segment_bytes=OPTIONS.segment_bytes)
        self.log = Log(lines, self.space, options=OPTIONS)

    def stored(self) -> bytes:
        query = "SELECT raw FROM tiermem.lines WHERE space = %s"
        caches = "SELECT cache FROM tiermem.parts WHERE space = %s AND cache IS NOT NULL"
        return b"".join(data for one in (query, caches) for (data,) in execute(self.url, one, self.space))

    @rule()
    def let_the_other_writer_act(self) -> None:
        before, self.other = self.other, self.log
        if before is None:
            self.open()
        else:
            self.log = before
        self.log.append(SessionId("a"), [])  # which folds what the other one appended

    @precondition(lambda self: self.said)
    @rule()
    def cut_the_connections(self) -> None:
        execute(self.url, CUT)


@pytest.fixture
def machine(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[PostgresMachine]]:
    """The machine, with a database of its own."""
    url = postgres.create_database()
    database = Database(url)
    monkeypatch.setattr(PostgresMachine, "url", url, raising=False)
    monkeypatch.setattr(PostgresMachine, "database", database, raising=False)
    yield PostgresMachine
    database.close()


def test_it_holds_what_was_said_whoever_wrote_it(machine: type[PostgresMachine]) -> None:
    tried = settings(max_examples=12, stateful_step_count=25)
    run_state_machine_as_test(machine, settings=tried)
