"""The memories of a server: which of them are closed, and when."""

import pytest

import tiermem
from tiermem.apps.http.spaces import Spaces

pytestmark = pytest.mark.anyio


async def test_a_space_in_use_is_not_closed_as_idle() -> None:
    async def open_space(space: str, create: bool) -> tiermem.AsyncMemory:
        return await tiermem.AsyncMemory.open(":memory:", space=space, engine="local", embedder="hashed")

    spaces = Spaces(open_space, most=2, idle=0.0)
    async with spaces.use("ann", create=True) as memory:
        await spaces.close_idle()
        assert len(spaces) == 1
        assert (await memory.stats()).turns == 0
    await spaces.close_idle()
    assert len(spaces) == 0


async def test_the_space_that_was_least_lately_used_is_closed_for_another() -> None:
    opened: list[str] = []

    async def open_space(space: str, create: bool) -> tiermem.AsyncMemory:
        opened.append(space)
        return await tiermem.AsyncMemory.open(":memory:", space=space, engine="local", embedder="hashed")

    spaces = Spaces(open_space, most=2, idle=100.0)
    for name in ("ann", "bob", "ann", "carol", "ann", "bob"):
        async with spaces.use(name, create=True):
            pass
    await spaces.close()
    assert opened == ["ann", "bob", "carol", "bob"]
