"""Parts that a process has once: made by the first who asks, closed by the last to let go."""

from threading import Event

import anyio
import pytest
from anyio import to_thread

from tiermem.index.shared import InUse, SharedParts

pytestmark = pytest.mark.anyio


async def test_a_part_is_made_once_and_closed_by_the_last() -> None:
    parts: SharedParts[list[str]] = SharedParts()
    closed: list[list[str]] = []

    async def close(part: list[str]) -> None:
        closed.append(part)

    first = await parts.take("key", lambda: ["made"])
    assert await parts.take("key", lambda: ["made again"]) is first
    with pytest.raises(InUse):
        await parts.take("key", lambda: ["made anew"], anew=True)
    await parts.let_go("key", close)
    assert closed == []
    await parts.let_go("key", close)
    assert closed == [first]
    assert await parts.take("key", lambda: ["made anew"], anew=True) == ["made anew"]


async def test_letting_go_of_a_part_does_not_wait_while_another_is_made() -> None:
    parts: SharedParts[bool] = SharedParts()
    begun, let_go = Event(), Event()

    def slow() -> bool:
        begun.set()
        return let_go.wait(60)

    async def close(_: bool) -> None:
        let_go.set()

    async def take_slow() -> None:
        assert await parts.take("slow", slow), "it was let go of only when the other was made"

    await parts.take("quick", lambda: True)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(take_slow)
        await to_thread.run_sync(begun.wait)
        await parts.let_go("quick", close)
