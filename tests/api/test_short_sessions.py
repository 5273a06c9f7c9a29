"""Many short sessions: a handful of calls summarise them, and each is found from the moment it was told."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import tiermem
from pagestore import Turn
from tests.api.conftest import OpenMemory
from tiermem.llm.interface import Call
from tiermem.llm.scripted import FunctionModel

TOWNS = ("Lisbon", "Oslo", "Krakow", "Nairobi", "Quito", "Hanoi", "Turin", "Bergen", "Riga", "Ghent")
THINGS = ("canoe", "piano", "kettle", "telescope", "lantern", "bicycle")
SESSIONS = [
    (f"s{number}", thing, town, 11 + 3 * number)
    for number, (thing, town) in enumerate((thing, town) for thing in THINGS for town in TOWNS)
]
START = datetime(2023, 5, 8, 9, tzinfo=UTC)
_SAID = re.compile(r"^(?:\[[^\]\n]*\] Ann: )(.*)$", re.MULTILINE)
_ENTRY = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)


class Script:
    """A model that keeps every sentence it reads, one in ten in words of its own, and answers by number."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def __call__(self, call: Call) -> dict[str, Any]:
        self.calls.append(call.prompt.partition("@")[0])
        read = call.messages[-1].content
        if self.calls[-1] == "distil":
            return {"facts": [self._fact(said) for said in _SAID.findall(read)]}
        asked = re.search(r"the (\w+) in (\w+)\?", read)
        assert asked is not None
        for number, text in _ENTRY.findall(read):
            price = re.search(rf"{asked[1]} in {asked[2]} for (\d+) euros", text)
            if price:
                return {"answer": f"{price[1]} euros", "cited": [int(number)], "complete": True}
        return {"answer": "", "cited": [], "abstained": True}

    def _fact(self, said: str) -> dict[str, Any]:
        own = "Ann is happy with her purchase." if said.startswith("I bought the piano") else f"Ann: {said}"
        return {"fact": own, "evidence_quotes": [said]}


def tell_all(memory: tiermem.Memory) -> None:
    for number, (session, thing, town, price) in enumerate(SESSIONS):
        text = f"I bought the {thing} in {town} for {price} euros."
        at = START + timedelta(days=number)
        memory.add(Turn(speaker="Ann", text=text, said_at=at, turn_id=session), session=session)


@pytest.fixture
def script() -> Script:
    return Script()


def test_sixty_short_sessions_cost_a_handful_of_calls_and_are_found_after_reopening(
    open_memory: OpenMemory, script: Script
) -> None:
    given: dict[str, Any] = {"engine": "model", "model": FunctionModel(script), "distil": "deferred"}
    memory = open_memory(**given)
    tell_all(memory)
    flushed = memory.flush()
    assert (len(SESSIONS), flushed.distilled, flushed.pending) == (60, 60, 0)
    assert 1 <= script.calls.count("distil") <= 6
    memory.close()

    again = open_memory(**given)
    stats = again.stats()
    assert (stats.sessions, stats.pages, stats.pages_pending, stats.units) == (60, 60, 0, 60)
    assert (stats.claims_worded, stats.claims_rejected) == (10, 0)
    for session, thing, town, price in SESSIONS[::7]:
        question = f"What did Ann pay for the {thing} in {town}?"
        script.calls.clear()
        answer = again.ask(question)
        assert (answer.text, answer.trace.way, answer.support) == (f"{price} euros", "recall", "quoted")
        assert script.calls == ["compose"]
        (citation,) = answer.citations
        assert again.page(citation.spans[0].page_id).session == session
        first = again.search(question, limit=1)[0]
        assert again.page(first.spans[0].page_id).session == session
        assert f"{price} euros" in again.context(question, max_tokens=60).text


def test_what_nobody_distilled_yet_is_found_as_well(open_memory: OpenMemory, script: Script) -> None:
    memory = open_memory(engine="model", model=FunctionModel(script), distil="deferred")
    tell_all(memory)
    assert script.calls == []
    session, thing, town, price = SESSIONS[33]
    answer = memory.ask(f"What did Ann pay for the {thing} in {town}?")
    assert answer.text == f"{price} euros"
    assert memory.page(answer.citations[0].spans[0].page_id).session == session


def test_worded_claims_are_counted_and_their_words_kept(open_memory: OpenMemory, script: Script) -> None:
    memory = open_memory(engine="model", model=FunctionModel(script))
    memory.add("I bought the piano in Riga for 95 euros.", speaker="Ann")
    memory.flush()
    (unit,) = memory.units()
    assert (unit.kind, unit.text) == ("quote", "Ann: I bought the piano in Riga for 95 euros.")
    assert memory.stats().claims_worded == 1


@pytest.mark.local_only("the files of a space are read")
def test_a_quote_goes_with_its_words(open_memory: OpenMemory, script: Script, tmp_path: Path) -> None:
    memory = open_memory(engine="model", model=FunctionModel(script), distil="deferred")
    tell_all(memory)
    memory.flush()
    held = {unit.id for unit in memory.units() if "the piano in Riga" in unit.text}
    assert [unit.kind for unit in memory.units() if unit.id in held] == ["quote"]
    session = next(session for session, thing, town, _ in SESSIONS if (thing, town) == ("piano", "Riga"))
    receipt = memory.erase(turn=session, session=session, reason="asked to")
    assert set(receipt.erasure.units) == held
    assert receipt.leftovers.clean
    assert len(memory.units()) == 59
    assert memory.stats().claims_worded == 10
    files = [file for file in (tmp_path / "store" / "spaces").rglob("*") if file.is_file()]
    assert not any(b"piano in Riga" in file.read_bytes() for file in files)
