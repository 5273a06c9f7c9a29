"""From an outcome to a recorded answer, its findings, and the audit that leads back to the words."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from pydantic import TypeAdapter

from pagestore import PageId, SessionId
from tests.reading.world import (
    ANSWER,
    ASKED,
    ESCALATE,
    MAIN,
    SPACE,
    START,
    Words,
    World,
    make_question,
    says,
    silence,
)
from tiermem.errors import UnknownId
from tiermem.ledger import AnsweredEntry, Visibility, finding_id
from tiermem.llm.meter import Meter, paid_by, pay, step
from tiermem.model import Answer, AnswerId, Claim, Decision, Finding, Round, Search, Usage, lines_as_text
from tiermem.proof.in_words import support_in_words
from tiermem.reading import Audit, Scope, replay_answer
from tiermem.reading.view import EVERYTHING
from tiermem.reasoning.interface import Integrated, Planned

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("logs")]


async def ask(
    world: World,
    question: str,
    decision: Decision | None = ANSWER,
    *,
    scope: Scope = EVERYTHING,
    **options: Any,
) -> tuple[Answer, tuple[Finding, ...]]:
    """Ask and record, as a memory does; units alone are recalled unless `recall_turns` are asked for."""
    world.judge.on_route = None if decision is None else lambda evidence: decision
    reader = world.reader(**{"recall_turns": 0} | options)
    with paid_by(Meter()) as meter:
        with step("compose"):
            pay(Usage(calls=1, input_tokens=7), prompt="compose@1", model="judge-1")
        outcome = await reader.ask(make_question(question), scope=scope)
    answer, findings = reader.make_answer(outcome, meter=meter)
    await world.ledger.write(AnsweredEntry(answer=answer, findings=findings))
    return answer, findings


def proves(world: World, text: str, quote: str) -> None:
    world.judge.on_integrate = lambda views: Integrated(
        claims=(Claim(text=text, quotes=(quote,)),), coverage=""
    )


async def test_an_answer_carries_its_whole_trace() -> None:
    world = await World.new()
    page, _ = await world.linked_page("Ann: I adopted three cats", "Bob: my dog is old")
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
    assert trace.read_tokens == trace.summary_tokens == 11  # the unit, and its words beside it
    assert trace.raw_tokens == Words().count(page.text) > 0
    assert trace.rounds == ()
    assert [check.support for check in trace.checks] == [answer.support] == ["worded"]
    assert (trace.way, answer.complete, answer.missing) == ("recall", True, "")


async def test_proved_facts_of_an_escalation_become_findings() -> None:
    world = await World.new()
    page, _ = await world.linked_page("Ann: I adopted three cats")
    proves(world, "Ann adopted three cats", "I adopted three cats")
    answer, findings = await ask(world, "How many cats?", ESCALATE)
    (finding,) = findings
    fact = answer.facts[0]
    assert finding.id == finding_id(SPACE, answer.id, fact.claim, fact.spans)
    assert (finding.fact, finding.answer_id, finding.question) == (fact, answer.id, "How many cats?")
    assert (finding.session, finding.said_at) == (page.session, START)
    assert list(world.ledger.tier1.pending) == [finding.id]


async def test_a_fact_that_is_not_proved_becomes_no_finding() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted three cats from the shelter in Boston")
    told = (
        Claim(text="Ann adores small animals", quotes=("I adopted three cats from the shelter in Boston",)),
        Claim(text="Ann adopted three cats in Boston", quotes=("I adopted three cats from the shelter",)),
    )
    world.judge.on_integrate = lambda views: Integrated(claims=told, coverage="")
    world.judge.on_compose = lambda evidence: says("three", 0, 1)
    answer, findings = await ask(world, "How many cats?", ESCALATE)
    assert [fact.is_supported for fact in answer.facts] == [False, True]
    assert [finding.fact.claim for finding in findings] == ["Ann adopted three cats in Boston"]


async def test_what_reading_more_found_is_kept_where_the_turns_prove_it() -> None:
    world = await World.new()
    page = await world.page("Ann: I adopted three cats")
    world.judge.drafts(silence(), says("three", 0, statement="Ann adopted three cats"))
    answer, (finding,) = await ask(world, "How many cats?", None, recall_turns=1)
    assert (answer.route, answer.trace.way) == ("ESCALATE", "widened")
    assert finding.fact.claim == "Ann adopted three cats"
    assert page.words(finding.fact.spans[0]) == "I adopted three cats"


async def test_what_was_recalled_is_not_kept_again() -> None:
    world = await World.new()
    await world.page("Ann: I adopted three cats")
    world.judge.drafts(says("three", 0, statement="Ann adopted three cats"))
    answer, findings = await ask(world, "How many cats?", None, recall_turns=1)
    assert (answer.route, findings) == ("ANSWER", ())


async def test_an_abstention_leaves_no_finding() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted three cats")
    proves(world, "Ann adopted three cats", "I adopted three cats")
    world.judge.on_compose = lambda evidence: silence()
    answer, findings = await ask(world, "How many cats?", ESCALATE)
    assert answer.abstained
    assert len(world.judge.composed[0]) == 1
    assert findings == ()


@pytest.mark.parametrize("decision", [None, ANSWER, ESCALATE])
async def test_an_abstention_displays_what_was_said_nearest_to_the_question_and_cites_none(
    decision: Decision | None,
) -> None:
    world = await World.new()
    page, _ = await world.linked_page("Ann: I adopted three cats", "Bob: my dog is old")
    await world.say("Ann: the cats sleep all day")
    world.judge.on_compose = lambda evidence: silence()
    answer, _ = await ask(world, "What do the cats eat?", decision, recall_turns=9)
    said = {line.text: line for line in answer.said}
    first = said["I adopted three cats"]
    assert (first.speaker, first.said_at, first.turn) == ("Ann", START, page.lines[0].address)
    assert first.span is not None
    assert page.words(first.span) == "I adopted three cats"
    assert "the cats sleep all day" in said
    assert len(said) == len(answer.said) <= 3
    assert answer.citations == ()
    assert str(answer) == answer.text == lines_as_text("Nearest in memory:", answer.said)
    assert (await world.ledger.answer(answer.id)).said == answer.said


async def test_an_answer_displays_nothing_beside_what_it_cites() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted three cats")
    answer, _ = await ask(world, "How many cats?")
    assert (answer.abstained, answer.said) == (False, ())


async def test_a_question_about_the_past_leaves_no_finding() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted three cats")
    proves(world, "Ann adopted three cats", "I adopted three cats")
    moment = await world.now()
    answer, findings = await ask(world, "How many cats?", ESCALATE, scope=Scope(as_of=moment))
    assert answer.facts
    assert answer.trace.as_of == moment
    assert findings == ()


async def test_what_searches_brought_stands_behind_what_was_recalled() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted three cats")
    dog, _ = await world.linked_page("Bob: my dog is old")
    search = Search(kind="SEMANTIC", query="dog")
    world.judge.on_plan = lambda turn: Planned(done=False, reason="more", searches=(search,))
    world.judge.on_integrate = lambda views: Integrated(
        claims=(Claim(text="Bob's dog is old", quotes=("my dog is old",)),), coverage=""
    )
    answer, _ = await ask(world, "How many cats?", ESCALATE)
    assert [item.text[:3] for item in answer.trace.candidates] == ["Ann", "Bob"]
    audit = await world.reader().audit(answer.id)
    assert audit.citations[0].chosen_by == "research, round 1: found by search"
    assert audit.citations[0].words_on_page[0].page_id == dog.id


async def test_an_audit_leads_to_page_turn_speaker_time_and_words_in_context() -> None:
    world = await World.new()
    page, _ = await world.linked_page("Bob: hello Ann", "Ann: I adopted three cats", "Bob: lovely")
    answer, _ = await ask(world, "How many cats?")
    audit = await world.reader(context_chars=12).audit(answer.id)
    (cited,) = audit.citations
    (place,) = cited.words_on_page
    assert (place.page_id, place.session, place.page_number) == (page.id, "main", page.number)
    assert place.turn == cited.citation.turn == page.lines[1].address
    assert (place.speaker, place.said_at) == ("Ann", page.lines[1].turn and page.lines[1].turn.said_at)
    assert place.words == "I adopted three cats"
    assert page.text[: place.start].endswith(place.before)
    assert page.text[place.end :].startswith(place.after)
    assert len(place.before) == len(place.after) == 12
    assert cited.chosen_by == "recall, rank 1"
    assert cited.intact
    assert audit.intact


async def test_an_audit_reads_as_plain_text() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted three cats")
    proves(world, "Ann adopted three cats", "I adopted three cats")
    answer, _ = await ask(world, "How many cats?", ESCALATE)
    text = (await world.reader().audit(answer.id)).explain()
    assert "Question: How many cats?" in text
    assert "Answer:   Ann adopted three cats" in text
    assert "Route:    read further, by " in text
    assert "Round 0:  1 page, 1 fact; stopped: enough was found" in text
    assert "[1] Ann adopted three cats" in text
    assert "«I adopted three cats»" in text
    assert "linked from recalled units" in text
    assert "Ann, 2023-05-08 13:56" in text


async def test_an_audit_survives_json() -> None:
    world = await World.new()
    await world.say("Ann: three cats \ud800 and a dog")
    answer, _ = await ask(world, "How many cats?", recall_turns=10)
    audit = await world.reader().audit(answer.id)
    adapter = TypeAdapter(Audit)
    assert adapter.validate_json(adapter.dump_json(audit)) == audit
    assert audit.citations[0].chosen_by == "recall, rank 1, as a turn"


async def test_words_cited_from_an_open_page_are_found_after_it_sealed() -> None:
    world = await World.new()
    await world.say("Ann: my new bike is blue")
    answer, _ = await ask(world, "What colour is the bike?", recall_turns=10)
    await world.say("Bob: nice")
    (sealed,) = await world.ledger.seal()
    (cited,) = (await world.reader().audit(answer.id)).citations
    assert cited.words_on_page[0].page_id == sealed
    assert cited.words_on_page[0].words == "my new bike is blue"
    assert cited.intact


async def test_an_audit_names_what_does_not_stand_there_any_more() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted three cats")
    answer, _ = await ask(world, "How many cats?")
    other = replace(answer.citations[0], quote="I adopted nine cats")
    nowhere = replace(answer.citations[0].spans[0], page_id=PageId("p1:nowhere"))
    gone = replace(answer.citations[0], number=2, spans=(nowhere,), quote="")
    forged = replace(answer, id=AnswerId("a1:forged"), citations=(other, gone))
    await world.ledger.write(AnsweredEntry(answer=forged))
    audit = await world.reader().audit(forged.id)
    assert [cited.intact for cited in audit.citations] == [False, False]
    assert "PageNotFound" in audit.citations[1].missing[0]
    assert "NOT INTACT" in audit.explain()
    assert "MISSING" in audit.explain()


async def test_an_answer_that_read_a_page_of_another_agent_is_kept_from_who_may_not_see_it() -> None:
    world = await World.new()
    sees = Visibility(agent="ben", agents=frozenset({"ben"}))
    await world.say("Zora: the vault opens with a fern", agent="zora")
    await world.say("Ben: my boat is green", agent="ben")
    theirs, own = await world.ledger.seal()
    answer, _ = await ask(world, "What colour is the boat?")
    known: list[AnswerId] = []
    for page_id in (own, theirs):
        read = Round(number=0, searches=(), pages=(page_id,), facts=1, rejected=0, coverage="")
        trace = replace(answer.trace, candidates=(), rounds=(read,), agent="ben")
        recorded = replace(answer, id=AnswerId(f"a1:{len(known)}"), trace=trace)
        await world.ledger.write(AnsweredEntry(answer=recorded))
        known.append(recorded.id)
    reader = world.reader().seen_by(sees)
    assert (await reader.answer(known[0])).id == known[0]
    with pytest.raises(UnknownId, match="gave no answer"):
        await reader.answer(known[1])


async def moved(world: World) -> Answer:
    """An answer with a date that code counted."""
    await world.page("Ann: I moved to Boston a year ago", at=datetime(2023, 10, 19, 12, tzinfo=ASKED.tzinfo))
    world.judge.on_compose = lambda evidence: says("October 2022", 0)
    answer, _ = await ask(world, "When did Ann move to Boston?", None, recall_turns=10)
    return answer


async def test_an_audit_computes_again_what_code_derived() -> None:
    world = await World.new()
    answer = await moved(world)
    audit = await world.reader().audit(answer.id)
    (derived,) = audit.derivations
    assert (derived.derivation.value, derived.now, derived.intact, audit.intact) == (
        "October 2022",
        "October 2022",
        True,
        True,
    )
    assert "Support:  computed from the cited sentences: October 2022: counted" in str(audit)
    assert "Derived:  October 2022: counted from when it was said" in str(audit)
    assert "computed again: the same" in str(audit)


async def test_an_audit_of_a_derivation_from_other_words_or_another_value_is_not_intact() -> None:
    world = await World.new()
    answer = await moved(world)
    (derivation,) = answer.derivations
    (term,) = derivation.terms
    assert (await world.reader().audit(answer.id)).intact
    (span,) = term.spans
    others = (
        replace(derivation, value="October 2021"),
        replace(derivation, terms=(replace(term, spans=(replace(span, end=span.end - len("year ago")),)),)),
        replace(derivation, terms=(replace(term, spans=(replace(span, page_id=PageId("p1:nowhere")),)),)),
    )
    for number, other in enumerate(others):
        forged = replace(answer, id=AnswerId(f"a1:forged{number}"), derivations=(other,))
        await world.ledger.write(AnsweredEntry(answer=forged))
        audit = await world.reader().audit(forged.id)
        assert [one.intact for one in audit.derivations] == [False]
        assert not audit.intact
        assert "computed again: the same" not in str(audit)
        assert "computed again by the rules of today: " in str(audit)


async def test_an_audit_takes_the_words_of_a_derivation_from_the_pages_and_not_from_the_answer() -> None:
    world = await World.new()
    answer = await moved(world)
    (derivation,) = answer.derivations
    (term,) = derivation.terms
    other = replace(derivation, value="2021", terms=(replace(term, text="two years ago"),))
    forged = replace(answer, id=AnswerId("a1:forged"), derivations=(other,))
    await world.ledger.write(AnsweredEntry(answer=forged))
    (derived,) = (await world.reader().audit(forged.id)).derivations
    assert derived.now is not None
    assert ("2022" in derived.now, derived.intact) == (True, False)


async def test_an_audit_says_what_was_checked_and_what_is_missing() -> None:
    world = await World.new()
    await world.page("Ann: I grew up in Lyon", "Ann: I saw a dog")
    world.judge.on_plan = lambda turn: Planned(
        done=False, reason="more", searches=(Search(kind="KEYWORD", query="dog"),)
    )
    world.judge.on_compose = lambda evidence: says("France", 0, complete=False, missing="the years")
    answer, _ = await ask(world, "In which country did Ann grow up?", None, recall_turns=1)
    text = str(await world.reader().audit(answer.id))
    assert "Support:  worded by judge; the quotes are exact; not in the cited words: France" in text
    assert answer.unsupported == ("France",)
    assert "Missing:  the years" in text
    assert "read further, by fused: the years" in text
    assert "what was missing was searched for and read" in text
    assert answer.route == "ESCALATE"
    assert "Check:    worded, not in the cited words: France" in text


async def test_a_replay_names_a_derivation_that_gives_another_value() -> None:
    world = await World.new()
    answer = await moved(world)
    (derivation,) = answer.derivations
    values = [
        one for one in (await replay_answer(world.ledger, answer.id)).differences if "derivation" in one.what
    ]
    assert values == []
    forged = replace(
        answer, id=AnswerId("a1:forged"), derivations=(replace(derivation, value="October 2021"),)
    )
    await world.ledger.write(AnsweredEntry(answer=forged))
    found = [
        one for one in (await replay_answer(world.ledger, forged.id)).differences if "derivation" in one.what
    ]
    assert [(one.what, one.then) for one in found] == [("derivation of 'October 2021'", "October 2021")]
    assert "2022" in found[0].now


async def test_an_unknown_answer_is_an_error() -> None:
    world = await World.new()
    with pytest.raises(UnknownId):
        await world.reader().audit(AnswerId("a1:nobody"))


async def test_a_session_never_answers_from_another() -> None:
    world = await World.new()
    await world.linked_page("Ann: I adopted three cats")
    secret, _ = await world.linked_page("Bob: I adopted three black cats", session=SessionId("secret"))
    world.judge.on_plan = lambda turn: Planned(
        done=False, reason="more", searches=(Search(kind="KEYWORD", query="cats"),)
    )
    for decision in (None, ANSWER, ESCALATE):
        world.judge.on_compose = lambda evidence: silence()
        answer, _ = await ask(world, "cats", decision, scope=Scope(session=MAIN), recall_turns=10)
        assert answer.trace.session == MAIN
        assert all(secret.id not in r.pages for r in answer.trace.rounds)
        assert all("black" not in item.text for item in answer.trace.candidates)
    assert world.judge.composed
    assert all("black" not in item.text for evidence in world.judge.composed for item in evidence)


@pytest.mark.parametrize(
    ("text", "listed", "reason"),
    [
        (
            " ".join(f"{a}{b}zzz" for a in "bcdfghjklm" for b in "bcdfghjk"),
            64,
            "not in the cited words: bbzzz",
        ),
        ("x" * 4_001, 0, "worded by judge; the quotes are exact; the answer is too long to be checked"),
    ],
    ids=["many words", "too long"],
)
async def test_an_answer_lists_at_most_64_unsupported_words_and_none_if_it_is_too_long_to_check(
    text: str, listed: int, reason: str
) -> None:
    world = await World.new()
    await world.page("Ann: I grew up in Lyon")
    world.judge.on_compose = lambda evidence: says(text, 0)
    answer, _ = await ask(world, "In which town did Ann grow up?", None, recall_turns=10)
    assert len(answer.unsupported) == listed
    assert reason in support_in_words(answer)
