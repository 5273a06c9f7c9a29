"""An index changes its form as it grows: nothing is embedded again, and one form is whole at every moment."""

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
from tests.index.test_room import nearly_full
from tests.index.test_sqlite import found_in
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import IndexLocked, IndexMismatch, IndexUnavailable
from tiermem.index import embedded
from tiermem.index.embedded import open_embedded
from tiermem.index.engine import COLLECTIONS
from tiermem.index.folder import FILE, GROWING
from tiermem.index.qdrant_edge import QdrantEdgeIndex
from tiermem.index.sqlite import SqliteIndex
from tiermem.index.testing import ANN, BOB, GARDEN, TALK, entry, upto

Found = list[tuple[str, float]]


class Unasked(HashEmbedder):
    """An embedder that is not to be asked for anything but a question."""

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        assert len(texts) == 1, "something was embedded again"
        return await super().embed(texts)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """An index in one file, of two spaces, each with a mark."""

    async def fill() -> None:
        index = open_embedded(tmp_path / "index", HashEmbedder())
        assert isinstance(index, SqliteIndex)
        for seq, space in enumerate((ANN, BOB)):
            await index.put(space, "units", [*GARDEN, entry("old", "beans of before", active=False)])
            await index.put(space, "turns", TALK)
            await index.put(space, "pages", [entry("p1", "a page on beans")])
            await index.set_mark(space, upto(seq))
        await index.close()

    anyio.run(fill)
    return tmp_path / "index"


def looked_at(index: SqliteIndex | QdrantEdgeIndex) -> tuple[list[History], list[int], Found]:
    """The marks, the counts and what is found; the index is closed."""

    async def look() -> tuple[list[History], list[int], Found]:
        marks = [await index.mark(space) for space in (ANN, BOB)]
        counts = [await index.count(space, name) for space in (ANN, BOB) for name in COLLECTIONS]
        found = await found_in(index)
        await index.close()
        return marks, counts, found

    return anyio.run(look)


def as_before(index: SqliteIndex | QdrantEdgeIndex, before: tuple[list[History], list[int], Found]) -> None:
    marks, counts, found = looked_at(index)
    assert (marks, counts) == before[:2]
    assert [name for name, _ in found] == [name for name, _ in before[2]]
    assert [score for _, score in found] == pytest.approx([score for _, score in before[2]], abs=1e-4)


def forms_in(place: Path) -> set[str]:
    return {one.name for one in place.iterdir()} & {FILE, GROWING, *COLLECTIONS}


def test_a_grown_index_opens_as_shards_that_hold_what_the_file_held(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = looked_at(open_embedded(small, Unasked()))
    assert before[0] == [upto(0), upto(1)]
    monkeypatch.setattr(embedded, "GROWN", 23)
    index = open_embedded(small, Unasked())
    assert isinstance(index, QdrantEdgeIndex)
    as_before(index, before)
    assert forms_in(small) == set(COLLECTIONS)
    monkeypatch.undo()
    as_before(open_embedded(small, Unasked()), before)


def test_up_to_the_limit_it_stays_as_it_is(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "GROWN", 24)
    looked_at(open_embedded(small, Unasked()))
    assert forms_in(small) == {FILE}


def test_an_index_of_before_is_opened_as_it_is_and_made_anew_it_is_small(tmp_path: Path) -> None:
    async def before() -> None:
        index = QdrantEdgeIndex(tmp_path, HashEmbedder())
        await index.put(ANN, "units", GARDEN)
        await index.set_mark(ANN, upto(4))
        await index.close()

    anyio.run(before)
    assert json.loads((tmp_path / "index.json").read_text()).keys() == {"schema", "embedder", "dimensions"}
    index = open_embedded(tmp_path, HashEmbedder())
    assert isinstance(index, QdrantEdgeIndex)
    assert looked_at(index)[0] == [upto(4), History()]
    assert looked_at(open_embedded(tmp_path, HashEmbedder(), fresh=True))[0] == [History(), History()]
    assert forms_in(tmp_path) == {FILE}


class Crash(BaseException):
    """The process ends here."""


STEPS: tuple[tuple[object, str], ...] = (
    (Path, "rename"),
    (Path, "replace"),
    (Path, "unlink"),
    (shutil, "rmtree"),
    (os, "fsync"),
    (QdrantEdgeIndex, "_upsert"),
)


def crash_at(step: int, patch: pytest.MonkeyPatch) -> list[str]:
    """Let the process end before a step that changes something on the disk; the steps that were come to."""
    came_to: list[str] = []

    def before(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*args: Any, **given: Any) -> Any:
            places = [one for one in args if isinstance(one, Path)]
            if name in ("rename", "rmtree") and all(GROWING in one.parent.parts for one in places):
                return real(*args, **given)  # of the making of one shard, which nobody sees
            came_to.append(name)
            if len(came_to) == step:
                raise Crash(name)
            if len(came_to) > step:
                raise Crash("nothing is done after the end")
            return real(*args, **given)

        return stepped

    for owner, name in STEPS:
        patch.setattr(owner, name, before(name, getattr(owner, name)))
    return came_to


def crashed(small: Path, step: int) -> tuple[str, Path] | None:
    """At what a growth of a copy was ended, and what it left; `None` once it comes to its end."""
    place = small.with_name(f"crashed at {step}")
    shutil.copytree(small, place)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedded, "GROWN", 3)
        came_to = crash_at(step, patch)
        try:
            index = open_embedded(place, Unasked())
        except Crash:
            return came_to[step - 1], place
    anyio.run(index.close)
    return None


def test_a_crash_anywhere_in_the_change_of_forms_loses_nothing(small: Path) -> None:
    before, seen = looked_at(open_embedded(small, Unasked())), set()
    left_behind: set[frozenset[str]] = set()
    for step in itertools.count(1):
        ended = crashed(small, step)
        if ended is None:
            break
        at, place = ended
        left = frozenset(forms_in(place))
        as_before(open_embedded(place, Unasked()), before)
        assert forms_in(place) in ({FILE}, set(COLLECTIONS))
        shutil.rmtree(place)
        if left not in left_behind:
            crashed(small, step)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(embedded, "GROWN", 3)
                as_before(open_embedded(place, Unasked()), before)
            assert forms_in(place) == set(COLLECTIONS)
            shutil.rmtree(place)
        seen.add(at)
        left_behind.add(left)
    assert seen >= {"rename", "replace", "unlink", "rmtree", "fsync", "_upsert"}
    assert len(left_behind) > 4


def test_it_does_not_change_its_form_while_another_has_it_open(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "GROWN", 3)
    other = SqliteIndex(small, HashEmbedder())
    index = open_embedded(small, Unasked())
    assert isinstance(index, SqliteIndex)
    before = looked_at(index)
    anyio.run(other.close)
    assert forms_in(small) == {FILE}
    as_before(open_embedded(small, Unasked()), before)
    assert forms_in(small) == set(COLLECTIONS)


def test_it_does_not_change_its_form_where_there_is_no_room(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = looked_at(open_embedded(small, Unasked()))
    with monkeypatch.context() as patch:
        patch.setattr(embedded, "GROWN", 3)
        nearly_full(patch, 60_000)
        as_before(open_embedded(small, Unasked()), before)
    assert forms_in(small) == {FILE}


def test_where_there_was_no_room_to_change_its_form_others_can_open_it(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "GROWN", 3)
    nearly_full(monkeypatch, 60_000)
    index = open_embedded(small, Unasked())
    other = open_embedded(small, Unasked())
    assert isinstance(other, SqliteIndex)
    for one in (index, other):
        anyio.run(one.close)


def test_shards_are_left_to_the_one_that_has_them_and_readers_are_told(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "GROWN", 3)
    index = open_embedded(small, HashEmbedder())
    for read_only in (False, True):
        with pytest.raises((IndexLocked, IndexUnavailable), match=r"owned by this process|one process uses"):
            open_embedded(small, HashEmbedder(), read_only=read_only)
    with pytest.raises(IndexLocked):
        open_embedded(small, HashEmbedder(), fresh=True)
    anyio.run(index.close)


def test_the_file_is_no_shards_to_who_asks_for_shards(small: Path) -> None:
    with pytest.raises(IndexMismatch, match="in one file"):
        QdrantEdgeIndex(small, HashEmbedder())


OPENS = """
import sys
from pathlib import Path
from tiermem.index import embedded
from tiermem.embedding.hashed import HashEmbedder

embedded.GROWN = int(sys.argv[2])
print(type(embedded.open_embedded(Path(sys.argv[1]), HashEmbedder())).__name__)
"""


def test_processes_that_open_it_at_once_agree_on_its_form(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OPENS, str(tmp_path / "index"), "100"]
    opened = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]
    assert [one.communicate()[0] for one in opened] == [b"SqliteIndex\n"] * 3
