"""Answers of before are listed, counted and read by those who may still see all that they were made of."""

from collections.abc import Callable
from typing import Any

import pytest

import tiermem
from pagestore.errors import PageNotFound
from tests.api.conftest import OpenMemory
from tests.engines import quoting_engine
from tiermem.errors import UnknownId
from tiermem.ledger import Ledger

HOUSE = "How much may we pay for the house?"
BOAT = "Where does the green boat lie?"
PRICE = "410,000"
ENGINES: dict[str, Any] = {"lines as said": "local", "a model": quoting_engine()}

Ask = Callable[[tiermem.Memory], tiermem.Answer]
ASKED: dict[str, Ask] = {
    "by default": lambda memory: memory.ask(HOUSE),
    "of a session": lambda memory: memory.ask(HOUSE, session="plans"),
}


def agents(memory: tiermem.Memory) -> tuple[tiermem.Memory, tiermem.Memory]:
    """`planner`, who said the price, and `writer`, who may see it by a grant and has words of its own."""
    planner, writer = memory.as_agent("planner"), memory.as_agent("writer")
    planner.add("We may pay up to 410,000 euros for the house.", speaker="Zora", session="plans")
    writer.add("The green boat lies in the harbour.", speaker="Ben", session="plans")
    memory.grant("writer", to_see="planner")
    return planner, writer


def list_ids(memory: tiermem.Memory) -> list[str]:
    answers = memory.answers()
    assert memory.stats().answers == len(answers)
    for info in answers:
        assert memory.audit(info.id).answer.id == memory.replay(info.id).answer.id == info.id
    return [info.id for info in answers]


@pytest.mark.parametrize("sealed", [True, False])
@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_what_was_taken_from_an_agent_is_in_none_of_its_answers(
    open_memory: OpenMemory, engine: Any, ask: Ask, sealed: bool
) -> None:
    memory = open_memory(engine=engine)
    _, writer = agents(memory)
    if sealed:
        memory.flush()
    answer = ask(writer)
    assert PRICE in answer.text
    assert PRICE in repr(writer.answers())
    assert list_ids(writer) == [answer.id]
    memory.revoke("writer", to_see="planner")
    own = writer.ask(BOAT)
    assert "harbour" in own.text
    assert PRICE not in repr(writer.answers())
    assert list_ids(writer) == [own.id]
    for read in (writer.audit, writer.replay, writer.get, writer.bundle):
        with pytest.raises(UnknownId):
            read(answer.id)
    assert list_ids(memory) == [answer.id, own.id]
    memory.flush()
    assert list_ids(writer) == [own.id]
    memory.grant("writer", to_see="planner")
    assert list_ids(writer) == [answer.id, own.id]


def test_an_answer_from_pages_is_listed_by_those_who_may_see_the_pages(open_memory: OpenMemory) -> None:
    memory = open_memory()
    _, writer = agents(memory)
    memory.flush()
    answer = writer.ask(HOUSE, mode="raw")
    assert answer.trace.way == "researched"
    assert list_ids(writer) == [answer.id]
    memory.revoke("writer", to_see="planner")
    assert list_ids(writer) == []


def test_an_answer_with_private_words_of_a_shared_unit_is_not_listed(open_memory: OpenMemory) -> None:
    memory = open_memory()
    planner, writer = agents(memory)
    memory.flush()
    (unit,) = [one for one in planner.units() if one.agents == ("planner",)]
    planner.share(unit.id, reason="for the letter")
    with_words = writer.ask(HOUSE)
    assert PRICE in repr([one.quote for one in with_words.citations])
    memory.revoke("writer", to_see="planner")
    assert list_ids(writer) == []
    with pytest.raises(UnknownId):
        writer.audit(with_words.id)
    without_words = writer.ask(HOUSE)
    assert {one.quote for one in without_words.citations if one.unit_id == unit.id} == {""}
    assert list_ids(writer) == [without_words.id]


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_an_answer_from_words_taken_back_is_listed_by_those_who_may_see_them(
    open_memory: OpenMemory, engine: Any
) -> None:
    memory = open_memory(engine=engine)
    planner, writer = agents(memory)
    memory.flush()
    answer = writer.ask(HOUSE)
    (turn,) = {one.turn for one in planner.search(HOUSE, kind="turns") if PRICE in one.text}
    assert turn is not None
    planner.withdraw(turn, reason="it was a joke")
    assert list_ids(writer) == [answer.id]
    memory.revoke("writer", to_see="planner")
    assert list_ids(writer) == []
    planner.erase(turn=turn, reason="asked to")
    memory.grant("writer", to_see="planner")
    assert list_ids(writer) == list_ids(memory) == []


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_an_answer_from_a_page_that_cannot_be_read_is_listed_by_the_owner_alone(
    open_memory: OpenMemory, engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory(engine=engine)
    _, writer = agents(memory)
    answer = writer.ask(HOUSE)

    async def unreadable(self: Ledger, page_ids: Any, *, kept: bool = False) -> tuple[Exception, ...]:
        return tuple(PageNotFound(page_id) for page_id in page_ids)

    monkeypatch.setattr(Ledger, "read", unreadable)
    assert writer.answers() == ()
    assert [info.id for info in memory.answers()] == [answer.id]


def test_a_judgement_of_an_answer_is_in_the_trail_of_those_who_may_see_the_answer(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory()
    _, writer = agents(memory)
    memory.add("We may pay for the house in May.", speaker="Ann")
    memory.flush()
    (public,) = [unit for unit in memory.units() if not unit.agents]
    answer = writer.ask("When may we pay for the house?")
    writer.feedback(answer.id, outcome="success")
    assert [one.answer_id for history in writer.trail(public.id) for one in history.outcomes] == [answer.id]
    memory.revoke("writer", to_see="planner")
    assert [one for history in writer.trail(public.id) for one in history.outcomes] == []
    assert [one.answer_id for history in memory.trail(public.id) for one in history.outcomes] == [answer.id]
