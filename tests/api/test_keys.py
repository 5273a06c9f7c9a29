"""A key that an endpoint repeats is nowhere in what a memory keeps, answers, logs or shows."""

import json
import logging
import traceback
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

import tiermem
from pagestore.bundle import encode
from tests.api.conftest import OpenMemory, tell
from tests.api.test_by_model import QUESTION, at, play
from tests.llm.server import Echo, ModelServer, Request, Say
from tests.llm.test_redaction import told
from tiermem.errors import InvalidInput, ModelError
from tiermem.settings import Settings

KEY = "sk-proj-Ab3/dE6+gH9_jK2-mN5oP8qR1sT4uV7wX0yZ"


def repeats(request: Request) -> str:
    """As `play`, with the key in every text that a model may choose."""
    reply = json.loads(play(request))
    sent = request.headers["authorization"]
    for name in ("reasoning", "reason", "coverage_assessment", "answer", "missing"):
        if name in reply:
            reply[name] = f"{reply[name]} ({sent})"
    for fact in (*reply.get("facts", ()), *reply.get("linked_facts", ())):
        fact["fact"] += f" Sent with {sent}."
    return json.dumps(reply)


def declines(request: Request) -> tuple[str, dict[str, str]]:
    sent = f"I cannot take {request.headers['authorization']}"
    return json.dumps({"choices": [{"message": {"content": None, "refusal": sent}}]}), {}


def refuses(request: Request) -> tuple[str, dict[str, str]]:
    return json.dumps({"error": {"message": f"no model for {request.headers['authorization']}"}}), {}


def test_no_file_answer_bundle_or_log_of_a_memory_holds_the_key(
    open_memory: OpenMemory, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with ModelServer(answer=repeats) as server:
        memory = open_memory(**at(server) | {"model_timeout": 20}, api_key=KEY, router="llm", index="memory")
        tell(memory)
        server.then(Echo(refuses, 404))
        flushed = [memory.flush(), memory.flush()]
        answers = [memory.ask(QUESTION)]
        server.then(*[Echo(declines, 200)] * 2)
        answers.append(memory.ask(QUESTION))
        nothing = Say(json.dumps({"linked_facts": [], "coverage_assessment": "none"}))
        server.then(nothing, *[Echo(declines, 200)] * 2)
        answers.append(memory.ask(QUESTION, mode="raw"))
        server.then(*[Echo(declines, 200)] * 2)
        with pytest.raises(ModelError) as declined:
            memory.ask(QUESTION, mode="raw")
        (tmp_path / "bundle").write_bytes(encode(memory.bundle(answers[0].id)))
        server.then(*[Echo(refuses, 404)] * 8)
        with pytest.raises(ModelError) as raised:
            memory.ask(QUESTION, mode="raw")
        shown = f"{flushed} {answers} {memory.stats()} {memory.units()} {caplog.text}"
        for error in (declined.value, raised.value):
            shown += "".join(traceback.format_exception(error))
        memory.close()
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}
    assert any(answer.trace.degradations for answer in answers)
    assert "[redacted]" in shown
    assert not told(shown)
    kept = [file.read_bytes().decode("latin-1") for file in tmp_path.rglob("*") if file.is_file()]
    assert any("[redacted]" in text for text in kept)
    assert not any(told(text) for text in kept)


def test_settings_show_no_key_and_no_password() -> None:
    settings = Settings(
        model="m",
        api_key=SecretStr(KEY),
        index_api_key=SecretStr(KEY),
        base_url="http://ann:pa55word@host/v1",
        index="https://ann:pa55word@other:6333",
    )
    for shown in (repr(settings), str(settings)):
        assert not told(shown)
        assert "pa55word" not in shown
        assert "base_url='http://host/v1'" in shown
        assert "index='https://other:6333'" in shown


@pytest.mark.parametrize(
    "wrong", [{"write_back_trust": "nobody"}, {"api_kye": KEY}, {"model_timeout": KEY}, {"role_models": KEY}]
)
def test_settings_that_cannot_be_used_are_told_without_what_was_given(
    tmp_path: Path, wrong: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput) as raised:
        tiermem.open(tmp_path / "store", api_key=KEY, **wrong)
    assert not told("".join(traceback.format_exception(raised.value)))
