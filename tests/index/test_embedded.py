"""Shards of earlier versions become one file: nothing is embedded again, whenever the process ends."""

import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from pagestore import History
from tests.index.shards import make_shards
from tests.index.test_sqlite import found_in
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import IndexFull, IndexLocked, IndexMismatch, IndexUnavailable
from tiermem.index.embedded import open_embedded
from tiermem.index.engine import COLLECTIONS
from tiermem.index.folder import COPY, FILE
from tiermem.index.interface import Collection, Entry
from tiermem.index.ownership import owned
from tiermem.index.sqlite import SqliteIndex
from tiermem.index.testing import ANN, BOB, GARDEN, TALK, entry, upto

Found = list[tuple[str, float]]
ENTRIES: dict[Collection, Sequence[Entry]] = {
    "units": [*GARDEN, entry("old", "beans of before", active=False)],
    "turns": TALK,
    "pages": [entry("p1", "a page on beans")],
}


class Unasked(HashEmbedder):
    """An embedder that is not to be asked for anything but a question."""

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        assert len(texts) == 1, "something was embedded again"
        return await super().embed(texts)


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    """An index in shards, of two spaces, each with a mark."""
    path = tmp_path / "index"
    make_shards(path, HashEmbedder(), {ANN: ENTRIES, BOB: ENTRIES}, {ANN: upto(0), BOB: upto(1)})
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The same in one file, filled as it is used."""

    async def fill() -> None:
        index = open_embedded(tmp_path / "file", HashEmbedder())
        for seq, space in enumerate((ANN, BOB)):
            for collection in COLLECTIONS:
                await index.put(space, collection, ENTRIES[collection])
            await index.set_mark(space, upto(seq))
        await index.close()

    anyio.run(fill)
    return tmp_path / "file"


Looked = tuple[list[History], list[int], Found]


def looked_at(index: SqliteIndex) -> Looked:
    """The marks, the counts and what is found; the index is closed."""

    async def look() -> Looked:
        marks = [await index.mark(space) for space in (ANN, BOB)]
        counts = [await index.count(space, name) for space in (ANN, BOB) for name in COLLECTIONS]
        found = await found_in(index)
        await index.close()
        return marks, counts, found

    return anyio.run(look)


def hold_same(index: SqliteIndex, before: Looked) -> None:
    """Check that an index holds and finds the same."""
    marks, counts, found = looked_at(index)
    assert (marks, counts) == before[:2]
    assert [name for name, _ in found] == [name for name, _ in before[2]]
    assert [score for _, score in found] == pytest.approx([score for _, score in before[2]], abs=1e-4)


def forms_in(place: Path) -> set[str]:
    return {one.name for one in place.iterdir()} & {FILE, COPY, *COLLECTIONS}


def test_shards_are_copied_into_one_file_that_finds_the_same(
    shards: Path, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = looked_at(open_embedded(file, Unasked()))
    assert before[0] == [upto(0), upto(1)]
    assert json.loads((shards / "index.json").read_text()).keys() == {"schema", "embedder", "dimensions"}
    hold_same(open_embedded(shards, Unasked()), before)
    assert forms_in(shards) == {FILE}
    assert "becomes one file: 26 entries are copied" in caplog.text
    assert {(entry.stat().st_mode & 0o777) for entry in shards.iterdir()} == {0o600}
    hold_same(open_embedded(shards, Unasked()), before)


def test_shards_made_again_are_one_empty_file(shards: Path) -> None:
    assert looked_at(open_embedded(shards, HashEmbedder(), fresh=True))[0] == [History(), History()]
    assert forms_in(shards) == {FILE}


def test_shards_are_not_read_by_a_memory_that_writes_nothing(shards: Path) -> None:
    with pytest.raises(IndexUnavailable, match="kept in shards by an earlier version"):
        open_embedded(shards, HashEmbedder(), read_only=True)
    assert forms_in(shards) == set(COLLECTIONS)


def test_shards_of_another_embedder_are_refused(shards: Path) -> None:
    class Other(HashEmbedder):
        name = "other"

    with pytest.raises(IndexMismatch, match="built with"):
        open_embedded(shards, Other())
    assert forms_in(shards) == set(COLLECTIONS)


def test_shards_that_another_process_has_open_are_not_copied(shards: Path) -> None:
    ownership = owned(shards)
    try:
        with pytest.raises(IndexLocked):
            open_embedded(shards, HashEmbedder())
    finally:
        ownership.release()
    assert forms_in(shards) == set(COLLECTIONS)


def test_without_the_engine_shards_are_an_error_that_says_what_to_install(
    shards: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "qdrant_edge", None)
    with pytest.raises(IndexMismatch, match=r"install 'tiermem\[shards\]'.*or rebuild it by `reindex`"):
        open_embedded(shards, HashEmbedder())
    assert forms_in(shards) == set(COLLECTIONS)
    monkeypatch.undo()
    anyio.run(open_embedded(shards, Unasked()).close)
    assert forms_in(shards) == {FILE}


def test_shards_that_are_damaged_are_an_error(shards: Path) -> None:
    shutil.rmtree(shards / "turns" / "segments")
    with pytest.raises(IndexMismatch, match="turns: its segments are gone"):
        open_embedded(shards, HashEmbedder())


def test_without_room_for_the_copy_shards_stay_as_they_are(
    shards: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise IndexFull("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(SqliteIndex, "_write", full)
        with pytest.raises(IndexFull):
            open_embedded(shards, HashEmbedder())
    assert forms_in(shards) == set(COLLECTIONS)
    assert looked_at(open_embedded(shards, Unasked()))[0] == [upto(0), upto(1)]


class Crash(BaseException):
    """The process ends here."""


STEPS: tuple[tuple[object, str], ...] = (
    (Path, "replace"),
    (Path, "unlink"),
    (shutil, "rmtree"),
    (os, "fsync"),
    (SqliteIndex, "_write"),
    (SqliteIndex, "_record"),
)


def crash_at(step: int, patch: pytest.MonkeyPatch) -> list[str]:
    """Let the process end before a step that changes something on the disk; the steps that were reached."""
    reached: list[str] = []

    def before(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*args: Any, **given: Any) -> Any:
            reached.append(name)
            if len(reached) == step:
                raise Crash(name)
            if len(reached) > step:
                raise Crash("nothing is done after the end")
            return real(*args, **given)

        return stepped

    for owner, name in STEPS:
        patch.setattr(owner, name, before(name, getattr(owner, name)))
    return reached


def crashed(shards: Path, step: int) -> tuple[str, Path] | None:
    """At what the copying of some shards was ended, and what it left; `None` once it comes to its end."""
    place = shards.with_name(f"crashed at {step}")
    shutil.copytree(shards, place)
    with pytest.MonkeyPatch.context() as patch:
        reached = crash_at(step, patch)
        try:
            index = open_embedded(place, Unasked())
        except Crash:
            return reached[step - 1], place
    anyio.run(index.close)
    return None


def test_a_crash_anywhere_in_the_copying_loses_nothing(shards: Path, file: Path) -> None:
    before, seen = looked_at(open_embedded(file, Unasked())), set()
    left_behind: set[frozenset[str]] = set()
    for step in itertools.count(1):
        ended = crashed(shards, step)
        if ended is None:
            break
        at, place = ended
        left_behind.add(frozenset(forms_in(place)))
        hold_same(open_embedded(place, Unasked()), before)
        assert forms_in(place) == {FILE}
        shutil.rmtree(place)
        seen.add(at)
    assert seen >= {"replace", "unlink", "rmtree", "fsync", "_write", "_record"}
    assert len(left_behind) > 4


OPENS = """
import sqlite3
import sys
from pathlib import Path
from tiermem.embedding.hashed import HashEmbedder
from tiermem.index.embedded import open_embedded
from tiermem.index.folder import FILE

folder = Path(sys.argv[1])
open_embedded(folder, HashEmbedder())
print(sqlite3.connect(folder / FILE).execute("SELECT count(*) FROM entries").fetchone()[0])
"""


def test_processes_that_open_shards_at_once_copy_them_once(shards: Path) -> None:
    command = [sys.executable, "-c", OPENS, str(shards)]
    opened = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]
    assert [one.communicate()[0] for one in opened] == [b"24\n"] * 3
