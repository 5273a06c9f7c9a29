"""What Tier 1 knows it knows of certain words: the same said elsewhere, or by another, is not known yet."""

from dataclasses import replace

import pytest

from pagestore import Page, PageId, SessionId, Span
from tests.engines import quoting_engine
from tests.ledger.building import distilled
from tests.writing.parts import S1, DictIndex, Rules, finding_on, opened, turn
from tiermem.ledger import Ledger
from tiermem.model import SummaryUnit, UnitId
from tiermem.writing import Writer
from tiermem.writing.duplicates import find_duplicate

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("logs")]

WORDS = "I never eat peanuts."
S2 = SessionId("s2")


async def told_thrice() -> tuple[Ledger, Page, Page]:
    """The same words by Ann and by Bob on one page, and by Ann in another session."""
    ledger = await opened()
    writer = Writer(ledger, DictIndex(), Rules().engine)
    await writer.observe(S1, [turn(WORDS), replace(turn(WORDS, speaker="Bob"), turn_id="of Bob")])
    await writer.observe(S2, [turn(WORDS)])
    await writer.seal()
    first, second = [await ledger.page(info.id) for info in await ledger.pages()]
    return ledger, first, second


def words_of(page: Page, number: int) -> Span:
    line = page.lines[number]
    return Span(page_id=page.id, start=line.end - len(WORDS), end=line.end)


def unit_on(span: Span, text: str = WORDS) -> SummaryUnit:
    return SummaryUnit(
        id=UnitId("u1:ann"), text=text, spans=(span,), kind="summary", support="quoted", session=S1
    )


async def test_a_text_is_known_of_the_words_it_rests_on_and_of_no_others() -> None:
    ledger, page, other = await told_thrice()
    ann, bob, later = words_of(page, 0), words_of(page, 1), words_of(other, 0)
    assert {page.words(ann), page.words(bob), other.words(later)} == {WORDS}
    await ledger.write(distilled(page.id, unit_on(ann)))
    tier1 = ledger.tier1
    assert (
        find_duplicate(tier1, WORDS, (ann,))
        == find_duplicate(tier1, "I never  eat peanuts.", (ann,))
        == unit_on(ann)
    )
    assert find_duplicate(tier1, WORDS, (bob,)) is None
    assert find_duplicate(tier1, WORDS, (later,)) is None
    assert find_duplicate(tier1, WORDS, (ann, bob)) is None
    assert find_duplicate(tier1, "I never eat fish.", (ann,)) is None


async def test_a_finding_on_words_that_are_known_only_by_their_text_is_added() -> None:
    ledger, page, other = await told_thrice()
    await ledger.write(distilled(page.id, unit_on(words_of(page, 0))))
    writer = Writer(ledger, DictIndex(), Rules().engine)
    finding = await finding_on(ledger, WORDS)
    placed = [
        replace(
            finding,
            id=type(finding.id)(f"f1:{number}"),
            fact=replace(finding.fact, spans=(span,)),
        )
        for number, span in enumerate((words_of(page, 0), words_of(other, 0)))
    ]
    report = await writer.write_back(placed)
    assert [decision.op for decision in report.decisions] == ["SKIP", "ADD"]


async def test_what_was_superseded_is_known_still() -> None:
    ledger, page, other = await told_thrice()
    ann = unit_on(words_of(page, 0))
    newer = replace(ann, id=UnitId("u1:newer"), spans=(words_of(other, 0),), supersedes=(ann.id,))
    await ledger.write(distilled(page.id, ann))
    await ledger.write(distilled(other.id, newer))
    assert not ledger.tier1.is_active(ann.id)
    assert find_duplicate(ledger.tier1, WORDS, ann.spans) == ann


async def test_a_pass_that_runs_while_a_statement_is_stored_makes_no_second_unit_of_its_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A correction takes the words of a statement back; a second unit of them would stay."""
    ledger = await opened()
    writer = Writer(ledger, DictIndex(), quoting_engine())
    seal = ledger.seal

    async def seal_and_distil(session: SessionId) -> tuple[PageId, ...]:
        sealed = await seal(session)
        await writer.distil_pending()
        return sealed

    monkeypatch.setattr(ledger, "seal", seal_and_distil)
    green, _ = await writer.remember(S1, turn("My bike is the green one."))
    await writer.correct(green.unit.id, turn("My bike is the blue one."))
    monkeypatch.undo()
    await writer.distil_pending()
    assert [unit.text for unit in ledger.tier1.units()] == ["My bike is the blue one."]
    assert await writer.pending_pages() == ()
