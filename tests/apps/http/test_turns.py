"""Reads wait for nobody; writes go in in order, few while somebody reads, and none waits for ever."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

import pytest

from tiermem.apps.http.turns import WriteQueue


class Writes:
    """Writes that go on until they are ended."""

    def __init__(self, turns: WriteQueue, count: int) -> None:
        self.inside: list[int] = []
        self.all_inside = asyncio.Event()
        self.ends = [asyncio.Event() for _ in range(count)]
        self.tasks = [asyncio.ensure_future(self._write(turns, number)) for number in range(count)]

    async def _write(self, turns: WriteQueue, number: int) -> None:
        async with turns.write():
            self.inside.append(number)
            if len(self.inside) == len(self.ends):
                self.all_inside.set()
            await self.ends[number].wait()
            self.inside.remove(number)

    async def end(self, *numbers: int) -> None:
        for number in numbers:
            self.ends[number].set()
        await asyncio.wait([self.tasks[number] for number in numbers])
        await settled()


async def settled() -> None:
    """Let everybody go as far as they can."""
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.anyio
async def test_several_write_at_once_and_few_while_somebody_reads() -> None:
    turns = WriteQueue(at_once=3, beside_reads=1, longest=60)
    writes = Writes(turns, 8)
    await settled()
    assert writes.inside == [0, 1, 2]
    with ExitStack() as reads:
        reads.enter_context(turns.read())
        reads.enter_context(turns.read())
        await writes.end(0, 1)
        assert writes.inside == [2]
        await writes.end(2)
        assert writes.inside == [3]
    await settled()
    assert writes.inside == [3, 4, 5]
    await writes.end(3, 4, 5, 6, 7)
    assert writes.inside == []


@pytest.mark.anyio
async def test_a_write_that_is_given_up_leaves_its_turn_to_the_next() -> None:
    turns = WriteQueue(at_once=1, longest=60)
    writes = Writes(turns, 4)
    await settled()
    for number in (1, 0):  # one that waits, and one that is inside
        writes.tasks[number].cancel()
    await settled()
    assert writes.inside[-1] == 2
    writes.ends[2].set()
    writes.tasks[3].cancel()  # in the moment in which it is let in
    await settled()
    last = Writes(turns, 1)
    await settled()
    assert last.inside == [0]
    await last.end(0)


@pytest.mark.anyio
async def test_no_write_waits_longer_than_it_may() -> None:
    turns = WriteQueue(at_once=1, longest=0.01)
    writes = Writes(turns, 3)
    async with asyncio.timeout(30):
        await writes.all_inside.wait()
    await writes.end(0, 1, 2)
    assert vars(turns)["_writing"] == 0
