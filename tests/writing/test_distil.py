"""Sealed pages become units that their words prove; what fails stays pending and is named."""

from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import pytest

from pagestore import Page, Record
from pagestore.errors import Full
from pagestore.log import Log
from tests.logs import new_lines
from tests.writing.parts import GARDEN, S1, SPACE, DictIndex, Rules, claims_of, opened, turn
from tiermem.errors import BudgetExceeded, IndexUnavailable, MalformedReply, ModelRefused, ModelUnavailable
from tiermem.index.values import turn_id
from tiermem.ledger import Ledger
from tiermem.llm.meter import Meter, paid_by, pay
from tiermem.model import Budget, Claim, Usage
from tiermem.writing import Writer, WriterOptions

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("logs")]


async def garden(
    rules: Rules, *, pages: int = 1, concurrency: int = 4, together: int = 1
) -> tuple[Ledger, DictIndex, Writer]:
    """A memory of the garden turns, sealed as so many pages, of which so many tokens are read in one call."""
    ledger, index = await opened(), DictIndex()
    options = WriterOptions(concurrency=concurrency, page_tokens=together)
    writer = Writer(ledger, index, rules.engine, options)
    share = len(GARDEN) // pages
    for start in range(0, len(GARDEN), share):
        await writer.observe(S1, GARDEN[start : start + share])
        await writer.seal()
    return ledger, index, writer


async def test_every_unit_rests_on_the_words_it_tells() -> None:
    ledger, _, writer = await garden(Rules())
    report = await writer.distil_pending()
    (info,) = await ledger.pages()
    page = await ledger.page(info.id)
    units = ledger.tier1.units()
    assert [unit.text for unit in units] == [said.text for said in GARDEN]
    assert all(page.words(span) == unit.text.rstrip(".") or page.words(span) == unit.text
               for unit in units for span in unit.spans)  # fmt: skip
    assert (report.distilled, report.units, report.rejected, report.pending) == (1, 4, 0, 0)
    first = units[0]
    assert (first.kind, first.session, first.made_by, first.said_at) == (
        "summary", S1, "rules", GARDEN[0].said_at
    )  # fmt: skip


async def test_a_claim_whose_quote_is_not_on_the_page_is_kept_apart_with_its_reason() -> None:
    def invents(page: Page) -> Sequence[Claim]:
        return [
            Claim(text="Ann sold her blue boat.", quotes=("I sold my blue boat last week",)),
            claims_of(page)[0],
        ]

    ledger, _, writer = await garden(Rules(distils=invents))
    report = await writer.distil_pending()
    (info,) = await ledger.pages()
    entry = await ledger.distilled(info.id)
    assert [unit.text for unit in entry.units] == [GARDEN[0].text]
    assert [rejected.claim for rejected in entry.rejected] == ["Ann sold her blue boat."]
    assert entry.rejected[0].reason
    assert report.rejected == 1


async def test_a_near_match_is_no_proof_and_leaves_the_words_of_the_page() -> None:
    near = Claim(text="Ann planted tomatoes.", quotes=("Ann planted 12 tomatos in the gardenn",))
    ledger, _, writer = await garden(Rules(distils=lambda page: [near]))
    await writer.distil_pending()
    (info,) = await ledger.pages()
    entry = await ledger.distilled(info.id)
    assert [(unit.kind, unit.text) for unit in entry.units] == [("quote", f"Ann: {GARDEN[0].text}")]
    assert (entry.worded, entry.rejected) == (1, ())
    assert entry.units[0].paraphrase == near.text


async def test_a_wording_with_unsupported_words_finds_the_unit_of_its_sentence() -> None:
    wording = "Ann is fond of growing food herself."
    ledger, index, writer = await garden(
        Rules(distils=lambda page: [Claim(text=wording, quotes=(GARDEN[0].text,)), *claims_of(page)[1:]])
    )
    report = await writer.distil_pending()
    (info,) = await ledger.pages()
    entry = await ledger.distilled(info.id)
    assert [(unit.kind, unit.text) for unit in entry.units][:2] == [
        ("quote", f"Ann: {GARDEN[0].text}"),
        ("summary", GARDEN[1].text),
    ]
    assert (entry.units[0].support, entry.units[0].paraphrase) == ("quoted", wording)
    assert (entry.worded, entry.rejected, report.worded) == (1, (), 1)
    assert not any("12" in lost for lost in entry.omissions)
    found = index.of("units")[entry.units[0].id]
    assert (found.text, found.scene) == (wording, entry.units[0].text)


async def test_pages_read_together_cost_one_call_and_keep_their_own_units() -> None:
    class Paying(Rules):
        async def distil(self, pages: Sequence[Page], *, hints: Sequence[str] = ()) -> tuple[Claim, ...]:
            pay(Usage(input_tokens=100, calls=1), prompt="distil@abc", model="small")
            return await super().distil(pages)

    rules = Paying()
    ledger, _, writer = await garden(rules, pages=4, together=1000)
    with paid_by(Meter()) as meter:
        report = await writer.distil_pending()
    assert (report.distilled, report.pending, rules.calls["distil"]) == (4, 0, 1)
    entries = [await ledger.distilled(info.id) for info in await ledger.pages()]
    assert [[unit.text for unit in entry.units] for entry in entries] == [[said.text] for said in GARDEN]
    assert [entry.usage.calls for entry in entries] == [1, 0, 0, 0]
    assert meter.steps["distil"].calls == 1
    assert [entry.literals is not None for entry in entries] == [True] * 4


async def test_pages_that_cannot_be_read_together_are_read_one_by_one() -> None:
    def fails_on_bicycles(page: Page) -> Sequence[Claim]:
        if "bicycle" in page.text:
            raise MalformedReply("half a JSON")
        return claims_of(page)

    rules = Rules(distils=fails_on_bicycles)
    _, index, writer = await garden(rules, pages=4, together=1000)
    report = await writer.distil_pending()
    assert (report.distilled, report.pending, rules.calls["distil"]) == (3, 1, 5)
    assert report.unfinished[0].what == (await writer.pending_pages())[0].id
    assert len(index.of("units")) == 3


async def test_a_model_that_is_down_is_not_asked_about_each_page_of_those_read_together() -> None:
    def fails(page: Page) -> Sequence[Claim]:
        raise ModelUnavailable("down")

    rules = Rules(distils=fails)
    _, _, writer = await garden(rules, pages=4, together=1000)
    report = await writer.distil_pending()
    assert (report.distilled, report.pending, rules.calls["distil"]) == (0, 4, 1)
    rules.distils = None
    assert (await writer.distil_pending()).distilled == 4


async def test_a_claim_may_rest_on_words_of_two_pages_that_are_read_together() -> None:
    class Across(Rules):
        async def distil(self, pages: Sequence[Page], *, hints: Sequence[str] = ()) -> tuple[Claim, ...]:
            both = (GARDEN[0].text, GARDEN[1].text)
            return (Claim(text=f"{both[0].rstrip('.')}. {both[1]}", quotes=both),)

    ledger, _, writer = await garden(Across(), pages=4, together=1000)
    await writer.distil_pending()
    first, second, *_ = await ledger.pages()
    (unit,) = ledger.tier1.units()
    assert [span.page_id for span in unit.spans] == [first.id, second.id]
    assert (await ledger.distilled(first.id)).units == (unit,)
    assert ledger.tier1.units_of_page(second.id) == (unit,)


async def test_literals_that_no_unit_kept_are_recorded_with_the_page() -> None:
    ledger, _, writer = await garden(Rules(distils=lambda page: claims_of(page)[:1]))
    report = await writer.distil_pending()
    (page,) = ledger.tier1.pages.values()
    assert any("Lisbon" in lost for lost in page.omissions)
    assert not any("12" in lost for lost in page.omissions)
    assert report.omissions == len(page.omissions)


async def test_the_same_claim_twice_is_one_unit() -> None:
    ledger, _, writer = await garden(Rules(distils=lambda page: [*claims_of(page), *claims_of(page)]))
    await writer.distil_pending()
    assert len(ledger.tier1.units()) == len(GARDEN)


async def test_a_page_without_claims_is_done_and_not_asked_about_again() -> None:
    rules = Rules(distils=lambda page: [])
    ledger, _, writer = await garden(rules)
    await writer.distil_pending()
    assert (await writer.distil_pending()).distilled == 0
    assert rules.calls["distil"] == 1
    assert await writer.pending_pages() == ()
    assert ledger.tier1.units() == ()


@pytest.mark.parametrize(
    "error", [ModelUnavailable("down"), MalformedReply("half a JSON"), BudgetExceeded("0")]
)
async def test_a_page_whose_summarising_failed_stays_pending_and_the_others_go_on(error: Exception) -> None:
    broken = True

    def fails_on_bicycles(page: Page) -> Sequence[Claim]:
        if broken and "bicycle" in page.text:
            raise error
        return claims_of(page)

    ledger, index, writer = await garden(Rules(distils=fails_on_bicycles), pages=4)
    report = await writer.distil_pending()
    assert (report.distilled, report.pending) == (3, 1)
    (left,) = report.unfinished
    assert (left.stage, left.what) == ("distil", (await writer.pending_pages())[0].id)
    assert str(error) in left.reason
    assert len(index.of("units")) == 3

    broken = False
    assert (await writer.distil_pending()).distilled == 1
    assert len(index.of("units")) == len(ledger.tier1.units()) == 4


@pytest.mark.parametrize("error", [ModelUnavailable("down"), ModelRefused("no such key")])
async def test_a_model_that_is_down_is_not_asked_about_every_page(error: Exception) -> None:
    def fails(page: Page) -> Sequence[Claim]:
        raise error

    rules = Rules(distils=fails)
    options = WriterOptions(concurrency=2, page_tokens=1)
    writer = Writer(await opened(), DictIndex(), rules.engine, options)
    for number in range(40):
        await writer.observe(S1, [turn(f"Ann counted {number} birds over the harbour.")])
        await writer.seal()
    report = await writer.distil_pending()
    assert (report.pending, len(report.unfinished)) == (40, 40)
    assert rules.calls["distil"] <= 10
    rules.distils = None
    assert (await writer.distil_pending()).distilled == 40


async def test_units_come_in_the_order_of_the_pages_however_long_each_takes() -> None:
    done = {number: anyio.Event() for number in range(1, 5)}

    class Backwards(Rules):
        async def distil(self, pages: Sequence[Page], *, hints: Sequence[str] = ()) -> tuple[Claim, ...]:
            number = pages[0].number
            with anyio.fail_after(60):
                if number + 1 in done:
                    await done[number + 1].wait()
            claims = await super().distil(pages)
            done[number].set()
            return claims

    ledger, _, writer = await garden(Backwards(), pages=4, concurrency=4)
    await writer.distil_pending()
    assert [unit.text for unit in ledger.tier1.units()] == [said.text for said in GARDEN]


async def test_no_more_pages_are_asked_about_at_once_than_told() -> None:
    running = most = 0
    two = anyio.Event()

    class Counting(Rules):
        async def distil(self, pages: Sequence[Page], *, hints: Sequence[str] = ()) -> tuple[Claim, ...]:
            nonlocal running, most
            running += 1
            most = max(most, running)
            if running == 2:
                two.set()
            with anyio.fail_after(60):
                await two.wait()
            await anyio.wait_all_tasks_blocked()  # no other begins
            running -= 1
            return await super().distil(pages)

    _, _, writer = await garden(Counting(), pages=4, concurrency=2)
    await writer.distil_pending()
    assert most == 2


async def test_two_runs_at_once_ask_about_each_page_once() -> None:
    rules = Rules()
    _, _, writer = await garden(rules, pages=4)
    async with anyio.create_task_group() as group:
        group.start_soon(writer.distil_pending)
        group.start_soon(writer.distil_pending)
    assert rules.calls["distil"] == 4


async def test_progress_counts_every_page_to_the_last() -> None:
    seen: list[tuple[int, int]] = []
    _, _, writer = await garden(Rules(), pages=4)
    await writer.distil_pending(lambda done, total: seen.append((done, total)))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


async def test_what_a_page_cost_is_recorded_with_it_and_paid_by_whoever_asked() -> None:
    class Paying(Rules):
        async def distil(self, pages: Sequence[Page], *, hints: Sequence[str] = ()) -> tuple[Claim, ...]:
            pay(Usage(input_tokens=100, calls=1), prompt="distil@abc", model="small")
            return await super().distil(pages)

    ledger, _, writer = await garden(Paying(), pages=2)
    with paid_by(Meter()) as meter:
        await writer.distil_pending()
    entries = [await ledger.distilled(info.id) for info in await ledger.pages()]
    assert [(entry.usage.input_tokens, entry.prompts) for entry in entries] == [(100, ("distil@abc",))] * 2
    assert meter.steps["distil"].calls == 2
    assert (list(meter.prompts), list(meter.models)) == (["distil@abc"], ["small"])


async def test_a_spent_budget_leaves_pages_pending_without_a_call() -> None:
    rules = Rules()
    _, _, writer = await garden(rules, pages=2)
    with paid_by(Meter(budget=Budget(calls=0))):
        report = await writer.distil_pending()
    assert (report.pending, rules.calls["distil"]) == (2, 0)


async def test_an_index_that_is_down_loses_no_summary() -> None:
    rules = Rules()
    ledger, index, writer = await garden(rules)
    index.fail = IndexUnavailable("no route to index")
    report = await writer.distil_pending()
    assert (report.distilled, [left.stage for left in report.unfinished]) == (1, ["index"])
    index.fail = None
    assert (await writer.distil_pending()).unfinished == ()
    assert set(index.of("units")) == {unit.id for unit in ledger.tier1.units()}
    assert rules.calls["distil"] == 1


async def test_a_full_disk_is_raised_as_it_is() -> None:
    class FullLog(Log):
        def record(self, kind: str, body: Mapping[str, Any]) -> Record:
            self._refuse(kind)
            return super().record(kind, body)

        def record_unless_erased(self, kind: str, body: Mapping[str, Any], *, erasures: int) -> Record | None:
            self._refuse(kind)
            return super().record_unless_erased(kind, body, erasures=erasures)

        def _refuse(self, kind: str) -> None:
            if kind == "distilled":
                raise Full("no room on the disk")

    ledger = await Ledger.open(FullLog(new_lines(), SPACE))
    writer = Writer(ledger, DictIndex(), Rules().engine)
    await writer.observe(S1, GARDEN)
    await writer.seal()
    with pytest.raises(Full, match="no room"):
        await writer.distil_pending()


async def test_open_pages_are_not_summarised() -> None:
    ledger = await opened()
    writer = Writer(ledger, DictIndex(), Rules().engine)
    await writer.observe(S1, GARDEN[:1])
    assert (await writer.distil_pending()).distilled == 0
    assert len(await ledger.open_pages()) == 1


async def test_importance_that_is_no_number_between_0_and_1_is_bounded() -> None:
    def odd(page: Page) -> Sequence[Claim]:
        values = (float("nan"), 7.0, -1.0, 0.25)
        return [
            Claim(text=claim.text, quotes=claim.quotes, importance=value)
            for claim, value in zip(claims_of(page), values, strict=True)
        ]

    ledger, _, writer = await garden(Rules(distils=odd))
    await writer.distil_pending()
    assert [unit.importance for unit in ledger.tier1.units()] == [0.5, 1.0, 0.0, 0.25]


async def test_lone_surrogates_of_a_turn_stay_on_the_page_and_reach_no_index() -> None:
    ledger, index = await opened(), DictIndex()
    writer = Writer(ledger, index, Rules().engine)
    await writer.observe(S1, [turn("Ann wrote \ud800 on the kitchen wall."), *GARDEN[:1]])
    await writer.seal()
    report = await writer.distil_pending()
    (info,) = await ledger.pages()
    assert "\ud800" in (await ledger.page(info.id)).text
    assert (report.units, report.rejected) == (1, 1)
    line = (await ledger.page(info.id)).lines[0]
    assert index.of("turns")[turn_id(line.seq)].text == "Ann wrote \ufffd on the kitchen wall."


async def test_what_a_page_lost_is_what_none_of_its_units_says() -> None:
    ledger, _, writer = await garden(Rules(distils=lambda page: claims_of(page)[:2]))
    await writer.distil_pending()
    (summary,) = ledger.tier1.pages.values()
    lost = " ".join(summary.omissions)
    assert "12" not in lost
    assert "Marco" not in lost
    assert "Clara" in lost
