"""What is found has the address of its turn, with who said it, in which session and in which role."""

from typing import Any

import pytest

import tiermem
from pagestore import PageLine
from tests.api.conftest import OpenMemory

SAID = [
    {"role": "user", "name": "Ann", "content": "My parrot Coco only eats papaya."},
    {"role": "assistant", "content": "I noted the papaya for Coco."},
    {"role": "user", "name": "Ann", "content": "The bicycle shop on Mill Road closes at six."},
]


@pytest.fixture
def told(open_memory: OpenMemory) -> tiermem.Memory:
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
    told: tiermem.Memory, kind: Any, sealed: bool, query: str
) -> None:
    if sealed:
        told.flush()
    found = told.search(query, kind=kind, limit=3)
    assert found
    for item in found:
        session, line = line_of(told, item.turn)
        assert line.turn is not None
        assert (item.session, item.speaker, item.role) == (session, line.turn.speaker, line.turn.role)


def test_an_address_is_the_same_before_and_after_sealing(told: tiermem.Memory) -> None:
    before = {item.text: item.turn for item in told.search("papaya parrot Coco", kind="turns")}
    told.flush()
    after = {item.text: item.turn for item in told.search("papaya parrot Coco", kind="turns")}
    assert before == after
    assert len(set(before.values())) == len(before) > 1


def test_a_unit_of_several_turns_has_the_address_of_the_first(memory: tiermem.Memory) -> None:
    (unit, *_) = [unit for unit in memory.units() if len(unit.spans) == 1]
    (found,) = [one for one in memory.search(unit.text, kind="units") if one.unit_id == unit.id]
    assert line_of(memory, found.turn)[1].touches(unit.spans[0])


def test_sources_of_a_context_and_citations_and_an_audit_name_their_turn(told: tiermem.Memory) -> None:
    told.flush()
    for source in told.context("What does the parrot Coco eat?").sources:
        assert source.turn is not None
    answer = told.ask("What does the parrot Coco eat?")
    assert answer.citations
    for cited, seen in zip(answer.citations, told.audit(answer.id).citations, strict=True):
        session, line = line_of(told, cited.turn)
        assert line.turn is not None
        assert (cited.session, cited.speaker, cited.role) == (session, line.turn.speaker, line.turn.role)
        assert seen.words_on_page[0].turn == cited.turn
        assert f"turn {cited.turn}" in told.audit(answer.id).explain()


def test_a_page_as_a_result_names_its_session_and_no_turn(told: tiermem.Memory) -> None:
    told.flush()
    (page, *_) = told.search("oboe", kind="pages")
    assert (page.session, page.turn, page.speaker) == ("music", None, "")


def test_the_words_of_another_agent_have_no_address(open_memory: OpenMemory) -> None:
    memory = open_memory()
    planner, coder = memory.as_agent("planner"), memory.as_agent("coder")
    planner.add("The launch code is kept in the blue folder.", speaker="Ann")
    memory.flush()
    owned = memory.search("launch code blue folder", kind="turns")
    assert [item.turn for item in owned if "blue folder" in item.text] != [None]
    assert all("blue folder" not in item.text for item in coder.search("launch code blue folder"))
