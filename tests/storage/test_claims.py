"""Work that one process has claimed in a database another one leaves to it."""

from collections.abc import Awaitable, Callable, Iterator
from itertools import count
from time import sleep

import pytest

from pagestore import SpaceId
from pagestore.log import Log
from tests.postgres import PostgresServer, execute
from tests.storage.test_machine import CUT
from tests.writing.claiming import CHECKS, TwoWriters
from tiermem.storage.postgres.database import Database
from tiermem.storage.postgres.lines import PostgresLines

HELD = (
    "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database"
    " WHERE locktype = 'advisory' AND datname = current_database()"
)
_numbers = count()


@pytest.fixture(scope="module")
def url(postgres: PostgresServer) -> str:
    """A database for the tests of this file, each of which has a space of its own."""
    return postgres.create_database()


@pytest.fixture
def databases(url: str) -> Iterator[tuple[Database, Database]]:
    """The database as two processes have it open."""
    one, other = Database(url), Database(url)
    yield one, other
    one.close()
    other.close()


def lines_of(databases: tuple[Database, Database]) -> tuple[PostgresLines, PostgresLines]:
    space = SpaceId(f"space-{next(_numbers)}")
    one, other = (PostgresLines(database, space, segment_bytes=1 << 20) for database in databases)
    return one, other


def wait_until_none_is_held(url: str) -> None:
    """The server releases the locks of a connection shortly after the client has closed it."""
    for _ in range(1_000):
        if execute(url, HELD) == [(0,)]:
            return
        sleep(0.01)
    raise AssertionError("locks of closed connections are held")


@pytest.mark.anyio
@pytest.mark.parametrize("check", CHECKS)
async def test_of_two_writers_one_does_a_piece_of_work(
    check: Callable[[TwoWriters], Awaitable[None]], databases: tuple[Database, Database], url: str
) -> None:
    space = SpaceId(f"space-{next(_numbers)}")
    one, other = [Log(PostgresLines(one, space, segment_bytes=1 << 20), space) for one in databases]
    await check(await TwoWriters.of((one, other)))
    assert execute(url, HELD) == [(0,)]
    one.close()
    other.close()


def test_two_processes_do_not_get_the_same_work(databases: tuple[Database, Database], url: str) -> None:
    one, other = lines_of(databases)
    assert one.claim(["a", "b"]) == {"a", "b"}
    assert other.claim(["b", "c"]) == {"c"}
    assert lines_of(databases)[1].claim(["a"]) == {"a"}, "spaces are apart"
    assert execute(url, HELD) == [(4,)]
    one.release(["b"])
    assert other.claim(["a", "b"]) == {"b"}
    other.release(["b", "c"])
    one.release(["a"])
    for database in databases:
        database.close()
    wait_until_none_is_held(url)


def test_claims_end_with_their_connection_and_are_made_again(
    databases: tuple[Database, Database], url: str
) -> None:
    one, other = lines_of(databases)
    assert one.claim(["a"]) == {"a"}
    execute(url, CUT)
    assert other.claim(["a"]) == {"a"}
    assert one.claim(["a", "b"]) == {"b"}
    execute(url, CUT)
    one.release(["b"])
    other.release(["a"])
    assert one.claim(["a", "b"]) == {"a", "b"}
    one.release(["a", "b"])
    assert execute(url, HELD) == [(0,)]


def test_a_connection_that_holds_claims_keeps_no_old_row_from_a_vacuum(
    databases: tuple[Database, Database], url: str
) -> None:
    one, _ = lines_of(databases)
    one.claim(["a"])
    held = execute(
        url,
        "SELECT backend_xmin, backend_xid FROM pg_stat_activity"
        " WHERE datname = current_database() AND state = 'idle in transaction'",
    )
    assert held == [(None, None)]
    one.release(["a"])
