"""Routing: who may decide that summaries are enough, and that every doubt goes to the pages."""

import math
from collections.abc import Sequence

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiermem.routing import Always, ByReasoner, Gate, Never, router

from pagestore import PageId, Span
from tests.reading.world import ASKED, Judge
from tiermem.errors import BudgetExceeded, InvalidInput, MalformedReply, ModelRefused, ModelUnavailable
from tiermem.model import Decision, Evidence, Recalled
from tiermem.reasoning import Reasoner, Sufficiency

pytestmark = pytest.mark.anyio


def evidence(text: str, similarity: float | None = 0.7) -> Evidence:
    span = Span(page_id=PageId("p1:a"), start=0, end=1)
    return Evidence(text=text, spans=(span,), score=1.0, source="unit", similarity=similarity)


RECALLED = Recalled(units=(evidence("Ann adopted three grey cats."),))
NOTHING = Recalled(units=())


def judge_says(action: str, confidence: float = 0.9) -> Judge:
    reply = Sufficiency(action=action, confidence=confidence, reason="so")  # type: ignore[arg-type]  # odd ones too
    return Judge(on_route=lambda units: reply)


async def test_the_engine_decides_from_units_and_tail() -> None:
    asked: list[Sequence[Evidence]] = []

    def route(units: Sequence[Evidence]) -> Sufficiency:
        asked.append(units)
        return Sufficiency(action="ANSWER", confidence=0.8, reason="it says three")

    recalled = Recalled(units=RECALLED.units, tail=(evidence("Bob: hello", None),))
    decision = await ByReasoner(Judge(on_route=route)).decide("How many?", recalled, asked_at=ASKED)
    assert decision == Decision(action="ANSWER", confidence=0.8, reason="it says three", router="llm")
    assert asked == [(*recalled.units, *recalled.tail)]


async def test_with_nothing_recalled_nobody_is_asked_and_the_pages_are_read() -> None:
    def unasked(units: Sequence[Evidence]) -> Sufficiency:
        raise AssertionError("the engine was asked")

    decision = await ByReasoner(Judge(on_route=unasked)).decide("How many?", NOTHING, asked_at=ASKED)
    assert decision.action == "ESCALATE"


async def test_a_reply_that_cannot_be_read_escalates_and_says_why() -> None:
    def malformed(units: Sequence[Evidence]) -> Sufficiency:
        raise MalformedReply("no JSON in 'S'")

    decision = await ByReasoner(Judge(on_route=malformed)).decide("How many?", RECALLED, asked_at=ASKED)
    assert decision.action == "ESCALATE"
    assert "no JSON in 'S'" in decision.reason


@pytest.mark.parametrize("error", [ModelUnavailable("down"), ModelRefused("key"), BudgetExceeded("spent")])
async def test_a_provider_that_is_down_is_no_judgement(error: Exception) -> None:
    def fail(units: Sequence[Evidence]) -> Sufficiency:
        raise error

    with pytest.raises(type(error)):
        await ByReasoner(Judge(on_route=fail)).decide("How many?", RECALLED, asked_at=ASKED)


@given(action=st.sampled_from(["ANSWER", "ESCALATE", "answer", "S", "", "DROP"]), confidence=st.floats())
def test_only_a_plain_answer_answers_and_confidence_stays_a_probability(
    action: str, confidence: float
) -> None:
    async def main() -> None:
        decision = await ByReasoner(judge_says(action, confidence)).decide("?", RECALLED, asked_at=ASKED)
        assert decision.action == ("ANSWER" if action == "ANSWER" else "ESCALATE")
        assert 0 <= decision.confidence <= 1
        assert not math.isnan(decision.confidence)

    anyio.run(main)


@pytest.mark.parametrize("recalled", [RECALLED, NOTHING])
async def test_always_and_never_do_not_look(recalled: Recalled) -> None:
    assert (await Always().decide("?", recalled, asked_at=ASKED)).action == "ESCALATE"
    assert (await Never().decide("?", recalled, asked_at=ASKED)).action == "ANSWER"


async def test_the_gate_answers_what_a_unit_states_and_escalates_what_none_does() -> None:
    gate = Gate()
    stated = await gate.decide("How many grey cats did Ann adopt?", RECALLED, asked_at=ASKED)
    assert (stated.action, stated.router) == ("ANSWER", "gate")
    for question in ("How many dogs did Ann adopt?", "Why did Bob sell his car?"):
        assert (await gate.decide(question, RECALLED, asked_at=ASKED)).action == "ESCALATE"
    assert (await gate.decide("How many grey cats?", NOTHING, asked_at=ASKED)).action == "ESCALATE"


@given(question=st.text(max_size=60), texts=st.lists(st.text(max_size=60), max_size=4))
def test_the_gate_decides_every_question_and_the_same_way_twice(question: str, texts: list[str]) -> None:
    async def main() -> None:
        recalled = Recalled(units=tuple(evidence(text) for text in texts))
        first = await Gate().decide(question, recalled, asked_at=ASKED)
        assert first == await Gate().decide(question, recalled, asked_at=ASKED)
        assert first.action == "ESCALATE" or texts

    anyio.run(main)


@pytest.mark.parametrize("name", ["llm", "gate", "always", "never"])
async def test_a_router_is_made_by_name_and_signs_its_decisions(name: str) -> None:
    reasoner: Reasoner = judge_says("ANSWER")
    made = router(name, reasoner)
    assert made.name == name
    assert (await made.decide("How many?", RECALLED, asked_at=ASKED)).router == name


def test_an_unknown_router_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match=r"'oracle'.*always, gate, llm, never"):
        router("oracle", Judge())
