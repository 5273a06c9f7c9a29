"""Writing on the index used by default: behind, gone or copied back, it ends up the same."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from pagestore import SessionId, SpaceId
from tests.writing.parts import GARDEN, S1, Rules, finding_on, opened, turn
from tiermem.embedding.hashed import HashEmbedder
from tiermem.index import Hit
from tiermem.index.embedded import open_embedded
from tiermem.index.features import Block, hash_name
from tiermem.index.row_index import RowIndex
from tiermem.index.testing import scores_by_id
from tiermem.index.values import COLLECTIONS, Collection
from tiermem.model import LinkedFact, SummaryUnit
from tiermem.reasoning.interface import Operation
from tiermem.writing import Selection, Writer
from tiermem.writing.values import ProjectionCounts

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("logs")]

QUESTIONS = ("Which bicycle did Ann buy?", "tomatoes in the garden", "Who is Clara?", "80 euros")
SOLD = turn("Ann sold the red bicycle to Clara for 80 euros.", day=9)


async def results(index: RowIndex, space: SpaceId) -> list[tuple[Hit, ...]]:
    return [
        await index.search(space, collection, question, limit=5, inactive=inactive)
        for question in QUESTIONS
        for collection in COLLECTIONS
        for inactive in (False, True)
    ]


async def candidates(index: RowIndex, space: SpaceId) -> tuple[object, ...]:
    found = await index.turns(space, "tomatoes by the shed 3", limit=40)
    places = [*found.before.tolist(), *found.after.tolist()]
    return scores_by_id(found), found.block.rows.tolist(), places, found.rarity, found.named


async def test_a_deleted_index_comes_back_with_the_same_results_and_no_engine(tmp_path: Path) -> None:
    def replaces_the_nearest(fact: LinkedFact, neighbours: Sequence[SummaryUnit]) -> Operation:
        return Operation(op="ADD", reason="sold", supersedes=(neighbours[0].id,))

    ledger, rules = await opened(), Rules(reconciles=replaces_the_nearest)
    index = open_embedded(tmp_path / "index", HashEmbedder())
    writer = Writer(ledger, index, rules.engine)
    for said in (GARDEN, [SOLD]):
        await writer.observe(S1, said)
        await writer.seal()
        if said is GARDEN:
            await writer.distil_pending()
    report = await writer.write_back([await finding_on(ledger, SOLD.text)])
    assert report.decisions[0].superseded
    await writer.distil_pending()
    before, calls = await results(index, ledger.indexed_as), rules.calls.copy()
    assert any(before)
    await index.close()

    shutil.rmtree(tmp_path / "index")
    index = open_embedded(tmp_path / "index", HashEmbedder())
    again = Writer(ledger, index, rules.engine)
    assert await again.projection.project() == ProjectionCounts(units=5, pages=2)
    assert await results(index, ledger.indexed_as) == before
    assert await again.projection.project() == ProjectionCounts()
    await again.projection.rebuild()
    assert await results(index, ledger.indexed_as) == before
    assert rules.calls == calls
    await index.close()


async def test_an_index_copied_back_from_an_older_day_catches_up(tmp_path: Path) -> None:
    ledger, rules = await opened(), Rules()
    index = open_embedded(tmp_path / "index", HashEmbedder())
    writer = Writer(ledger, index, rules.engine)
    await writer.observe(S1, GARDEN)
    await writer.seal()
    await writer.distil_pending()
    await index.close()
    shutil.copytree(tmp_path / "index", tmp_path / "backup")

    index = open_embedded(tmp_path / "index", HashEmbedder())
    await Writer(ledger, index, rules.engine).observe(S1, [SOLD])
    await ledger.seal()
    await Writer(ledger, index, rules.engine).distil_pending()
    before = await results(index, ledger.indexed_as)
    await index.close()

    index = open_embedded(tmp_path / "backup", HashEmbedder())
    assert await results(index, ledger.indexed_as) != before
    await Writer(ledger, index, rules.engine).projection.project()
    assert await results(index, ledger.indexed_as) == before
    await index.close()


async def test_erasing_takes_out_what_is_erased_and_leaves_what_a_rebuilt_index_holds(tmp_path: Path) -> None:
    ledger, rules = await opened(), Rules()
    space = ledger.indexed_as
    index = open_embedded(tmp_path / "index", HashEmbedder())
    writer = Writer(ledger, index, rules.engine)
    said = [turn(f"Ann planted {n} tomatoes by the shed {n % 4}.", day=1 + n // 4) for n in range(40)]
    for start in range(0, 40, 10):
        await writer.observe(S1, said[start : start + 10])
        if start < 30:
            await writer.seal()
    await writer.distil_pending()
    put: list[str] = []
    append = index._append

    def counted(space: SpaceId, collection: Collection, ids: Sequence[str], block: Block) -> None:
        put.extend(ids)
        append(space, collection, ids, block)

    index._append = counted  # type: ignore[method-assign]
    for one in (said[4], said[19], said[20], said[35]):
        put.clear()
        erasure, _ = await writer.eraser.erase(Selection(turn=one.turn_id), "asked to")
        assert erasure.index == "rewritten"
        assert len(put) < 30
        shown = await results(index, space), await candidates(index, space)
        counts = [await index.count(space, collection) for collection in COLLECTIONS]
        fresh = open_embedded(tmp_path / f"fresh {one.turn_id}", HashEmbedder())
        await Writer(ledger, fresh, rules.engine).projection.project()
        assert shown == (await results(fresh, space), await candidates(fresh, space))
        assert counts == [await fresh.count(space, collection) for collection in COLLECTIONS]
        await fresh.close()
    await index.close()


async def test_an_erased_session_leaves_the_hash_of_its_name_in_no_file(tmp_path: Path) -> None:
    ledger, rules = await opened(), Rules()
    index, folder, name = (
        open_embedded(tmp_path / "index", HashEmbedder()),
        tmp_path / "index",
        "call with Clara",
    )

    def files_with_the_name() -> list[str]:
        files = {file.name: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
        assert not any(name.encode() in held for held in files.values())
        return [file for file, held in files.items() if hash_name(name).to_bytes(8, "little") in held]

    writer = Writer(ledger, index, rules.engine)
    await writer.observe(S1, GARDEN)
    await writer.observe(SessionId(name), [SOLD])
    await writer.seal()
    await writer.distil_pending()
    assert files_with_the_name()
    await writer.eraser.erase(Selection(session=SessionId(name)), "asked to")
    assert files_with_the_name() == []
    await writer.projection.rebuild()
    await index.close()
    assert files_with_the_name() == []
