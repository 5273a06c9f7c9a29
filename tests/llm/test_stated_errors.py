"""An error in a response of status 200 is raised with its text, as the kind that it states."""

import json
from typing import Any

import pytest

from tests.llm.server import Body, Echo, ModelServer, Say, Status
from tests.llm.test_hostile_endpoints import ECHOES, KEY, shown
from tests.llm.test_openai import QUICK, SCHEMA, call, model_at
from tests.llm.test_redaction import told
from tiermem.errors import MalformedReply, ModelError, ModelRefused, ModelUnavailable
from tiermem.llm import OpenAIModel
from tiermem.llm.endpoint import Price
from tiermem.llm.meter import Meter, paid_by
from tiermem.llm.stated_error import stated_error

pytestmark = pytest.mark.anyio


def body(value: Any) -> Body:
    return Body(json.dumps(value).encode())


REFUSED: tuple[tuple[Any, str], ...] = (
    ({"error": {"message": "Insufficient credits", "code": 402}}, "Insufficient credits"),
    ({"error": {"message": "Kein Guthaben mehr", "code": "402"}}, "Kein Guthaben mehr"),
    ({"error": {"message": "no such user", "type": "authentication_error"}}, "no such user"),
    ({"error": {"message": "this model is closed", "status": "PERMISSION_DENIED"}}, "this model is closed"),
    ({"error": {"message": "余额不足", "code": 1113}}, "余额不足"),
    ({"error": "the prompt is too long"}, "the prompt is too long"),
    ({"object": "error", "error": None, "message": "prompt has 9000 tokens", "code": 400}, "9000 tokens"),
    ({"choices": [], "error": {"message": "moderated", "code": 403}}, "moderated"),
    (
        {"choices": [{"message": {"content": ""}, "error": {"code": 403, "message": "flagged"}}]},
        "flagged",
    ),
    ({"error": {"message": "all used up", "code": "insufficient_quota"}}, "quota .* used up: .*all used up"),
)
PASSING: tuple[tuple[Any, str], ...] = (
    ({"error": {"message": "Slow down", "code": 429}}, "Slow down"),
    ({"error": {"message": "Provider returned error", "code": 502}}, "Provider returned error"),
    ({"error": {"message": "busy", "type": "overloaded_error"}}, "busy"),
    ({"error": {"message": "quota per minute", "status": "RESOURCE_EXHAUSTED"}}, "quota per minute"),
    ({"error": {"message": "went wrong", "type": "server_error", "code": None}}, "went wrong"),
    ({"choices": [{"message": {}, "error": {"code": 504, "message": "upstream idle"}}]}, "upstream idle"),
)


@pytest.mark.parametrize(("error", "text"), REFUSED)
async def test_a_stated_rejection_is_refused_with_its_text(error: Any, text: str) -> None:
    with ModelServer() as server:
        server.then(*[body(error)] * 5)
        async with model_at(server) as model:
            with pytest.raises(ModelRefused, match=text):
                await model.complete(call())
            with pytest.raises(ModelError):
                await model.embed(["x"])


@pytest.mark.parametrize(("error", "text"), PASSING)
async def test_a_stated_failure_that_may_pass_is_tried_again(error: Any, text: str) -> None:
    with ModelServer(answer=lambda request: "fine") as server:
        server.then(body(error), body(error))
        async with model_at(server) as model:
            assert (await model.complete(call())).text == "fine"
        server.then(*[body(error)] * QUICK.attempts)
        async with model_at(server) as model:
            with pytest.raises(ModelUnavailable, match=text):
                await model.complete(call())


async def test_a_form_that_is_rejected_in_a_good_response_is_made_simpler() -> None:
    with ModelServer(answer=lambda request: "{}") as server:
        server.then(body({"error": {"message": "response_format is not supported"}}))
        async with model_at(server) as model:
            assert (await model.complete(call(schema=SCHEMA))).text == "{}"
    assert [request.format for request in server.requests] == ["json_schema", "json_object"]


async def test_a_stated_error_costs_what_a_rejection_costs() -> None:
    for failure in (body({"error": {"message": "no", "code": 402}}), Status(402, "no")):
        with ModelServer() as server:
            server.then(failure)
            async with model_at(server, prices={"test-model": Price(input=1, output=1)}) as model:
                with paid_by(Meter()) as meter, pytest.raises(ModelRefused):
                    await model.complete(call())
        assert (meter.total().failed, meter.total().cost, meter.total().input_tokens) == (1, 0.0, 0)


@pytest.mark.parametrize("echo", ["in the error", "escaped", "masked", "packed in base64"])
async def test_a_stated_error_repeats_no_key(echo: str) -> None:
    with ModelServer() as server:
        server.then(*[Echo(ECHOES[echo], 200)] * 4)
        model = OpenAIModel("m", base_url=server.url, api_key=KEY, options=QUICK)
        with pytest.raises(ModelRefused) as raised:
            await model.complete(call())
        await model.close()
    assert not told(shown(raised.value))


@pytest.mark.parametrize(
    "reply",
    [
        {"choices": [{"message": {"content": "fine"}}], "error": None},
        {"choices": [{"message": {"content": "fine"}, "error": None}]},
        {"choices": [{"message": {"content": "fine"}}], "error": {"message": "of the cache", "code": 500}},
        {"choices": [{"message": {"content": "fine"}}], "error": ""},
        {"choices": [{"message": {"content": 'fine: {"error": {"code": 429}}'}}]},
    ],
)
async def test_a_reply_with_words_is_no_error(reply: Any) -> None:
    with ModelServer() as server:
        server.then(body(reply))
        async with model_at(server) as model:
            assert (await model.complete(call())).text.startswith("fine")


@pytest.mark.parametrize("content", [b'["error"]', b'{"error": null}', b'{"error": {"a":', b'"error"'])
async def test_what_states_no_error_is_no_completion(content: bytes) -> None:
    with ModelServer() as server:
        server.then(Body(content))
        async with model_at(server) as model:
            with pytest.raises(MalformedReply, match="no chat completion"):
                await model.complete(call())


@pytest.mark.parametrize("content", [b'{"error": ' + b"[" * 90_000, b'{"error": "' + b"x" * 200_000 + b'"}'])
def test_of_a_long_or_deep_body_nothing_is_read(content: bytes) -> None:
    assert stated_error(content) is None


async def test_an_error_before_a_reply_is_no_part_of_it() -> None:
    with ModelServer() as server:
        server.then(body({"error": {"message": "busy", "code": 503}}), Say("after the error"))
        async with model_at(server) as model:
            assert (await model.complete(call())).text == "after the error"
