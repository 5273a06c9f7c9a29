"""The cost ledger adds up: every token the server counted is in the run's records, under concurrency too."""

import itertools
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval.folder import RunFolder
from eval.judge import ByModel as ModelJudge
from eval.records import Begun, Epoch
from eval.report.figures import by_system, spent
from eval.runner import qa, replay
from eval.types import Result
from tests.eval import tiny
from tests.llm.server import Answer, ModelServer, Request, Say
from tiermem.llm import ModelOptions, OpenAIModel
from tiermem.llm.endpoint import Price
from tiermem.llm.meter import plus
from tiermem.model import Usage
from tiermem.reasoning import by_model

pytestmark = pytest.mark.anyio

_LINE = re.compile(r"^\[[^\]]*\] ([^:]+): (.+)$", re.MULTILINE)


def play(request: Request) -> str:
    """A model that takes lines of pages for facts, always escalates, and finds everything right."""
    kind = request.body["response_format"]["json_schema"]["name"]
    told = [
        {"fact": f"{who}: {words}", "evidence_quote": words} for who, words in _LINE.findall(request.text)
    ]
    replies = {
        "DistilReply": {"facts": told},
        "RouteReply": {"action": "R"},
        "IntegrateReply": {"linked_facts": told[:2], "coverage_assessment": "enough"},
        "PlanReply": {"decision": "DONE", "reasoning": "found"},
        "ComposeReply": {"answer": "Biscuit", "cited": [0], "abstained": False},
        "SelectReply": {"selected": [0]},
        "ReconcileReply": {"operation": "ADD", "reason": "new"},
        "Verdict": {"reason": "the same name", "label": "CORRECT"},
    }
    return json.dumps(replies[kind])


def in_company() -> Answer:
    """The same model, whose first reply waits until another is asked for: that calls overlap is not luck."""
    asked, another = itertools.count(), threading.Event()

    def answer(request: Request) -> str:
        if next(asked) > 0:
            another.set()
        assert another.wait(40)  # less than a call may take, which would be tried again
        return play(request)

    return answer


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(answer=play) as running:
        yield running


def model_at(server: ModelServer) -> OpenAIModel:
    return OpenAIModel(
        "tiny-model",
        base_url=server.url,
        prices={"tiny-model": Price(input=1.0, output=2.0)},
        options=ModelOptions(timeout=100.0, first_wait=0.01),
    )


def paid(folder: RunFolder) -> Usage:
    """Everything any record says was paid."""
    total = Usage()
    for record in folder.records():
        match record:
            case Begun() | Epoch():
                total = plus(total, record.usage)
            case Result():
                total = plus(total, plus(record.reply.usage, record.judging))
            case _:
                pass
    return total


def agree(paid: Usage, server: ModelServer) -> None:
    counts = server.counts
    assert (paid.input_tokens, paid.output_tokens) == (counts.input_tokens, counts.output_tokens)
    assert paid.cached_tokens == counts.cached_tokens
    # A kept-alive connection that closed under a request makes a call without a reply.
    assert paid.calls >= counts.replies


async def test_every_token_of_a_run_is_on_somebodys_account(tmp_path: Path, server: ModelServer) -> None:
    server.answer = in_company()
    systems = ["tiermem", "tiermem:summary", "tiermem:raw", "bm25", "full"]
    folder = tiny.new_folder(tmp_path / "run", "qa", systems)
    model = model_at(server)
    given = tiny.setup(lambda _: by_model(model))
    many = tiny.Tiny("one", "two", "three")
    plan = tiny.plan(folder, systems, given=given, dataset=many, concurrency=4)
    await qa(plan, ModelJudge(model))
    await model.close()
    assert server.most_at_once > 1
    agree(paid(folder), server)


async def test_the_steps_of_an_answer_add_up_to_its_total(tmp_path: Path, server: ModelServer) -> None:
    folder = tiny.new_folder(tmp_path / "run", "qa", ["tiermem:llm"])
    model = model_at(server)
    plan = tiny.plan(folder, ["tiermem:llm"], given=tiny.setup(lambda _: by_model(model)), concurrency=4)
    await qa(plan, ModelJudge(model))
    await model.close()
    for result in by_system(folder.records())["tiermem:llm"]:
        total = Usage()
        for one in result.reply.steps:
            total = plus(total, one.usage)
        assert total.input_tokens == result.reply.usage.input_tokens
        split = spent(result)
        assert split.read + split.router_read == total.input_tokens
        assert split.written + split.router_written == total.output_tokens
        assert split.router_read > 0
        if result.reply.usage.cost is not None:  # unknown when a connection was lost under a request
            assert result.reply.usage.cost == pytest.approx(
                (total.input_tokens + 2 * total.output_tokens) / 1e6
            )


async def test_what_consolidating_costs_is_on_the_epochs_account(tmp_path: Path, server: ModelServer) -> None:
    folder = tiny.new_folder(tmp_path / "run", "replay", ["tiermem:llm"])
    model = model_at(server)
    plan = tiny.plan(folder, ["tiermem:llm"], given=tiny.setup(lambda _: by_model(model)), concurrency=2)
    await replay(plan, ModelJudge(model), epochs=2)
    await model.close()
    epochs = [record for record in folder.records() if isinstance(record, Epoch)]
    assert any(epoch.usage.calls for epoch in epochs)
    agree(paid(folder), server)


async def test_an_answer_a_model_failed_to_give_stops_the_run_and_is_asked_again(
    tmp_path: Path, server: ModelServer
) -> None:
    folder = tiny.new_folder(tmp_path / "run", "qa", ["bm25"])
    model = model_at(server)
    server.then(Say("no json"), Say("still none"))
    plan = tiny.plan(folder, ["bm25"], given=tiny.setup(lambda _: by_model(model)), dataset=tiny.Tiny("one"))
    with pytest.raises(ExceptionGroup):
        await qa(plan, ModelJudge(model))
    await qa(plan, ModelJudge(model))
    await model.close()
    assert {result.reply.text for result in by_system(folder.records())["bm25"]} == {"Biscuit"}
    lost = server.counts.output_tokens - paid(folder).output_tokens
    assert lost == len(["no", "json", "still", "none"])  # the answer that never came has no record
