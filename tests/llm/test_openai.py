"""The endpoint client against a server that speaks the protocol and fails in every way we know."""

import json
import random
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import anyio
import pytest

from tests.llm.server import (
    Behaviour,
    Body,
    CutOff,
    Drip,
    Empty,
    Finish,
    Hang,
    ModelServer,
    Refuse,
    Request,
    Say,
    Status,
)
from tiermem.errors import (
    BudgetExceeded,
    InvalidInput,
    MalformedReply,
    ModelError,
    ModelRefused,
    ModelUnavailable,
)
from tiermem.llm import ModelOptions, OpenAIModel
from tiermem.llm.endpoint import Endpoint, Price
from tiermem.llm.interface import Call, Message, Role
from tiermem.llm.meter import Meter, paid_by, step
from tiermem.llm.retry import seconds_of_rest
from tiermem.model import Budget

pytestmark = pytest.mark.anyio

QUICK = ModelOptions(timeout=60, deadline=100, attempts=4, first_wait=0.001, longest_wait=0.002)
IMPATIENT = replace(QUICK, timeout=0.5, attempts=99)
"""For attempts that get no reply."""
SCHEMA = {
    "title": "Verdict",
    "type": "object",
    "properties": {},
    "required": [],
    "additionalProperties": False,
}


def call(text: str = "one two three", *, role: Role = "route", schema: Any = None) -> Call:
    return Call(prompt=f"{role}@1", role=role, messages=(Message(role="user", content=text),), schema=schema)


@asynccontextmanager
async def model_at(
    server: ModelServer, options: ModelOptions = QUICK, **more: Any
) -> AsyncIterator[OpenAIModel]:
    model = OpenAIModel("test-model", base_url=server.url, options=options, **more)
    try:
        yield model
    finally:
        await model.close()


async def test_a_reply_comes_back_with_what_it_cost() -> None:
    prices = {"test-model": Price(input=2.0, cached=1.0, output=8.0)}
    with ModelServer(answer=lambda request: "four words it is") as server:
        async with model_at(server, prices=prices) as model:
            with paid_by(Meter()) as meter, step("route"):
                reply = await model.complete(call("one two three four"))
    assert (reply.text, reply.model) == ("four words it is", "test-model")
    usage = reply.usage
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.calls) == (4, 2, 4, 1)
    assert usage.cost == pytest.approx((2 * 2.0 + 2 * 1.0 + 4 * 8.0) / 1e6)
    assert usage.seconds > 0
    assert meter.steps == {"route": usage}
    assert (list(meter.prompts), list(meter.models)) == (["route@1"], ["test-model"])
    (request,) = server.requests
    assert request.body["temperature"] == 0.0
    assert request.headers["x-stainless-retry-count"] == "0"


async def test_without_a_price_the_cost_is_unknown() -> None:
    with ModelServer() as server:
        async with model_at(server, prices={"other": Price(input=1)}) as model:
            assert (await model.complete(call())).usage.cost is None


async def test_an_endpoint_that_counts_no_tokens_is_metered_by_estimate_at_unknown_cost() -> None:
    with ModelServer(answer=lambda request: "12345678", reports_usage=False) as server:
        async with model_at(server, prices={"test-model": Price(input=1)}) as model:
            usage = (await model.complete(call("1234567890"))).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cost) == (3, 2, None)


@pytest.mark.parametrize(
    "failure", [Status(500), Status(503), Status(429), Status(408), CutOff(), Status(429, retry_after="0.01")]
)
async def test_what_may_pass_is_tried_again(failure: Behaviour) -> None:
    with ModelServer(answer=lambda request: "fine") as server:
        server.then(failure, failure)
        async with model_at(server) as model:
            with paid_by(Meter()) as meter:
                assert (await model.complete(call())).text == "fine"
    assert len(server.requests) == 3
    assert meter.total().calls == 3


@pytest.mark.parametrize("failure", [Hang(), Drip()])
async def test_an_attempt_ends_at_its_time_out_also_when_bytes_keep_dripping(
    failure: Behaviour, monkeypatch: pytest.MonkeyPatch
) -> None:
    pay_failed = OpenAIModel._pay_failed

    def pay_and_grow_patient(self: OpenAIModel, *given: Any) -> None:
        """Gives the attempts after the one that met the failure as long as a busy machine may need."""
        pay_failed(self, *given)
        connections = self._connections.get()
        if server.requests and connections is not None:
            self._options = QUICK
            for client in connections.clients.values():
                client.timeout = QUICK.timeout

    monkeypatch.setattr(OpenAIModel, "_pay_failed", pay_and_grow_patient)
    with ModelServer(answer=lambda request: "fine") as server:
        server.then(failure)
        async with model_at(server, IMPATIENT) as model:
            assert (await model.complete(call())).text == "fine"


@pytest.mark.parametrize("failure", [Status(500), Status(429), CutOff()])
async def test_a_failure_that_does_not_pass_is_unavailable_after_the_last_attempt(failure: Behaviour) -> None:
    with ModelServer() as server:
        server.then(*[failure] * 10)
        async with model_at(server) as model:
            with pytest.raises(ModelUnavailable, match="'test-model' at http"):
                await model.complete(call())
    assert len(server.requests) == QUICK.attempts


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    with ModelServer() as server:
        url = server.url
    model = OpenAIModel("m", base_url=url, options=QUICK)
    with pytest.raises(ModelUnavailable, match="connection failed"):
        await model.complete(call())
    await model.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_where_nobody_listens_is_asked_once_and_costs_nothing(host: str) -> None:
    with ModelServer() as server:
        url = server.url.replace("127.0.0.1", host)
    model = OpenAIModel("m", base_url=url, options=QUICK)
    with paid_by(Meter()) as meter, pytest.raises(ModelUnavailable, match="nothing listens there"):
        await model.complete(call())
    await model.close()
    total = meter.total()
    assert (total.calls, total.failed, total.cost) == (1, 1, 0.0)


async def test_who_waits_is_told_for_whom_why_and_how_often(caplog: pytest.LogCaptureFixture) -> None:
    with ModelServer(answer=lambda request: "fine") as server:
        server.then(Status(503, "warming up"), CutOff())
        async with model_at(server) as model:
            with paid_by(Meter()) as meter:
                await model.complete(call())
    first, second = (record.getMessage() for record in caplog.records if record.name == "tiermem")
    assert first.startswith(f"'test-model' at {server.url}: ")
    assert "warming up; trying again in 0.0 s (attempt 2 of 4)" in first
    assert "the connection failed" in second
    assert "(attempt 3 of 4)" in second
    assert (meter.total().calls, meter.total().failed) == (3, 1)  # what a lost reply cost, nobody knows


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Every wait that was asked for; each is over at once."""
    asked: list[float] = []

    async def sleep(seconds: float) -> None:
        asked.append(seconds)

    monkeypatch.setattr(anyio, "sleep", sleep)
    return asked


async def test_retry_after_is_waited_for(waits: list[float]) -> None:
    with ModelServer(answer=lambda request: "fine") as server:
        server.then(Status(429, retry_after="30.5"))
        async with model_at(server) as model:
            assert (await model.complete(call())).text == "fine"
    assert [30.5 <= wait < 31 for wait in waits] == [True]


async def test_a_rest_longer_than_the_deadline_is_not_waited_for(waits: list[float]) -> None:
    with ModelServer() as server:
        server.then(Status(429, retry_after="3600"))
        async with model_at(server) as model:
            with pytest.raises(ModelUnavailable, match="3600 s of rest"):
                await model.complete(call())
    assert waits == []


def test_retry_after_may_be_seconds_or_a_date_or_nonsense() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    past = format_datetime(datetime.now(UTC) - timedelta(seconds=100), usegmt=True)
    assert 3400 < seconds_of_rest(soon) <= 3600
    assert [seconds_of_rest(text) for text in (None, "", "soon", "-3", "nan", "inf", past)] == [0.0] * 7
    assert seconds_of_rest("1.5") == 1.5


async def test_the_deadline_bounds_all_attempts_together() -> None:
    """Without it the attempts would go on for ever, as they would if each had its own."""
    options = replace(QUICK, deadline=1, attempts=10**9)
    with ModelServer() as server:
        server.then(*[Status(500)] * 100_000)
        async with model_at(server, options) as model:
            with pytest.raises(ModelUnavailable, match=r"within 1 s|could not be used"):
                await model.complete(call())


async def test_the_deadline_ends_an_attempt_under_way() -> None:
    with ModelServer() as server:
        server.then(Hang())
        async with model_at(server, replace(QUICK, deadline=1)) as model:
            with paid_by(Meter()) as meter, pytest.raises(ModelUnavailable, match="within 1 s"):
                await model.complete(call())
    assert meter.total().calls == 1


async def test_without_a_deadline_attempts_go_on_until_they_are_used_up() -> None:
    options = replace(QUICK, deadline=None)
    with ModelServer() as server:
        server.then(Status(500), Status(503), Status(500))
        async with model_at(server, options) as model:
            assert (await model.complete(call())).text
        server.then(*[Status(500)] * 4)
        async with model_at(server, options) as model:
            with pytest.raises(ModelUnavailable, match="could not be used"):
                await model.complete(call())


@pytest.mark.parametrize("code", [401, 403, 404, 409, 413])
async def test_a_rejection_is_final(code: int) -> None:
    with ModelServer() as server:
        server.then(Status(code, "the reason given"))
        async with model_at(server) as model:
            with pytest.raises(ModelRefused, match="the reason given"):
                await model.complete(call(schema=SCHEMA))
    assert len(server.requests) == 1


@pytest.mark.parametrize("code", [404, 405])
@pytest.mark.parametrize(
    ("path", "called", "advice"),
    [
        ("", "/chat/completions", "check base_url, which on most servers ends in '/v1'"),
        ("/", "/chat/completions", "check base_url, which on most servers ends in '/v1'"),
        ("/api", "/api/chat/completions", "check base_url, which on most servers ends in '/v1'"),
        ("/v1", "/v1/chat/completions", "check its path and the model's name"),
        ("/v1/chat/completions", "/v1/chat/completions/chat/completions", "leave '/chat/completions' out"),
        ("/v1/completions/", "/v1/completions/chat/completions", "leave '/completions' out of base_url"),
        ("/v1/embeddings", "/v1/embeddings/chat/completions", "leave '/embeddings' out of base_url"),
        ("/v1?token=hidden-in-query", "/v1/", "check base_url"),
        ("/hidden-in-key-0123/v1", "/[redacted]/v1/chat/completions", "check its path"),
    ],
)
async def test_a_path_that_is_not_found_is_named_with_what_to_check(
    code: int, path: str, called: str, advice: str
) -> None:
    with ModelServer() as server:
        server.then(Status(code, "page not found"))
        address = server.url.removesuffix("/v1")
        url = address.replace("http://", "http://ann:hidden-in-userinfo@") + path
        model = OpenAIModel("m", base_url=url, api_key="hidden-in-key-0123", options=QUICK)
        with pytest.raises(ModelRefused) as raised:
            await model.complete(call())
        await model.close()
    message = str(raised.value).partition("rejected the call: ")[2]
    assert message.startswith(f"Error code: {code} - page not found; called ")
    assert f"; called {address}{called}: " in message
    assert advice in message
    assert "/v1" in message
    assert "hidden" not in message


async def test_the_url_of_embeddings_that_are_not_found_is_named() -> None:
    with ModelServer() as server:
        server.then(Status(404, "page not found"))
        async with model_at(server) as model:
            with pytest.raises(
                ModelRefused, match=rf"called {server.url}/embeddings: base_url ends in '/v1'"
            ):
                await model.embed(["x"])


async def test_a_quota_that_is_used_up_is_not_asked_again() -> None:
    with ModelServer() as server:
        server.then(Status(429, error_code="insufficient_quota"))
        async with model_at(server) as model:
            with pytest.raises(ModelRefused, match="quota"):
                await model.complete(call())
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (Empty(), "empty"),
        (Empty("  \n"), "empty"),
        (Empty(None), "empty"),
        (Refuse("I will not."), "I will not"),
        (Finish("length"), "cut off"),
        (Finish("content_filter"), "content filter"),
        (Finish("tool_calls", ""), "empty"),
        (Body(b'{"choices": [{"mess'), "no chat completion"),
        (Body(b"<html>It works!</html>"), "no chat completion: '<html>It works!</html>'"),
        (Body(b'{"choices": []}'), "no chat completion"),
        (Body(b'{"choices": [{"message": {"content": 7}}]}'), "no chat completion"),
        (Body(b'{"choices": "none", "usage": {"prompt_tokens": "many"}}'), "no chat completion"),
        (Body(b"[" * 100_000), "no chat completion"),
        (Body(b"\xff\xfe\x00"), "no chat completion"),
        (Body(b""), "no chat completion"),
    ],
)
async def test_what_is_no_whole_reply_is_never_an_answer_and_is_paid(failure: Behaviour, told: str) -> None:
    with ModelServer() as server:
        server.then(failure)
        async with model_at(server) as model:
            with paid_by(Meter()) as meter, pytest.raises(MalformedReply, match=told):
                await model.complete(call())
    assert len(server.requests) == 1
    assert meter.total().input_tokens > 0


async def test_lone_surrogates_in_a_reply_are_replaced() -> None:
    body = {"choices": [{"message": {"content": "a\ud800b"}}], "model": "m\udfff"}
    with ModelServer() as server:
        server.then(Body(json.dumps(body).encode()))
        async with model_at(server) as model:
            reply = await model.complete(call())
    assert (reply.text, reply.model) == ("a\ufffdb", "m\ufffd")


@pytest.mark.parametrize(
    ("understood", "asked"),
    [
        ({"json_schema", "json_object", "text"}, ["json_schema", "json_schema"]),
        ({"json_object", "text"}, ["json_schema", "json_object", "json_object"]),
        ({"text"}, ["json_schema", "json_object", "text", "text"]),
    ],
)
async def test_the_richest_format_an_endpoint_understands_is_found_and_remembered(
    understood: set[str], asked: list[str]
) -> None:
    with ModelServer(formats=frozenset(understood)) as server:
        async with model_at(server) as model:
            await model.complete(call(schema=SCHEMA))
            await model.complete(call(schema=SCHEMA))
    assert [request.format for request in server.requests] == asked
    if "json_schema" in understood:
        sent = server.requests[0].body["response_format"]["json_schema"]
        assert sent == {"name": "Verdict", "strict": True, "schema": SCHEMA}


async def test_newer_parameter_names_and_fixed_temperatures_are_found_out() -> None:
    rejects = {
        "max_tokens": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        "temperature": "Unsupported value: 'temperature' does not support 0 with this model.",
    }
    with ModelServer(rejects=rejects) as server:
        async with model_at(server) as model:
            await model.complete(call(schema=SCHEMA))
            await model.complete(call(schema=SCHEMA))
    first, second, third, fourth = server.requests
    assert {"max_tokens", "temperature"} <= first.body.keys()
    assert {"max_completion_tokens", "temperature"} <= second.body.keys()
    assert "temperature" not in third.body
    assert third.format == fourth.format == "json_schema"
    assert third.body.keys() == fourth.body.keys()


async def test_a_request_no_dialect_makes_right_is_refused_and_nothing_is_remembered() -> None:
    with ModelServer() as server:
        server.then(*[Status(400, "context length exceeded")] * 3)
        async with model_at(server) as model:
            with pytest.raises(ModelRefused, match="context length exceeded"):
                await model.complete(call(schema=SCHEMA))
            await model.complete(call(schema=SCHEMA))
    assert [r.format for r in server.requests] == ["json_schema", "json_object", "text", "json_schema"]


async def test_each_role_may_have_its_own_model_and_endpoint() -> None:
    with ModelServer() as main, ModelServer() as small:
        roles: dict[str, str | Endpoint] = {
            "route": Endpoint(model="router", base_url=small.url, api_key="small-key"),
            "compose": "writer",
        }
        async with model_at(main, api_key="main-key", roles=roles) as model:
            for role in ("route", "compose", "plan"):
                await model.complete(call(role=role))
            assert [model.model_for(role) for role in ("route", "compose", "plan")] == [
                "router",
                "writer",
                "test-model",
            ]
    assert [(r.model, r.headers["authorization"]) for r in small.requests] == [("router", "Bearer small-key")]
    assert [(r.model, r.headers["authorization"]) for r in main.requests] == [
        ("writer", "Bearer main-key"),
        ("test-model", "Bearer main-key"),
    ]


async def test_no_more_calls_are_under_way_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    attempt, all_there = OpenAIModel._attempt, threading.Event()
    under_way = most = 0

    async def counted(self: OpenAIModel, *given: Any) -> Any:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        try:
            return await attempt(self, *given)
        finally:
            under_way -= 1

    def wait_for_all(request: Request) -> str:
        assert all_there.wait(60)
        return "fine"

    monkeypatch.setattr(OpenAIModel, "_attempt", counted)
    with ModelServer(answer=wait_for_all) as server:
        async with (
            model_at(server, replace(QUICK, concurrency=3)) as model,
            anyio.create_task_group() as group,
        ):
            for _ in range(12):
                group.start_soon(model.complete, call())
            await anyio.wait_all_tasks_blocked()  # each call is under way or waits for its place
            all_there.set()
    assert most == 3
    assert len(server.requests) == 12
    assert server.most_at_once <= 3


async def test_a_budget_is_checked_before_every_attempt() -> None:
    with ModelServer() as server:
        server.then(*[Status(500)] * 10)
        async with model_at(server) as model:
            with paid_by(Meter(budget=Budget(calls=2))), pytest.raises(BudgetExceeded):
                await model.complete(call())
            with paid_by(Meter(budget=Budget(calls=0))), pytest.raises(BudgetExceeded):
                await model.embed(["a"])
    assert len(server.requests) == 2


async def test_what_is_metered_under_concurrency_and_faults_is_what_the_server_counted() -> None:
    chance = random.Random(3)
    faults: list[Behaviour] = [
        Status(500),
        Status(429),
        CutOff(),
        Empty(),
        Refuse(),
        Finish("length", "half a"),
    ]
    with ModelServer(answer=lambda request: "word " * (len(request.text) % 7 + 1)) as server:
        server.then(*[chance.choice(faults) if chance.random() < 0.5 else Say("a b c") for _ in range(60)])
        async with model_at(server) as model:
            with paid_by(Meter()) as meter:
                async with anyio.create_task_group() as group:
                    for n in range(60):
                        group.start_soon(_ask_in_step, model, n)
                server.then(CutOff(), Status(500), CutOff())
                async with anyio.create_task_group() as group:
                    for n in range(20):
                        group.start_soon(model.embed, [f"text {n}", "another text"])
    total = meter.total()
    assert total.input_tokens == server.counts.input_tokens
    assert total.output_tokens == server.counts.output_tokens
    assert total.cached_tokens == server.counts.cached_tokens
    assert total.embedding_tokens == server.counts.embedding_tokens > 0
    assert total.calls == len(server.requests)
    assert {s.step for s in meter.by_step()} == {"s0", "s1", "s2", "other"}
    assert sum(s.usage.input_tokens for s in meter.by_step()) == server.counts.input_tokens


async def _ask_in_step(model: OpenAIModel, n: int) -> None:
    with step(f"s{n % 3}"):
        try:
            await model.complete(call("word " * n))
        except ModelError:
            return


async def test_embeddings_come_in_order_in_batches_and_are_metered() -> None:
    options = ModelOptions(embedding_batch=3, first_wait=0.001)
    prices = {"embedder": Price(input=10.0)}
    texts = ["first text", "second", "", "a longer fourth text", "a\ud800b"]
    with ModelServer() as server:
        server.then(Status(500))
        async with model_at(server, options, embedding="embedder", prices=prices) as model:
            with paid_by(Meter()) as meter:
                vectors = await model.embed(texts)
                assert vectors[3] == (await model.embed([texts[3]]))[0]
            assert await model.embed([]) == []
    assert len(vectors) == 5
    assert len({tuple(vector) for vector in vectors}) == 5
    assert [len(request.body["input"]) for request in server.requests] == [3, 3, 2, 1]
    assert meter.total().embedding_tokens == server.counts.embedding_tokens
    assert meter.total().cost == pytest.approx(server.counts.embedding_tokens * 10.0 / 1e6)


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b'{"data": []}',
        b'{"data": [{"index": 0, "embedding": [1.0, NaN]}]}',
        b'{"data": [{"index": 0, "embedding": []}]}',
        b'{"data": [{"index": 1, "embedding": [1.0]}]}',
        b'{"data": [{"index": 0, "embedding": "AAAA"}]}',
        b'{"data": [{"index": 0',
    ],
)
async def test_what_are_no_embeddings_is_never_used(body: bytes) -> None:
    with ModelServer() as server:
        server.then(Body(body))
        async with model_at(server) as model:
            with pytest.raises(MalformedReply):
                await model.embed(["a"])


async def test_vectors_of_different_lengths_are_never_used() -> None:
    body = b'{"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]}'
    with ModelServer() as server:
        server.then(Body(body))
        async with model_at(server) as model:
            with pytest.raises(MalformedReply, match="different lengths"):
                await model.embed(["a", "b"])


async def test_texts_that_are_rejected_are_refused() -> None:
    with ModelServer() as server:
        server.then(Status(400, "input too long"))
        async with model_at(server) as model:
            with pytest.raises(ModelRefused, match="too long"):
                await model.embed(["a"])


def test_one_model_serves_several_event_loops() -> None:
    with ModelServer(answer=lambda request: "fine") as server:
        model = OpenAIModel("m", base_url=server.url, options=QUICK)

        async def once() -> str:
            try:
                return (await model.complete(call())).text
            finally:
                await model.close()

        assert [anyio.run(once) for _ in range(3)] == ["fine"] * 3


async def test_closing_twice_is_allowed_and_a_call_after_it_connects_anew() -> None:
    with ModelServer(answer=lambda request: "fine") as server:
        async with model_at(server) as model:
            await model.complete(call())
            await model.close()
            await model.close()
            assert (await model.complete(call())).text == "fine"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"model": " ", "base_url": "http://x"}, "model name is empty"),
        ({"model": "m", "base_url": "localhost:8000"}, "must start with http"),
        ({"model": "m", "base_url": "http://ann:sk-1@[/v1"}, "is no URL"),
        ({"model": "m", "base_url": "https://ann:sk-1@host:80000/v1"}, "'https://host:80000/v1' is no URL"),
        ({"model": "m"}, "no API key"),
        ({"model": "m", "base_url": "http://x", "roles": {"rout": "r"}}, r"unknown roles \['rout'\]"),
        ({"model": "m", "api_key": ""}, "empty or holds"),
        ({"model": "m", "api_key": "sk-1\n"}, "empty or holds"),
        ({"model": "m", "api_key": "ключ"}, "empty or holds"),
    ],
)
def test_what_could_never_work_is_told_at_once_without_telling_the_key(
    arguments: dict[str, Any], told: str
) -> None:
    with pytest.raises(InvalidInput, match=told) as raised:
        OpenAIModel(**arguments)
    assert "sk-1" not in str(raised.value)


def test_the_key_in_the_environment_is_for_openai_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert Endpoint(model="m").key == "sk-secret"
    assert Endpoint(model="m", base_url="http://elsewhere").key != "sk-secret"
    assert "secret" not in repr(Endpoint(model="m", api_key="secret"))


def test_importing_the_room_loads_neither_pydantic_nor_the_vendor() -> None:
    names = "{'openai', 'pydantic', 'tenacity', 'httpx2'} & set(sys.modules)"
    code = f"import sys, tiermem.llm, tiermem.reasoning; assert not {names}, {names}"
    subprocess.run([sys.executable, "-c", code], check=True)
