"""`consolidate` as a user meets it: by hand, by itself, beside questions, under limits, and undone."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

import tiermem
from tests.api.conftest import OpenMemory
from tests.api.test_sessions_end import later, waited_for
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import InvalidInput
from tiermem.llm.interface import Call
from tiermem.llm.scripted import FunctionModel
from tiermem.model import Budget
from tiermem.writing import Consolidator

MAY, JUNE = datetime(2024, 5, 3, tzinfo=UTC), datetime(2024, 6, 8, tzinfo=UTC)
MILL = "I really love the old mill by the river."
QUESTION = "Who loves the old mill?"


def tell_twice(memory: tiermem.Memory) -> tuple[tiermem.SummaryUnit, ...]:
    for moment in (MAY, JUNE):
        memory.add(MILL, speaker="Ann", said_at=moment)
        memory.flush()
    units = memory.units()
    assert len(units) == 2
    return units


def test_one_unit_stands_for_two_and_trail_and_audit_show_the_words_of_both(open_memory: OpenMemory) -> None:
    memory = open_memory()
    before = tell_twice(memory)
    (merged,) = memory.consolidate().merged
    assert memory.units() == (merged.unit,)
    first, second, now = memory.trail(before[0].id)
    assert (first.state, second.state, now.state) == ("merged", "merged", "holds")
    assert first.superseded_by == (merged.unit.id,)
    assert first.because is not None
    assert first.because.startswith("they tell the same")
    assert [place.said_at for place in now.words_on_page] == [MAY, JUNE]
    assert memory.withdraw(merged.unit.id, reason="two visits").returned == before == memory.units()
    assert memory.consolidate().merged == ()
    assert memory.units(as_of=datetime.now(UTC)) == before


def test_a_filter_that_only_one_of_the_tellings_passes_finds_that_one(open_memory: OpenMemory) -> None:
    memory = open_memory()
    may, june = tell_twice(memory)
    memory.consolidate()
    cases: tuple[tuple[dict[str, Any], tiermem.SummaryUnit], ...] = (
        ({"said_before": "2024-05-20"}, may),
        ({"said_after": "2024-05-20"}, june),
    )
    for only, unit in cases:
        found = [one for one in memory.search(QUESTION, **only) if one.source == "unit"]
        assert [(one.text, one.spans) for one in found] == [(unit.text, unit.spans)]
    assert memory.search(QUESTION, said_after="2024-07-01") == ()


def test_what_is_erased_of_one_telling_leaves_the_other_and_no_trace(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.add("My dog Biscuit cannot eat chicken.", speaker="Ann", said_at=MAY)
    memory.flush()
    memory.add("My dog Biscuit really cannot eat chicken.", speaker="Ann", said_at=JUNE)
    memory.flush()
    (merged,) = memory.consolidate().merged
    gone = memory.trail(merged.unit.id)[0].words_on_page[0].page_id
    receipt = memory.erase(page=gone, reason="asked to")
    assert merged.unit.id in receipt.erasure.units
    assert receipt.leftovers.clean
    (left,) = memory.units()
    assert left.id in merged.of
    memory.close()
    assert open_memory().units() == (left,)


def test_a_dry_run_writes_nothing_and_needs_no_right_to(open_memory: OpenMemory) -> None:
    memory = open_memory()
    tell_twice(memory)
    memory.close()
    reader = open_memory(read_only=True)
    proposal = reader.consolidate(dry_run=True)
    assert (proposal.proposed, len(proposal.merged)) == (True, 1)
    with pytest.raises(tiermem.PageStoreError):
        reader.consolidate()
    reader.close()
    assert open_memory().consolidate().merged == proposal.merged


def test_seconds_have_a_pass_run_again_and_again(open_memory: OpenMemory) -> None:
    memory = open_memory(consolidate=0.05)
    for moment in (MAY, JUNE):
        memory.add(MILL, speaker="Ann", said_at=moment)
        memory.flush()
    assert waited_for(lambda: len(memory.units()) == 1)
    memory.add("I also really love the old mill by the river.", speaker="Ann")
    memory.flush()
    assert waited_for(lambda: len(memory.units()) == 1 and len(memory.units()[0].spans) == 3)
    assert memory.stats().problems == ()


def test_idle_has_a_pass_run_once_a_session_is_over(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory(distil="deferred")
    for moment in (MAY, JUNE):
        memory.add(MILL, speaker="Ann", said_at=moment)
        if moment is MAY:
            memory.flush()
    memory.close()
    later(monkeypatch, minutes=31)
    memory = open_memory(distil="deferred", consolidate="idle")
    assert waited_for(lambda: [len(unit.spans) for unit in memory.units()] == [2])


def test_off_is_off(open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[object] = []
    monkeypatch.setattr(Consolidator, "run", lambda *given, **how: ran.append(given))
    memory = open_memory()
    tell_twice(memory)
    memory.close()
    assert ran == []


@pytest.mark.anyio
async def test_a_pass_waits_for_questions_and_erasing_waits_for_no_pass() -> None:
    order: list[str] = []
    async with await tiermem.AsyncMemory.open(
        ":memory:", engine="local", embedder=HashEmbedder(), distil="inline"
    ) as memory:
        for moment in (MAY, JUNE):
            await memory.add(MILL, speaker="Ann", said_at=moment)
            await memory.flush()

        async def consolidates() -> None:
            await memory.consolidate()
            order.append("consolidated")

        async with anyio.create_task_group() as tasks:
            with memory._opened.asking.question():
                tasks.start_soon(consolidates)
                await anyio.wait_all_tasks_blocked()
                await memory.erase(page=(await memory.pages())[0].id, reason="asked to")
                order.append("erased")
        assert order == ["erased", "consolidated"]
        assert len(await memory.units()) == 1


def test_a_day_that_is_spent_leaves_all_and_says_so(open_memory: OpenMemory) -> None:
    def model(call: Call) -> str:
        return '{"facts": [], "text": "", "answerable": false}'

    memory = open_memory(engine="model", model=FunctionModel(model), daily_calls=0, distil="deferred")
    memory.add(MILL, speaker="Ann")
    report = memory.consolidate()
    assert (report.pages, report.usage.calls) == (0, 0)
    assert "the daily limit of 0 calls" in report.left[0]
    assert memory.stats().daily == Budget(calls=0)


@pytest.mark.parametrize("wrong", ["sometimes", 0, -3, float("nan"), float("inf"), True, None, []])
def test_a_time_that_is_none_is_refused(open_memory: OpenMemory, wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="consolidate: must be 'off', 'idle', or a number of seconds"):
        open_memory(consolidate=wrong)


def test_a_number_may_come_as_text_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIERMEM_CONSOLIDATE", "300")
    assert tiermem.Settings().consolidate == 300.0
    monkeypatch.setenv("TIERMEM_CONSOLIDATE", "idle")
    assert tiermem.Settings().consolidate == "idle"


async def until(so: Callable[[], bool]) -> None:
    """Wait for what nobody tells of."""
    while not so():  # noqa: ASYNC110
        await anyio.sleep(0.01)


@pytest.mark.anyio
async def test_erasing_and_closing_wait_for_no_more_than_one_step_of_a_pass_in_the_background(
    monkeypatch: pytest.MonkeyPatch, address: Path | str
) -> None:
    near, steps = Consolidator._near_units, list[str]()
    go_on, at_it = anyio.Semaphore(0), anyio.Event()

    async def slow(self: Consolidator, unit: tiermem.SummaryUnit) -> Any:
        at_it.set()
        await go_on.acquire()
        steps.append(unit.text)
        return await near(self, unit)

    async def opened(**settings: Any) -> tiermem.AsyncMemory:
        return await tiermem.AsyncMemory.open(
            address, engine="local", embedder=HashEmbedder(), distil="inline", **settings
        )

    async with await opened() as memory:
        for word in ("mill", "river", "harbour", "garden"):
            await memory.add(f"I really love the old {word}.", speaker="Ann", said_at=MAY)
            await memory.flush()
        pages = [page.id for page in await memory.pages()]
    monkeypatch.setattr(Consolidator, "_near_units", slow)
    one = await opened(consolidate="idle")
    other = await opened(consolidate="idle")
    with anyio.fail_after(60):
        await at_it.wait()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: other.erase(page=pages[0], reason="asked to"))
            await until(lambda: other._lock._closed)  # it waits to be alone
            go_on.release()
        await one.close()
        assert len(steps) == 1
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(other.close)
            await until(lambda: other._opened.ending)
            go_on.release()
        assert len(steps) <= 2


def test_closing_does_not_wait_for_a_pass_to_look_at_everything(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pass ends where it is, and nothing of it is lost or left half done."""
    reached, go_on = threading.Event(), threading.Event()
    near = Consolidator._near_units

    async def slow(self: Consolidator, unit: tiermem.SummaryUnit) -> Any:
        reached.set()
        await anyio.to_thread.run_sync(go_on.wait)
        return await near(self, unit)

    memory = open_memory()
    tell_twice(memory)
    memory.close()
    monkeypatch.setattr(Consolidator, "_near_units", slow)
    memory = open_memory(consolidate="idle")
    assert reached.wait(60)
    closing = threading.Thread(target=memory.close)
    closing.start()
    ending: Callable[[], bool] = lambda: memory._async._opened.ending  # noqa: E731
    assert waited_for(ending)
    go_on.set()
    closing.join(60)
    assert not closing.is_alive()
    monkeypatch.undo()
    memory = open_memory()
    assert len(memory.units()) == 2
    assert len(memory.consolidate().merged) == 1
