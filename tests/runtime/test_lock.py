"""The lock: many at once or one alone, and whoever waits to be alone goes before those who come later."""

from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import pytest

from tiermem.runtime.lock import ReadWriteLock

pytestmark = pytest.mark.anyio


async def test_many_pass_at_once_and_one_alone_waits_for_all_of_them() -> None:
    lock, told = ReadWriteLock(), list[str]()
    leave = anyio.Event()

    async def shared(name: str) -> None:
        async with lock.shared():
            told.append(f"{name} in")
            await leave.wait()
            told.append(f"{name} out")

    async def alone() -> None:
        async with lock.exclusive():
            told.append("alone")

    async with anyio.create_task_group() as tasks:
        for step in (lambda: shared("a"), lambda: shared("b"), alone):
            tasks.start_soon(step)
            await settled()
        assert told == ["a in", "b in"]
        leave.set()
    assert sorted(told[2:4]) == ["a out", "b out"]
    assert told[4] == "alone"


async def test_who_waits_to_be_alone_goes_before_those_who_come_later() -> None:
    lock, told = ReadWriteLock(), list[str]()
    leave = anyio.Event()

    async def first() -> None:
        async with lock.shared():
            await leave.wait()

    async def alone() -> None:
        async with lock.exclusive():
            told.append("alone")
            await settled()

    async def later() -> None:
        async with lock.shared():
            told.append("later")

    steps: tuple[Callable[[], Coroutine[Any, Any, None]], ...] = (first, alone, later, alone)
    async with anyio.create_task_group() as tasks:
        for step in steps:
            tasks.start_soon(step)
            await settled()
        assert told == []
        leave.set()
    assert told[0] == "alone"
    assert sorted(told) == ["alone", "alone", "later"]


async def test_an_error_inside_gives_the_lock_up() -> None:
    lock = ReadWriteLock()
    for inside in (lock.exclusive, lock.shared, lock.exclusive):
        with pytest.raises(ValueError, match="odd"):
            async with inside():
                raise ValueError("odd")


async def settled() -> None:
    """Let every task that can go on do so."""
    for _ in range(10):
        await anyio.lowlevel.checkpoint()
