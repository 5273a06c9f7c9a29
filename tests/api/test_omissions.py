"""What the summaries lost is counted, shown, and brought back by a second look that is told of it."""

import json

import pytest

from tests.api.conftest import OpenMemory, tell
from tests.api.test_by_model import at
from tests.llm.server import ModelServer, Request
from tiermem.errors import InvalidInput, ModelError, UnknownId

SAID = [
    "I paid 1,450 dollars for the roof.",
    "My sister Ingrid never learned to swim.",
    "We met Gustav on 3 March 2024 in Bergen.",
]


def forgetful(request: Request) -> str:
    """A model that notes the first line of a page, and the others only when it is told what it lost."""
    told = [words for words in SAID if words in request.text]
    kept = told[1:] if "negation: " in request.text else told[:1]
    return json.dumps({"facts": [{"fact": f"Ann: {words}", "evidence_quote": words} for words in kept]})


def test_literals_no_unit_keeps_are_named_and_counted(open_memory: OpenMemory) -> None:
    with ModelServer(answer=forgetful) as server:
        memory = open_memory(**at(server))
        for text in SAID:
            memory.add(text, speaker="Ann", said_at="2024-05-01", session="s")
        memory.flush()
        report = memory.omissions()
        (page,) = report.pages
        assert "number: 1450" not in page.lost
        assert any(lost.startswith("negation: ") for lost in page.lost)
        assert "name: Gustav" in page.lost
        assert any(lost.startswith("date: ") for lost in page.lost)
        assert report.lost == len(page.lost) == page.lost_at_first
        assert page.literals > report.lost
        assert report.rate == report.lost / report.literals
        stats = memory.stats()
        assert stats.omissions == report.lost
        assert stats.omissions_per_literal == report.rate


def test_a_second_look_is_told_what_was_lost_and_only_adds(open_memory: OpenMemory) -> None:
    with ModelServer(answer=forgetful) as server:
        memory = open_memory(**at(server))
        for text in SAID:
            memory.add(text, speaker="Ann", said_at="2024-05-01", session="s")
        memory.flush()
        before, lost = memory.units(), memory.omissions().lost
        page_id = memory.pages()[0].id
        done = memory.redistil(page_id)
        assert "name: Gustav" in done.hints
        assert len(done.units) == 2
        assert memory.units()[: len(before)] == before
        assert {unit.id for unit in memory.units()} == {u.id for u in (*before, *done.units)}
        report = memory.omissions()
        assert report.lost < lost
        assert [point.lost for point in report.over_time] == [lost, len(done.omissions)]
        assert report.pages[0].redistilled == 1
        assert memory.search("Gustav in Bergen")[0].unit_id in {unit.id for unit in done.units}
        again = memory.redistil(page_id)
        assert again.units == ()
        assert len(memory.units()) == 3
        units, calls = memory.units(), memory.stats().spent_today.calls
        memory.close()
        reopened = open_memory(**at(server))
        assert reopened.units() == units
        assert reopened.stats().spent_today.calls == calls
        assert reopened.omissions().pages[0].redistilled == 2


def test_what_a_second_look_had_lost_stays_known_when_a_turn_beside_it_goes(open_memory: OpenMemory) -> None:
    with ModelServer(answer=forgetful) as server:
        memory = open_memory(**at(server))
        for text in (*SAID, "and so it goes on."):
            memory.add({"speaker": "Ann", "text": text, "id": text[:9]}, said_at="2024-05-01", session="s")
        memory.flush()
        memory.redistil(memory.pages()[0].id)
        over_time = [point.lost for point in memory.omissions().over_time]
        assert over_time[1] < over_time[0]
        memory.erase(turn="and so it goes on."[:9], session="s", reason="asked to")
        assert [point.lost for point in memory.omissions().over_time] == over_time


def test_a_unit_that_was_withdrawn_does_not_come_back_by_a_second_look(open_memory: OpenMemory) -> None:
    memory = open_memory()
    tell(memory)
    memory.flush()
    page = memory.pages()[0]
    ids = [unit.id for unit in memory.units()]
    assert memory.redistil(page.id).units == () or [u.id for u in memory.units()][: len(ids)] == ids


def test_omissions_of_a_page_or_a_session(open_memory: OpenMemory) -> None:
    memory = open_memory()
    tell(memory)
    memory.flush()
    one, two = memory.pages()
    assert [page.page_id for page in memory.omissions().pages] == [one.id, two.id]
    assert [page.page_id for page in memory.omissions(session=one.session).pages] == [one.id]
    assert [page.page_id for page in memory.omissions(two.id).pages] == [two.id]
    assert memory.omissions(two.id, session=one.session).pages == ()
    memory.add("Anything else?", speaker="Ann", session="open")
    with pytest.raises(InvalidInput, match="not summarised yet"):
        memory.omissions(memory.open_pages()[0].id)
    with pytest.raises(UnknownId):
        memory.omissions("p1:nowhere")
    with pytest.raises(UnknownId):
        memory.redistil("p1:nowhere")


def test_a_failed_second_look_changes_nothing_but_is_paid_for(open_memory: OpenMemory) -> None:
    from tests.llm.server import Say

    with ModelServer(answer=forgetful) as server:
        memory = open_memory(**at(server))
        for text in SAID:
            memory.add(text, speaker="Ann", session="s")
        memory.flush()
        units, calls = memory.units(), memory.stats().spent_today.calls
        server.then(Say("{"), Say("{"))
        with pytest.raises(ModelError):
            memory.redistil(memory.pages()[0].id)
        assert memory.units() == units
        assert memory.omissions().pages[0].redistilled == 0
        memory.close()
        assert open_memory(**at(server)).stats().spent_today.calls == calls + 2


def test_an_empty_memory_lost_nothing(open_memory: OpenMemory) -> None:
    memory = open_memory()
    report = memory.omissions()
    assert (report.pages, report.rate, report.over_time) == ((), None, ())
    assert memory.stats().omissions_per_literal is None


def test_a_noun_that_no_unit_holds_is_named_and_a_second_look_brings_it_back(
    open_memory: OpenMemory,
) -> None:
    said = ["I paid 20 dollars.", "My son has a peanut allergy."]

    def told(request: Request) -> str:
        kept = said[1] if "word: peanut" in request.text else said[0]
        return json.dumps({"facts": [{"fact": f"Ann: {kept}", "evidence_quote": kept}]})

    with ModelServer(answer=told) as server:
        memory = open_memory(**at(server))
        for text in said:
            memory.add(text, speaker="Ann", session="s")
        memory.flush()
        report = memory.omissions()
        assert {"word: son", "word: peanut", "word: allergy"} <= set(report.pages[0].lost)
        assert memory.stats().omissions == report.lost
        done = memory.redistil(report.pages[0].page_id)
        assert "word: peanut" in done.hints
        assert [lost for lost in memory.omissions().pages[0].lost if lost.startswith("word")] == []


def test_words_that_were_erased_are_omissions_no_more(open_memory: OpenMemory) -> None:
    said = "I bought a harmonica."

    def told(_: Request) -> str:
        return json.dumps({"facts": [{"fact": f"Ann: {said}", "evidence_quote": said}]})

    with ModelServer(answer=told) as server:
        memory = open_memory(**at(server))
        memory.add({"speaker": "Ann", "text": said, "id": "t1"}, session="s")
        memory.add({"speaker": "Ann", "text": "My son has a peanut allergy.", "id": "t2"}, session="s")
        memory.flush()
        assert "word: peanut" in memory.omissions().pages[0].lost
        receipt = memory.erase(turn="t2", reason="asked for")
        assert receipt.leftovers.clean
        assert not any("peanut" in lost for page in memory.omissions().pages for lost in page.lost)
        assert memory.stats().omissions == memory.omissions().lost
