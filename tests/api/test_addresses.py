"""What is found has the address of its turn, with who said it, in which session and in which role."""

from typing import Any

import pytest

import tiermem
from pagestore import PageLine
from tests.api.conftest import OpenMemory
from tiermem.errors import InvalidInput, UnknownId

SAID = [
    {"role": "user", "name": "Ann", "content": "My parrot Coco only eats papaya."},
    {"role": "assistant", "content": "I noted the papaya for Coco."},
    {"role": "user", "name": "Ann", "content": "The bicycle shop on Mill Road closes at six."},
]


@pytest.fixture
def dialogue_memory(open_memory: OpenMemory) -> tiermem.Memory:
    memory = open_memory()
    memory.add(SAID, session="pets")
    memory.add("My brother Emil plays the oboe in Graz.", speaker="Ben", session="music")
    return memory


def line_of(memory: tiermem.Memory, turn: str | None) -> tuple[str, PageLine]:
    pages = [*memory.open_pages(), *(memory.page(info.id) for info in memory.pages())]
    found = [(page.session, line) for page in pages for line in page.lines if line.address == turn]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("kind", ["any", "turns", "units"])
@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("query", ["papaya parrot", "bicycle shop", "brother oboe", '"Mill Road"', "Graz"])
def test_what_a_search_finds_names_its_turn(
    dialogue_memory: tiermem.Memory, kind: Any, sealed: bool, query: str
) -> None:
    if sealed:
        dialogue_memory.flush()
    found = dialogue_memory.search(query, kind=kind, limit=3)
    assert found
    for item in found:
        session, line = line_of(dialogue_memory, item.turn)
        assert line.turn is not None
        assert (item.session, item.speaker, item.role) == (session, line.turn.speaker, line.turn.role)


def test_an_address_is_the_same_before_and_after_sealing(dialogue_memory: tiermem.Memory) -> None:
    before = {item.text: item.turn for item in dialogue_memory.search("papaya parrot Coco", kind="turns")}
    dialogue_memory.flush()
    after = {item.text: item.turn for item in dialogue_memory.search("papaya parrot Coco", kind="turns")}
    assert before == after
    assert len(set(before.values())) == len(before) > 1


def test_a_unit_of_several_turns_has_the_address_of_the_first(memory: tiermem.Memory) -> None:
    (unit, *_) = [unit for unit in memory.units() if len(unit.spans) == 1]
    (found,) = [one for one in memory.search(unit.text, kind="units") if one.unit_id == unit.id]
    assert line_of(memory, found.turn)[1].touches(unit.spans[0])


def test_sources_of_a_context_and_citations_and_an_audit_name_their_turn(
    dialogue_memory: tiermem.Memory,
) -> None:
    dialogue_memory.flush()
    for source in dialogue_memory.context("What does the parrot Coco eat?").sources:
        assert source.turn is not None
    answer = dialogue_memory.ask("What does the parrot Coco eat?")
    assert answer.citations
    for cited, seen in zip(answer.citations, dialogue_memory.audit(answer.id).citations, strict=True):
        session, line = line_of(dialogue_memory, cited.turn)
        assert line.turn is not None
        assert (cited.session, cited.speaker, cited.role) == (session, line.turn.speaker, line.turn.role)
        assert seen.words_on_page[0].turn == cited.turn
        assert f"turn {cited.turn}" in dialogue_memory.audit(answer.id).explain()


def test_a_page_as_a_result_names_its_session_and_no_turn(dialogue_memory: tiermem.Memory) -> None:
    dialogue_memory.flush()
    (page, *_) = dialogue_memory.search("oboe", kind="pages")
    assert (page.session, page.turn, page.speaker) == ("music", None, "")


def test_the_words_of_another_agent_have_no_address(open_memory: OpenMemory) -> None:
    memory = open_memory()
    planner, coder = memory.as_agent("planner"), memory.as_agent("coder")
    planner.add("The launch code is kept in the blue folder.", speaker="Ann")
    memory.flush()
    owned = memory.search("launch code blue folder", kind="turns")
    assert [item.turn for item in owned if "blue folder" in item.text] != [None]
    assert all("blue folder" not in item.text for item in coder.search("launch code blue folder"))


@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("sealed", [False, True])
def test_what_a_search_found_is_erased_by_its_address_and_nothing_else(
    dialogue_memory: tiermem.Memory, sealed: bool, number: int
) -> None:
    if sealed:
        dialogue_memory.flush()
    words = SAID[number]["content"]
    (found,) = [one for one in dialogue_memory.search(f'"{words}"', kind="turns") if words in one.text]
    before = dialogue_memory.page(str(found.turn))
    tried = dialogue_memory.erase(turn=found.turn, dry_run=True)
    assert [(one.text, one.turn, one.speaker) for one in tried.words] == [(words, found.turn, found.speaker)]
    done = dialogue_memory.erase(turn=found.turn, reason="asked to")
    assert (len(done.erasure.turns), done.words) == (1, ())
    after = dialogue_memory.page(str(found.turn))
    assert [line.address for line in after.lines] == [line.address for line in before.lines]
    assert [line.address for line in after.lines if line.turn is None] == [found.turn]
    assert dialogue_memory.erase(turn=found.turn, reason="again").erasure.units == ()


@pytest.mark.parametrize("given", [4, 0, "4", "0", "12", "t1:4", "t1:4-xyz", "t1:", "", 4.0])
def test_a_number_or_half_an_address_is_an_error_that_says_what_to_give(
    dialogue_memory: tiermem.Memory, given: Any
) -> None:
    with pytest.raises(InvalidInput, match="t1:17-9ae0"):
        dialogue_memory.erase(turn=given, reason="asked to")
    assert dialogue_memory.stats().turns == len(SAID) + 1


@pytest.mark.parametrize("step", [1, 2, 0x10, 0x100, 0x1000, 0x8000])
def test_an_address_with_another_check_part_erases_nothing(
    dialogue_memory: tiermem.Memory, step: int
) -> None:
    (found, *_) = dialogue_memory.search("papaya", kind="turns")
    number, _, check = str(found.turn).partition("-")
    wrong = f"{number}-{(int(check, 16) + step) % 0x10000:04x}"
    with pytest.raises(InvalidInput, match="those of another turn"):
        dialogue_memory.erase(turn=wrong, reason="asked to")
    with pytest.raises(UnknownId, match="has no turn"):
        dialogue_memory.page(wrong)
    assert all(line.turn is not None for page in dialogue_memory.open_pages() for line in page.lines)


def test_an_address_with_another_session_erases_nothing_and_says_which_it_is_of(
    dialogue_memory: tiermem.Memory,
) -> None:
    (found, *_) = dialogue_memory.search("papaya", kind="turns")
    session = str(found.session)
    assert dialogue_memory.erase(turn=found.turn, session=session, dry_run=True).erasure.turns
    with pytest.raises(InvalidInput, match=f"is of session '{session}', not of 'elsewhere'"):
        dialogue_memory.erase(turn=found.turn, session="elsewhere", reason="asked to")
    assert all(line.turn is not None for page in dialogue_memory.open_pages() for line in page.lines)


@pytest.mark.parametrize(
    ("what", "hint"),
    [
        ({"turn": "p1:0"}, "the id of a page is no turn"),
        ({"turn": "t1:999-9ae0"}, "copy an address"),
        ({"page": "t1:2-9ae0"}, "the address of a turn is no page"),
        ({"session": "A title"}, "a title is none"),
    ],
)
def test_what_is_not_there_to_erase_is_an_error_that_says_what_to_give(
    dialogue_memory: tiermem.Memory, what: dict[str, Any], hint: str
) -> None:
    with pytest.raises(UnknownId, match=f"nothing to erase: .* is not in this space: .*{hint}"):
        dialogue_memory.erase(**what, reason="asked to")


@pytest.mark.parametrize("turn_id", ["4", "0", "17", "1719820800", "００４", "4071992233"])
def test_digits_with_their_session_are_the_id_of_an_export(
    dialogue_memory: tiermem.Memory, turn_id: str
) -> None:
    dialogue_memory.add(
        {"speaker": "Ann", "text": "The ferry to Elba leaves at noon.", "id": turn_id}, session="chat"
    )
    with pytest.raises(InvalidInput, match="t1:17-9ae0"):
        dialogue_memory.erase(turn=turn_id, reason="asked to")
    receipt = dialogue_memory.erase(turn=turn_id, session="chat", reason="asked to")
    assert len(receipt.erasure.turns) == 1
    assert all("Elba" not in item.text for item in dialogue_memory.search("ferry Elba"))


def test_a_dry_run_shows_every_part_of_a_long_turn(dialogue_memory: tiermem.Memory) -> None:
    text = " ".join(f"Stone {number} of the wall is grey." for number in range(2000))
    dialogue_memory.add(text, speaker="Ann", session="wall")
    dialogue_memory.flush()
    lines = [line for info in dialogue_memory.pages("wall") for line in dialogue_memory.page(info.id).lines]
    assert len(lines) > 1
    for line in (lines[0], lines[-1]):
        words = dialogue_memory.erase(turn=line.address, dry_run=True).words
        assert "".join(part.text for part in words) == text
        assert [part.turn for part in words] == [one.address for one in lines]


@pytest.mark.parametrize(
    ("first", "second", "third"),
    [
        (
            "The spare key hangs in the shed.",
            "The spare key lies under the mat.",
            "The spare key is with Ben now.",
        ),
        ("Mein Zug fährt um acht Uhr.", "Mein Zug fährt um neun Uhr.", "Mein Zug fährt gar nicht mehr."),
        ("Mi dentista es la doctora Vega.", "Mi dentista es el doctor Ruiz.", "Ya no tengo ningún dentista."),
        ("鍵は金魚鉢の下にあります。", "鍵は本棚の上にあります。", "鍵は母が持っています。"),
        ("Ключ лежит под старой ёлкой.", "Ключ висит на кухне.", "Ключ теперь у соседки Ольги."),
        ("The rent is 640 euros a month.", "The rent is 980 euros a month.", "The rent is paid by Rui."),
    ],
)
def test_the_address_of_a_turn_names_the_unit_that_rests_on_it(
    open_memory: OpenMemory, first: str, second: str, third: str
) -> None:
    memory = open_memory()
    kept = memory.remember(first, speaker="Ann")
    (found,) = [one for one in memory.search(first, kind="turns") if first in one.text]
    fixed = memory.correct(str(found.turn), second, speaker="Ann")
    assert kept.unit.id in fixed.unit.supersedes
    assert [unit.text.removeprefix("Ann: ") for unit in memory.units()] == [second]
    memory.flush()
    (found,) = [one for one in memory.search(second, kind="turns") if second in one.text]
    memory.correct(str(found.turn), third, speaker="Ann")
    assert [unit.text.removeprefix("Ann: ") for unit in memory.units()] == [third]


LONG = """I moved to Oslo in May 2021, after nine years in Bergen, and rented two rooms above a bakery.
My sister Ingrid sold the red boat to a man from Stavanger who wants to sail to Iceland with it.
On Tuesdays I sing in a choir of forty people, and we rehearse in the old fire station by the river.
My doctor told me to stop eating wheat, so the bakery below is a daily temptation that I resist badly."""


def test_a_turn_of_several_units_is_not_corrected_by_its_address(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory()
    memory.add(LONG, speaker="Ben", session="b")
    memory.flush()
    (dialogue_memory,) = [one for one in memory.search("Ingrid boat", kind="turns") if "Ingrid" in one.text]
    resting = memory.units("b")
    assert len(resting) > 1
    with pytest.raises(InvalidInput, match="several units rest on turn") as error:
        memory.correct(str(dialogue_memory.turn), "Ingrid sold the blue boat.")
    assert all(unit.id in str(error.value) and unit.text in str(error.value) for unit in resting)
    with pytest.raises(UnknownId, match="has no turn"):
        memory.correct("t1:999-9ae0", "Ingrid sold the blue boat.")


def test_a_turn_that_was_erased_before_is_not_counted_again(dialogue_memory: tiermem.Memory) -> None:
    (found, *_) = dialogue_memory.search("papaya parrot", kind="turns")
    for expected in (1, 0, 0):
        assert len(dialogue_memory.erase(turn=found.turn, dry_run=True).erasure.turns) == expected
        assert len(dialogue_memory.erase(turn=found.turn, reason="asked to").erasure.turns) == expected
    assert len(dialogue_memory.erase(session="pets", reason="asked to").erasure.turns) == len(SAID) - 1
