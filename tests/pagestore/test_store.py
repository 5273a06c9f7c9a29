"""The store: its format file, its directories, its errors."""

from concurrent.futures import ThreadPoolExecutor
from errno import EACCES, ENOSPC, EROFS
from pathlib import Path
from threading import Barrier

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagestore import SpaceId, Store
from pagestore.errors import (
    Corrupt,
    Full,
    Inaccessible,
    NewerFormat,
    NotAStore,
    ReadOnly,
    SpaceNotFound,
)
from pagestore.store import directory_name
from pagestore.testing import S1, odd_text, said
from tests.pagestore.spyfiles import SpyFiles

ODD_NAMES = [
    "ann",
    "Ann",
    "ANN",
    "",
    ".",
    "..",
    "../../etc",
    "/etc/passwd",
    "a/b",
    "a\\b",
    "x-0123",
    "user@example.org",
    "Zoë",
    "zoe\u0308",
    "\0",
    "\n",
    "\ud800",
    "con",
    "a" * 64,
    "n" * 10_000,
    "é" * 10_000,
]


def test_a_store_is_made_by_many_threads_at_once(tmp_path: Path) -> None:
    together = Barrier(8)

    def make(path: Path) -> str:
        together.wait()
        return Store(path).path

    with ThreadPoolExecutor(8) as pool:
        for attempt in range(40):
            path = tmp_path / str(attempt)
            assert list(pool.map(make, [path] * 8)) == [str(path)] * 8
            assert [one.name for one in path.iterdir()] == ["FORMAT"]


def test_a_new_store_names_its_format_and_has_no_space(tmp_path: Path) -> None:
    store = Store(tmp_path / "deep" / "memory")
    assert store.spaces() == ()
    assert (tmp_path / "deep" / "memory" / "FORMAT").read_text() == "tiermem-store 2\n"
    assert [path.name for path in (tmp_path / "deep" / "memory").iterdir()] == ["FORMAT"]


def test_every_name_has_a_space_of_its_own(tmp_path: Path) -> None:
    store = Store(tmp_path / "memory")
    for name in ODD_NAMES:
        with store.open_space(SpaceId(name)) as log:
            log.append(S1, [said(name[:99])])
    assert store.spaces() == tuple(sorted(ODD_NAMES))
    for name in ODD_NAMES:
        assert store.has_space(SpaceId(name))
        with store.open_space(SpaceId(name)) as log:
            page = log.open_page(S1)
            assert page is not None
            assert [line.turn for line in page.lines] == [said(name[:99])]
            assert log.verify().ok
    directories = {path.name for path in (tmp_path / "memory" / "spaces").iterdir()}
    assert len({name.lower() for name in directories}) == len(ODD_NAMES)
    assert {path.name for path in tmp_path.iterdir()} == {"memory"}


@given(odd_text)
def test_a_directory_name_is_safe_on_any_file_system(name: str) -> None:
    directory = directory_name(SpaceId(name))
    assert directory.isascii()
    assert directory == directory.lower()
    assert len(directory) <= 63
    assert set(directory) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_")


@settings(max_examples=20)
@given(st.text(st.sampled_from("abx-_09"), min_size=1, max_size=8))
def test_a_plain_name_is_its_own_directory(name: str) -> None:
    plain = name[0] not in "-_" and not name.startswith("x-")
    assert (directory_name(SpaceId(name)) == name) == plain


def test_a_space_is_there_once_it_was_opened_for_writing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert not store.has_space(SpaceId("ann"))
    with pytest.raises(SpaceNotFound):
        store.open_space(SpaceId("ann"), read_only=True)
    assert not store.has_space(SpaceId("ann"))
    store.open_space(SpaceId("ann")).close()
    assert store.has_space(SpaceId("ann"))


def test_a_store_opened_for_reading_is_not_written(tmp_path: Path) -> None:
    with Store(tmp_path).open_space(SpaceId("ann")) as log:
        log.append(S1, [said("one")])
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    with Store(tmp_path, read_only=True).open_space(SpaceId("ann")) as log:
        with pytest.raises(ReadOnly):
            log.append(S1, [said("two")])
        assert log.verify().ok
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


class TestBadDirectories:
    def test_a_missing_directory_is_no_store_to_read(self, tmp_path: Path) -> None:
        with pytest.raises(NotAStore, match="there is no store"):
            Store(tmp_path / "missing", read_only=True)
        assert not (tmp_path / "missing").exists()

    def test_an_empty_directory_is_no_store_to_read(self, tmp_path: Path) -> None:
        with pytest.raises(NotAStore):
            Store(tmp_path, read_only=True)

    @pytest.mark.parametrize("read_only", [True, False])
    def test_somebody_elses_directory_is_left_alone(self, tmp_path: Path, read_only: bool) -> None:
        (tmp_path / "thesis.tex").write_text("chapter one")
        with pytest.raises(NotAStore, match="name another directory"):
            Store(tmp_path, read_only=read_only)
        assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]

    def test_a_file_is_no_store(self, tmp_path: Path) -> None:
        file = tmp_path / "memory"
        file.write_text("")
        for path in (file, file / "below", file / "below" / "it"):
            with pytest.raises(NotAStore, match=rf"^'{file}' is a file; a store is a directory$"):
                Store(path)

    @pytest.mark.parametrize("text", ["", "tiermem-store", "tiermem-store x\n", "\xff\xfe", "sqlite 3\n"])
    def test_a_format_file_that_says_something_else_is_refused(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "FORMAT").write_text(text)
        with pytest.raises(NotAStore):
            Store(tmp_path)

    def test_a_newer_format_is_refused_with_what_to_do(self, tmp_path: Path) -> None:
        (tmp_path / "FORMAT").write_text("tiermem-store 3\n")
        with pytest.raises(NewerFormat, match="upgrade"):
            Store(tmp_path)

    def test_the_rest_of_a_creation_cut_short_is_no_hindrance(self, tmp_path: Path) -> None:
        (tmp_path / "FORMAT.123").write_text("tier")
        assert Store(tmp_path).spaces() == ()

    @pytest.mark.parametrize("call", ["make_directory", "names", "open for writing", "sync"])
    def test_a_file_system_that_refuses_is_reported_as_such(self, tmp_path: Path, call: str) -> None:
        files = SpyFiles()
        files.failing = {call: EACCES}
        with pytest.raises(Inaccessible, match="EACCES"):
            Store(tmp_path / "memory", files=files)

    def test_no_room_for_a_store_is_reported_as_such(self, tmp_path: Path) -> None:
        files = SpyFiles()
        files.failing = {"write": ENOSPC}
        with pytest.raises(Full):
            Store(tmp_path / "memory", files=files)

    def test_a_read_only_file_system_can_be_read(self, tmp_path: Path) -> None:
        Store(tmp_path).open_space(SpaceId("ann")).close()
        files = SpyFiles()
        files.failing = dict.fromkeys(("open for writing", "write", "make_directory", "sync"), EROFS)
        store = Store(tmp_path, files=files)
        with pytest.raises(Inaccessible):
            store.open_space(SpaceId("ann"))
        store.open_space(SpaceId("ann"), read_only=True).close()

    def test_a_space_in_the_directory_of_another_is_refused(self, tmp_path: Path) -> None:
        store = Store(tmp_path)
        store.open_space(SpaceId("ann")).close()
        (tmp_path / "spaces" / "ann").rename(tmp_path / "spaces" / "bob")
        with pytest.raises(Corrupt, match="belongs to space 'ann'"):
            store.open_space(SpaceId("bob"))
