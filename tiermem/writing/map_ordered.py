"""Many pieces of slow work at once, with what they give handed on strictly in order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import anyio

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


async def map_ordered(
    items: Sequence[_Item],
    work: Callable[[_Item], Awaitable[_Result]],
    keep: Callable[[_Result], Awaitable[None]],
    *,
    at_once: int,
) -> None:
    """Run `work` on `at_once` items at a time and `keep` its results one by one, in the order of the items.

    The order makes a run repeatable however long each piece takes. An error of either stops the rest
    and is raised as it is, not in a group.
    """
    results: dict[int, _Result] = {}
    ready = [anyio.Event() for _ in items]
    limiter = anyio.CapacityLimiter(at_once)
    failed: list[Exception] = []

    async def run(index: int) -> None:
        try:
            async with limiter:
                results[index] = await work(items[index])
            ready[index].set()
        except Exception as error:  # noqa: BLE001  # raised again below, outside the group
            failed.append(error)
            group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        for index in range(len(items)):
            group.start_soon(run, index)
        try:
            for index, event in enumerate(ready):
                await event.wait()
                await keep(results.pop(index))
        except Exception as error:  # noqa: BLE001  # as above
            failed.append(error)
            group.cancel_scope.cancel()
    if failed:
        raise failed[0]
