"""A conversation nobody flushed ends by itself, and until then its words are found like all others."""

import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

import tiermem
from tests.api.conftest import OpenMemory
from tiermem.api.results import Added
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import InvalidInput
from tiermem.runtime import background
from tiermem.runtime.components import Components
from tiermem.settings import When
from tiermem.writing.projection import Projection

NEVER = float("inf")
BIRDS = ["heron", "stork", "swift", "raven", "plover", "dunlin", "curlew", "siskin", "linnet", "merlin"]
TOWNS = ["Lisbon", "Oslo", "Krakow", "Nairobi", "Quito", "Hanoi"]
START = datetime.fromisoformat("2023-05-01T09:00:00")
SESSIONS = 60


def fact(number: int) -> str:
    return f"We counted {number + 100} {BIRDS[number % 10]}s near {TOWNS[number // 10]}."


def question(number: int) -> str:
    return f"How many {BIRDS[number % 10]}s were counted near {TOWNS[number // 10]}?"


def chat(memory: tiermem.Memory, number: int) -> Added:
    """One short session: two to four turns on a day of its own."""
    said_at = START + timedelta(days=number)
    turns = [
        tiermem.Turn(speaker="Ann", text="Good morning!", said_at=said_at),
        tiermem.Turn(speaker="Ann", text=fact(number), said_at=said_at + timedelta(minutes=1)),
        tiermem.Turn(speaker="Bob", text="How nice.", said_at=said_at + timedelta(minutes=2)),
        tiermem.Turn(speaker="Ann", text="It was.", said_at=said_at + timedelta(minutes=3)),
    ]
    return memory.add(turns[: 2 + number % 3], session=f"day {number}")


def found(memory: tiermem.Memory, number: int) -> tiermem.Evidence:
    return memory.search(question(number), kind="turns", limit=1)[0]


def later(monkeypatch: pytest.MonkeyPatch, **passed: float) -> None:
    """The clock of memories opened from now on is so far ahead; what is recorded has the time it is."""
    moment = datetime.now(UTC) + timedelta(**passed)
    monkeypatch.setattr(Components, "clock", lambda _: moment)


def waited_for(true: Callable[[], bool]) -> bool:
    end = time.monotonic() + 60
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    return true()


def test_sixty_short_sessions_nobody_flushed_are_in_tier_1_after_opening(open_memory: OpenMemory) -> None:
    memory = open_memory(idle_seal=NEVER)
    for number in range(SESSIONS):
        assert chat(memory, number).sealed == ()
    assert memory.pages() == ()
    for number in (31, SESSIONS - 1):
        assert found(memory, number).similarity is not None
    memory.close()
    memory = open_memory()
    assert [page.session for page in memory.open_pages()] == [f"day {SESSIONS - 1}"]
    assert memory.stats().pages_pending == 0
    assert {unit.session for unit in memory.units()} >= {f"day {number}" for number in range(SESSIONS - 1)}
    for number in (0, 23, 58, SESSIONS - 1):
        assert fact(number) in found(memory, number).text
        assert str(number + 100) in memory.context(question(number)).text
        assert str(number + 100) in memory.ask(question(number)).text


def test_a_session_ends_when_another_goes_on_without_it(open_memory: OpenMemory) -> None:
    memory = open_memory()
    assert chat(memory, 0).sealed == ()
    sealed = chat(memory, 1).sealed
    assert [info.id for info in memory.pages("day 0")] == list(sealed)
    assert [page.session for page in memory.open_pages()] == ["day 1"]
    assert {unit.session for unit in memory.units()} == {"day 0"}


def test_a_session_ends_by_the_clock_when_another_is_written_to(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory()
    memory.add("The ferry leaves at 9.40.", speaker="Ann", session="a")
    later(monkeypatch, minutes=29)
    assert memory.add("It rains.", speaker="Bob", session="b", said_at=START).sealed == ()
    later(monkeypatch, minutes=31)
    assert len(memory.add("It still rains.", speaker="Bob", session="c", said_at=START).sealed) == 2
    assert [page.session for page in memory.open_pages()] == ["c"]


def test_what_is_said_long_after_begins_a_page_of_its_own(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory()
    memory.add("The ferry leaves at 9.40.", speaker="Ann")
    later(monkeypatch, hours=8)
    assert len(memory.add("It was late.", speaker="Ann").sealed) == 1
    assert [len(page.lines) for page in memory.open_pages()] == [1]


def test_a_session_ends_while_the_memory_stays_open(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "SPARE", 0.02)
    memory = open_memory(idle_seal=0.005)
    memory.add(["The ferry leaves at 9.40.", "It rains."], speaker="Ann")
    assert waited_for(lambda: len(memory.pages()) == 1)
    assert waited_for(lambda: bool(memory.units()))
    memory.add("It rains again.", speaker="Ann")
    assert waited_for(lambda: len(memory.pages()) == 2)
    assert memory.stats().problems == ()


def test_closing_ends_no_session_and_opening_ends_idle_ones(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory()
    memory.add("The ferry leaves at 9.40.", speaker="Ann")
    memory.close()
    memory = open_memory()
    assert memory.pages() == ()
    memory.close()
    later(monkeypatch, minutes=31)
    reader = open_memory(read_only=True)
    assert reader.pages() == ()
    memory = open_memory()
    assert [unit.session for unit in memory.units()] == ["main"]


def test_a_clock_that_was_set_back_ends_no_session(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory()
    memory.add("The ferry leaves at 9.40.", speaker="Ann", session="a")
    later(monkeypatch, days=-400)
    assert memory.add("It rains.", speaker="Bob", session="b").sealed == ()
    memory.close()
    assert open_memory().pages() == ()


def test_opening_for_each_message_makes_as_many_pages_as_staying_open(open_memory: OpenMemory) -> None:
    said = [
        {
            "speaker": "Ann",
            "text": f"{fact(number)} " * 2,
            "timestamp": START + timedelta(minutes=1.5 * number),
        }
        for number in range(40)
    ]
    staying = open_memory(space="staying", page_tokens=300)
    for message in said:
        staying.add(message)
    for message in said:
        memory = open_memory(space="opening", page_tokens=300, distil="background")
        memory.add(message)
        memory.close()
    memory = open_memory(space="opening", page_tokens=300)
    assert [info.turns for info in memory.pages()] == [info.turns for info in staying.pages()]
    assert len(memory.pages()) > 3
    assert [len(page.lines) for page in memory.open_pages()] == [len(p.lines) for p in staying.open_pages()]


def test_old_dialogue_read_in_beside_a_live_one_is_not_a_page_a_message(open_memory: OpenMemory) -> None:
    memory = open_memory()
    for number in range(12):
        memory.add(f"Live message {number}.", speaker="Bob", session="live")
        memory.add(fact(number), speaker="Ann", session="old", said_at=START + timedelta(minutes=number))
    assert memory.pages() == ()


def test_times_of_every_kind_may_meet(open_memory: OpenMemory) -> None:
    memory = open_memory()
    times = [None, START, START.replace(tzinfo=UTC), datetime.max, datetime.min.replace(tzinfo=UTC)]  # noqa: DTZ901  # odd on purpose
    for number, said_at in enumerate(times * 2):
        memory.add(tiermem.Turn(speaker="Ann", text=fact(number), said_at=said_at), session=f"s{number % 5}")
    memory.close()
    assert open_memory().stats().turns == 10


@pytest.mark.parametrize("minutes", [0, -5, float("nan")])
def test_a_length_that_is_none_is_refused(open_memory: OpenMemory, minutes: float) -> None:
    with pytest.raises(InvalidInput, match="idle_seal"):
        open_memory(idle_seal=minutes)


def test_what_was_said_a_second_ago_is_ranked_by_meaning(open_memory: OpenMemory) -> None:
    memory = open_memory(distil="deferred")
    for number in range(8):
        memory.add(fact(number), speaker="Ann", session=f"s{number % 2}")
        hit = found(memory, number)
        assert fact(number) in hit.text
        assert (hit.source, hit.similarity is not None) == ("turn", True)
        assert hit.spans[0].page_id.startswith("o1:")
    assert memory.pages() == ()
    (page,) = memory.search(question(3), kind="pages", limit=1)
    assert page.spans[0].page_id.startswith("o1:")


def test_what_an_earlier_process_was_told_is_ranked_by_meaning(open_memory: OpenMemory) -> None:
    memory = open_memory(distil="deferred")
    memory.add([fact(number) for number in range(5)], speaker="Ann")
    memory.close()
    memory = open_memory(distil="deferred")
    assert memory.pages() == ()
    assert found(memory, 3).similarity is not None


def test_reindexing_holds_what_is_on_open_pages(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.add([fact(number) for number in range(5)], speaker="Ann")
    before = memory.search(question(2), kind="turns")
    assert memory.reindex().pages == 0
    assert memory.search(question(2), kind="turns") == before
    assert before[0].similarity is not None


@pytest.mark.anyio
async def test_a_turn_found_by_its_open_page_is_shown_on_the_sealed_one() -> None:
    async with await tiermem.AsyncMemory.open(
        ":memory:", engine="local", embedder=HashEmbedder(), distil="deferred"
    ) as memory:
        await memory.add([fact(number) for number in range(5)], speaker="Ann")
        assert (await memory.search(question(2), kind="turns"))[0].spans[0].page_id.startswith("o1:")
        (sealed,) = await memory._caller.components.ledger.seal()  # and the index knows nothing of it yet
        hits = await memory.search(question(2), kind="turns")
        assert fact(2) in hits[0].text
        assert {span.page_id for hit in hits for span in hit.spans} == {sealed}
        assert hits[0].similarity is not None
        assert len({hit.spans for hit in hits}) == len(hits)


@pytest.mark.anyio
async def test_an_index_that_is_slow_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    released, attempt = anyio.Event(), Projection.attempt_to_show

    async def slow(projection: Projection) -> Any:
        await released.wait()
        return await attempt(projection)

    monkeypatch.setattr(background, "INDEXING_LIMIT", 0.05)
    async with await tiermem.AsyncMemory.open(
        ":memory:", engine="local", embedder=HashEmbedder(), distil="deferred"
    ) as memory:
        await memory.index_pending()
        monkeypatch.setattr(Projection, "attempt_to_show", slow)
        await memory.add([fact(number) for number in range(5)], speaker="Ann")
        at_once = await memory.search(question(2), kind="turns")
        monkeypatch.setattr(background, "INDEXING_LIMIT", 60.0)
        released.set()
        afterwards = await memory.search(question(2), kind="turns")
    for hits, by_meaning in ((at_once, False), (afterwards, True)):
        assert any(fact(2) in hit.text for hit in hits)
        assert {hit.similarity is not None for hit in hits} == {by_meaning}


@pytest.mark.anyio
async def test_closing_finishes_what_the_last_call_left_for_later(address: Path | str) -> None:
    def opened(distil: When) -> Awaitable[tiermem.AsyncMemory]:
        return tiermem.AsyncMemory.open(
            address, engine="local", embedder=HashEmbedder(), distil=distil, page_tokens=60
        )

    memory = await opened("background")
    await memory.add("Good morning!", speaker="Ann")
    await memory.index_pending()
    assert (await memory.add([fact(number) for number in range(9)], speaker="Ann")).sealed
    await memory.close()
    async with await opened("deferred") as memory:
        stats = await memory.stats()
        assert (stats.pages_pending, stats.problems) == (0, ())
