"""A memory as small as can be real: embedded index, answers in quotes, a hash embedder, a temporary store."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tiermem
from tests.engines import quoting_engine
from tests.stores import NewAddress, is_on_postgresql
from tiermem.embedding.hashed import HashEmbedder

OpenMemory = Callable[..., tiermem.Memory]

DIALOGUE = [
    ("s1", "2023-05-08T13:56:00", "Caroline", "I went to a support group yesterday, it was powerful."),
    (
        "s1",
        "2023-05-08T13:57:00",
        "Melanie",
        "Wow, Caroline! I painted a lake sunrise last year for Mum.",
    ),
    (
        "s1",
        "2023-05-08T13:58:00",
        "Caroline",
        "My rescue dog Biscuit is allergic to chicken. No treats.",
    ),
    ("s2", "2023-06-01T09:00:00", "Melanie", "We paid 1,450 dollars for the new roof of the pottery studio."),
    ("s2", "2023-06-01T09:01:00", "Caroline", "My sister Ingrid moved from Lisbon to Oslo in March."),
    ("s2", "2023-06-01T09:02:00", "Melanie", "I never learned to swim, and I will not start now."),
]


OPTIONS: dict[str, Any] = {"engine": quoting_engine(), "write_back": "inline", "distil": "inline"}


@pytest.fixture(autouse=True)
def _indexing_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question waits for what was just said to be in the index, as long as a busy machine may need."""
    monkeypatch.setattr("tiermem.runtime.background.INDEXING_LIMIT", 60.0)


@pytest.fixture
def open_memory(new_address: NewAddress, request: pytest.FixtureRequest) -> Iterator[OpenMemory]:
    """Opens memories in one temporary store and closes them afterwards.

    With `--store postgresql` each memory in memory is one in a database of its own.
    """
    opened: list[tiermem.Memory] = []

    def _open(**given: Any) -> tiermem.Memory:
        options = OPTIONS | {"embedder": HashEmbedder()} | given
        path = options.pop("path", None) or new_address("store")
        if path == ":memory:" and is_on_postgresql(request.config):
            path = new_address(f"memory {len(opened)}")
        memory = tiermem.open(path, **options)
        opened.append(memory)
        return memory

    yield _open
    for memory in opened:
        memory.close()


def tell(memory: tiermem.Memory) -> None:
    """The dialogue above, with turn ids, so that telling it twice tells it once."""
    for number, (session, said_at, speaker, text) in enumerate(DIALOGUE):
        memory.add(
            {"speaker": speaker, "text": text, "timestamp": said_at, "id": f"t{number}"}, session=session
        )


def build_dialogue_store(address: Path | str) -> None:
    """Build a store of the dialogue, summarised and closed; to copy it takes a fifth of that time."""
    with tiermem.open(address, **OPTIONS, embedder=HashEmbedder()) as memory:
        tell(memory)
        memory.flush()


@pytest.fixture(scope="session")
def dialogue_store(session_address: NewAddress) -> Path | str:
    """The address of a store of the dialogue for tests to copy."""
    address = session_address("dialogue")
    build_dialogue_store(address)
    return address


@pytest.fixture
def memory(open_memory: OpenMemory, dialogue_store: Path | str, new_address: NewAddress) -> tiermem.Memory:
    """The dialogue, summarised; rooms that need another memory have a fixture of their own."""
    new_address("store", copy_of=dialogue_store)
    return open_memory()
