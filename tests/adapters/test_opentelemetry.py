"""Spans around what a memory does: named by the conventions for GenAI, and without a word of anybody."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip(
    "opentelemetry.sdk", reason="OpenTelemetry is not installed: `make test-adapters` brings it"
)

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

import tiermem
from tests.adapters.conftest import shows
from tiermem.adapters.opentelemetry import instrument
from tiermem.errors import InvalidInput
from tiermem.llm.interface import Call
from tiermem.llm.scripted import FunctionModel

pytestmark = pytest.mark.anyio
PROVIDER, SPANS = TracerProvider(), InMemorySpanExporter()
PROVIDER.add_span_processor(SimpleSpanProcessor(SPANS))
SAID = "My dog Biscuit is allergic to chicken."


@pytest.fixture(autouse=True)
def _watched() -> Iterator[None]:
    end = instrument(PROVIDER)
    yield
    end()
    SPANS.clear()


def play(call: Call) -> dict[str, Any]:
    """A model that answers from the first of its sources."""
    replies: dict[str, dict[str, Any]] = {
        "distil": {"facts": [{"fact": f"Ann: {SAID}", "evidence_quote": SAID}]},
        "route": {"action": "S"},
        "compose": {"answer": "chicken", "cited": [0], "abstained": False},
        "select": {"selected": [0]},
    }
    return replies[call.role]


def named(name: str) -> list[ReadableSpan]:
    return [span for span in SPANS.get_finished_spans() if span.name == name]


def written() -> str:
    return json.dumps([json.loads(span.to_json()) for span in SPANS.get_finished_spans()])


def test_calls_of_models_are_spans_inside_of_what_asked_for_them(tmp_path: Path) -> None:
    model = FunctionModel(play)
    with tiermem.open(tmp_path / "m", space="ann", model=model, embedder="hashed", router="llm") as memory:
        memory.add(SAID, speaker="Ann")
        memory.flush()
        with PROVIDER.get_tracer("mine").start_as_current_span("mine") as mine:
            answer = memory.ask("What is Biscuit allergic to?")
    (asked,) = named("search_memory")
    assert asked.parent is not None
    assert asked.parent.span_id == mine.get_span_context().span_id
    known = dict(asked.attributes or {})
    assert (known["tiermem.method"], known["gen_ai.operation.name"]) == ("ask", "search_memory")
    assert known["gen_ai.memory.store.id"] == "ann"
    assert (known["tiermem.answer.id"], known["gen_ai.memory.record.count"]) == (answer.id, 1)
    inside = [
        s
        for s in named("chat scripted")
        if s.parent is not None and s.context and asked.context and s.parent.span_id == asked.context.span_id
    ]
    assert {dict(span.attributes or {})["tiermem.step"] for span in inside} >= {"compose"}
    assert all(span.kind == SpanKind.CLIENT for span in inside)
    assert sum(int(str(dict(s.attributes or {})["gen_ai.usage.input_tokens"])) for s in inside) == (
        answer.usage.input_tokens
    )
    assert len(named("chat scripted")) == len(model.calls)
    assert dict(named("create_memory")[0].attributes or {})["gen_ai.memory.record.count"] == 1
    assert len(named("tiermem flush")) == 1
    assert "Biscuit" not in written()
    assert "chicken" not in written()


def test_an_error_is_told_by_its_kind_and_not_by_its_words(memory: tiermem.Memory) -> None:
    with pytest.raises(InvalidInput, match="Biscuit"):
        memory.ask("Biscuit?", mode="Biscuit")  # type: ignore[arg-type]
    (span,) = named("search_memory")
    assert dict(span.attributes or {})["error.type"] == "InvalidInput"
    assert span.status.status_code == StatusCode.ERROR
    assert "Biscuit" not in written()


async def test_memories_that_are_awaited_are_watched_too_until_that_ends() -> None:
    async with await tiermem.AsyncMemory.open(":memory:", engine="local", embedder="hashed") as memory:
        await memory.add(SAID, speaker="Ann")
        await memory.recall("Biscuit")
    assert [span.name for span in SPANS.get_finished_spans()] == ["create_memory", "search_memory"]


def test_nothing_is_watched_when_it_has_ended(memory: tiermem.Memory) -> None:
    end = instrument(PROVIDER)
    end()
    end()
    memory.add(SAID)
    assert len(named("create_memory")) == 1  # by the fixture's


def test_the_example_runs(example: Callable[[str], Any]) -> None:
    names = example("with_opentelemetry.py")
    assert names == ["create_memory", "search_memory"]
    assert shows("with_opentelemetry", *names)
