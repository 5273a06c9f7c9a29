"""The words of a chat message, wherever the endpoint puts them."""

import json
from typing import Any

import pytest

from tests.llm.server import Body, ModelServer
from tiermem.errors import MalformedReply
from tiermem.llm import OpenAIModel
from tiermem.llm.interface import Call, Message
from tiermem.llm.redaction import Redaction
from tiermem.llm.wire import answer_in, decode_json, usage_of_call

SECRET = "sk-secret-of-this-test"  # noqa: S105  (no key of anything)
CALL = Call(prompt="route@1", role="route", messages=(Message(role="user", content="Which bus?"),))


def body_with(message: dict[str, Any], finish_reason: str = "stop") -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", **message}, "finish_reason": finish_reason}]}


def words(message: dict[str, Any]) -> str:
    return answer_in(body_with(message), Redaction([SECRET]))


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": "Bus 12."}, "Bus 12."),
        ({"content": [{"type": "text", "text": "Bus "}, {"type": "text", "text": "12."}]}, "Bus 12."),
        ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Bus 7?"}]},
                      {"type": "text", "text": "Bus 12."}]}, "Bus 12."),
        ({"content": [{"type": "reasoning", "text": "Bus 7?"}, {"type": "output_text", "text": "Bus 12."}]},
         "Bus 12."),
        ({"content": [{"text": "Bus 12."}]}, "Bus 12."),
        ({"content": [{"type": "text", "text": {"value": "Bus 12.", "annotations": []}}]}, "Bus 12."),
        ({"content": ["Bus ", "12."]}, "Bus 12."),
        ({"content": [None, 7, {"type": "image_url"}, {"type": "text", "text": None}, "Bus 12."]}, "Bus 12."),
        ({"content": "", "reasoning_content": "Bus 12."}, "Bus 12."),
        ({"content": None, "reasoning": "Bus 12."}, "Bus 12."),
        ({"content": " \n", "reasoning_content": None, "reasoning": "Bus 12."}, "Bus 12."),
        ({"content": [], "reasoning_content": "Bus 12."}, "Bus 12."),
        ({"reasoning_content": "Bus 12."}, "Bus 12."),
        ({"content": "Bus 12.", "reasoning_content": "Bus 7?", "reasoning": {"effort": "low"}}, "Bus 12."),
        ({"content": [{"type": "text", "text": "Bus sk-secret-of-this-test."}]}, "Bus [redacted]."),
        ({"content": None, "reasoning_content": "Bus sk-secret-of-this-test."}, "Bus [redacted]."),
    ],
)  # fmt: skip
def test_the_words_of_a_message_are_read(message: dict[str, Any], text: str) -> None:
    assert words(message) == text


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ({"content": []}, "the reply is empty"),
        ({"content": [{"type": "thinking", "thinking": "Bus 7?"}]}, "the reply is empty"),
        ({"content": [{"type": "text", "text": ["Bus 12."]}]}, "the reply is empty"),
        ({"content": "", "reasoning_content": " ", "reasoning": {"text": "Bus 12."}}, "the reply is empty"),
        (
            {"content": [{"type": "refusal", "refusal": "No sk-secret-of-this-test."}]},
            r"declined: 'No \[redacted\]\.'",
        ),
        ({"content": [{"type": "text", "text": "Bus"}, {"type": "refusal", "refusal": "No."}]}, "declined"),
        ({"content": None, "refusal": "No.", "reasoning_content": "Bus 12."}, "declined"),
        ({"content": {"text": "Bus 12."}}, "this is no chat completion"),
        ({"content": 12}, "this is no chat completion"),
    ],
)
def test_a_message_without_words_is_malformed(message: dict[str, Any], problem: str) -> None:
    with pytest.raises(MalformedReply, match=problem):
        words(message)


@pytest.mark.parametrize(
    "message",
    [{"content": [{"type": "text", "text": "Bus"}]}, {"content": "", "reasoning_content": "Bus"}],
)
def test_a_reply_that_was_cut_off_is_malformed_in_every_form(message: dict[str, Any]) -> None:
    with pytest.raises(MalformedReply, match="cut off"):
        answer_in(body_with(message, "length"), Redaction([]))


@pytest.mark.parametrize(
    "message",
    [
        {"content": "a" * 40},
        {"content": [{"type": "text", "text": "a" * 20}] * 2},
        {"content": None, "reasoning_content": "a" * 40},
        {"content": ["a" * 40, None]},
        {"content": " ", "reasoning": "a" * 40},
    ],
)
def test_the_tokens_of_a_reply_are_estimated_in_every_form(message: dict[str, Any]) -> None:
    usage, is_counted = usage_of_call(body_with(message), CALL)
    assert (usage.output_tokens, is_counted) == (10, False)


@pytest.mark.anyio
async def test_parts_are_read_over_http() -> None:
    parts = [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": '{"action": "S"}'}]
    with ModelServer() as server:
        server.then(Body(json.dumps(body_with({"content": parts})).encode()))
        model = OpenAIModel("test-model", base_url=server.url)
        try:
            assert (await model.complete(CALL)).text == '{"action": "S"}'
        finally:
            await model.close()


@pytest.mark.parametrize("run", [8, 9, 10, 11, 12, 21])
@pytest.mark.parametrize("start", [0, 3, 9])
def test_an_error_quotes_no_run_of_a_key(run: int, start: int) -> None:
    part = SECRET[start : start + run]
    bodies = [
        decode_json(f"<html>{part} is wrong</html>".encode()),
        body_with({"refusal": f"{part} is wrong"}),
    ]
    for body in bodies:
        with pytest.raises(MalformedReply) as raised:
            answer_in(body, Redaction([SECRET]))
        assert "wrong" in str(raised.value)
        assert not any(part[at : at + 8] in str(raised.value) for at in range(len(part) - 7))
