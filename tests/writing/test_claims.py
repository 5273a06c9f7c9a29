"""Two writers of a log in memory do no work twice."""

from collections.abc import Awaitable, Callable

import pytest

from pagestore import MemoryLog
from pagestore.lines.memory import MemoryLines
from tests.writing.claiming import CHECKS, TwoWriters
from tests.writing.parts import SPACE

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("check", CHECKS)
async def test_of_two_writers_one_does_a_piece_of_work(
    check: Callable[[TwoWriters], Awaitable[None]],
) -> None:
    lines = MemoryLines()
    logs = MemoryLog(SPACE, lines=lines), MemoryLog(SPACE, lines=lines.share())
    await check(await TwoWriters.of(logs))
