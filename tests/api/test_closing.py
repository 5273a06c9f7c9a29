"""Closed while it is used: whoever asks is told that the memory was closed, and nothing else; none waits."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event, Semaphore
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

import tiermem
from tests.api.conftest import OpenMemory, tell
from tests.engines import given
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import MemoryClosed
from tiermem.reasoning import Engine, engine_named
from tiermem.runtime.calls import Calls

READING = ("ask", "search", "context")


def never_answering(waiting: Event) -> Engine:
    """Local rules, but for a wording that never comes."""
    import dataclasses

    async def compose(*args: Any, **kwargs: Any) -> Any:
        waiting.set()
        await anyio.sleep_forever()

    return dataclasses.replace(engine_named("local", None), compose=compose)


def test_a_question_under_way_is_told_that_the_memory_was_closed(open_memory: OpenMemory) -> None:
    waiting = Event()
    memory = open_memory(engine=never_answering(waiting))
    tell(memory)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(memory.ask, "What is Biscuit allergic to?")
        assert waiting.wait(60)
        memory.close()
        with pytest.raises(MemoryClosed, match="was closed"):
            asked.result(60)


def test_what_a_question_had_paid_when_it_was_cut_short_is_recorded(open_memory: OpenMemory) -> None:
    from tiermem.llm.meter import pay
    from tiermem.model import Usage

    waiting = Event()
    slow = never_answering(waiting)

    async def compose(*args: Any, **kwargs: Any) -> Any:
        pay(Usage(input_tokens=70, calls=1), prompt="compose@1", model="small")
        return await given(slow.compose)(*args, **kwargs)

    import dataclasses

    memory = open_memory(engine=dataclasses.replace(slow, compose=compose, free=False))
    tell(memory)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(memory.ask, "What is Biscuit allergic to?")
        assert waiting.wait(60)
        memory.close()
        with pytest.raises(MemoryClosed):
            asked.result(60)
    assert open_memory().stats().spent_today.input_tokens == 70


@pytest.mark.parametrize("again", range(4))
def test_of_many_threads_each_gets_an_answer_or_is_told_that_it_was_closed(
    address: Path | str, again: int
) -> None:
    memory = tiermem.open(address, engine="local", embedder=HashEmbedder())
    tell(memory)
    started, answers = Barrier(9), Semaphore(0)

    def use(number: int) -> list[str]:
        ends: list[str] = []
        started.wait()
        while not ends or ends[-1] == "done":
            try:
                if number % 4 == 3:
                    memory.add(f"Ann: I have {len(ends)} hats.", session=f"s{number}")
                else:
                    getattr(memory, READING[number % 4])("What is Biscuit allergic to?")
                ends.append("done")
                answers.release()
            except Exception as error:  # noqa: BLE001  # whatever it is, it is looked at below
                ends.append(type(error).__name__)
        return ends

    with ThreadPoolExecutor(8) as pool:
        used = [pool.submit(use, number) for number in range(8)]
        started.wait()
        for _ in range(10 * again):
            assert answers.acquire(timeout=60)
        memory.close()
        ends = [one.result(60) for one in used]
    assert {end for one in ends for end in one} <= {"done", "MemoryClosed"}
    assert all(one[-1] == "MemoryClosed" for one in ends)
    stored = sum(one.count("done") for one in ends[3::4])
    with tiermem.open(address, engine="local", embedder=HashEmbedder()) as reopened:
        assert reopened.verify().ok
        assert reopened.stats().turns == 6 + stored


@pytest.mark.anyio
async def test_what_writes_what_was_given_is_finished_and_the_rest_cut_short() -> None:
    calls, ends = Calls(), list[str | None]()

    async def slow() -> str:
        while not calls.closing:
            await anyio.lowlevel.checkpoint()
        await anyio.wait_all_tasks_blocked()  # closing, too, waits for something by then
        return "stored"

    async def run(name: str, finish: bool) -> None:
        try:
            ends.append(await calls.run(anyio.sleep_forever if not finish else slow, finish=finish))
        except MemoryClosed:
            ends.append(name)

    async with anyio.create_task_group() as group:
        group.start_soon(run, "cut short", False)
        group.start_soon(run, "given up", True)
        await anyio.lowlevel.checkpoint()
        await calls.end()
        assert set(ends) == {"cut short", "stored"}
        await run("too late", True)
    assert ends[-1] == "too late"


@pytest.mark.anyio
async def test_a_caller_who_gives_up_is_not_told_that_the_memory_was_closed(address: Path | str) -> None:
    waiting = Event()
    async with await tiermem.AsyncMemory.open(
        address, engine=never_answering(waiting), embedder=HashEmbedder()
    ) as memory:
        await memory.add("Ann: My rescue dog Biscuit is allergic to chicken.", session="s1")

        async def give_up() -> None:
            assert await anyio.to_thread.run_sync(waiting.wait, 60)
            scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(give_up)
            with anyio.CancelScope() as scope:
                await memory.ask("What is Biscuit allergic to?")
        assert scope.cancelled_caught


def public_calls() -> Sequence[str]:
    returns_at_once = ("open", "close", "space", "engine", "agent", "as_agent", "workspace")
    return [
        name for name in vars(tiermem.AsyncMemory) if not name.startswith("_") and name not in returns_at_once
    ]


@pytest.mark.parametrize("name", public_calls())
def test_every_method_is_ended_by_closing(name: str) -> None:
    assert vars(tiermem.AsyncMemory)[name].__module__ == "tiermem.api.memory"
    assert "tiermem/runtime/calls.py" in vars(tiermem.AsyncMemory)[name].__code__.co_filename


def test_a_program_that_is_interrupted_does_not_wait_for_the_index(address: Path | str) -> None:
    embedding = Event()

    class Slow(HashEmbedder):
        async def embed(self, texts: Sequence[str]) -> Any:
            embedding.set()
            await anyio.sleep_forever()

    def add_until_interrupted() -> None:
        with tiermem.open(address, engine="local", embedder=Slow()) as memory:
            tell(memory)
            assert embedding.wait(60)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        add_until_interrupted()
    with tiermem.open(address, engine="local", embedder=HashEmbedder()) as reopened:
        assert reopened.stats().turns == 6
        assert reopened.flush().pending == 0
        assert reopened.search("What is Biscuit allergic to?", kind="turns")
