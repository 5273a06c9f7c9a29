"""Entries as earlier versions wrote them, word for word, and what is read of them now."""

from typing import Any

import pytest

from pagestore import PageLog, Record, SessionId, SpaceId, Turn
from pagestore.bundle import encode, make_bundle, verify_bundle
from tests.ledger import building
from tests.ledger.building import MOMENT
from tests.logs import new_log
from tiermem.ledger import Answered, Distilled, Ledger, WroteBack
from tiermem.ledger.entries import decode_body
from tiermem.ledger.entries import encode as encode_entry
from tiermem.ledger.kinds import KINDS
from tiermem.ledger.legacy_records import in_todays_form
from tiermem.model import AnswerId
from tiermem.reading.looking_back.replay import replay_answer

SPAN = {"page_id": "p1:a", "start": 15, "end": 26}
USAGE = {
    "input_tokens": 0, "output_tokens": 0, "cached_tokens": 0, "embedding_tokens": 0, "calls": 0,
    "seconds": 0.0, "cost": None,
}  # fmt: skip


def evidence(source: str = "unit", quote: str = "I like tea.") -> dict[str, Any]:
    return {
        "text": "Ann likes tea.", "spans": [SPAN], "score": 0.5, "source": source, "quote": quote,
        "unit_id": None, "said_at": None, "event_at": None, "similarity": None, "trust": None,
    }  # fmt: skip


def fact(grade: str = "verbatim", quote: str = "I like tea.") -> dict[str, Any]:
    return {
        "claim": "Ann likes tea.", "quote": quote, "spans": [SPAN], "grade": grade,
        "event_at": None, "scene": None, "importance": 0.5,
    }  # fmt: skip


def unit() -> dict[str, Any]:
    return {
        "id": "u1:a", "text": "Ann likes tea.", "spans": [SPAN], "kind": "summary", "session": "s1",
        "said_at": None, "event_at": None, "scene": None, "importance": 0.5, "made_by": "local",
        "revision": 1, "supersedes": [], "trust": "user",
    }  # fmt: skip


def answered(
    *,
    abstained: bool = False,
    route: str = "ESCALATE",
    space: str = "ann",
    quote: str = "I like tea.",
    speaker: str = "Ann",
    said_at: str | None = None,
    question: str = "What does Ann like?",
) -> dict[str, Any]:
    """The body of an answer of before, with a finding."""
    citation = {
        "number": 1, "claim": "Ann likes tea.", "quote": quote, "spans": [SPAN], "grade": "verbatim",
        "speaker": speaker, "said_at": said_at, "unit_id": None, "trust": "user",
    }  # fmt: skip
    trace = {
        "question": question, "asked_at": MOMENT.isoformat(), "as_of": None, "head": 2,
        "engine": "local", "candidates": [evidence(source, quote) for source in ("unit", "open", "page")],
        "decision": {"action": route, "confidence": 0.9, "reason": "covered", "router": "rules"},
        "rounds": [],
        "checks": [{"passed": True, "unsupported": []}, {"passed": False, "unsupported": ["7"]}],
        "rejected": [{"claim": "Ann likes gin.", "quote": "gin", "reason": "no such words"}],
        "prompts": [], "models": [], "usage": [], "degradations": [], "read_tokens": 10, "raw_tokens": 40,
        "dropped": 0, "summary_tokens": 9, "session": None, "min_trust": None, "mode": "router",
        "budget": {"calls": None, "tokens": None, "seconds": None, "cost": None},
    }  # fmt: skip
    finding = {
        "id": "f1:a", "answer_id": "a1:a", "question": question, "fact": fact(quote=quote),
        "session": "s1", "said_at": None,
    }  # fmt: skip
    answer = {
        "id": "a1:a", "space": space, "text": "Tea.", "route": route,
        "citations": [] if abstained else [citation],
        "facts": [] if abstained else [fact(quote=quote), fact("close", quote)],
        "abstained": abstained, "usage": USAGE, "trace": trace, "trust": "user",
    }  # fmt: skip
    return {"answer": answer, "findings": [finding]}


def read(kind: str, body: dict[str, Any]) -> Any:
    return decode_body(kind, body, seq=7)


def test_a_fact_of_before_has_one_quote_and_what_was_not_verbatim_is_worded() -> None:
    entry = read("answered", answered())
    assert isinstance(entry, Answered)
    verbatim, close = entry.answer.facts
    assert (verbatim.quotes, verbatim.support, verbatim.derivations) == (("I like tea.",), "stated", ())
    assert close.support == "worded"
    assert entry.findings[0].fact == verbatim
    assert [one.quotes for one in entry.answer.trace.rejected] == [("gin",)]


def test_a_citation_of_before_keeps_its_quote_and_gets_a_support() -> None:
    (citation,) = read("answered", answered()).answer.citations
    assert (citation.quote, citation.support) == ("I like tea.", "stated")


def test_checks_and_turns_of_open_pages_of_before_are_read() -> None:
    trace = read("answered", answered()).answer.trace
    assert [check.support for check in trace.checks] == ["stated", "contradicted"]
    assert trace.checks[1].unsupported == ("7",)
    assert [one.source for one in trace.candidates] == ["unit", "turn", "page"]


@pytest.mark.parametrize(("route", "way"), [("ANSWER", "recall"), ("ESCALATE", "researched")])
def test_an_answer_of_before_held_when_it_was_given(route: str, way: str) -> None:
    answer = read("answered", answered(route=route)).answer
    assert (answer.support, answer.complete, answer.trace.way) == ("stated", True, way)
    assert read("answered", answered(abstained=True)).answer.support is None


@pytest.mark.parametrize(
    ("support", "listed"), [("worded", ("Oslo", "7")), ("stated", ()), (None, ()), ("derived", ())]
)
def test_the_unsupported_words_of_an_answer_of_before_are_those_of_its_last_check(
    support: str | None, listed: tuple[str, ...]
) -> None:
    body = answered()
    body["answer"] |= {"support": support}
    body["answer"]["trace"] |= {
        "way": "recall",
        "checks": [{"support": "worded", "unsupported": ["Oslo", "7"]}],
    }
    assert read("answered", body).answer.unsupported == listed


@pytest.mark.parametrize(("router", "score"), [("llm", 0.9), ("rules", None), ("always", None)])
def test_only_what_a_model_said_of_itself_is_the_score_of_a_decision_of_before(
    router: str, score: float | None
) -> None:
    body = answered()
    body["answer"]["trace"]["decision"]["router"] = router
    decision = read("answered", body).answer.trace.decision
    assert (decision.score, decision.reason) == (score, "covered")


def test_a_decision_is_written_so_that_versions_of_before_read_it() -> None:
    decision = encode_entry(building.answered())["answer"]["trace"]["decision"]
    assert decision["confidence"] == decision["score"] is not None


def test_what_was_distilled_and_decided_before_is_read() -> None:
    body = {
        "page_id": "p1:a", "units": [unit()], "omissions": [], "made_by": "local", "prompts": [],
        "rejected": [{"claim": "Ann likes gin.", "quote": "gin", "reason": "no such words"}],
        "usage": USAGE, "literals": 3,
    }  # fmt: skip
    entry = read("distilled", body)
    assert isinstance(entry, Distilled)
    assert (entry.units[0].support, entry.units[0].derivations, entry.worded) == ("stated", (), 0)
    assert entry.rejected[0].quotes == ("gin",)
    decision = {"finding_id": "f1:a", "op": "ADD", "reason": "new", "unit_id": "u1:a", "superseded": []}
    written = read("wrote-back", {"write_back": decision, "unit": unit(), "usage": USAGE})
    assert isinstance(written, WroteBack)
    assert written.unit == entry.units[0]


def test_todays_form_is_left_as_it_is_and_reading_changes_no_record() -> None:
    body = answered()
    kept = str(body)
    entry = read("answered", body)
    assert str(body) == kept
    today = encode_entry(entry)
    assert in_todays_form(today, KINDS["answered"].from_older) == today
    assert read("answered", today) == entry


def before() -> tuple[PageLog, Record]:
    """A log of before: a sealed page and an answer that cites it."""
    log = new_log(SpaceId("ann"))
    log.append(SessionId("s1"), [Turn(speaker="Ann", text="I like tea.")])
    (page_id,) = log.seal()
    line = log.page(page_id).lines[0]
    body = answered()
    for spans in spans_in(body):
        spans[0] = {"page_id": page_id, "start": line.body, "end": line.end}
    return log, log.record("answered", body)


def spans_in(value: Any) -> list[list[Any]]:
    if isinstance(value, dict):
        own = [value["spans"]] if "spans" in value else []
        return [*own, *(found for item in value.values() for found in spans_in(item))]
    return [found for item in value for found in spans_in(item)] if isinstance(value, list) else []


@pytest.mark.usefixtures("logs")
def test_an_answer_of_before_is_bundled() -> None:
    log, record = before()
    report = verify_bundle(encode(make_bundle(log, record.seq)))
    assert report.ok
    assert any("'I like tea.' are the words of Ann" in line for line in report.proved)


@pytest.mark.anyio
@pytest.mark.usefixtures("logs")
async def test_a_ledger_of_before_opens_and_its_answer_is_replayed_as_it_was_given() -> None:
    log, _ = before()
    ledger = await Ledger.open(log)
    past = await replay_answer(ledger, AnswerId("a1:a"))
    assert (past.answer.text, past.answer.support, past.differences) == ("Tea.", "stated", ())
    assert list(ledger.tier1.pending) == ["f1:a"]
