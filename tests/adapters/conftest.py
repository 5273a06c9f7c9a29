"""A memory for adapters: the local engine, words by their hashes, nothing of a network."""

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tiermem
from tests.pictures import in_picture, words

DOGS = (
    "My dog Biscuit is allergic to chicken.",
    "The spare key hangs in the shed behind the house.",
    "My sister Ingrid moved from Lisbon to Oslo in March.",
    "We paid 1,450 dollars for the new roof of the studio.",
)
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[tiermem.Memory]:
    with tiermem.open(tmp_path / "memory", engine="local", embedder="hashed") as opened:
        yield opened


@pytest.fixture
def dogs(memory: tiermem.Memory) -> tiermem.Memory:
    """A memory in which Ann has said four things."""
    memory.add([tiermem.Turn(speaker="Ann", text=text, role="user") for text in DOGS], session="dogs")
    return memory


def shows(name: str, *printed: str) -> bool:
    """Whether the picture of an example shows what it printed."""
    picture = (EXAMPLES.parent / "docs/images" / f"{name}.svg").read_text()
    typed = "\n".join((f"$ python examples/{name}.py", *printed))
    return words(in_picture(picture)) == words(typed)


@pytest.fixture
def example(tmp_path: Path) -> Callable[[str], Any]:
    """Runs an example in a folder of its own and gives what its `main` gives."""

    def run(name: str) -> Any:
        return runpy.run_path(str(EXAMPLES / name))["main"](tmp_path / "example")

    return run
