"""A small store is small, open to several processes, and grows; what it cannot do then it says."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tiermem
from tests.api.conftest import OpenMemory, tell
from tiermem.embedding import minilm
from tiermem.embedding.hashed import HashEmbedder
from tiermem.embedding.minilm import MiniLMEmbedder
from tiermem.errors import IndexLocked
from tiermem.index.row_index import RowIndex
from tiermem.runtime.components import Components

pytestmark = pytest.mark.local_only("sizes, files and locks of an index on disk")

LIKE_MINILM = HashEmbedder(384)
WORDS = (
    "ferry",
    "harbour",
    "tomato",
    "garden",
    "bicycle",
    "cello",
    "letter",
    "orchard",
    "kitchen",
    "lantern",
)


def components_of(memory: tiermem.Memory) -> Components:
    components = memory._async._opened.components
    assert components is not None
    return components


def talk(count: int) -> Iterator[dict[str, str]]:
    """Turns as long as those of LoCoMo: two or three sentences, 160 characters."""
    for n in range(count):
        one, two, three, four = (WORDS[(n * step + n // 7) % len(WORDS)] for step in (1, 3, 7, 9))
        text = (
            f"I saw the {one} near the {two} on day {n}, and it was better than I thought it would be. "
            f"Ingrid says the {three} is next to the {four} number {n + 40}."
        )
        yield {"speaker": ("Ann", "Bob")[n % 2], "text": text, "id": f"t{n}"}


def apparent_size(store: Path) -> int:
    """What `du --apparent-size` counts, but for the directories."""
    return sum(file.stat().st_size for file in store.rglob("*") if file.is_file())


def files(store: Path) -> int:
    return sum(1 for file in store.rglob("*") if file.is_file())


def test_a_hundred_turns_take_less_than_a_megabyte_and_twenty_files(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    memory = open_memory(engine="local", embedder=LIKE_MINILM)
    for one in talk(100):
        memory.add(one)
    memory.flush()
    assert len(memory.search("Where is the ferry?", kind="turns", limit=50)) == 50
    for _ in range(2):
        assert apparent_size(tmp_path / "store") < 1_000_000
        assert files(tmp_path / "store") < 20
        memory.close()


ANOTHER = """
import sys
import tiermem
from tiermem.embedding.hashed import HashEmbedder

with tiermem.open(sys.argv[1], space="two", engine="local", embedder=HashEmbedder()) as memory:
    memory.add("My sister Ingrid moved from Lisbon to Oslo.", speaker="Ann")
    memory.flush()
    answer = memory.ask("Where did Ingrid move to?")
    reasons = [one.reason for one in answer.trace.degradations]
    print(answer.said[0].text, reasons, memory.stats().problems, flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def another(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has another space of the store open for writing."""
    command = [sys.executable, "-c", ANOTHER, str(tmp_path / "store")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.communicate("\n")
    assert process.returncode == 0


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def test_two_processes_write_two_spaces_of_a_store_with_vectors(
    another: subprocess.Popen[str], open_memory: OpenMemory
) -> None:
    assert line_of(another) == "My sister Ingrid moved from Lisbon to Oslo. [] ()\n"
    memory = open_memory(space="one")
    tell(memory)
    memory.flush()
    answer = memory.ask("What is Biscuit allergic to?")
    assert "chicken" in answer.text
    assert (answer.trace.degradations, memory.stats().problems) == ((), ())
    reader = open_memory(space="two", read_only=True)
    assert "Ingrid" in reader.search("Where did Ingrid move to?", kind="turns")[0].text
    with pytest.raises(IndexLocked, match="open in another memory"):
        open_memory(space="three", reindex=True, embedder=HashEmbedder(seed=1))


def test_an_index_in_use_for_another_space_is_not_made_anew_and_that_is_said(open_memory: OpenMemory) -> None:
    memory = open_memory(space="one")
    tell(memory)
    with pytest.raises(IndexLocked, match=r"another space of the store in this process.*memory\.reindex"):
        open_memory(space="two", reindex=True)
    assert memory.flush().problems == ()
    memory.close()
    assert open_memory(space="two", reindex=True).stats().problems == ()


def test_what_is_read_only_searches_by_meaning_and_loads_no_weights_before(
    open_memory: OpenMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = tiermem.open(tmp_path / "store", engine="local", distil="inline")
    writer.add("My dog Biscuit is allergic to chicken.", speaker="Ann")
    writer.flush()
    monkeypatch.setattr(minilm, "_in_use", {})  # as in another process
    reader = tiermem.open(tmp_path / "store", engine="local", read_only=True)
    components = components_of(reader)
    assert isinstance(components.embedder, MiniLMEmbedder)
    assert reader.stats().turns == 1
    assert components.embedder._loaded is None
    assert isinstance(components.reader._index, RowIndex)
    assert reader.search("Which pet cannot eat poultry?")[0].similarity is not None
    reader.close()
    writer.close()


def test_a_store_with_an_index_of_another_embedder_can_be_looked_at(open_memory: OpenMemory) -> None:
    memory = open_memory()
    tell(memory)
    memory.flush()
    reader = open_memory(read_only=True, embedder=HashEmbedder(64))
    assert reader.search("Biscuit chicken", kind="turns")
    assert len(reader.pages()) == len(memory.pages())
