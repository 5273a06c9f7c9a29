"""What was withdrawn is shown as taken back and is no evidence, neither as a unit nor on its page."""

import json

import pytest

import tiermem
from tests.api.conftest import OpenMemory, tell
from tests.api.test_by_model import QUESTION, at, play
from tests.llm.server import ModelServer, Request
from tiermem.errors import InvalidInput, UnknownId
from tiermem.model import MarkedPage, UnitId

BISCUIT = "What is Biscuit allergic to?"
WRONG = "she was joking"


def about(memory: tiermem.Memory, word: str) -> tiermem.SummaryUnit:
    return next(unit for unit in memory.units() if word in unit.text)


def everything_found(memory: tiermem.Memory, query: str) -> str:
    """All that reading brings for a query, as it would be read."""
    found = [one.text for kind in ("units", "turns", "pages") for one in memory.search(query, kind=kind)]
    answers = [memory.ask(query, mode=mode) for mode in ("summary", "router", "raw")]
    cited = [citation.quote for answer in answers for citation in answer.citations]
    shown = [one.text + one.quote for answer in answers for one in answer.trace.candidates]
    return "\n".join(
        (*found, *cited, *shown, *map(str, answers), memory.context(query, max_tokens=4000).text)
    )


def test_no_reading_brings_the_words_that_only_a_withdrawn_unit_rests_on(memory: tiermem.Memory) -> None:
    assert "chicken" in str(memory.ask(BISCUIT))
    memory.withdraw(about(memory, "Biscuit").id, reason=WRONG)
    assert "chicken" not in everything_found(memory, BISCUIT)
    assert memory.ask(BISCUIT).abstained


def test_what_else_the_turn_and_the_page_tell_is_still_evidence(memory: tiermem.Memory) -> None:
    memory.withdraw(about(memory, "Biscuit").id, reason=WRONG)
    answer = memory.ask("When did Caroline go to a support group?")
    assert "support group" in answer.text
    assert memory.audit(answer.id).intact
    (turn,) = (one for one in memory.search("No treats", kind="turns") if "treats" in one.text)
    assert [memory.page(s.page_id).text[s.start : s.end] for s in turn.spans] == ["No treats."]


def test_the_page_shows_what_was_taken_back_and_why(memory: tiermem.Memory) -> None:
    unit = about(memory, "Biscuit")
    memory.withdraw(unit.id, reason=WRONG)
    page = memory.page(unit.spans[0].page_id)
    assert isinstance(page, MarkedPage)
    (taken,) = page.taken_back
    assert (taken.reason, taken.unit_id) == (WRONG, unit.id)
    assert page.words(taken.span) == "My rescue dog Biscuit is allergic to chicken."
    assert [info.taken_back for info in memory.pages()] == [(taken,), ()]
    (found,) = (one for one in memory.search("support group", kind="pages") if "support" in one.text)
    assert "Caroline: [taken back: she was joking] No treats." in found.text
    (turn,) = (one for one in memory.search("No treats", kind="turns") if "treats" in one.text)
    assert turn.text == "Caroline: [taken back: she was joking] No treats."


def test_words_that_a_unit_which_holds_rests_on_too_stay_evidence(open_memory: OpenMemory) -> None:
    with ModelServer(answer=two_facts) as server:
        memory = open_memory(**at(server))
        memory.add("I keep a hen called Berta and a tall grey horse.", speaker="Ann")
        memory.flush()
        first, second = memory.units()
        done = memory.withdraw(first.id, reason=WRONG)
        assert [unit.id for unit in done.beside] == []
        page = memory.page(first.spans[0].page_id)
        assert [page.words(taken.span) for taken in page.taken_back] == ["I keep a hen called Berta"]
        memory.reinstate(first.id, reason="she was not")
        memory.withdraw(second.id, reason=WRONG)
        page = memory.page(first.spans[0].page_id)
        assert [page.words(taken.span) for taken in page.taken_back] == ["and a tall grey horse"]


def two_facts(request: Request) -> str:
    """A model that makes two units of one sentence."""
    quotes = ["I keep a hen called Berta", "and a tall grey horse"]
    return json.dumps({"facts": [{"fact": f"Ann: {q}", "evidence_quote": q} for q in quotes]})


def of_the_barn(request: Request) -> str:
    """A model that makes one unit of what it reads, and answers and links nothing."""
    kind = request.body["response_format"]["json_schema"]["name"]
    quote = "I keep a hen called Berta" if "Berta" in request.text else "the barn is red"
    replies = {
        "DistilReply": {"facts": [{"fact": f"Ann: {quote}", "evidence_quote": quote}]},
        "IntegrateReply": {"linked_facts": [], "coverage_assessment": "nothing of animals"},
        "PlanReply": {"decision": "DONE", "reasoning": "nothing more"},
        "ComposeReply": {"answer": "", "cited": [], "abstained": True},
    }
    return json.dumps(replies[kind])


def test_a_model_is_not_shown_the_words_neither_for_an_answer_nor_by_a_second_look(
    open_memory: OpenMemory,
) -> None:
    with ModelServer(answer=of_the_barn) as server:
        memory = open_memory(**at(server))
        memory.add("I keep a hen called Berta, and the barn is red.", speaker="Ann")
        memory.flush()
        (unit,) = memory.units()
        memory.withdraw(unit.id, reason=WRONG)
        before = len(server.requests)
        done = memory.redistil(unit.spans[0].page_id)
        for mode in ("summary", "router", "raw"):
            memory.ask("What animals does Ann keep?", mode=mode)
        shown = "\n".join(request.text for request in server.requests[before:])
        assert "barn is red" in shown
        assert "Berta" not in shown
        assert [one.text for one in done.units] == ["Ann: the barn is red"]
        assert [one.id for one in memory.units()] == [one.id for one in done.units]


def test_distilling_again_does_not_bring_a_withdrawn_unit_back(memory: tiermem.Memory) -> None:
    unit = about(memory, "Biscuit")
    memory.withdraw(unit.id, reason=WRONG)
    left = memory.units()
    assert memory.redistil(unit.spans[0].page_id).units == ()
    assert memory.units() == left
    report = memory.omissions(unit.spans[0].page_id)
    assert not any("chicken" in lost or "Biscuit" in lost for page in report.pages for lost in page.lost)


def test_a_finding_of_before_does_not_bring_it_back_in_other_words(open_memory: OpenMemory) -> None:
    with ModelServer(answer=play) as server:
        memory = open_memory(**at(server), write_back="deferred")
        tell(memory)
        memory.flush()
        answer = memory.ask(QUESTION, mode="raw")
        assert memory.stats().findings_pending == 1
        memory.withdraw(about(memory, "roof").id, reason=WRONG)
        left = memory.units()
        (decision,) = memory.apply_findings()
        assert decision.op == "SKIP"
        assert "taken back" in decision.reason
        assert memory.units() == left
        assert memory.audit(answer.id).intact


def test_restoring_undoes_it_and_both_are_on_record(open_memory: OpenMemory, memory: tiermem.Memory) -> None:
    unit, left = about(memory, "Biscuit"), memory.units()
    asked = memory.ask(BISCUIT)
    memory.withdraw(unit.id, reason=WRONG)
    withdrawn = memory.trail(unit.id)
    done = memory.reinstate(unit.id, reason="she was not")
    assert (done.unit, done.superseded, done.superseded_by) == (unit, (), ())
    assert memory.units() == left
    assert "chicken" in str(memory.ask(BISCUIT))
    assert memory.page(unit.spans[0].page_id).taken_back == ()
    assert withdrawn[0].state == "withdrawn"
    assert memory.trail(unit.id)[0].state == "holds"
    records = memory.checkpoint().size
    memory.reinstate(unit.id, reason="twice")
    assert memory.checkpoint().size == records + 1  # the checkpoint itself
    assert memory.audit(asked.id).intact
    memory.withdraw(unit.id, reason="once more")
    memory.close()
    reopened = open_memory()
    assert unit not in reopened.units()
    assert reopened.ask(BISCUIT).abstained
    assert reopened.reinstate(unit.id, reason="it holds").unit == unit
    assert reopened.units() == left
    reopened.reindex()
    assert "chicken" in str(reopened.ask(BISCUIT))


def test_the_past_stays_as_it_was(memory: tiermem.Memory) -> None:
    unit, asked = about(memory, "Biscuit"), memory.ask(BISCUIT)
    moment = memory.answers()[-1].at
    memory.withdraw(unit.id, reason=WRONG)
    assert unit in memory.units(as_of=moment)
    assert "chicken" in str(memory.ask(BISCUIT, as_of=moment))
    audit = memory.audit(asked.id)
    assert audit.intact
    assert "chicken" in audit.explain()
    assert memory.replay(asked.id, rerun=True).differences == ()
    assert memory.verify().ok


def test_erasing_takes_what_was_taken_back_and_the_reasons(memory: tiermem.Memory) -> None:
    unit = about(memory, "Biscuit")
    memory.withdraw(unit.id, reason="Biscuit eats chicken")
    memory.reinstate(unit.id, reason="no, Biscuit is allergic to chicken")
    memory.withdraw(unit.id, reason="Biscuit eats chicken")
    receipt = memory.erase(turn="t2", session="s1", reason="asked for")
    assert receipt.leftovers.clean
    assert memory.page(receipt.erasure.pages[0]).taken_back == ()


def test_what_cannot_be_restored_is_said(memory: tiermem.Memory) -> None:
    with pytest.raises(UnknownId):
        memory.reinstate("u1:nowhere", reason="no")
    unit = about(memory, "Biscuit")
    with pytest.raises(InvalidInput, match="give a reason"):
        memory.reinstate(unit.id, reason=" ")
    newer = memory.correct(unit.id, "Biscuit is allergic to beef.").unit
    with pytest.raises(InvalidInput, match=f"{newer.id}.*withdraw that"):
        memory.reinstate(unit.id, reason="no")
    assert memory.trail(UnitId(unit.id))[0].superseded_by == (newer.id,)
