"""Where a store is kept, and that no password of a database is shown."""

import traceback
from pathlib import Path

import pytest
from typer.testing import CliRunner

import tiermem
from tiermem.apps.cli.app import app
from tiermem.errors import InvalidInput
from tiermem.storage import open_store, parse_place


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("postgresql://ann:secret@db.example:5433/memory", "postgresql://ann@db.example:5433/memory"),
        ("postgres://ann:s%40cret@one:5432,two:5433/memory", "postgres://ann@one:5432,two:5433/memory"),
        ("postgresql://ann:se@cret@db/memory", "postgresql://ann@db/memory"),
        ("postgresql://db/memory", "postgresql://db/memory"),
        ("postgresql://ann:secret@[::1]:5432/memory", "postgresql://ann@[::1]:5432/memory"),
        ("postgresql:///memory?host=/run/pg&password=secret", "postgresql:///memory?host=/run/pg"),
        ("postgresql://db/memory?sslpassword=secret&user=ann", "postgresql://db/memory?user=ann"),
        ("postgresql://ann:sec/ret@db/memory", "postgresql://…"),
        ("postgresql://ann:12/secret@db/memory", "postgresql://…"),
        ("postgresql://ann:sec?ret@db/memory", "postgresql://…"),
        ("postgresql://ann:sec#ret@db/memory", "postgresql://…"),
        ("postgresql://ann:secret", "postgresql://…"),
        ("POSTGRESQL://ann:secret@db/memory", "postgresql://…"),
    ],
)
def test_a_database_is_shown_without_its_password(written: str, shown: str) -> None:
    place = parse_place(written)
    assert (place.shown, str(place), place.address) == (shown, shown, written)
    assert place.directory is None
    assert "cret" not in repr(place)


def test_every_other_place_is_a_directory_or_memory() -> None:
    place = parse_place("~/notes")
    assert (place.directory, place.address, place.url) == (Path("~/notes"), "~/notes", None)
    assert place.require_directory("backup", instead="no need") == Path("~/notes")
    assert parse_place(":memory:").directory is None


def test_what_needs_a_directory_is_refused_for_a_database_without_its_password() -> None:
    place = parse_place("postgresql://ann:secret@db/memory")
    with pytest.raises(InvalidInput, match=r"backup needs a store in a directory.*: no need$") as refused:
        place.require_directory("backup", instead="no need")
    assert "secret" not in str(refused.value)


def test_a_url_that_became_a_path_is_refused_without_quoting_it() -> None:
    with pytest.raises(InvalidInput, match="as text") as refused:
        tiermem.open(Path("postgresql://ann:secret@db/memory"), engine="local")
    assert "secret" not in str(refused.value)


URLS = [
    "postgresql+psycopg://ann:secret@db/memory",
    "postgresql+asyncpg://ann:secret@db/memory",
    "postgres+psycopg2://ann:secret@db/memory",
    "POSTGRESQL+PSYCOPG:/ann:secret@db/memory",
    "postgresql2://ann:secret@db/memory",
    "mysql://ann:secret@db/memory",
    "cockroachdb://ann:secret@db/memory",
    "sqlite:///secret.db",
    "ftp://ann:secret@db.example",
    "file:///home/ann/secret",
]
PARAMETERS = [
    "host=db password=secret",
    "password=secret host=db",
    "dbname = memory user = ann password = 'sec secret'",
    "application_name=x password=secret",
    "  hostaddr=10.0.0.1 port=5432 password=secret",
    "HOST=db PASSWORD=secret",
    "service=secret",
    "sslmode=require\npassword=secret",
]


@pytest.mark.parametrize("written", URLS + PARAMETERS)
def test_what_looks_like_another_connection_is_refused_without_its_words(
    written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match="postgresql://USER:PASSWORD@HOST:PORT/DATABASE") as refused:
        parse_place(written)
    assert "secret" not in str(refused.value)
    for given in (written, Path(written)):
        with pytest.raises(InvalidInput) as refused:
            tiermem.AsyncMemory.open(given, engine="local").send(None)
        assert "secret" not in "".join(traceback.format_exception(refused.value))
    ran = CliRunner().invoke(app, ["spaces", "--store", written])
    assert ran.exit_code == 2
    assert "secret" not in ran.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("written", URLS[:6] + PARAMETERS)
def test_an_index_that_is_not_known_is_named_without_its_password(written: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="index: '…' is not known: give 'embedded'") as refused:
        tiermem.open(tmp_path / "store", engine="local", index=written)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "written",
    [
        "./host=db password=secret",
        "./postgresql+psycopg://notes",
        "/srv/user=ann/memory",
        "~/user=ann",
        "../notes of user=ann",
        "C:/notes",
        "notes",
        "year=2024",
        "notes about passwords",
        "hosts",
    ],
)
def test_a_path_is_a_directory_though_a_part_of_it_looks_like_a_connection(written: str) -> None:
    assert parse_place(written).directory == Path(written)


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tiermem.storage.postgres", None)
    with pytest.raises(InvalidInput, match=r"pip install .*psycopg") as refused:
        open_store(parse_place("postgresql://ann:secret@db/memory"))
    assert "secret" not in str(refused.value)


def test_the_index_of_a_database_is_there_too_or_in_the_process() -> None:
    with pytest.raises(InvalidInput, match=r"index='http://ann\.example' cannot be used .* leave it out"):
        tiermem.open("postgresql://db/memory", engine="local", index="http://key:secret@ann.example")
