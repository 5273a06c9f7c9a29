"""Spaces are copied between directories and databases, byte for byte; one that was cut short goes on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pagestore import SessionId, SpaceId, Store
from pagestore.errors import Conflict, Corrupt, Locked, SpaceNotFound
from pagestore.testing import S1, said
from tests.postgres import PostgresServer, execute
from tests.storage.test_postgres import everything, fill, options
from tiermem.storage import copy_space
from tiermem.storage.postgres import PostgresStore

SPACE = SpaceId("ann")


class CutShort(Exception):
    """Ends a copy half-way."""


@pytest.fixture(scope="module")
def server_url(postgres: PostgresServer) -> str:
    return postgres.create_database()


@pytest.fixture
def url(server_url: str) -> Iterator[str]:
    """A database without a space."""
    yield server_url
    execute(server_url, "DROP SCHEMA IF EXISTS tiermem CASCADE")


@pytest.fixture
def stores(url: str, tmp_path: Path) -> Iterator[tuple[Store, PostgresStore, Store]]:
    """A store on disk with a space, and two without one: in a database, and on disk."""
    disk, database, other = (
        Store(tmp_path / "disk", options=options()),
        PostgresStore(url, options=options()),
        Store(tmp_path / "other", options=options()),
    )
    with disk.open_space(SPACE) as log:
        fill(log)
    yield disk, database, other
    database.close()


def state(store: Store | PostgresStore) -> list[object]:
    """What a reader sees of the space, and whether it verifies."""
    with store.open_space(SPACE, read_only=True) as log:
        return [*everything(log), log.identity, log.verify().ok]


def test_a_space_goes_to_a_database_and_back(stores: tuple[Store, PostgresStore, Store]) -> None:
    disk, database, other = stores
    there, back = copy_space(disk, database, SPACE), copy_space(database, other, SPACE)
    assert state(disk) == state(database) == state(other)
    assert (there.turns, there.pages, there.checkpoint) == (back.turns, back.pages, back.checkpoint)
    assert there.new == there.records == back.new > 40
    files = [
        b"".join(file.read_bytes() for file in sorted(Path(store.path).rglob("*.jsonl")))
        for store in (disk, other)
    ]
    assert files[0] == files[1]
    with database.open_space(SPACE) as log, other.open_space(SPACE) as same:
        for one in (log, same):
            one.append(S1, [said("said in the copy")])
            assert one.verify().ok


def test_a_copy_that_was_cut_short_goes_on(
    stores: tuple[Store, PostgresStore, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    disk, database, other = stores
    monkeypatch.setattr("pagestore.copying._AT_ONCE", 7)
    for source, dest in ((disk, database), (database, other)):
        reported: list[tuple[int, int]] = []

        def report(done: int, total: int, reported: list[tuple[int, int]] = reported) -> None:
            reported.append((done, total))
            if len(reported) in (2, 4):
                raise CutShort

        for _ in range(2):
            with pytest.raises(CutShort):
                copy_space(source, dest, SPACE, progress=report)
        done = copy_space(source, dest, SPACE, progress=report)
        assert 0 < done.new < done.records
        assert reported == sorted(reported)
        assert reported[-1] == (done.records, done.records)
        assert copy_space(source, dest, SPACE).new == 0
    assert state(disk) == state(database) == state(other)


def test_what_was_said_and_erased_since_is_copied_too(
    stores: tuple[Store, PostgresStore, Store], url: str
) -> None:
    disk, database, _ = stores
    with disk.open_space(SPACE) as log:
        (seq,) = log.append(SessionId("s9"), [said("the vault code is 4417")]).seqs
        (page,) = log.seal(SessionId("s9"))
    copy_space(disk, database, SPACE)
    with disk.open_space(SPACE) as log:
        log.erase(page, seq, "asked to")
        log.append(S1, [said("said since")])
    done = copy_space(disk, database, SPACE)
    assert 0 < done.new < 8
    assert execute(url, "SELECT count(*) FROM tiermem.lines WHERE position('vault' in raw) > 0") == [(0,)]
    assert state(disk) == state(database)


def test_a_copy_that_went_on_takes_nothing_more(stores: tuple[Store, PostgresStore, Store]) -> None:
    disk, database, other = stores
    copy_space(disk, database, SPACE)
    with database.open_space(SPACE) as log:
        log.append(S1, [said("said in the copy")])
    before = state(database)
    with pytest.raises(Conflict, match="it went on, or is of another log; copy it the other way"):
        copy_space(disk, database, SPACE)
    assert copy_space(database, disk, SPACE).new > 0
    with other.open_space(SPACE) as log:
        log.append(S1, [said("another log")])
    with pytest.raises(Conflict, match="is of another log"):
        copy_space(disk, other, SPACE)
    assert state(disk) == state(database) == before


def test_what_is_damaged_or_absent_is_not_copied(
    stores: tuple[Store, PostgresStore, Store], url: str
) -> None:
    disk, database, other = stores
    with pytest.raises(SpaceNotFound):
        copy_space(database, other, SPACE)
    copy_space(disk, database, SPACE)
    execute(url, "UPDATE tiermem.lines SET raw = set_byte(raw, 5, 120) WHERE q = 20")
    with pytest.raises(Corrupt, match="nothing is copied"):
        copy_space(database, other, SPACE)
    assert not other.has_space(SPACE)


def test_one_process_copies_a_space_at_a_time(stores: tuple[Store, PostgresStore, Store]) -> None:
    disk, database, other = stores

    def copy_again(done: int, total: int) -> None:
        with pytest.raises(Locked):
            copy_space(disk, database, SPACE)

    copy_space(disk, database, SPACE, progress=copy_again)
    with other.open_space(SPACE), pytest.raises(Locked):
        copy_space(disk, other, SPACE)
