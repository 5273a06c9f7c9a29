"""What a person states directly is a unit at once, in its own turn; a correction takes a unit's place."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import tiermem
from pagestore import Page
from pagestore.errors import ReadOnly
from tests.api.conftest import OpenMemory
from tests.api.test_by_model import at, play
from tests.api.test_taken_back import BISCUIT, about, everything_found
from tests.llm.server import ModelServer, Request
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import InvalidInput, UnknownId
from tiermem.model import Answer, MarkedPage, SummaryUnit
from tiermem.writing import Remembered, Writer

BEEF = "Biscuit is allergic to beef."


def test_a_stated_fact_is_a_unit_at_once_and_rests_on_a_turn_of_its_own(memory: tiermem.Memory) -> None:
    before = memory.units()
    done = memory.remember("I live in Paris.", speaker="Ann", session="facts", said_at="2024-05-01")
    assert memory.units() == (*before, done.unit)
    assert (done.unit.text, done.unit.kind, done.unit.support) == ("I live in Paris.", "stated", "quoted")
    page = memory.page(done.page_id)
    (span,), (line,) = done.unit.spans, page.lines
    assert page.words(span) == "I live in Paris."
    assert line.turn is not None
    assert (line.turn.speaker, str(line.turn.said_at)[:10], page.session) == ("Ann", "2024-05-01", "facts")
    answer = memory.ask("Where does Ann live?")
    assert ("Paris" in str(answer), answer.support) == (True, "quoted")
    assert answer.citations[0].spans == done.unit.spans
    assert memory.audit(answer.id).intact
    memory.flush()
    assert memory.redistil(done.page_id).units == ()
    assert memory.units() == (*before, done.unit)


def test_no_model_is_waited_for_and_none_words_the_fact_again(open_memory: OpenMemory) -> None:
    with ModelServer(answer=play) as server:
        memory = open_memory(**at(server), distil="deferred")
        done = memory.remember("We paid 1,450 dollars for the new roof.", speaker="Ann")
        assert server.requests == []
        assert memory.units() == (done.unit,)
        assert memory.flush().pending == 0
        assert memory.units() == (done.unit,)


def test_it_is_trusted_as_its_teller_or_as_it_is_stamped(memory: tiermem.Memory) -> None:
    assert memory.remember("I live in Paris.").unit.trust == "user"
    stamped = memory.remember("The museum opens at nine.", speaker="page", trust="web")
    assert stamped.unit.trust == "web"
    assert stamped.unit.id not in {one.unit_id for one in memory.search("museum opens", min_trust="user")}
    with pytest.raises(InvalidInput, match="trust 'friend' is not known"):
        memory.remember("I live in Paris.", trust="friend")


def test_what_cannot_be_a_unit_is_refused_and_nothing_is_stored(memory: tiermem.Memory) -> None:
    before = memory.stats()
    refused = (
        "Paris",
        " ",
        "x" * 1001,
        "Ann likes \ud800 tea.",
    )
    for text in refused:
        with pytest.raises(InvalidInput):
            memory.remember(text)
        with pytest.raises(InvalidInput):
            memory.correct(about(memory, "Biscuit").id, text)
    with pytest.raises(InvalidInput):
        memory.remember(7)  # type: ignore[arg-type]
    assert memory.stats() == before


def test_a_name_before_a_colon_does_not_make_it_somebody_elses(memory: tiermem.Memory) -> None:
    done = memory.remember("Dentist: Dr. Alvarez, on Mondays at nine.", speaker="Ann")
    assert done.unit.text == "Ann: Dentist: Dr. Alvarez, on Mondays at nine."
    assert done.unit.support == "quoted"


def test_a_correction_takes_the_place_of_a_unit_and_of_its_words(memory: tiermem.Memory) -> None:
    unit = about(memory, "Biscuit")
    done = memory.correct(unit.id, BEEF, speaker="Caroline")
    assert (done.corrected, done.unit.supersedes, done.unit.session) == (unit, (unit.id,), "s1")
    found = everything_found(memory, BISCUIT)
    assert "chicken" not in found.replace(repr(BEEF), "")
    answer = memory.ask(BISCUIT)
    assert "beef" in str(answer)
    assert answer.citations[0].spans == done.unit.spans
    assert memory.audit(answer.id).intact
    old, new = memory.trail(unit.id)
    assert (old.state, old.superseded_by, new.state) == ("superseded", (done.unit.id,), "holds")
    assert [place.words for place in old.words_on_page] == ["My rescue dog Biscuit is allergic to chicken."]
    (taken,) = memory.page(unit.spans[0].page_id).taken_back
    assert (taken.unit_id, taken.reason) == (unit.id, f"corrected to {BEEF!r}")
    assert memory.verify().ok


def test_a_correction_holds_after_reopening_and_in_the_past_it_does_not(
    memory: tiermem.Memory, open_memory: OpenMemory
) -> None:
    unit, asked = about(memory, "Biscuit"), memory.ask(BISCUIT)
    moment = memory.answers()[-1].at
    memory.correct(unit.id, BEEF)
    memory.close()
    reopened = open_memory()
    assert "beef" in str(reopened.ask(BISCUIT))
    assert unit in reopened.units(as_of=moment)
    assert "chicken" in str(reopened.ask(BISCUIT, as_of=moment))
    assert reopened.audit(asked.id).intact
    assert reopened.replay(asked.id, rerun=True).differences == ()


def test_corrections_of_corrections_fall_back_one_by_one(memory: tiermem.Memory) -> None:
    unit = about(memory, "Biscuit")
    beef = memory.correct(unit.id, BEEF).unit
    fish = memory.correct(beef.id, "Biscuit is allergic to fish.").unit
    assert fish.supersedes == (beef.id, unit.id)
    assert "fish" in str(memory.ask(BISCUIT))
    memory.withdraw(beef.id, reason="never was")
    assert "fish" in str(memory.ask(BISCUIT))
    assert len(memory.page(unit.spans[0].page_id).taken_back) == 1
    memory.withdraw(fish.id, reason="nor that")
    assert "chicken" in str(memory.ask(BISCUIT))
    memory.reinstate(fish.id, reason="it was that")
    assert "fish" in str(memory.ask(BISCUIT))


def test_erasing_a_correction_brings_the_old_unit_back(memory: tiermem.Memory) -> None:
    unit = about(memory, "Biscuit")
    done = memory.correct(unit.id, BEEF)
    receipt = memory.erase(page=done.page_id, reason="asked for")
    assert receipt.leftovers.clean
    assert receipt.erasure.returned == (unit.id,)
    assert unit in memory.units()
    assert "chicken" in str(memory.ask(BISCUIT))
    assert memory.verify().ok


def test_erasing_what_was_corrected_leaves_the_correction(memory: tiermem.Memory) -> None:
    unit = about(memory, "Biscuit")
    done = memory.correct(unit.id, "The dog cannot eat any beef.")
    receipt = memory.erase(turn="t2", session="s1", reason="asked for")
    assert receipt.leftovers.clean
    (left,) = (one for one in memory.units() if one.kind == "stated")
    assert (left.text, left.supersedes) == (done.unit.text, ())
    assert unit.id not in repr(memory.trail(left.id))


def test_a_correction_takes_the_place_of_nothing_that_is_trusted_more_or_holds_no_longer(
    memory: tiermem.Memory,
) -> None:
    unit = about(memory, "Biscuit")
    with pytest.raises(InvalidInput, match="trusted 'user' and this correction 'web'"):
        memory.correct(unit.id, BEEF, trust="web")
    newer = memory.correct(unit.id, BEEF).unit
    with pytest.raises(InvalidInput, match=newer.id):
        memory.correct(unit.id, "Biscuit is allergic to fish.")
    memory.withdraw(newer.id, reason="no")
    with pytest.raises(InvalidInput, match="was withdrawn"):
        memory.correct(newer.id, "Biscuit is allergic to fish.")
    with pytest.raises(UnknownId):
        memory.correct("u1:nowhere", BEEF)


def test_two_units_of_the_same_words_are_told_apart(open_memory: OpenMemory) -> None:
    with ModelServer(answer=twice) as server:
        memory = open_memory(**at(server))
        memory.add("I keep a hen called Berta.", speaker="Ann")
        memory.flush()
        first, second = memory.units()
        done = memory.correct(first.id, "I keep a goose called Berta.", speaker="Ann")
        assert done.beside == (second,)
        assert memory.page(first.spans[0].page_id).taken_back == ()
        memory.withdraw(second.id, reason="it is a goose")
        assert memory.page(first.spans[0].page_id).taken_back != ()


def twice(request: Request) -> str:
    """A model that makes two units of the same words."""
    quote = "I keep a hen called Berta."
    return json.dumps(
        {
            "facts": [
                {"fact": f, "evidence_quote": quote}
                for f in (f"Ann: {quote}", "Ann keeps a hen called Berta.")
            ]
        }
    )


def test_anything_is_had_by_its_id(memory: tiermem.Memory) -> None:
    unit, answer = about(memory, "Biscuit"), memory.ask(BISCUIT)
    page = memory.get(unit.spans[0].page_id)
    assert isinstance(page, MarkedPage)
    assert page == memory.page(page.id)
    again = memory.get(answer.id)
    assert isinstance(again, Answer)
    assert again.text == answer.text
    memory.withdraw(unit.id, reason="no")
    assert memory.get(unit.id) == unit
    for unknown in ("u1:nowhere", "p1:nowhere", "a1:nowhere", "nowhere"):
        with pytest.raises(UnknownId):
            memory.get(unknown)
    with pytest.raises(InvalidInput, match="id must be a text with words in it"):
        memory.get("")


def test_the_words_people_try_first_do_the_same(memory: tiermem.Memory) -> None:
    unit = about(memory, "Biscuit")
    memory.correct(unit.id, BEEF)
    assert memory.history(unit.id) == memory.trail(unit.id)
    assert memory.erase(turn="t2", session="s1", reason="asked for").leftovers.clean
    with pytest.raises(UnknownId):
        memory.history(unit.id)


def test_reading_alone_nothing_is_remembered(memory: tiermem.Memory, open_memory: OpenMemory) -> None:
    unit = about(memory, "Biscuit")
    memory.close()
    reader = open_memory(read_only=True)
    for attempt in (
        lambda: reader.remember("I live in Paris."),
        lambda: reader.correct(unit.id, BEEF),
        lambda: reader.reinstate(unit.id, reason="no"),
    ):
        with pytest.raises(ReadOnly):
            attempt()


def test_two_corrections_of_one_unit_at_once_do_not_both_hold(address: Path | str) -> None:
    async def main() -> tuple[list[type], int]:
        async with await tiermem.AsyncMemory.open(address, engine="local", embedder=HashEmbedder()) as memory:
            old = (await memory.remember("Ann lives in Bonn.", speaker="Ann")).unit
            told = ("Ann lives in Basel.", "Ann lives in Turin.")
            done = await asyncio.gather(
                *(memory.correct(old.id, text, speaker="Ann") for text in told), return_exceptions=True
            )
            return [type(one) for one in done], len(await memory.units())

    became, units = asyncio.run(main())
    assert sorted(became, key=str) == sorted([Remembered, InvalidInput], key=str)
    assert units == 1


def test_erasing_waits_for_what_is_being_remembered(
    address: Path | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    find, sealed, go_on = Writer._page_with, asyncio.Event(), asyncio.Event()

    async def slowly(self: Writer, *place: Any) -> Page:
        page = await find(self, *place)
        sealed.set()
        await go_on.wait()
        return page

    async def main() -> tuple[SummaryUnit, ...]:
        async with await tiermem.AsyncMemory.open(address, engine="local", embedder=HashEmbedder()) as memory:
            monkeypatch.setattr(Writer, "_page_with", slowly)
            remembering = asyncio.create_task(memory.remember("Ann lives in Bonn.", session="s"))
            await sealed.wait()
            erasing = asyncio.create_task(memory.erase(session="s", reason="asked to"))
            async with asyncio.timeout(60):
                while not (memory._lock._closed or erasing.done()):  # noqa: ASYNC110  # nobody tells of it
                    await asyncio.sleep(0.01)
            assert not erasing.done()  # it waits to be alone
            go_on.set()
            await remembering
            assert (await erasing).leftovers.clean
            return await memory.units()

    assert asyncio.run(main()) == ()


def test_a_correction_is_not_restored_beside_the_one_that_holds_by_now(memory: tiermem.Memory) -> None:
    old = memory.remember("Ann lives in Bonn.", speaker="Ann").unit
    first = memory.correct(old.id, "Ann lives in Basel.", speaker="Ann").unit
    memory.withdraw(first.id, reason="wrong")
    second = memory.correct(old.id, "Ann lives in Turin.", speaker="Ann").unit
    with pytest.raises(InvalidInput, match=f"{second.id}' holds in its place: withdraw that first"):
        memory.reinstate(first.id, reason="right after all")


def test_what_is_longer_than_a_page_is_not_remembered_in_part(open_memory: OpenMemory) -> None:
    memory = open_memory(page_tokens=50)
    with pytest.raises(InvalidInput, match="too long to be remembered as one fact"):
        memory.remember("Ann owns " + ", ".join(f"thing number {n}" for n in range(40)) + ".")
    assert memory.stats().turns == 0


@pytest.mark.parametrize(
    "text",
    [
        "ビスケットは鶏肉アレルギーです。",
        "私は東京に住んでいます。",
        "我上周搬到了柏林。",
        "犬がいる",
        "ผมอาศัยอยู่ที่กรุงเทพ",
        "나는 서울에 산다.",
    ],
)
def test_a_sentence_of_a_script_without_spaces_is_remembered(memory: tiermem.Memory, text: str) -> None:
    assert memory.remember(text, speaker="Ann").unit.text == f"Ann: {text}"


@pytest.mark.parametrize("text", ["はい", "好", "Yes", "🙂", "🙂🙂"])
def test_a_single_word_is_not_remembered_in_any_script(memory: tiermem.Memory, text: str) -> None:
    with pytest.raises(InvalidInput, match="too few words"):
        memory.remember(text, speaker="Ann")
