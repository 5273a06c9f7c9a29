"""The whole pipeline with a language model, over HTTP, on a loopback server that can fail."""

import json
import re
from collections.abc import Iterator

import pytest

from tests.api.conftest import DIALOGUE, OpenMemory, tell
from tests.llm.server import CutOff, Empty, Hang, ModelServer, Refuse, Request, Say, Status
from tiermem import Engine
from tiermem.errors import InvalidInput, ModelRefused, ModelUnavailable
from tiermem.llm import ModelOptions, OpenAIModel
from tiermem.llm.interface import Call
from tiermem.model import Budget, Evidence
from tiermem.reasoning import Question

QUESTION = "How much did the new roof cost?"
_LINE = re.compile(r"^\[[^\]]*\] ([^:]+): (.+)$", re.MULTILINE)


def play(request: Request) -> str:
    """A model that reads what it is shown: it quotes lines of pages and answers from numbered evidence."""
    kind = request.body["response_format"]["json_schema"]["name"]
    told = _LINE.findall(request.text)
    if kind == "DistilReply":
        facts = [{"fact": f"{who}: {words}", "evidence_quote": words} for who, words in told]
        return json.dumps({"facts": facts})
    if kind == "IntegrateReply":
        facts = [
            {"fact": f"{who} said: {words}", "evidence_quote": words}
            for who, words in told
            if "roof" in words
        ]
        return json.dumps({"linked_facts": facts, "coverage_assessment": "the price of the roof"})
    replies = {
        "RouteReply": {"action": "R"},
        "PlanReply": {"decision": "DONE", "reasoning": "found"},
        "ComposeReply": {"answer": "1,450 dollars", "cited": [0], "abstained": False},
        "SelectReply": {"selected": [0]},
        "ReconcileReply": {"operation": "ADD", "reason": "new"},
    }
    return json.dumps(replies[kind])


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(answer=play) as running:
        yield running


def at(server: ModelServer) -> dict[str, object]:
    return {"engine": "auto", "model": "test-model", "base_url": server.url, "model_timeout": 20}


def test_every_step_is_asked_of_the_model_and_paid_for(open_memory: OpenMemory, server: ModelServer) -> None:
    memory = open_memory(**at(server), router="llm")
    assert memory.engine.startswith("model")
    tell(memory)
    memory.flush()
    assert len(memory.units()) == len(DIALOGUE)
    answer = memory.ask(QUESTION)
    assert (answer.text, answer.route) == ("1,450 dollars", "ESCALATE")
    assert "1,450 dollars" in answer.citations[0].quote
    assert {step.step for step in answer.trace.usage} >= {"route", "integrate", "compose"}
    assert any(prompt.startswith("integrate@") for prompt in answer.trace.prompts)
    paid = memory.stats().usage
    assert sum(step.usage.input_tokens for step in paid) == server.counts.input_tokens
    assert sum(step.usage.output_tokens for step in paid) == server.counts.output_tokens


def test_one_call_answers_and_says_itself_whether_it_is_enough(
    open_memory: OpenMemory, server: ModelServer
) -> None:
    memory = open_memory(**at(server))
    tell(memory)
    memory.flush()
    before = server.counts.replies
    answer = memory.ask(QUESTION)
    assert server.counts.replies - before == 1
    assert (answer.text, answer.route, answer.trace.way) == ("1,450 dollars", "ANSWER", "recall")
    assert (answer.trace.decision.router, answer.support) == ("fused", "quoted")
    assert [step.step for step in answer.trace.usage if step.usage.calls] == ["compose"]


def test_replies_in_nearly_json_are_read_at_once_and_counted(
    open_memory: OpenMemory, server: ModelServer
) -> None:
    """Python's literals and a trailing comma, as small models write them."""
    server.answer = lambda request: f"{json.loads(play(request))!r}"[:-1] + ",}  # done"
    memory = open_memory(**at(server), router="llm")
    tell(memory)
    memory.flush()
    answer = memory.ask(QUESTION)
    assert answer.text == "1,450 dollars"
    paid = {step.step: step.usage for step in answer.trace.usage if step.usage.input_tokens}
    assert {name: usage.repairs for name, usage in paid.items()} == {
        name: usage.calls for name, usage in paid.items()
    }
    assert sum(step.usage.repairs for step in memory.stats().usage) == server.counts.replies


def test_a_page_whose_summarising_fails_stays_pending_and_is_done_later(
    open_memory: OpenMemory, server: ModelServer
) -> None:
    memory = open_memory(**at(server), distil="deferred")
    tell(memory)
    server.then(Say("{"), Say('{"facts": 3}'), Refuse(), Refuse())
    first = memory.flush()
    assert first.pending + first.distilled == 2
    assert first.pending >= 1
    assert first.problems
    assert memory.index_pending().pending == 0
    assert len(memory.units()) == len(DIALOGUE)


def test_a_model_that_is_down_is_an_error_and_never_an_answer(
    open_memory: OpenMemory, server: ModelServer
) -> None:
    memory = open_memory(**at(server))
    tell(memory)
    memory.flush()
    server.then(Status(401, "no such key"))
    with pytest.raises(ModelRefused, match="no such key"):
        memory.ask(QUESTION)
    assert memory.answers() == ()
    assert memory.ask(QUESTION).text == "1,450 dollars"


def test_passing_faults_are_waited_out(open_memory: OpenMemory, server: ModelServer) -> None:
    memory = open_memory(**at(server) | {"model_timeout": 0.5})
    tell(memory)
    memory.flush()
    server.then(Status(500, "once"), CutOff(), Hang())
    assert memory.ask(QUESTION).text == "1,450 dollars"


def test_an_unusable_router_reply_escalates(open_memory: OpenMemory, server: ModelServer) -> None:
    memory = open_memory(**at(server), router="llm")
    tell(memory)
    memory.flush()
    server.then(Say("maybe"), Empty())
    answer = memory.ask(QUESTION)
    assert answer.route == "ESCALATE"
    assert answer.text == "1,450 dollars"


def test_invented_quotes_are_rejected_and_shown(open_memory: OpenMemory, server: ModelServer) -> None:
    memory = open_memory(**at(server))
    tell(memory)
    lie = {"fact": "Melanie won 9,000 dollars.", "evidence_quote": "I won 9,000 dollars at the races."}
    server.then(Say(json.dumps({"facts": [lie]})))
    memory.flush()
    assert memory.stats().claims_rejected == 1
    (rejected,) = (one for page in memory.omissions().pages for one in page.rejected)
    assert (rejected.claim, rejected.quotes) == (lie["fact"], (lie["evidence_quote"],))
    assert not any("9,000" in unit.text for unit in memory.units())


def test_a_budget_ends_an_ask_and_the_answer_says_so(open_memory: OpenMemory, server: ModelServer) -> None:
    memory = open_memory(**at(server), write_back="deferred", router="llm")
    tell(memory)
    memory.flush()
    before = server.counts.replies
    answer = memory.ask(QUESTION, budget=Budget(calls=2))
    assert server.counts.replies - before <= 2
    assert any("budget" in degradation.reason for degradation in answer.trace.degradations)


@pytest.mark.parametrize(("router", "stage"), [("llm", "route"), ("fused", "compose")])
def test_a_budget_of_nothing_still_answers_from_what_is_recalled(
    open_memory: OpenMemory, server: ModelServer, router: str, stage: str
) -> None:
    memory = open_memory(**at(server), router=router)
    tell(memory)
    memory.flush()
    before = server.counts.replies
    answer = memory.ask("What is Biscuit allergic to?", budget=Budget(calls=0))
    assert server.counts.replies == before
    assert "chicken" in answer.text
    assert any(d.stage == stage for d in answer.trace.degradations)


def test_nothing_said_is_lost_while_the_model_is_gone(open_memory: OpenMemory) -> None:
    gone = OpenAIModel("gone", base_url="http://127.0.0.1:9/v1", options=ModelOptions(attempts=1))
    memory = open_memory(engine="model", model=gone, distil="deferred")
    tell(memory)
    with pytest.raises(ModelUnavailable):
        memory.ask(QUESTION)
    assert memory.flush().pending == 2
    assert memory.stats().turns == len(DIALOGUE)


@pytest.mark.unexpected
def test_an_error_in_a_function_that_is_the_model_names_the_line_that_raised_it(
    open_memory: OpenMemory,
) -> None:
    def unplugged(call: Call) -> str:
        raise ConnectionError("the cable is out")

    memory = open_memory(engine="model", model=unplugged, distil="deferred")
    tell(memory)
    with pytest.raises(
        ModelUnavailable, match=r"ConnectionError at test_by_model\.py:\d+ in unplugged, called at"
    ):
        memory.ask(QUESTION)


def test_an_engine_that_composes_no_draft_is_an_error_that_names_what_it_gave(
    open_memory: OpenMemory,
) -> None:
    async def compose(question: Question, evidence: tuple[Evidence, ...]) -> str:
        return "chicken"

    memory = open_memory(engine=Engine(name="own", compose=compose))  # type: ignore[arg-type]
    tell(memory)
    with pytest.raises(InvalidInput, match="'compose' gave str, which must be a `Draft`"):
        memory.ask(QUESTION)
