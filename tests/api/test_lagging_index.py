"""An index that lags never makes an answer wrong in silence: what it lacks is found, and said."""

import logging
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import tiermem
from tests.api.conftest import OpenMemory
from tests.index.conftest import QUICK
from tiermem.embedding.hashed import HashEmbedder
from tiermem.reading.search import INDEX_LAGS
from tiermem.writing.projection import Projection

THINGS = ("canoe", "piano", "kettle", "telescope", "lantern", "bicycle", "violin", "tent", "loom", "sledge")
CHATS = 30


def fact(number: int) -> str:
    return f"I bought the {THINGS[number % 10]} of house {number // 10} for {number + 200} euros."


def question(number: int) -> str:
    return f"What did the {THINGS[number % 10]} of house {number // 10} cost in euros?"


def local(store: Path, **given: object) -> tiermem.Memory:
    options: dict[str, object] = {"engine": "local", "embedder": HashEmbedder(), "distil": "deferred"}
    return tiermem.open(store, **(options | given))  # type: ignore[arg-type]


@pytest.fixture
def no_indexing(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From when it is called on, the index takes nothing in, as in a process that is too slow for it."""

    async def nothing(self: Projection, *, again: bool = False) -> None:
        return None

    def stop() -> None:
        for name in ("attempt", "attempt_to_show"):
            monkeypatch.setattr(Projection, name, nothing)

    return stop


@pytest.fixture
def quick_path() -> Iterator[Path]:
    """As `tmp_path`, in memory where the system has such a place."""
    with TemporaryDirectory(dir=QUICK) as folder:
        yield Path(folder)


@pytest.mark.local_only("the files of an index are replaced by older ones")
@pytest.mark.parametrize("lost", ["index removed", "index behind"])
def test_a_fact_the_index_lacks_is_found_and_what_it_lacks_is_said(
    quick_path: Path, no_indexing: Callable[[], None], caplog: pytest.LogCaptureFixture, lost: str
) -> None:
    caplog.set_level(logging.DEBUG, "tiermem")
    store, older = quick_path / "store", quick_path / "older"
    with local(store) as memory:
        for number in range(20):
            memory.add(fact(number), speaker="Ann", session=f"s{number}")
            if number == 9:
                memory.flush()
                shutil.copytree(store / "index", older)
        memory.flush()
    shutil.rmtree(store / "index")
    if lost == "index behind":
        shutil.copytree(older, store / "index")
    no_indexing()
    with local(store) as memory:
        pending = memory.stats().index_pending
        for number in (3, 17):
            answer = memory.ask(question(number))
            context, found = memory.context(question(number)), memory.search(question(number), limit=3)
            assert str(number + 200) in answer.text
            assert f"{number + 200} euros" in context.text
            assert any(f"{number + 200} euros" in one.text for one in found)
            (told,) = answer.trace.degradations
            assert "the index has yet to take in" in told.reason
            assert ("20 turns" if lost == "index removed" else "10 turns") in told.reason
            assert context.degradations == (told,)
        assert pending is not None
        assert pending >= (20 if lost == "index removed" else 10)
    lags = [one.levelname for one in caplog.records if INDEX_LAGS in one.getMessage()]
    assert set(lags) == {"DEBUG"}  # an ordinary loop of adding and searching prints nothing


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("indexed", range(9))
def test_whatever_turns_at_the_end_the_index_lacks_every_fact_is_found(
    indexed: int, sealed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt, allowed = Projection.attempt, [True]

    async def while_allowed(self: Projection, *, again: bool = False) -> object:
        return await attempt(self, again=again) if allowed[0] else None

    for name in ("attempt", "attempt_to_show"):
        monkeypatch.setattr(Projection, name, while_allowed)
    with tiermem.open(
        ":memory:", engine="local", embedder=HashEmbedder(), distil="deferred", write_back="deferred"
    ) as memory:
        for number in range(8):
            allowed[0] = number < indexed
            memory.add(fact(number), speaker="Ann", session=f"s{number % 3}")
            memory.search(question(number))
        if sealed:
            memory.flush()
        for asked in range(8):
            answer = memory.ask(question(asked))
            said = [told.reason for told in answer.trace.degradations]
            assert str(asked + 200) in answer.text
            assert f"{asked + 200} euros" in memory.search(question(asked), limit=1)[0].text
            assert f"{asked + 200} euros" in memory.context(question(asked), max_tokens=80).text
            if indexed < 8:
                assert any(reason.startswith("the index has yet to take in") for reason in said)


def test_nothing_waits_once_the_index_caught_up(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.add([fact(number) for number in range(6)], speaker="Ann")
    memory.flush()
    assert memory.stats().index_pending == 0
    assert memory.ask(question(3)).trace.degradations == ()


def test_another_process_that_looks_is_told_what_waits_too(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.add(fact(0), speaker="Ann")
    memory.close()
    assert open_memory(read_only=True).stats().index_pending == 0


def test_what_was_just_said_is_found_among_units_too(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.add(fact(1), speaker="Ann", session="a")
    (alone,) = memory.search(question(1))
    assert (alone.source, alone.text) == ("turn", f"Ann: {fact(1)}")
    memory.flush()
    memory.add(fact(2), speaker="Ann", session="b")
    first, second = memory.search(question(2))[0], memory.search(question(1))[0]
    assert (first.source, second.source) == ("turn", "unit")
    assert "202 euros" in first.text
    assert "201 euros" in second.text


LOOP = """
import os, sys
from pathlib import Path
from tests.api.test_lagging_index import fact, local, question

store, first, last, end = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
for number in range(first, last):
    memory = local(store, distil="background")
    if number:
        memory.context(question(number - 1))
    memory.add(fact(number), speaker="Ann", session=f"chat {number}")
    print(number, flush=True)
    if end == "killed" and number == last - 1:
        os._exit(1)
    memory.close()
"""


def chats(store: Path, first: int, last: int, *, killed: bool) -> None:
    """A chat loop as it is written first: open, context, add, close; never flush."""
    command = [
        sys.executable,
        "-c",
        LOOP,
        str(store),
        str(first),
        str(last),
        "killed" if killed else "closed",
    ]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.stdout.split() == [str(number) for number in range(first, last)], done.stderr


@pytest.mark.local_only("the files of an index are replaced by older ones")
def test_a_chat_loop_that_never_flushes_and_is_ended_anywhere_finds_every_fact(quick_path: Path) -> None:
    store = quick_path / "store"
    for first, killed in ((0, True), (10, False), (20, True)):
        chats(store, first, first + 10, killed=killed)
    with local(store, distil="background") as memory:
        for number in (0, 9, 10, 19, 21, 29):
            assert f"{number + 200} euros" in memory.context(question(number), max_tokens=200).text
            assert any(f"{number + 200} euros" in one.text for one in memory.search(question(number)))
            assert str(number + 200) in memory.ask(question(number)).text
        assert memory.stats().turns == CHATS
