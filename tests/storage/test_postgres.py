"""Page logs in PostgreSQL: the contracts, the bytes of one on disk, several writers, what goes wrong."""

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from threading import Barrier, Thread
from typing import LiteralString

import psycopg
import pytest
from psycopg_pool import ConnectionPool

from pagestore import DiskLog, LogOptions, PageLog, SessionId, SpaceId
from pagestore.errors import (
    Corrupt,
    Inaccessible,
    Locked,
    NewerFormat,
    NotAStore,
    SpaceNotFound,
)
from pagestore.lines.interface import Lines
from pagestore.log import Log
from pagestore.testing import S1, S2, LinesContract, PageLogContract, SharedLogContract, said
from tests.pagestore.test_store import ODD_NAMES
from tests.postgres import PostgresServer, execute
from tests.torture.databases import Proxy
from tiermem.errors import InvalidInput
from tiermem.storage.postgres import PostgresStore
from tiermem.storage.postgres.database import Database, Row
from tiermem.storage.postgres.lines import PostgresLines

SPACE = SpaceId("ann")
_numbers = count()


@pytest.fixture(scope="module")
def url(postgres: PostgresServer) -> str:
    """A database for the tests of this file, each of which has spaces of its own."""
    return postgres.create_database()


@pytest.fixture(scope="module")
def database(url: str) -> Iterator[Database]:
    opened = Database(url)
    yield opened
    opened.close()


class OnPostgres:
    """Tests that write to the database of this file."""

    @pytest.fixture(autouse=True)
    def _database(self, database: Database) -> None:
        self.database = database


class TestPostgresLines(OnPostgres, LinesContract):
    def new_lines(self) -> Lines:
        return PostgresLines(self.database, SpaceId(f"lines-{next(_numbers)}"), segment_bytes=400)


class TestPostgresLog(OnPostgres, PageLogContract):
    def new_log(self) -> PageLog:
        lines = PostgresLines(self.database, SpaceId(f"log-{next(_numbers)}"), segment_bytes=1 << 20)
        return Log(lines, SPACE)


class TestSharedPostgresLog(OnPostgres, SharedLogContract):
    def new_logs(self) -> tuple[PageLog, PageLog]:
        space = SpaceId(f"shared-{next(_numbers)}")
        one, other = (PostgresLines(self.database, space, segment_bytes=1 << 20) for _ in range(2))
        return Log(one, space), Log(other, space)


def options() -> LogOptions:
    """Small pages and parts; the same times and salts whenever the same is done."""
    moments, salts = count(), count(1)
    return LogOptions(
        page_tokens=60,
        segment_bytes=4_000,
        clock=lambda: datetime(2024, 5, 8, tzinfo=UTC) + timedelta(seconds=next(moments)),
        salt=lambda length: next(salts).to_bytes(length, "big"),
    )


def fill(log: PageLog) -> None:
    """Write turns of two sessions, records, an erasure and a checkpoint."""
    for n in range(40):
        log.append((S1, S2)[n % 2], [said(f"turn {n} " + "and so on " * (n % 9), turn_id=str(n))])
        if n % 7 == 0:
            log.record("note", {"n": n})
    page = log.page(log.pages()[2].id)
    log.erase(page.id, page.lines[0].seq, "asked to")
    log.seal(S1)
    log.checkpoint()


def everything(log: PageLog) -> list[object]:
    """List all that a reader can see."""
    pages = [log.page(info.id) for info in log.pages()]
    opened = [log.open_page(session) for session in log.sessions()]
    return [log.sessions(), list(log.pages()), pages, opened, list(log.records()), log.history()]


def lines_of(url: str, space: str) -> bytes:
    """The lines of a space in its tables, one after another."""
    rows = execute(url, "SELECT raw FROM tiermem.lines WHERE space = %s ORDER BY q", space)
    return b"".join(raw for (raw,) in rows)


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    opened = PostgresStore(url, options=options())
    yield opened
    opened.close()


@pytest.fixture
def space() -> SpaceId:
    """A space that is not there yet."""
    return SpaceId(f"space-{next(_numbers)}")


def test_its_lines_are_those_of_a_log_on_disk(
    store: PostgresStore, url: str, space: SpaceId, tmp_path: Path
) -> None:
    with store.open_space(space) as log, DiskLog(str(tmp_path), space, options=options()) as disk:
        fill(log)
        fill(disk)
        assert everything(log) == everything(disk)
        assert log.checkpoint() == disk.checkpoint()
        assert log.identity == disk.identity == store.identity(space)
    files = sorted(tmp_path.glob("*.jsonl"))
    assert len(files) > 2
    assert lines_of(url, space) == b"".join(file.read_bytes() for file in files)


@pytest.mark.parametrize("kinds", [None, frozenset({"note"})])
def test_records_are_read_many_at_a_time(
    store: PostgresStore, space: SpaceId, kinds: frozenset[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries: list[str] = []
    rows = Database.rows

    def count_queries(self: Database, query: LiteralString, parameters: Sequence[object]) -> list[Row]:
        queries.append(query)
        return rows(self, query, parameters)

    with store.open_space(space) as log:
        log.append(S1, [said(f"turn {n}") for n in range(3)])
        made = [log.record(("note", "other")[n % 5 == 4], {"n": n}) for n in range(200)]
        monkeypatch.setattr(Database, "rows", count_queries)
        found = [record for record in log.records(kinds=kinds) if record.kind != "page"]
        assert found == [record for record in made if kinds is None or record.kind in kinds]
        assert 0 < len(queries) <= 5


def test_it_is_the_same_when_it_is_opened_again(store: PostgresStore, space: SpaceId) -> None:
    with store.open_space(space) as log:
        fill(log)
        before = everything(log)
    with store.open_space(space, read_only=True) as log:
        assert everything(log) == before
        assert log.verify().ok
    with store.open_space(space) as log:
        assert everything(log)[:-1] == before[:-1]
        assert log.verify().ok


def test_opening_reads_no_lines_of_a_part_whose_cache_is_good(
    store: PostgresStore, url: str, space: SpaceId
) -> None:
    with store.open_space(space) as log:
        fill(log)
        before = everything(log)
    execute(url, "UPDATE tiermem.parts SET cache = '{}' WHERE space = %s AND part = 2", space)
    with store.open_space(space) as log:
        assert everything(log)[:-1] == before[:-1]
    ((cache,),) = execute(url, "SELECT cache FROM tiermem.parts WHERE space = %s AND part = 2", space)
    assert len(cache) > 100, "one that cannot be read is made again"
    execute(url, "UPDATE tiermem.lines SET raw = 'x' WHERE space = %s AND q = 1", space)
    with store.open_space(space) as log:
        assert everything(log)[0] == before[0]


def test_a_line_that_was_changed_or_removed_is_found(store: PostgresStore, url: str) -> None:
    changes = (
        "UPDATE tiermem.lines SET raw = set_byte(raw, 5, 120) WHERE space = %s AND q = %s",
        "DELETE FROM tiermem.lines WHERE space = %s AND q = %s",
    )
    for number, change in enumerate(changes):
        space = SpaceId(f"damaged-{number}")
        with store.open_space(space) as log:
            fill(log)
            seq = log.head - 1
        execute(url, change, space, seq)
        with pytest.raises(Corrupt, match=f"record.*of space '{space}' in the PostgreSQL database"):
            store.open_space(space)
        with store.open_space(space, read_only=True) as log:
            assert not log.verify().ok


def test_every_name_has_a_space_of_its_own(postgres: PostgresServer) -> None:
    store = PostgresStore(postgres.create_database())
    for name in ODD_NAMES:
        assert not store.has_space(SpaceId(name))
        with pytest.raises(SpaceNotFound):
            store.open_space(SpaceId(name), read_only=True)
        assert store.identity(SpaceId(name)) is None
        with store.open_space(SpaceId(name)) as log:
            log.append(S1, [said(name[:99])])
        assert store.has_space(SpaceId(name))
    assert store.spaces() == tuple(sorted(ODD_NAMES))
    for name in ODD_NAMES:
        with store.open_space(SpaceId(name), read_only=True) as log:
            page = log.open_page(S1)
            assert page is not None
            assert [line.turn for line in page.lines] == [said(name[:99])]
    store.close()


def test_two_writers_begin_a_space_and_its_parts_once(store: PostgresStore, url: str, space: SpaceId) -> None:
    together = Barrier(3)

    def write(session: str) -> None:
        together.wait()
        with store.open_space(space) as log:
            for n in range(30):
                log.append(SessionId(session), [said(f"{session} {n} " + "and so on " * 9)])

    threads = [Thread(target=write, args=(name,)) for name in ("one", "two", "three")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.open_space(space) as log:
        assert log.verify().ok
        assert sum(info.turns for info in log.pages()) + sum(len(info.turns) for info in log.filling()) == 90
    firsts = execute(url, "SELECT first FROM tiermem.parts WHERE space = %s ORDER BY part", space)
    lines = lines_of(url, space).splitlines()
    assert [first for (first,) in firsts] == [n for n, line in enumerate(lines) if b'"t":"seg"' in line]
    assert len(firsts) > 2


def test_a_log_goes_on_when_connections_were_cut(
    store: PostgresStore, url: str, space: SpaceId, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )
    with store.open_space(space) as log:
        log.append(S1, [said("one", turn_id="1")])
        execute(url, cut)
        log.append(S1, [said("two", turn_id="2")])
        execute(url, cut)
        page = log.open_page(S1)
        assert page is not None
        assert len(page.lines) == 2
        with monkeypatch.context() as patched:
            commit = PostgresLines._commit

            def cut_before(lines: PostgresLines, *statements: object) -> None:
                execute(url, cut)
                commit(lines, *statements)  # type: ignore[arg-type]

            patched.setattr(PostgresLines, "_commit", cut_before)
            with pytest.raises(Inaccessible):
                log.append(S1, [said("three", turn_id="3")])
        assert log.append(S1, [said("three", turn_id="3")]).new == 1
        assert log.verify().ok


def test_a_batch_that_was_committed_while_the_connection_broke_is_there_once(
    store: PostgresStore, space: SpaceId, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = PostgresLines._commit

    def lose_the_reply(lines: PostgresLines, *statements: object) -> None:
        commit(lines, *statements)  # type: ignore[arg-type]
        raise Inaccessible("the connection broke")

    with store.open_space(space) as log:
        with monkeypatch.context() as patched:
            patched.setattr(PostgresLines, "_commit", lose_the_reply)
            with pytest.raises(Inaccessible):
                log.append(S1, [said("one", turn_id="1")])
        assert log.append(S1, [said("one", turn_id="1")]).new == 0
        page = log.open_page(S1)
        assert page is not None
        assert len(page.lines) == 1
        assert log.verify().ok


def test_a_writer_that_waits_too_long_is_told_that_another_one_writes(
    database: Database, space: SpaceId, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tiermem.storage.postgres.database._LOCK_WAIT", "50ms")
    one, other = (PostgresLines(database, space, segment_bytes=400) for _ in range(2))
    one.begin_write(-1)
    with pytest.raises(Locked, match="another process is writing"):
        other.begin_write(-1)
    one.end_write()
    other.begin_write(-1)
    other.end_write()


def is_reachable(database: Database) -> bool:
    """Whether a query succeeds."""
    try:
        return bool(database.rows("SELECT 1"))
    except Inaccessible:
        return False


class TestDatabase:
    def test_a_database_without_tables_is_no_store_to_read(self, postgres: PostgresServer) -> None:
        url = postgres.create_database()
        with pytest.raises(NotAStore, match="is no TierMem store"):
            Database(url, read_only=True)
        assert execute(url, "SELECT to_regnamespace('tiermem')::text") == [(None,)]

    def test_tables_of_another_version_are_migrated_or_refused(self, postgres: PostgresServer) -> None:
        url = postgres.create_database()
        Database(url).close()
        ((newest,),) = execute(url, "SELECT max(number) FROM tiermem.migrations")
        Database(url, read_only=True).close()
        execute(url, "INSERT INTO tiermem.migrations VALUES (%s)", newest + 1)
        for read_only in (True, False):
            with pytest.raises(NewerFormat, match="upgrade"):
                Database(url, read_only=read_only)
        execute(url, "DELETE FROM tiermem.migrations")
        with pytest.raises(NotAStore):
            Database(url, read_only=True)

    def test_callers_wait_once_for_a_server_that_is_down(
        self, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tiermem.storage.postgres.database._SECONDS", 2)
        proxy = Proxy(postgres.create_database())
        database, waits = Database(proxy.url), list[float]()
        getconn = ConnectionPool.getconn

        def note_wait(pool: ConnectionPool, timeout: float | None = None) -> psycopg.Connection:
            assert timeout is not None
            waits.append(timeout)
            return getconn(pool, timeout)

        monkeypatch.setattr(ConnectionPool, "getconn", note_wait)
        assert database.rows("SELECT 1") == [(1,)]
        assert waits == [1]
        waits.clear()
        proxy.close()
        calls: list[Callable[[], object]] = [
            lambda: database.rows("SELECT 1"),
            lambda: database.begin("a lock"),
        ] * 3
        for call in calls:
            with pytest.raises(Inaccessible, match="no connection within"):
                call()
        assert waits == [1, 1] + [0.25] * 5
        proxy = Proxy(postgres.url, port=proxy.port)
        while not is_reachable(database):
            """The first calls may end before the pool has a connection again."""
        waits.clear()
        assert database.rows("SELECT 1") == [(1,)]
        assert waits == [1]
        database.close()
        proxy.close()

    def test_callers_wait_each_time_for_a_server_whose_connections_are_all_in_use(
        self, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tiermem.storage.postgres.database._SECONDS", 2)
        monkeypatch.setattr("tiermem.storage.postgres.database._CONNECTIONS", 1)
        database = Database(postgres.create_database())
        transaction = database.begin("a lock")
        for _ in range(2):
            with pytest.raises(Inaccessible, match="no connection within 2 s"):
                database.begin("another lock")
        transaction.close()
        database.begin("another lock").close()
        database.close()

    @pytest.mark.parametrize("is_long", [False, True])
    @pytest.mark.parametrize("default", ["off", "local", "remote_write", "on", "remote_apply"])
    def test_a_commit_is_durable_whatever_the_default_of_the_database_is(
        self, postgres: PostgresServer, default: str, is_long: bool
    ) -> None:
        url = postgres.create_database()
        ((name,),) = execute(url, "SELECT current_database()")
        execute(url, f"ALTER DATABASE {name} SET synchronous_commit = {default}")
        database = Database(url)
        assert execute(url, "SHOW synchronous_commit") == [(default,)]
        transaction = database.begin("a lock", is_long=is_long)
        assert transaction.rows("SHOW synchronous_commit") == [("on",)]
        transaction.close()
        database.close()

    def test_many_processes_migrate_once(self, postgres: PostgresServer) -> None:
        url, together = postgres.create_database(), Barrier(4)
        opened: list[Database] = []

        def migrate() -> None:
            together.wait()
            opened.append(Database(url))

        threads = [Thread(target=migrate) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(opened) == 4
        for one in opened:
            one.close()

    @pytest.mark.parametrize(
        "url",
        [
            "postgresql://ann:sec/ret@localhost/x",
            "postgresql://ann:12/sec@localhost/x",
            "postgresql:///sec@localhost/x",
            "host=localhost password=sec",
            "postgresql://ann:sec%ret@localhost/x",
            "postgresql://ann:secret@localhost:port/x",
            "postgresql://ann:secret@/x?secret=1",
        ],
    )
    def test_a_url_that_cannot_be_read_is_refused_without_quoting_it(self, url: str) -> None:
        with pytest.raises(InvalidInput, match="URL of a PostgreSQL database") as refused:
            Database(url)
        assert "sec" not in str(refused.value)
        assert refused.value.__cause__ is None

    def test_a_server_that_is_not_reached_is_named_without_the_password(self) -> None:
        with pytest.raises(Inaccessible, match=r"database 'x' on 127\.0\.0\.1:1") as refused:
            Database("postgresql://ann:secret@127.0.0.1:1/x")
        assert "secret" not in str(refused.value)

    def test_what_is_shown_of_it_has_no_password(self, url: str) -> None:
        with_password = url.replace("postgres:@", "postgres:secret@")
        assert with_password != url
        store = PostgresStore(with_password)
        assert "secret" not in repr(store) + repr(vars(store))
        store.close()


def test_a_server_that_comes_back_is_used_again_at_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tiermem.storage.postgres.database._RETRY_SECONDS", 0.1)
    database, tries = Database(url), count()
    connect = database._readers._connect

    def refuse(timeout: float | None = None) -> object:
        if next(tries) < 8:
            raise psycopg.OperationalError("the database system is starting up")
        return connect(timeout)

    monkeypatch.setattr(database._readers, "_connect", refuse)
    began = time.monotonic()
    assert database.rows("SELECT 1") == [(1,)]
    assert time.monotonic() - began < 5, "the pool would wait for 0.1, 0.3, 0.7, … 51 s"
    database.close()
