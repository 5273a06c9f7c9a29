"""What is set aside is on record until it goes through; what is no page's fault is nobody's record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pagestore import Page, PageId, SessionId, SpaceId
from pagestore.errors import Corrupt
from tests.ledger.building import answer
from tests.writing.parts import GARDEN, S1, SPACE, DictIndex, Rules, finding_on, opened, pages_in, turn
from tiermem.errors import ModelRefused, Unexpected, UnknownId
from tiermem.index.values import Collection, Entry, turn_id
from tiermem.ledger import Ledger, SetAside
from tiermem.model import LinkedFact
from tiermem.reasoning.interface import Operation
from tiermem.writing import Selection, Writer

pytestmark = [pytest.mark.anyio, pytest.mark.unexpected, pytest.mark.usefixtures("logs")]

ODD = "Ann met Quibble at the harbour."


class Choosy(DictIndex):
    """An index that cannot take what holds an odd word."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error: Exception | None = error

    async def put(self, space: SpaceId, collection: Collection, entries: Sequence[Entry]) -> None:
        for entry in entries:
            if self.error is not None and "Quibble" in f"{entry.text} {entry.context}":
                raise self.error
        await super().put(space, collection, entries)


async def said(writer: Writer, *texts: str, session: str = "s1", seal: bool = True) -> None:
    await writer.observe(SessionId(session), [turn(text) for text in texts])
    if seal:
        await writer.seal()


def steps(ledger: Ledger) -> list[tuple[str, PageId]]:
    return [(one.step, one.page_id) for one in ledger.tier1.pages_set_aside]


@pytest.mark.parametrize("error", [ValueError("odd"), ModelRefused("too long"), MemoryError()])
async def test_what_one_page_does_to_the_index_stops_neither_the_others_nor_the_mark(
    error: Exception,
) -> None:
    ledger, index = await opened(), Choosy(error)
    writer = Writer(ledger, index, Rules().engine)
    await said(writer, ODD, session="odd")
    for text in (GARDEN[0].text, GARDEN[1].text):
        await said(writer, text, session=text)
    assert (await writer.distil_pending()).unfinished == ()
    odd, *others = [info.id for info in await ledger.pages()]
    assert steps(ledger) == [("index", odd)]
    assert await pages_in(ledger, index) == set(others)
    head = ledger.tier1.head
    assert index.marks[SPACE].seq > 0
    await writer.distil_pending()
    assert ledger.tier1.head == head, "what is on record already is not written again"
    index.error = None
    await writer.distil_pending()
    assert steps(ledger) == [("index", odd)], "only when asked is it tried again"
    await writer.distil_pending(again=True)
    assert steps(ledger) == []
    assert await pages_in(ledger, index) == {odd, *others}
    whole = DictIndex()
    await Writer(ledger, whole, Rules().engine).projection.project()
    assert index.entries == whole.entries


@pytest.mark.parametrize("again", [True, False])
@pytest.mark.parametrize("error", [ValueError("odd"), ModelRefused("too long"), MemoryError()])
async def test_a_page_that_fails_again_for_the_same_reason_is_not_recorded_again(
    error: Exception, again: bool
) -> None:
    ledger, index = await opened(), Choosy(error)
    writer = Writer(ledger, index, Rules().engine)
    await said(writer, GARDEN[0].text, session="even")
    await said(writer, ODD, session="odd")
    await writer.distil_pending()
    head = ledger.tier1.head
    for _ in range(3):
        await writer.distil_pending(again=again)
    assert ledger.tier1.head == head
    index.error = ValueError("another reason")
    await writer.distil_pending(again=True)
    assert ledger.tier1.head > head


async def test_where_the_embedder_refuses_whatever_it_is_given_no_page_is_blamed() -> None:
    ledger, index = await opened(), DictIndex()
    writer = Writer(ledger, index, Rules().engine)
    for text in (GARDEN[0].text, GARDEN[1].text):
        await said(writer, text, session=text)

    async def refuses(*given: Any) -> None:
        raise ModelRefused("wrong key")

    real = index.put
    index.put = refuses  # type: ignore[method-assign,assignment]  # for this while
    (left,) = (await writer.distil_pending()).unfinished
    assert "wrong key" in left.reason
    assert (ledger.tier1.pages_set_aside, index.marks) == ((), {})
    index.put = real  # type: ignore[method-assign]  # as it was
    await writer.distil_pending()
    assert len(await pages_in(ledger, index)) == 2


async def test_a_page_beside_an_odd_one_is_found_without_the_words_before_it() -> None:
    ledger, index = await opened(), Choosy(ValueError("odd"))
    writer = Writer(ledger, index, Rules().engine)
    await said(writer, ODD)
    await said(writer, GARDEN[0].text)
    await writer.distil_pending()
    odd, good = [info.id for info in await ledger.pages()]
    assert steps(ledger) == [("index", odd)]
    assert list(index.of("turns")) == [turn_id(line.seq) for line in (await ledger.page(good)).lines]


async def test_an_open_page_is_tried_with_every_turn_and_not_told_of_once_it_sealed() -> None:
    ledger, index = await opened(), Choosy(ValueError("odd"))
    writer = Writer(ledger, index, Rules().engine)
    await said(writer, GARDEN[0].text, ODD, seal=False)
    assert await writer.projection.attempt() is None
    (page,) = await ledger.open_pages()
    assert steps(ledger) == [("index", page.id)]
    await said(writer, GARDEN[1].text)
    await writer.distil_pending()
    (info,) = await ledger.pages()
    assert steps(ledger) == [("index", info.id)]
    index.error = None
    await writer.distil_pending(again=True)
    assert steps(ledger) == []
    assert len(index.of("turns")) == 3


async def test_a_damaged_page_keeps_no_other_from_index_and_erasing(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, index = await opened(), DictIndex()
    writer = Writer(ledger, index, Rules().engine)
    for text in (GARDEN[0].text, GARDEN[1].text, GARDEN[2].text):
        await said(writer, text, session=text)
    bad, good, other = [info.id for info in await ledger.pages()]
    real = ledger._log.page

    def page(page_id: PageId) -> Page:
        if page_id == bad:
            raise Corrupt("a flipped bit")
        return real(page_id)

    monkeypatch.setattr(ledger._log, "page", page)
    report = await writer.distil_pending()
    assert (report.distilled, report.pending) == (2, 1)
    assert await pages_in(ledger, index) == {good, other}
    assert "a flipped bit" in str(report.aside)
    erasure, _ = await writer.eraser.erase(Selection(page=good), "asked for")
    assert len(erasure.turns) == 1
    for told in (Selection(page=bad), Selection(session=SessionId(GARDEN[0].text)), Selection(space=True)):
        with pytest.raises(Corrupt):
            await writer.eraser.erase(told, "asked for")
    with pytest.raises(Corrupt):
        await writer.eraser.erase(
            Selection(turn=GARDEN[0].text), "it may stand on the page that cannot be read"
        )
    monkeypatch.undo()
    with pytest.raises(UnknownId):
        await writer.eraser.erase(Selection(turn="nowhere"), "asked for")
    await writer.eraser.erase(Selection(turn=GARDEN[0].text), "asked for")


@pytest.mark.parametrize("judgement", ["selects", "reconciles"])
async def test_a_finding_on_which_a_judgement_raises_waits_and_the_others_do_not(judgement: str) -> None:
    def selects(facts: Sequence[LinkedFact]) -> Sequence[int]:
        if any("Lisbon" in fact.claim for fact in facts):
            raise ZeroDivisionError("odd")
        return range(len(facts))

    def reconciles(fact: LinkedFact, neighbours: object) -> Operation:
        if "Lisbon" in fact.claim:
            raise ZeroDivisionError("odd")
        return Operation(op="ADD", reason="new")

    raising: dict[str, Any] = {"selects": selects, "reconciles": reconciles}
    ledger = await opened()
    writer = Writer(ledger, DictIndex(), Rules(**{judgement: raising[judgement]}).engine)
    await writer.observe(S1, GARDEN)
    await writer.seal()
    findings = [await finding_on(ledger, said.text) for said in GARDEN]
    await writer.record_answer(answer("a1"), findings)
    report = await writer.apply_pending()
    assert len(report.decisions) == 3
    (left,) = report.unfinished
    assert left.what == findings[3].id
    assert f" in {judgement.removesuffix('s')}, called at tiermem/writing/write_back.py:" in left.reason
    assert "ZeroDivisionError at parts.py:" in left.reason
    assert list(ledger.tier1.pending) == [findings[3].id]


async def test_looking_at_a_page_again_tells_what_nobody_expects_as_ours_with_the_cause() -> None:
    rules = Rules()
    ledger = await opened()
    writer = Writer(ledger, DictIndex(), rules.engine)
    await said(writer, GARDEN[0].text)
    await writer.distil_pending()
    (info,) = await ledger.pages()

    def breaks(page: Page) -> Any:
        raise KeyError("odd")

    rules.distils = breaks
    with pytest.raises(Unexpected, match=r"KeyError at parts.py:.* in distil, called at tiermem") as raised:
        await writer.redistil(info.id)
    assert isinstance(raised.value.__cause__, KeyError)


async def test_setting_aside_survives_reopening_and_ends_with_the_summary() -> None:
    ledger = await opened()
    rules = Rules(distils=lambda page: 1 / 0)  # type: ignore[arg-type,return-value]  # it never returns
    writer = Writer(ledger, DictIndex(), rules.engine)
    await said(writer, GARDEN[0].text)
    await writer.distil_pending()
    (info,) = await ledger.pages()
    again = await Ledger.open(ledger._log)
    (aside,) = again.tier1.pages_set_aside
    assert (aside.page_id, aside.step) == (info.id, "distil")
    assert aside.reason is not None
    assert aside.reason.startswith("ZeroDivisionError at parts.py:")
    assert str(aside) == (f"page {info.id} is set aside (distil): {aside.reason}; `flush` tries it again")
    rules.distils = None
    await Writer(again, DictIndex(), rules.engine).distil_pending(again=True)
    assert again.tier1.pages_set_aside == (await Ledger.open(ledger._log)).tier1.pages_set_aside == ()


async def test_the_newest_word_on_a_step_counts() -> None:
    ledger = await opened()
    for step, reason in (("ask", "one"), ("index", "two"), ("ask", "three"), ("index", None)):
        await ledger.write(SetAside(page_id=PageId("p1:x"), step=step, reason=reason))
    assert dict(ledger.tier1.aside_at("ask")) == {"p1:x": "three"}
    assert not ledger.tier1.aside_at("index")


async def test_one_refused_page_alone_is_set_aside_where_the_embedder_takes_other_words() -> None:
    ledger, index = await opened(), Choosy(ModelRefused("too long"))
    writer = Writer(ledger, index, Rules().engine)
    await said(writer, ODD, session="odd")
    await writer.distil_pending()
    assert [step for step, _ in steps(ledger)] == ["index"]
    assert index.marks[SPACE].seq > 0


async def test_erasing_on_a_page_that_was_set_aside_puts_the_rest_of_it_into_the_index() -> None:
    ledger, index = await opened(), Choosy(ValueError("odd"))
    writer = Writer(ledger, index, Rules().engine)
    texts = [ODD, *(f"Ann planted {n} tomatoes." for n in range(9))]
    await said(writer, *texts)
    await writer.distil_pending()
    assert [step for step, _ in steps(ledger)] == ["index"]
    await writer.eraser.erase(Selection(turn=ODD), "asked to")
    assert len(index.of("turns")) == len(texts) - 1
