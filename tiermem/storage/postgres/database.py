"""One PostgreSQL database: its connections, its transactions, and the migrations of TierMem's tables in it.

The rules:
- Nothing is set for a session, so that it works behind a pooler that gives each transaction a connection; of
  claims see `claims`.
- A transaction that writes is durable when `commit` returns, whatever the database's default is.
- No error and no representation holds the password.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from importlib.resources import files
from typing import Any, LiteralString

import psycopg
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolTimeout

from pagestore.errors import Full, Inaccessible, Locked, NewerFormat, NotAStore, OlderFormat
from tiermem.errors import InvalidInput
from tiermem.shared import SharedByKey
from tiermem.storage.postgres.claims import DatabaseClaims

Row = tuple[Any, ...]
Connection = psycopg.Connection[Row]
Statement = tuple[LiteralString, Sequence[object]]

_URL = re.compile("postgres(ql)?://[^/?]*(/[^@?]*)?([?]|$)")
"""A URL without @ in its path: what precedes it there would be a part of a password with a slash."""
_PORTS = re.compile("[0-9,]*")
_CONNECTIONS = 8
"""The most connections that one process has open for reading, and the most for writing."""
_SECONDS = 10
"""How long a connection is waited for."""
_RETRY_SECONDS = 1.0
"""After how long a connection that could not be made is asked for again."""
_SHORT_WAIT = 0.25
"""How long a connection is waited for while the server is known to be down."""
_ROWS_AT_A_TIME = 500
"""Rows of a table that are looked through which the server sends at a time."""
_MIGRATION_LOCK = 8_390_276_148_510_611
"""The advisory lock under which migrations run."""
_FIND_TABLE: LiteralString = "SELECT FROM pg_tables WHERE schemaname = 'tiermem' AND tablename = 'migrations'"
_CREATE_TABLE: LiteralString = (
    "CREATE TABLE tiermem.migrations (number integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())"
)
_COLUMNS: LiteralString = (
    "SELECT relname::text, attname::text, atttypid = 'bytea'::regtype FROM pg_attribute"
    " JOIN pg_class ON pg_class.oid = attrelid WHERE relnamespace = to_regnamespace(%s)"
    " AND relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped ORDER BY relname, attnum"
)
_LOCK: LiteralString = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
_SETTINGS: LiteralString = (
    "SELECT set_config('synchronous_commit', 'on', true),"
    " set_config('lock_timeout', %s, true),"
    # So that a process that was stopped does not keep the lock of a space.
    " set_config('idle_in_transaction_session_timeout', %s, true)"
)
_LOCK_WAIT = "30s"
"""How long a lock is waited for."""
_IDLE, _LONG_IDLE = "60s", "600s"
"""How long a transaction may wait for its next statement, and a long one."""


class Database:
    """Connections to the database of a URL, with the tables as this version needs them.

    Tables are made unless `read_only` or not `create`; then `NotAStore` is raised where there are none. Older
    ones are migrated; read-only, `OlderFormat` is raised. Raises `InvalidInput` for a URL that cannot be
    used, `Inaccessible` where the server refuses or is not reached, `NewerFormat` for tables of a newer
    version.
    """

    def __init__(self, url: str, *, read_only: bool = False, create: bool = True) -> None:
        options = _parse(url)
        self.url = url
        """It may hold the password, so it belongs in no message."""
        self._process = os.getpid()
        self.name = f"the PostgreSQL database {options.get('dbname')!r} on {_server(options)}"
        with self.translating(), psycopg.connect(**options) as connection:
            self._migrate(connection, read_only=read_only, create=create)
        self._claims = DatabaseClaims(options, self.translating)
        # Two pools: who waits for a connection to read may hold a lock that a writer with a connection needs.
        # And a third one: long transactions keep no other from writing, and need the log while they last.
        self._has_timed_out = self._has_failed_to_connect = False
        self._readers, self._writers, self._long_writers = (
            _pool(options, self._note_failed_connect) for _ in range(3)
        )

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def rows(
        self, query: LiteralString, parameters: Sequence[object] = (), *, settings: LiteralString = ""
    ) -> list[Row]:
        """Execute a query that reads; returns its rows. `settings` is a statement that sets what it needs."""
        self._refuse_after_a_fork()
        with self.translating(), self._connection(self._readers) as connection:
            if not settings:
                return connection.execute(query, parameters, binary=True).fetchall()
            with connection.transaction():
                connection.execute(settings)
                return connection.execute(query, parameters, binary=True).fetchall()

    def values(
        self, schema: str, space: str, *, without: Collection[str] = ()
    ) -> Iterator[tuple[str, str, bytes]]:
        """Every value of the tables of a schema, but for some tables and for rows of other spaces.

        Each comes with its table and column. What is not bytes is given as text in UTF-8.
        """
        columns = [column for column in self.rows(_COLUMNS, [schema]) if column[0] not in without]
        with_space = {table for table, column, _ in columns if column == "space"}
        for table, column, is_bytes in columns:
            own = [space] if table in with_space else []
            query = sql.SQL("SELECT {}{} FROM {}{}").format(
                sql.Identifier(column),
                sql.SQL("" if is_bytes else "::text"),
                sql.Identifier(schema, table),
                sql.SQL(" WHERE space = %s" if own else ""),
            )
            for (value,) in self._stream(query, own):
                if value is not None:
                    yield f"{schema}.{table}", column, value if is_bytes else value.encode()

    def _stream(self, query: sql.Composed, parameters: Sequence[object]) -> Iterator[Row]:
        """Execute a query that reads; its rows come as they are asked for, so that they may be many."""
        self._refuse_after_a_fork()
        with (
            self.translating(),
            self._connection(self._readers) as connection,
            connection.transaction(),
            connection.cursor("rows", binary=True) as cursor,
        ):
            cursor.itersize = _ROWS_AT_A_TIME
            yield from cursor.execute(query, parameters)

    def begin(self, lock: str, *, is_long: bool = False) -> Transaction:
        """Begin a transaction, and acquire an advisory lock until it ends; raises `Locked` after 30 s.

        Between two statements of one that `is_long` ten minutes may pass, of any other one.
        """
        self._refuse_after_a_fork()
        pool = self._long_writers if is_long else self._writers
        with self.translating():
            transaction = Transaction(self, pool, self._acquire(pool))
        try:
            idle = _LONG_IDLE if is_long else _IDLE
            transaction.execute(("BEGIN", ()), (_SETTINGS, [_LOCK_WAIT, idle]), (_LOCK, [lock]))
        except BaseException:
            transaction.close()
            raise
        return transaction

    @contextmanager
    def writing(self, lock: str) -> Iterator[Transaction]:
        """Begin a transaction as `begin` does, which is committed at the end, and undone after an error."""
        with closing(self.begin(lock)) as transaction:
            yield transaction
            transaction.commit()

    @property
    def claims(self) -> DatabaseClaims:
        """The work that this process has claimed in the database."""
        self._refuse_after_a_fork()
        return self._claims

    @contextmanager
    def translating(self) -> Iterator[None]:
        """Raise `Full`, `Locked` or `Inaccessible` in place of an error of PostgreSQL."""
        try:
            yield
        except errors.DiskFull as error:
            raise Full(f"no room on the disk of {self.name}; this write was taken back") from error
        except errors.LockNotAvailable as error:
            raise Locked(f"another process is writing to {self.name} and does not end; try again") from error
        except psycopg.Error as error:
            said = error.diag.message_primary or str(error)
            raise Inaccessible(f"{self.name} cannot be used: {said}") from error

    def close(self) -> None:
        """Close every connection; idempotent."""
        self._claims.close()
        self._readers.close()
        self._writers.close()
        self._long_writers.close()

    def _acquire(self, pool: ConnectionPool[Connection]) -> Connection:
        """Acquire a connection, also from a server that comes back while it is waited for.

        Once a caller has waited in vain because no connection could be made, the next ones wait for a quarter
        of a second, until one succeeds.
        """
        is_down = self._has_timed_out and self._has_failed_to_connect
        waits = [_SHORT_WAIT] if is_down else [_RETRY_SECONDS] * round(_SECONDS / _RETRY_SECONDS)
        for wait in waits:
            with suppress(PoolTimeout):
                connection = pool.getconn(wait)
                self._has_timed_out = self._has_failed_to_connect = False
                return connection
        self._has_timed_out = True
        raise PoolTimeout(f"no connection within {sum(waits):g} s")

    @contextmanager
    def _connection(self, pool: ConnectionPool[Connection]) -> Iterator[Connection]:
        connection = self._acquire(pool)
        try:
            yield connection
        finally:
            pool.putconn(connection)

    def _note_failed_connect(self, _pool: object) -> None:
        self._has_failed_to_connect = True

    def _refuse_after_a_fork(self) -> None:
        if os.getpid() != self._process:
            raise Inaccessible(
                f"{self.name} was opened by pid {self._process}, of which this process is a fork: "
                "open it here again"
            )

    def _migrate(self, connection: Connection, *, read_only: bool, create: bool) -> None:
        migrations = _migrations()
        version = _version(connection)
        if version < len(migrations) and not read_only and (create or version > 0):
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [_MIGRATION_LOCK])
            version = _version(connection)
            if version == 0:
                connection.execute("CREATE SCHEMA IF NOT EXISTS tiermem")
                connection.execute(_CREATE_TABLE)
            for number in range(version, len(migrations)):
                connection.execute(migrations[number])
                connection.execute("INSERT INTO tiermem.migrations (number) VALUES (%s)", [number + 1])
            version = max(version, len(migrations))
        if version > len(migrations):
            raise NewerFormat(
                f"{self.name} has tables of version {version}; this version of TierMem reads up to "
                f"{len(migrations)}; upgrade"
            )
        if version == 0:
            raise NotAStore(f"{self.name} is no TierMem store")
        if version < len(migrations):
            raise OlderFormat(
                f"{self.name} has tables of version {version}; open it once for writing to migrate them"
            )


_opened: SharedByKey[Database] = SharedByKey()
"""The databases that stores and indexes of this process use, by URL."""


def acquire_database(url: str, user: object, *, read_only: bool, create: bool) -> Database:
    """Open the database of a URL, or return the one that is open; raises what `Database` raises."""
    return _opened.take(url, user, partial(Database, url, read_only=read_only, create=create))


def release_database(database: Database, user: object) -> None:
    """Close a database unless another one uses it; repeating it does nothing."""
    if _opened.release(database.url, user) is not None:
        database.close()


class Transaction:
    """A transaction on a connection of its own; `close` gives it back."""

    def __init__(self, database: Database, pool: ConnectionPool[Connection], connection: Connection) -> None:
        self._database = database
        self._pool = pool
        self._connection: Connection | None = connection

    def execute(self, *statements: Statement) -> None:
        """Execute statements in one round trip."""
        with self._database.translating(), self._require_open().pipeline():
            for statement, parameters in statements:
                self._require_open().execute(statement, parameters)

    def rows(
        self, query: LiteralString, parameters: Sequence[object] = (), *, settings: LiteralString = ""
    ) -> list[Row]:
        """Execute a query; returns its rows. `settings`, as in `Database.rows`, last until the end."""
        with self._database.translating():
            if settings:
                self._require_open().execute(settings)
            return self._require_open().execute(query, parameters, binary=True).fetchall()

    def commit(self, *statements: Statement) -> None:
        """Execute statements, commit, and close; after `Inaccessible` that may be done or not."""
        try:
            self.execute(*statements, ("COMMIT", ()))
        finally:
            self.close()

    def close(self) -> None:
        """Undo what is not committed; idempotent."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            if not connection.closed:
                with self._database.translating():
                    connection.rollback()
        finally:
            self._pool.putconn(connection)

    def _require_open(self) -> Connection:
        if self._connection is None:
            raise Inaccessible(f"this transaction on {self._database.name} has ended")
        return self._connection


def _parse(url: str) -> dict[str, Any]:
    """The options of a connection; `InvalidInput`, which does not quote the URL, for what cannot be used."""
    options: dict[str, Any] = {}
    if _URL.match(url):
        with suppress(psycopg.ProgrammingError):  # its message may quote a part of the password
            options = conninfo_to_dict(url)
    if not options or not _PORTS.fullmatch(str(options.get("port", ""))):
        raise InvalidInput(
            "the URL of a PostgreSQL database cannot be read; it has the form "
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with % escapes for special characters"
        )
    return {"connect_timeout": _SECONDS, "application_name": "tiermem", **options}


def _server(options: dict[str, Any]) -> str:
    """Where the server is, as people read it."""
    host = options.get("host") or options.get("hostaddr") or "this machine"
    return f"{host}:{options['port']}" if "port" in options else str(host)


def _pool(options: dict[str, Any], on_failure: Callable[[object], None]) -> ConnectionPool[Connection]:
    """Connections that are opened when they are needed, and checked before they are used again.

    `on_failure` is called when no connection can be made.
    """
    return ConnectionPool(
        kwargs={**options, "autocommit": True, "prepare_threshold": None},
        min_size=0,
        max_size=_CONNECTIONS,
        open=True,
        # The pool itself would wait longer after each failure, for minutes after a server has come back.
        reconnect_timeout=_RETRY_SECONDS / 2,
        reconnect_failed=on_failure,
        check=ConnectionPool.check_connection,
        num_workers=1,
    )


def _migrations() -> list[bytes]:
    """The migrations, in order: the first makes tables of version 1."""
    folder = files("tiermem.storage.postgres").joinpath("migrations")
    scripts = sorted((file for file in folder.iterdir()), key=lambda file: file.name)
    return [script.read_bytes() for script in scripts]


def _version(connection: Connection) -> int:
    """The number of the last migration that was applied; 0 where there are no tables."""
    # Not to_regclass: what it did not find it does not look for again in the same transaction.
    if not connection.execute(_FIND_TABLE).fetchall():
        return 0
    ((version,),) = connection.execute("SELECT coalesce(max(number), 0) FROM tiermem.migrations").fetchall()
    return int(version)
