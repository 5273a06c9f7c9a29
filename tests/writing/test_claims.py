"""Two writers of a log do no work twice."""

from collections.abc import Awaitable, Callable

import pytest

from pagestore.log import Log
from tests.logs import new_shared_lines
from tests.writing.claiming import CHECKS, TwoWriters
from tests.writing.parts import SPACE

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("logs")]


@pytest.mark.parametrize("check", CHECKS)
async def test_of_two_writers_one_does_a_piece_of_work(
    check: Callable[[TwoWriters], Awaitable[None]],
) -> None:
    one, other = [Log(lines, SPACE) for lines in new_shared_lines()]
    await check(await TwoWriters.of((one, other)))
