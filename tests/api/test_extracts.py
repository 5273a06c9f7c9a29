"""Units without a model: sentences of a page as they were said, which nothing lists beside their turns."""

from dataclasses import replace

import pytest

import tiermem
from tests.api.conftest import OpenMemory
from tests.engines import quoting_engine
from tiermem.errors import InvalidInput

SAID = (
    ("Ann", "Good morning, did you sleep well? The ferry to Hiiumaa was late by three hours."),
    ("Ben", "Yes, thanks. I sold the green kayak to Oskar for 140 euros. He pays in May."),
    ("Ann", "My sister Ingrid moved to Bergen, the boiler inspection is on Thursday at nine."),
    ("Ben", "Hm. Ok then. Wow, that is so nice."),
    ("Ann", "Our neighbour Pavel breeds Irish wolfhounds and asked for the old fence. ok?"),
    ("Ben", "<Media omitted>"),
)


def add_all(memory: tiermem.Memory) -> None:
    for number, (speaker, text) in enumerate(SAID):
        memory.add(text, speaker=speaker, said_at=f"2026-01-21T10:0{number}", session="talk")
    memory.flush()


@pytest.fixture
def memory(open_memory: OpenMemory) -> tiermem.Memory:
    memory = open_memory(engine="local")
    add_all(memory)
    return memory


def test_a_page_is_summarised_by_its_five_sentences_with_the_most_and_rarest_words(
    memory: tiermem.Memory,
) -> None:
    assert [unit.text for unit in memory.units()] == [
        "Ann: The ferry to Hiiumaa was late by three hours.",
        "Ben: I sold the green kayak to Oskar for 140 euros.",
        "Ben: He pays in May.",
        "Ann: My sister Ingrid moved to Bergen, the boiler inspection is on Thursday at nine.",
        "Ann: Our neighbour Pavel breeds Irish wolfhounds and asked for the old fence.",
    ]


def test_an_extract_is_the_words_of_its_page_and_has_no_date_of_its_own(memory: tiermem.Memory) -> None:
    for unit in memory.units():
        (span,) = unit.spans
        words = memory.page(span.page_id).text[span.start : span.end]
        assert unit.text.partition(": ")[2] == words
        assert (unit.made_by, unit.support, unit.event_at, unit.scene) == ("extract", "quoted", None, None)
        assert unit.said_at is not None
        assert unit.trust == "user"


def test_search_lines_and_contexts_have_the_turn_and_never_both(memory: tiermem.Memory) -> None:
    question = "Who bought the green kayak?"
    found = memory.search("green kayak Oskar")
    assert [one.source for one in found if "kayak" in one.text] == ["turn"]
    assert {one.source for one in memory.recall(question).items} == {"turn"}
    assert {one.source for one in memory.context(question).sources} == {"turn"}
    answer = memory.ask(question)
    assert "kayak" in answer.said[0].text
    assert {one.source for one in answer.trace.candidates} == {"turn"}
    assert [one.source for one in memory.search("green kayak", kind="units")][:1] == ["unit"]


def test_what_was_stated_is_found_as_a_unit_beside_its_turn(memory: tiermem.Memory) -> None:
    kept = memory.remember("The spare key is under the blue pot.", speaker="Ann").unit
    assert kept.id in {one.unit_id for one in memory.search("spare key blue pot", kind="units")}


@pytest.mark.parametrize(
    "text",
    [
        "Where did you put the spare key of the boat house?",
        "<Media omitted>",
        "Thanks!",
        "a" * 500,
        "私はどこに行けばいいですか？",
    ],
)
def test_questions_notices_and_odd_runs_are_no_units(open_memory: OpenMemory, text: str) -> None:
    memory = open_memory(engine="local")
    memory.add(text, speaker="Ann")
    memory.flush()
    assert memory.units() == ()
    assert memory.stats().pages_pending == 0


@pytest.mark.parametrize(
    "text", ["我上周搬到了柏林。", "Ich wohne jetzt in Bergen.", "ฉันย้ายไปเชียงใหม่เมื่อวานนี้"]
)
def test_other_languages_have_extracts_too(open_memory: OpenMemory, text: str) -> None:
    memory = open_memory(engine="local")
    memory.add(text, speaker="Ann")
    memory.flush()
    assert [unit.text for unit in memory.units()] == [f"Ann: {text}"]


def test_a_page_is_not_summarised_again_without_a_model(memory: tiermem.Memory) -> None:
    with pytest.raises(InvalidInput, match="by a language model, and none is named"):
        memory.redistil(memory.pages()[0].id)


def test_naming_a_model_later_keeps_extracts_and_summarises_again_when_asked(
    open_memory: OpenMemory, memory: tiermem.Memory
) -> None:
    before = memory.units()
    memory.close()
    with_engine = open_memory(engine=replace(quoting_engine(), name="model"))
    assert with_engine.units() == before
    added = with_engine.redistil(with_engine.pages()[0].id)
    assert {unit.made_by for unit in added.units} == {"model"}
    assert {unit.made_by for unit in with_engine.units()} == {"extract", "model"}
