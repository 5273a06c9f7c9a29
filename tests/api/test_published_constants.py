"""The constants of the published method, read from the parts of a freshly opened memory."""

from pathlib import Path

import anyio
import pytest

import tiermem
from pagestore.log import DiskLog
from tests.api.conftest import OpenMemory, tell
from tests.api.test_by_model import at, play
from tests.llm.server import ModelServer, Request
from tiermem.api import arguments
from tiermem.embedding.hashed import HashEmbedder
from tiermem.reading import ReadingOptions
from tiermem.runtime.components import Components
from tiermem.runtime.opening import build


@pytest.fixture
def parts(tmp_path: Path) -> Components:
    """The parts of a memory opened with nothing chosen but the engine that needs no model."""

    async def opened() -> Components:
        components = await build(
            arguments.opening(
                tmp_path / "store",
                space="default",
                engine="local",
                read_only=False,
                create=True,
                reindex=False,
                settings=None,
                overrides={"embedder": HashEmbedder()},
            )
        )
        await components.close()
        return components

    return anyio.run(opened)


def reading(parts: Components) -> ReadingOptions:
    return parts.reader._options


def test_the_size_of_a_page_is_a_thousand_tokens(parts: Components) -> None:
    log = parts.ledger._log
    assert isinstance(log, DiskLog)
    assert log._options.page_tokens == 1000


def test_a_page_seals_when_it_would_pass_a_thousand_tokens(address: Path | str) -> None:
    with tiermem.open(address, engine="local", embedder=HashEmbedder()) as memory:
        for number in range(60):
            memory.add(f"On day {number} the boat went out for herring again.", speaker="Ann", session="s")
        (first, *_) = memory.pages()
        turn = first.tokens / first.turns
        assert 1000 - 2 * turn < first.tokens <= 1000


def test_five_units_are_recalled(parts: Components) -> None:
    assert reading(parts).units == 5


def test_five_pages_are_read_in_each_of_three_rounds(parts: Components) -> None:
    assert (reading(parts).pages_per_round, reading(parts).max_rounds) == (5, 3)


def test_a_page_as_near_as_six_tenths_is_never_pushed_back(parts: Components) -> None:
    assert reading(parts).protected_similarity == 0.6


def test_a_finding_is_compared_with_its_three_nearest_units(parts: Components) -> None:
    assert parts.writer._write_backs._options.neighbours == 3


def test_models_are_asked_at_temperature_zero(open_memory: OpenMemory) -> None:
    asked: list[object] = []

    def noting(request: Request) -> str:
        asked.append(request.body["temperature"])
        return play(request)

    with ModelServer(answer=noting) as server:
        memory = open_memory(**at(server))
        tell(memory)
        memory.flush()
        memory.ask("How much did the new roof cost?")
        memory.close()
    assert len(asked) > 2
    assert set(asked) == {0.0}
