"""An index of another log, or of another past of the same one, is never taken for current."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from pagestore import DiskLog, History, SessionId, SpaceId, Turn
from tests.logs import new_log
from tests.pagestore.memoryfiles import MemoryFiles
from tests.writing.parts import GARDEN, S1, SPACE, DictIndex, Rules, turn
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import IndexMismatch
from tiermem.index import Entry
from tiermem.index.embedded import open_embedded
from tiermem.index.interface import Exclusive, Index
from tiermem.index.qdrant import QdrantIndex
from tiermem.index.row_index import RowIndex
from tiermem.ledger import Ledger
from tiermem.writing import Selection, Writer
from tiermem.writing.values import ProjectionCounts

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("logs")]

BACKENDS = ("memory", "one file", "server")
"""Local mode stands for a server: the same adapter, which other processes may use."""

HARBOUR = (
    turn("Bob rented a boat in the harbour."),
    turn("Bob paid 70 euros for the boat."),
    turn("Bob is afraid of thunderstorms."),
    turn("Bob met his uncle Piero in Genoa."),
)


@asynccontextmanager
async def index_of(kind: str, folder: Path) -> AsyncIterator[Index]:
    index: Index
    match kind:
        case "memory":
            index = RowIndex(HashEmbedder())
        case "one file":
            index = open_embedded(folder, HashEmbedder())
        case _:
            index = QdrantIndex(":memory:", HashEmbedder())
    try:
        yield index
    finally:
        await index.close()


async def told(ledger: Ledger, index: Index, turns: Iterable[Turn]) -> Writer:
    writer = Writer(ledger, index, Rules().engine)
    await writer.observe(S1, list(turns))
    await writer.seal()
    await writer.distil_pending()
    return writer


async def found(ledger: Ledger, index: Index) -> tuple[set[str], int]:
    """The units an index finds for a log, and how many turns it holds of it."""
    space = ledger.indexed_as
    hits = await index.search(space, "units", "Ann and Bob: tomatoes, boat, Genoa", limit=50)
    return {hit.id for hit in hits}, await index.count(space, "turns")


def units(ledger: Ledger) -> set[str]:
    return {unit.id for unit in ledger.tier1.units()}


@pytest.mark.parametrize("kind", BACKENDS)
async def test_two_stores_with_one_space_name_neither_see_nor_delete_each_others_points(
    tmp_path: Path, kind: str
) -> None:
    left, right = await Ledger.open(new_log(SPACE)), await Ledger.open(new_log(SPACE))
    assert left.space == right.space
    async with index_of(kind, tmp_path) as index:
        one, other = await told(left, index, GARDEN), await told(right, index, HARBOUR)
        for _ in range(2):
            assert await found(left, index) == (units(left), 4)
            assert await found(right, index) == (units(right), 4)
            assert await one.projection.project() == await other.projection.project() == ProjectionCounts()
            await one.projection.rebuild()
        await one.eraser.erase(Selection(space=True), "asked to")
        assert (await found(left, index))[0] == set()
        assert await found(right, index) == (units(right), 4)


class Restored:
    """A log whose files are brought back as they were when it was kept."""

    def __init__(self) -> None:
        self.files = MemoryFiles()
        self._kept: dict[str, bytes] = {}
        self.log = self._opened()

    def _opened(self) -> DiskLog:
        return DiskLog("disk", SPACE, files=self.files)

    def keep(self) -> None:
        self._kept = {name: bytes(content) for name, content in self.files._contents.items()}

    def bring_back(self) -> DiskLog:
        self.log.close()
        self.files = MemoryFiles()
        self.files._contents = {name: bytearray(content) for name, content in self._kept.items()}
        self.log = self._opened()
        return self.log


@pytest.mark.parametrize("sealed_before", [True, False], ids=["sealed", "open"])
@pytest.mark.parametrize("kind", ["memory", "one file"])
@pytest.mark.local_only("the files of a log are brought back")
async def test_an_index_newer_than_a_log_that_was_restored_is_made_anew(
    tmp_path: Path, kind: str, sealed_before: bool
) -> None:
    store = Restored()
    async with index_of(kind, tmp_path) as index:
        ledger = await Ledger.open(store.log)
        if sealed_before:
            await told(ledger, index, GARDEN[:2])
        store.keep()
        for said in HARBOUR:
            await ledger.append(S1, [said])
        await Writer(ledger, index, Rules().engine).distil_pending()

        restored = await Ledger.open(store.bring_back())
        for said in (*GARDEN[2:], *HARBOUR[:3], turn("Ann went home.")):
            await restored.append(S1, [said])
        writer = Writer(restored, index, Rules().engine)
        mark = await index.mark(restored.indexed_as)
        assert mark.seq <= (await restored.changes(-1)).head  # no longer told by its number alone
        assert not await restored.begins_with(mark)
        await writer.projection.project()
        assert await restored.begins_with(await index.mark(restored.indexed_as))
        fresh = RowIndex(HashEmbedder())
        await Writer(restored, fresh, Rules().engine).projection.project()
        for question in ("Who paid 70 euros for the boat?", "tomatoes", "uncle Piero in Genoa"):
            there = await index.turns(restored.indexed_as, question, limit=9)
            anew = await fresh.turns(restored.indexed_as, question, limit=9)
            assert there.seqs == anew.seqs
            assert there.meaning.tolist() == pytest.approx(anew.meaning.tolist(), abs=1e-4)


@pytest.mark.local_only("the files of a log are brought back")
async def test_on_a_server_another_history_is_left_alone_until_somebody_asks_for_reindex(
    tmp_path: Path,
) -> None:
    store = Restored()
    async with index_of("server", tmp_path) as index:
        assert not isinstance(index, Exclusive)
        ledger = await Ledger.open(store.log)
        store.keep()
        await told(ledger, index, HARBOUR)
        before = await found(ledger, index)
        restored = await Ledger.open(store.bring_back())
        writer = await told(restored, index, GARDEN)
        assert await found(restored, index) == before
        with pytest.raises(IndexMismatch, match=r"another history.*`reindex`"):
            await writer.projection.project()
        left = await writer.distil_pending()
        assert "another history" in str(left.unfinished)
        await writer.projection.rebuild()
        assert await found(restored, index) == (units(restored), 4)


@pytest.mark.local_only("the files of a log are brought back")
async def test_a_page_that_was_open_is_not_taken_for_the_one_of_the_same_name() -> None:
    """Nothing but turns was written since: the tree of the two logs is the same."""
    store, index = Restored(), DictIndex()
    ledger = await Ledger.open(store.log)
    store.keep()
    await ledger.append(S1, HARBOUR[:2])
    await Writer(ledger, index, Rules().engine).projection.project()
    restored = await Ledger.open(store.bring_back())
    await restored.append(S1, GARDEN[:2])
    assert not await restored.begins_with(index.marks[SPACE])
    await Writer(restored, index, Rules().engine).projection.project()
    assert {entry.text for entry in index.of("turns").values()} == {said.text for said in GARDEN[:2]}


@pytest.mark.local_only("the files of a log are brought back")
async def test_what_a_crash_left_of_another_history_is_not_kept(tmp_path: Path) -> None:
    store = Restored()
    async with index_of("memory", tmp_path) as index:
        ledger = await Ledger.open(store.log)
        space = ledger.indexed_as
        store.keep()
        await told(ledger, index, HARBOUR)
        await index.set_mark(space, History())  # the crash came before the rest was dropped
        restored = await Ledger.open(store.bring_back())
        await told(restored, index, GARDEN)
        assert await found(restored, index) == (units(restored), 4)


@pytest.mark.local_only("a log is opened again from its files")
async def test_an_index_stays_current_when_words_are_erased_and_when_the_log_is_opened_again(
    tmp_path: Path,
) -> None:
    files = MemoryFiles()
    async with index_of("memory", tmp_path) as index:
        for opening in range(3):
            with DiskLog("disk", SPACE, files=files) as log:
                ledger = await Ledger.open(log)
                if opening:
                    assert (
                        await Writer(ledger, index, Rules().engine).projection.project() == ProjectionCounts()
                    )
                    assert await ledger.begins_with(await index.mark(ledger.indexed_as))
                    assert await found(ledger, index) == (units(ledger), 4 * opening)
                writer = await told(ledger, index, GARDEN if opening == 0 else HARBOUR)
                if opening:
                    await writer.eraser.erase(Selection(turn=GARDEN[opening].turn_id, session=S1), "asked to")
                    break


async def test_spaces_of_one_store_are_told_from_each_other() -> None:
    names = [SpaceId("a"), SpaceId("a@b"), SpaceId("")]
    ledgers = [await Ledger.open(new_log(name)) for name in names]
    index = RowIndex(HashEmbedder())
    for ledger in ledgers:
        await index.put(ledger.indexed_as, "units", [Entry(id="u", session=SessionId("s"), text="a boat")])
    await index.drop(ledgers[0].indexed_as)
    assert [await index.count(one.indexed_as, "units") for one in ledgers] == [0, 1, 1]
