"""Where a store is kept, and that no password of a database is shown."""

from pathlib import Path

import pytest

import tiermem
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
    assert place.require_directory("upgrade", instead="no need") == Path("~/notes")
    assert parse_place(":memory:").directory is None


def test_what_needs_a_directory_is_refused_for_a_database_without_its_password() -> None:
    place = parse_place("postgresql://ann:secret@db/memory")
    with pytest.raises(InvalidInput, match=r"upgrade needs a store in a directory.*: no need$") as refused:
        place.require_directory("upgrade", instead="no need")
    assert "secret" not in str(refused.value)


def test_a_url_that_became_a_path_is_refused_without_quoting_it() -> None:
    with pytest.raises(InvalidInput, match="as text") as refused:
        tiermem.open(Path("postgresql://ann:secret@db/memory"), engine="local")
    assert "secret" not in str(refused.value)


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tiermem.storage.postgres", None)
    with pytest.raises(InvalidInput, match=r"pip install 'tiermem\[postgres\]'") as refused:
        open_store(parse_place("postgresql://ann:secret@db/memory"))
    assert "secret" not in str(refused.value)


def test_the_index_of_a_database_is_there_too_or_in_the_process() -> None:
    with pytest.raises(InvalidInput, match=r"index='http://ann\.example' cannot be used .* 'pgvector' keeps"):
        tiermem.open("postgresql://db/memory", engine="local", index="http://key:secret@ann.example")
