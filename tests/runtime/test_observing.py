"""Who watches a memory sees each call begin and end, and nothing is watched by default."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import tiermem
from tiermem.errors import InvalidInput
from tiermem.llm.scripted import FunctionModel
from tiermem.observing import Done, observe


class Notes:
    """Notes what it sees."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    @contextmanager
    def memory_called(self, name: str, space: str | None) -> Iterator[Done]:
        self.seen.append((name, space))
        try:
            yield lambda result: self.seen.append(type(result).__name__)
        except InvalidInput:
            self.seen.append("raised")
            raise

    @contextmanager
    def model_called(self, role: str, model: str, *, max_tokens: int, temperature: float) -> Iterator[Done]:
        self.seen.append((role, model, max_tokens > 0, temperature))
        yield lambda reply: self.seen.append(type(reply).__name__)


def test_calls_of_a_memory_and_of_its_model_are_seen_until_that_ends() -> None:
    notes = Notes()
    end = observe(notes)
    said = "My dog Biscuit is allergic to chicken."
    model = FunctionModel(lambda call: {"facts": [{"fact": said, "evidence_quote": said}]})
    with tiermem.open(":memory:", space="ann", model=model, embedder="hashed") as memory:
        memory.add(said)
        memory.flush()
        with pytest.raises(InvalidInput):
            memory.ask(" ")
        end()
        end()
        memory.add("Nobody sees this.")
    called = ("distil", "scripted", True, 0.0)
    assert notes.seen == [
        ("add", "ann"),
        "Added",
        ("flush", "ann"),
        called,
        "Reply",
        "Flushed",
        ("ask", "ann"),
        "raised",
    ]
