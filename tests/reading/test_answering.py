"""From an outcome to a recorded answer, its findings, and the audit that leads back to the words."""

from dataclasses import replace

import pytest
from pydantic import TypeAdapter

from pagestore import PageId, SessionId
from tests.reading.world import ANSWER, ASKED, ESCALATE, SPACE, START, World
from tiermem.errors import UnknownId
from tiermem.ledger import Answered, finding_id
from tiermem.llm.meter import Meter, metered, pay, step
from tiermem.model import Answer, AnswerId, Claim, Decision, Finding, Search, Usage
from tiermem.reading import Audit
from tiermem.reasoning import Draft, Integrated, Plan

pytestmark = pytest.mark.anyio


async def ask(world: World, question: str, decision: Decision = ANSWER) -> tuple[Answer, tuple[Finding, ...]]:
    """Ask and record, as the door does."""
    reader = world.reader()
    with metered(Meter()) as meter:
        recalled = await reader.recall(question)
        with step("compose"):
            pay(Usage(calls=1, input_tokens=7), prompt="compose@1", model="judge-1")
        outcome = await reader.answer(question, recalled, decision, asked_at=ASKED)
    answer, findings = reader.answered(outcome, meter=meter)
    await world.ledger.write(Answered(answer=answer, findings=findings))
    return answer, findings


def proves(world: World, text: str, quote: str) -> None:
    world.judge.on_integrate = lambda views: Integrated(
        claims=(Claim(text=text, quotes=(quote,)),), coverage=""
    )


async def test_an_answer_carries_its_whole_trace() -> None:
    world = await World.new()
    page, _ = await world.linked_page("Ann: I adopted three grey cats", "Bob: my dog is old")
    answer, findings = await ask(world, "How many cats?")
    trace = answer.trace
    assert findings == ()
    assert answer.space == SPACE
    assert answer.route == "ANSWER"
    assert trace.decision == ANSWER
    assert [item.source for item in trace.candidates] == ["unit"]
    assert (trace.question, trace.asked_at, trace.engine) == ("How many cats?", ASKED, "judge")
    assert (trace.prompts, trace.models) == (("compose@1",), ("judge-1",))
    assert [(s.step, s.usage.calls) for s in trace.usage] == [("compose", 1)]
    assert answer.usage.input_tokens == 7
    assert trace.read_tokens == 7
    assert trace.raw_tokens == page.tokens > trace.read_tokens
    assert trace.rounds == ()
    assert trace.checks[0].passed


async def test_proved_facts_of_an_escalation_become_findings() -> None:
    world = await World.new()
    page, _ = await world.linked_page("Ann: I adopted three grey cats")
    proves(world, "Ann adopted three grey cats", "I adopted three grey cats")
    answer, findings = await ask(world, "How many cats?", ESCALATE)
    (finding,) = findings
    fact = answer.facts[0]
    assert finding.id == finding_id(SPACE, answer.id, fact.claim, fact.spans)
    assert (finding.fact, finding.answer_id, finding.question) == (fact, answer.id, "How many cats?")
    assert (finding.session, finding.said_at) == (page.session, START)
    assert list(world.ledger.tier1.pending) == [finding.id]


async def test_a_fact_that_is_not_proved_becomes_no_finding() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted three grey cats from the shelter in Boston")
    told = (
        Claim(
            text="Ann adopted three grey cats",
            quotes=("I adopted three gray cats from the shelter in Boston",),
        ),
        Claim(
            text="Ann adopted three cats in Boston", quotes=("I adopted three grey cats from the shelter",)
        ),
    )
    world.judge.on_integrate = lambda views: Integrated(claims=told, coverage="")
    answer, findings = await ask(world, "How many cats?", ESCALATE)
    assert [fact.grade for fact in answer.facts] == ["close"]
    assert [finding.fact.claim for finding in findings] == ["Ann adopted three cats in Boston"]


async def test_an_abstention_leaves_no_finding() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted three grey cats")
    proves(world, "Ann adopted three grey cats", "I adopted three grey cats")
    world.judge.on_compose = lambda evidence: Draft(text="", cited=(), abstained=True)
    answer, findings = await ask(world, "How many cats?", ESCALATE)
    assert answer.abstained
    assert len(world.judge.composed[0]) == 1
    assert findings == ()


async def test_a_question_about_the_past_leaves_no_finding() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted three grey cats")
    proves(world, "Ann adopted three grey cats", "I adopted three grey cats")
    moment = [r.at for r in world.ledger._log.records()][-1]
    reader = world.reader()
    recalled = await reader.recall("How many cats?", as_of=moment)
    outcome = await reader.answer("How many cats?", recalled, ESCALATE, asked_at=ASKED)
    answer, findings = reader.answered(outcome, meter=Meter())
    assert answer.facts
    assert answer.trace.as_of == moment
    assert findings == ()


async def test_what_searches_brought_stands_behind_what_was_recalled() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted three grey cats")
    dog, _ = await world.linked_page("Bob: my dog is old")
    search = Search(kind="SEMANTIC", query="dog")
    world.judge.on_plan = lambda turn: Plan(done=False, reason="more", searches=(search,))
    world.judge.on_integrate = lambda views: Integrated(
        claims=(Claim(text="Bob's dog is old", quotes=("my dog is old",)),), coverage=""
    )
    answer, _ = await ask(world, "How many cats?", ESCALATE)
    assert [item.text[:3] for item in answer.trace.candidates] == ["Ann", "Bob"]
    audit = await world.reader().audit(answer.id)
    assert audit.citations[0].chosen_by == "research, round 1: found by search"
    assert audit.citations[0].standing[0].page_id == dog.id


async def test_an_audit_leads_to_page_turn_speaker_time_and_words_in_context() -> None:
    world = await World.new()
    page, _ = await world.linked_page("Bob: hello Ann", "Ann: I adopted three grey cats", "Bob: lovely")
    answer, _ = await ask(world, "How many grey cats?")
    audit = await world.reader(context_chars=12).audit(answer.id)
    (cited,) = audit.citations
    (place,) = cited.standing
    assert (place.page_id, place.session, place.page_number, place.turn) == (page.id, "main", page.number, 2)
    assert (place.speaker, place.said_at) == ("Ann", page.lines[1].turn and page.lines[1].turn.said_at)
    assert place.words == "I adopted three grey cats"
    assert page.text[: place.start].endswith(place.before)
    assert page.text[place.end :].startswith(place.after)
    assert len(place.before) == len(place.after) == 12
    assert cited.chosen_by == "recall, rank 1"
    assert cited.intact
    assert audit.intact


async def test_an_audit_reads_as_plain_text() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted three grey cats")
    proves(world, "Ann adopted three grey cats", "I adopted three grey cats")
    answer, _ = await ask(world, "How many cats?", ESCALATE)
    text = (await world.reader().audit(answer.id)).explain()
    assert "Question: How many cats?" in text
    assert "Answer:   Ann adopted three grey cats" in text
    assert "ESCALATE" in text
    assert "Round 0:  1 pages, 1 facts; stopped: enough was found" in text
    assert "[1] Ann adopted three grey cats" in text
    assert "«I adopted three grey cats»" in text
    assert "linked from recalled units" in text
    assert "Ann, 2023-05-08 13:56" in text


async def test_an_audit_survives_json() -> None:
    world = await World.new()
    await world.say("Ann: three cats \ud800 and a dog")
    answer, _ = await ask(world, "How many cats?")
    audit = await world.reader().audit(answer.id)
    adapter = TypeAdapter(Audit)
    assert adapter.validate_json(adapter.dump_json(audit)) == audit
    assert audit.citations[0].chosen_by == "recall, tail of the open page"


async def test_words_cited_from_an_open_page_are_found_after_it_sealed() -> None:
    world = await World.new()
    await world.say("Ann: my new bike is blue")
    answer, _ = await ask(world, "What colour is the bike?")
    await world.say("Bob: nice")
    (sealed,) = await world.ledger.seal()
    (cited,) = (await world.reader().audit(answer.id)).citations
    assert cited.standing[0].page_id == sealed
    assert cited.standing[0].words == "my new bike is blue"
    assert cited.intact


async def test_an_audit_names_what_does_not_stand_there_any_more() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted three grey cats")
    answer, _ = await ask(world, "How many cats?")
    other = replace(answer.citations[0], quote="I adopted nine grey cats")
    nowhere = replace(answer.citations[0].spans[0], page_id=PageId("p1:nowhere"))
    gone = replace(answer.citations[0], number=2, spans=(nowhere,), quote="")
    forged = replace(answer, id=AnswerId("a1:forged"), citations=(other, gone))
    await world.ledger.write(Answered(answer=forged))
    audit = await world.reader().audit(forged.id)
    assert [cited.intact for cited in audit.citations] == [False, False]
    assert "PageNotFound" in audit.citations[1].missing[0]
    assert "NOT INTACT" in audit.explain()
    assert "MISSING" in audit.explain()


async def test_an_unknown_answer_is_an_error() -> None:
    world = await World.new()
    with pytest.raises(UnknownId):
        await world.reader().audit(AnswerId("a1:nobody"))


async def test_a_session_never_answers_from_another() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted three grey cats")
    secret, _ = await world.linked_page("Bob: I adopted three black cats", session=SessionId("secret"))
    world.judge.on_plan = lambda turn: Plan(
        done=False, reason="more", searches=(Search(kind="KEYWORD", query="cats"),)
    )
    reader = world.reader()
    recalled = await reader.recall("cats", session=SessionId("main"))
    outcome = await reader.answer("cats", recalled, ESCALATE, asked_at=ASKED)
    assert outcome.findings is not None
    assert secret.id not in outcome.findings.pages_read
    assert all("black" not in item.text for item in outcome.candidates)
