"""One space opened several times by one process: the same memory, closed with the last one."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import pytest

import tiermem
from pagestore import SpaceId, Store
from pagestore.errors import Locked
from tests.api.conftest import DIALOGUE, OpenMemory, tell
from tests.api.test_sessions_end import waited_for
from tiermem.api import AsyncMemory
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import InvalidInput, MemoryClosed
from tiermem.llm.scripted import ScriptedModel


class OtherEmbedder(HashEmbedder):
    """One of another kind."""


def is_held(store: Path) -> bool:
    """Whether the space is open for writing, as anybody else would find."""
    try:
        Store(store).open_space(SpaceId("default")).close()
    except Locked:
        return True
    return False


def test_a_cell_run_again_gives_the_same_memory(open_memory: OpenMemory) -> None:
    first = open_memory()
    tell(first)
    second = open_memory()
    assert second.stats().turns == len(DIALOGUE)
    answer = second.ask("What is Biscuit allergic to?")
    assert first.audit(answer.id).answer == answer
    second.add("Biscuit likes fish.", speaker="Caroline")
    assert first.stats().turns == len(DIALOGUE) + 1


@pytest.mark.local_only("the lock file of a space is looked at")
def test_each_is_closed_by_itself_and_the_store_with_the_last(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    first = open_memory()
    with open_memory() as second:
        second.add("Inside.", speaker="Ann")
    with pytest.raises(MemoryClosed):
        second.stats()
    assert (repr(second), first.stats().turns) == ("<Memory, closed>", 1)
    with pytest.raises(MemoryClosed):
        _ = second.space
    first.add("Outside.", speaker="Ann")
    assert is_held(tmp_path / "store")
    second.close()
    first.close()
    assert not is_held(tmp_path / "store")


@pytest.mark.local_only("the lock file of a space is looked at")
def test_a_memory_that_a_name_let_go_of_does_not_keep_the_store(tmp_path: Path) -> None:
    memory = tiermem.open(tmp_path, engine="local", embedder=HashEmbedder(), index="memory")
    memory.add("One.", speaker="Ann", session="s1")
    memory = tiermem.open(tmp_path, engine="local", embedder=HashEmbedder(), index="memory")
    gc.collect()
    assert memory.stats().turns == 1
    memory.close()
    assert not is_held(tmp_path)
    memory = tiermem.open(tmp_path, engine="local", embedder=HashEmbedder(), index="memory")
    del memory
    gc.collect()
    with tiermem.open(tmp_path, engine="local", embedder=HashEmbedder(), index="memory") as memory:
        assert memory.stats().turns == 1
    assert not is_held(tmp_path)


def test_what_is_scheduled_by_one_is_done_when_it_is_closed(open_memory: OpenMemory) -> None:
    first = open_memory(distil="background", idle_seal=0.001)
    second = open_memory(distil="background", idle_seal=0.001)
    first.add("My dog Biscuit is allergic to chicken.", session="s1")
    first.close()
    assert waited_for(lambda: second.stats().pages == 1)
    assert second.stats().problems == ()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"page_tokens": 500}, r"page_tokens is 1000 there and 500 here"),
        ({"write_back": "deferred"}, r"write_back is 'inline' there and 'deferred' here"),
        ({"engine": "model", "model": ScriptedModel()}, r"engine is another"),
        ({"embedder": OtherEmbedder()}, r"embedder is another"),
        ({"reindex": True}, r"memory.reindex"),
    ],
)
def test_what_differs_is_named(open_memory: OpenMemory, given: dict[str, Any], told: str) -> None:
    memory = open_memory()
    with pytest.raises(InvalidInput, match=told):
        open_memory(**given)
    memory.add("Still open.", speaker="Ann")
    memory.close()
    open_memory(**given)


def test_a_key_is_not_told(open_memory: OpenMemory) -> None:
    open_memory(api_key="sk-one")
    with pytest.raises(InvalidInput, match="api_key is") as raised:
        open_memory(api_key="sk-two")
    assert "sk-" not in str(raised.value)


@pytest.mark.local_only("links between directories")
def test_paths_are_compared_by_where_they_lead(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory()
    (tmp_path / "link").symlink_to(tmp_path / "store")
    memory.add("One.", speaker="Ann")
    assert open_memory(path=tmp_path / "link").stats().turns == 1
    assert open_memory(path=tmp_path / "store" / ".." / "store").stats().turns == 1
    assert open_memory(space="another").stats().turns == 0


def test_memories_without_a_directory_and_read_only_ones_are_each_their_own(open_memory: OpenMemory) -> None:
    for memory in (open_memory(path=":memory:"), open_memory(path=":memory:")):
        memory.add("One.", speaker="Ann")
        assert memory.stats().turns == 1
    writer = open_memory()
    writer.add("One.", speaker="Ann")
    reader = open_memory(read_only=True)
    writer.add("Two.", speaker="Ann")
    assert (reader.stats().turns, open_memory(read_only=True).stats().turns) == (1, 2)


def test_many_threads_open_one_memory(open_memory: OpenMemory, tmp_path: Path) -> None:
    def use(number: int) -> None:
        with open_memory() as memory:
            memory.add(f"Thread {number}.", speaker="Ann", session=f"s{number}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(use, range(24)))
    assert open_memory().stats().turns == 24


@pytest.mark.local_only("the lock file of a space is looked at")
@pytest.mark.anyio
async def test_awaited_memories_share_on_one_event_loop(tmp_path: Path) -> None:
    def opening() -> Any:
        return AsyncMemory.open(tmp_path, engine="local", embedder=HashEmbedder(), index="memory")

    first, second = await asyncio.gather(opening(), opening())
    await first.add("One.", speaker="Ann")
    await first.close()
    assert (await second.stats()).turns == 1
    with pytest.raises(Locked, match=r"another event loop: close that one"):
        await asyncio.to_thread(
            tiermem.open, tmp_path, engine="local", embedder=HashEmbedder(), index="memory"
        )
    await second.close()
    await second.close()
    assert not is_held(tmp_path)


@pytest.mark.local_only("the lock file of a space is looked at")
def test_an_opening_that_fails_leaves_nothing_open(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="page_tokens"):
        tiermem.open(tmp_path, engine="local", page_tokens=1)
    with pytest.raises(InvalidInput, match="needs a model"):
        tiermem.open(tmp_path, engine="model")
    assert not is_held(tmp_path)


FORKED = """
import os, sys, tiermem
from tiermem.embedding.hashed import HashEmbedder
how = dict(engine="local", embedder=HashEmbedder(), index="memory")
memory = tiermem.open(sys.argv[1], **how)
memory.add("One.", speaker="Ann")
child = os.fork()
if child == 0:
    try:
        tiermem.open(sys.argv[1], **how)
    except tiermem.TierMemError as error:
        print(type(error).__name__, flush=True)
    print(tiermem.open(sys.argv[1], read_only=True, **how).stats().turns, flush=True)
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
print(tiermem.open(sys.argv[1], **how).stats().turns, flush=True)
"""


@pytest.mark.local_only("the lock file of a space is looked at")
def test_a_forked_process_does_not_share_what_its_parent_has_open(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", FORKED, str(tmp_path / "memory")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert (ran.stdout.split(), ran.stderr) == (["Locked", "1", "1"], "")


def test_a_setting_that_is_misspelt_leaves_a_forgotten_memory_openable(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    del open_memory
    memory = tiermem.open(tmp_path / "forgotten", engine="local", embedder=HashEmbedder())
    memory.add("The roof is red.")
    del memory
    gc.collect()
    with pytest.raises(InvalidInput, match="distil"):
        tiermem.open(tmp_path / "forgotten", distill="inline")  # type: ignore[call-arg]
    with tiermem.open(tmp_path / "forgotten", engine="local", embedder=HashEmbedder()) as again:
        assert again.stats().turns == 1


def test_a_memory_that_nobody_holds_stands_in_nobodys_way(address: Path | str) -> None:
    memory = tiermem.open(address, engine="local", embedder=HashEmbedder())
    del memory
    gc.collect()
    with tiermem.open(address, engine="local", embedder=HashEmbedder(), page_tokens=300) as other:
        assert other.stats().turns == 0


@pytest.mark.local_only("the lock file of a space is looked at")
def test_closing_that_is_cut_short_still_lets_go_of_the_store(tmp_path: Path) -> None:
    async def main() -> None:
        memory = await AsyncMemory.open(tmp_path / "store", engine="local", embedder=HashEmbedder())
        await memory.add("The roof is red.")
        with anyio.move_on_after(0):
            await memory.close()
        await memory.close()

    asyncio.run(main())
    assert not is_held(tmp_path / "store")
