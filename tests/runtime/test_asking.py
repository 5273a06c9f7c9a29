"""Who waits for the moment in which no question is under way gets it, and holds nobody up."""

import anyio
import pytest

from tiermem.runtime.active_questions import ActiveQuestions

pytestmark = pytest.mark.anyio


async def test_it_is_waited_for_until_the_last_question_is_over() -> None:
    asking, order = ActiveQuestions(), []

    async def waits() -> None:
        await asking.none()
        order.append("none")

    async with anyio.create_task_group() as tasks:
        with asking.question():
            with asking.question():
                tasks.start_soon(waits)
                await anyio.wait_all_tasks_blocked()
            await anyio.wait_all_tasks_blocked()
            order.append("over")
    assert order == ["over", "none"]


async def test_a_question_that_fails_is_over() -> None:
    asking = ActiveQuestions()
    with pytest.raises(ValueError, match="odd"), asking.question():
        raise ValueError("odd")
    await asking.none()
