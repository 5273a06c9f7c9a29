"""Lines are copied from one log to another byte for byte; what cannot be a copy is refused."""

from pathlib import Path

import pytest

from pagestore import LogOptions, SessionId, SpaceId, Store
from pagestore.copying import CopiedSpace, copy_lines
from pagestore.errors import Conflict, Corrupt, Locked
from pagestore.lines.memory import MemoryLines
from pagestore.log import Log
from pagestore.testing import S1, said
from tests.pagestore.test_disk_log import everything, filled

SPACE = SpaceId("ann")
OPTIONS = LogOptions(page_tokens=60, segment_bytes=4_000)
GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with one space, in several parts."""
    store = Store(tmp_path / "one", options=OPTIONS)
    with store.open_space(SPACE) as log:
        filled(log)
        log.append(SessionId("long"), [said("a turn in parts " + "and so on " * 400)])
    return store


def copy(source: Store, dest: Store, space: SpaceId = SPACE) -> CopiedSpace:
    lines, there = source.open_lines(space, writable=False), dest.open_lines(space, writable=True)
    try:
        return copy_lines(lines, there, space)
    finally:
        lines.close()
        there.close()


def test_files_of_a_copy_are_the_same(store: Store, tmp_path: Path) -> None:
    other = Store(tmp_path / "other", options=OPTIONS)
    done = copy(store, other)
    assert done.new == done.records
    one, two = (sorted(Path(each.path, "spaces", "ann").glob("*.jsonl")) for each in (store, other))
    assert len(one) > 2
    assert [file.read_bytes() for file in one] == [file.read_bytes() for file in two]
    with store.open_space(SPACE, read_only=True) as log, other.open_space(SPACE, read_only=True) as same:
        assert everything(log) == everything(same)
        assert same.verify().checkpoint == done.checkpoint
    assert copy(store, other).new == 0


def test_an_erasing_that_is_not_finished_is_finished_first(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as cut, store.open_space(SPACE) as log:
        cut.setattr(Log, "_finish_erasing", lambda self, journal: None)
        page = log.page(log.pages()[0].id)
        log.erase(page.id, page.lines[0].seq, "asked to")
    with pytest.raises(Conflict, match="open it for writing once, and copy it"):
        copy(store, Store(tmp_path / "other"))
    store.open_space(SPACE).close()
    assert copy(store, Store(tmp_path / "other")).records > 40


def test_damage_and_another_history_are_refused(store: Store, tmp_path: Path) -> None:
    other = Store(tmp_path / "other")
    with other.open_space(SPACE) as log:
        log.append(S1, [said("something else")])
    with pytest.raises(Conflict, match="is of another log"):
        copy(store, other)
    file = Path(store.path, "spaces", "ann", "00000001.jsonl")
    file.write_bytes(file.read_bytes().replace(b'"t":"turn"', b'"t":"turm"', 1))
    with pytest.raises(Corrupt, match="record 2 is unreadable; run `verify`"):
        copy(store, Store(tmp_path / "new"))


def test_a_copy_that_lacks_something_is_no_copy(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pagestore.copying._append", lambda *given: iter(()))
    with pytest.raises(Corrupt, match="is not what was copied"):
        copy(store, Store(tmp_path / "other"))


def test_a_copy_that_another_one_writes_meanwhile_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pagestore.copying._AT_ONCE", 5)
    lines, memory = MemoryLines(), MemoryLines()
    with Log(lines, SPACE) as log:
        filled(log)

    def write(done: int, total: int) -> None:
        with Log(memory.share(), SPACE) as another:
            another.append(S1, [said("said meanwhile")])

    with pytest.raises(Locked, match="make one elsewhere"):
        copy_lines(lines, memory, SPACE, progress=write)
