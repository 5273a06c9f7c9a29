"""Writing on the index that is used by default: behind, gone or copied back, it ends up the same."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from pagestore import SpaceId
from tests.writing.parts import GARDEN, S1, Rules, finding_on, opened, turn
from tiermem.index import Hit, QdrantEdgeIndex
from tiermem.index.testing import HashEmbedder
from tiermem.model import LinkedFact, SummaryUnit
from tiermem.reasoning.interface import Operation
from tiermem.writing import Projected, Writer

pytestmark = pytest.mark.anyio

QUESTIONS = ("Which bicycle did Ann buy?", "tomatoes in the garden", "Who is Clara?", "80 euros")
SOLD = turn("Ann sold the red bicycle to Clara for 80 euros.", day=9)


async def results(index: QdrantEdgeIndex, space: SpaceId) -> list[tuple[Hit, ...]]:
    return [
        await index.search(space, collection, question, limit=5, inactive=inactive)
        for question in QUESTIONS
        for collection in ("units", "pages")
        for inactive in (False, True)
    ]


async def test_a_deleted_index_comes_back_with_the_same_results_and_no_engine(tmp_path: Path) -> None:
    def replaces_the_nearest(fact: LinkedFact, neighbours: Sequence[SummaryUnit]) -> Operation:
        return Operation(op="ADD", reason="sold", supersedes=(neighbours[0].id,))

    ledger, rules = await opened(), Rules(reconciles=replaces_the_nearest)
    index = await QdrantEdgeIndex.open(tmp_path / "index", HashEmbedder())
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
    index = await QdrantEdgeIndex.open(tmp_path / "index", HashEmbedder())
    again = Writer(ledger, index, rules.engine)
    assert await again.project() == Projected(units=5, pages=2)
    assert await results(index, ledger.indexed_as) == before
    assert await again.project() == Projected()
    await again.reindex()
    assert await results(index, ledger.indexed_as) == before
    assert rules.calls == calls
    await index.close()


async def test_an_index_copied_back_from_an_older_day_catches_up(tmp_path: Path) -> None:
    ledger, rules = await opened(), Rules()
    index = await QdrantEdgeIndex.open(tmp_path / "index", HashEmbedder())
    writer = Writer(ledger, index, rules.engine)
    await writer.observe(S1, GARDEN)
    await writer.seal()
    await writer.distil_pending()
    await index.close()
    shutil.copytree(tmp_path / "index", tmp_path / "backup")

    index = await QdrantEdgeIndex.open(tmp_path / "index", HashEmbedder())
    await Writer(ledger, index, rules.engine).observe(S1, [SOLD])
    await ledger.seal()
    await Writer(ledger, index, rules.engine).distil_pending()
    before = await results(index, ledger.indexed_as)
    await index.close()

    index = await QdrantEdgeIndex.open(tmp_path / "backup", HashEmbedder())
    assert await results(index, ledger.indexed_as) != before
    await Writer(ledger, index, rules.engine).project()
    assert await results(index, ledger.indexed_as) == before
    await index.close()
