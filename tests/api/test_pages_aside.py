"""Whatever one page does to a step, the others go on: it is set aside, shown, tried again, erasable."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import tiermem
from tests.api.conftest import OpenMemory
from tests.engines import quoting_engine
from tests.writing.parts import GARDEN, S1, DictIndex, Rules
from tests.writing.parts import opened as ledger_opened
from tiermem.apps.cli.app import app
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import InvalidInput, Unexpected
from tiermem.ledger import Ledger
from tiermem.reasoning import Engine
from tiermem.text.question import Question
from tiermem.writing import Writer

pytestmark = pytest.mark.unexpected

MARK = "Quibble"
PAGES = {
    "boats": ("Ann: My boat is called Heron and it has 12 sails.", "How many sails has the Heron?", "12"),
    "bees": ("Bob: I keep 7 hives of bees behind the old mill.", "How many hives does Bob keep?", "7"),
    "cats": ("Eve: The grey cat of Clara weighs 5 kilos.", "What does the cat of Clara weigh?", "5"),
}
BAD = f" And {MARK} said nothing about it."


class Odd(Exception):
    """An error of a kind nobody has heard of."""


KINDS: tuple[type[Exception], ...] = (
    ValueError, KeyError, TypeError, IndexError, RecursionError, MemoryError, AssertionError, OSError,
    TimeoutError, RuntimeError, NotImplementedError, ZeroDivisionError, AttributeError, LookupError, Odd,
)  # fmt: skip
errors = st.builds(
    lambda kind, message: kind(message), st.sampled_from(KINDS), st.text(max_size=300).map(lambda t: t + "!")
)


@dataclass
class Step:
    """A step that raises whenever the mark is in what it is given, while `error` is set."""

    error: Exception | None = None
    raised: int = 0

    def check(self, *given: object) -> None:
        if self.error is not None and MARK in repr(given):
            self.raised += 1
            raise self.error

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def checked(*args: Any, **kwargs: Any) -> Any:
            self.check(args, kwargs)
            return function(*args, **kwargs)

        async def awaited(*args: Any, **kwargs: Any) -> Any:
            self.check(args, kwargs)
            return await function(*args, **kwargs)

        return awaited if asyncio.iscoroutinefunction(function) else checked


class Embeds(HashEmbedder):
    def __init__(self, step: Step) -> None:
        super().__init__()
        self.step = step

    async def embed(self, texts: Any) -> list[list[float]]:
        self.step.check(texts)
        return await super().embed(texts)


SUMMARISING = ("engine.distil",)
LINKING = ("tiermem.writing.distil." + name for name in ("link", "omissions_and_count", "proof_rank"))
INDEXING = ("embedder", "tiermem.writing.projection.turn_entries", "tiermem.index.base.turn_features")
ASKING = (
    "engine.compose",
    "engine.integrate",
    "tiermem.reading.search._found_turn",
    "tiermem.reading.recall.interleave",
    "tiermem.reading.compose.check",
    "tiermem.reading.compose.citations",
    "tiermem.reading.compose.sources",
)
ERASING = (
    "tiermem.writing.erase.fingerprints",
    "tiermem.writing.closure.omissions_and_count",
)


@contextmanager
def opened(place: str, step: Step, path: Path | str = ":memory:") -> Iterator[tiermem.Memory]:
    """A memory of which the step at `place` can be made to raise."""
    engine = quoting_engine()
    embedder = Embeds(step) if place == "embedder" else HashEmbedder()
    with pytest.MonkeyPatch.context() as patch:
        module, _, name = place.rpartition(".")
        if module == "engine":
            changed: dict[str, Any] = {name: step.around(getattr(engine, name))}
            engine = replace(engine, **changed)
        elif module:
            home = importlib.import_module(module)
            patch.setattr(home, name, step.around(getattr(home, name)))
        # Summaries by `flush` alone, which counts them: the look at opening may take some that seal since.
        with tiermem.open(
            path, engine=engine, embedder=embedder, write_back="inline", distil="deferred"
        ) as memory:
            yield memory


def tell(memory: tiermem.Memory, bad: str) -> None:
    for session, (said, *_) in PAGES.items():
        memory.add(said + (BAD if session == bad else ""), session=session, said_at="2024-05-01T10:00")


def texts(memory: tiermem.Memory) -> dict[str, set[str]]:
    return {session: {unit.text for unit in memory.units(session)} for session in PAGES}


def well(bad: str) -> dict[str, set[str]]:
    """The units of each session where nothing goes wrong."""
    with tiermem.open(":memory:", engine=quoting_engine(), embedder=HashEmbedder()) as memory:
        tell(memory, bad)
        memory.flush()
        return texts(memory)


def page_of(memory: tiermem.Memory, session: str) -> str:
    (info,) = memory.pages(session)
    return info.id


def answers(memory: tiermem.Memory, *sessions: str) -> bool:
    return all(PAGES[session][2] in memory.ask(PAGES[session][1]).text for session in sessions)


bad_pages = st.sampled_from(sorted(PAGES))
quickly = settings(max_examples=25)


@quickly
@given(place=st.sampled_from((*SUMMARISING, *LINKING)), bad=bad_pages, error=errors)
def test_a_page_that_cannot_be_summarised_keeps_no_other_from_it(
    place: str, bad: str, error: Exception
) -> None:
    step, expected, good = Step(error), well(bad), [session for session in PAGES if session != bad]
    with opened(place, step) as memory:
        tell(memory, bad)
        flushed = memory.flush()
        page = page_of(memory, bad)
        assert step.raised
        assert (flushed.distilled, flushed.pending) == (2, 1)
        assert [page in problem and type(error).__name__ in problem for problem in flushed.problems] == [True]
        stats = memory.stats()
        assert (stats.pages_pending, stats.pages_aside) == (1, 1)
        assert stats.problems == flushed.problems
        found = texts(memory)
        assert {session: found[session] for session in good} == {one: expected[one] for one in good}
        assert answers(memory, *good)
        tried = step.raised
        memory.add("Ann: It rains.", session="rain")
        assert step.raised == tried, "only when asked is it tried again"
        step.error = None
        assert memory.flush().problems == ()
        assert memory.stats().pages_aside == 0
        assert texts(memory) == expected


@quickly
@given(place=st.sampled_from(INDEXING), bad=bad_pages, error=errors)
def test_a_page_that_cannot_be_indexed_keeps_no_other_from_it(place: str, bad: str, error: Exception) -> None:
    step = Step(error)
    with opened(place, step) as memory:
        tell(memory, bad)
        flushed = memory.flush()
        page = page_of(memory, bad)
        assert step.raised
        assert (flushed.distilled, flushed.pending) == (3, 0)
        assert [page in problem and type(error).__name__ in problem for problem in flushed.problems] == [True]
        assert memory.stats().pages_aside == 1
        assert memory.stats().problems[:1] == flushed.problems
        assert answers(memory, *PAGES), "its words are found in the log"
        step.error = None
        assert memory.flush().problems == ()
        assert memory.stats().pages_aside == 0
        assert page in {span.page_id for hit in memory.search(PAGES[bad][1]) for span in hit.spans}


@quickly
@given(place=st.sampled_from(ASKING), bad=bad_pages, error=errors)
def test_a_page_that_cannot_be_read_for_an_answer_is_left_out_of_it(
    place: str, bad: str, error: Exception
) -> None:
    step, good = Step(), [session for session in PAGES if session != bad]
    with opened(place, step) as memory:
        tell(memory, bad)
        memory.flush()
        page, step.error = page_of(memory, bad), error
        answer = memory.ask(PAGES[bad][1], mode="raw" if place == "engine.integrate" else "router")
        assert step.raised
        without = [one for one in answer.trace.degradations if page in one.fallback]
        assert [type(error).__name__ in one.reason for one in without] == [True]
        assert page not in {span.page_id for cited in answer.citations for span in cited.spans}
        assert memory.stats().pages_aside == 1
        assert any(page in problem and type(error).__name__ in problem for problem in memory.stats().problems)
        assert answers(memory, *good)
        step.raised = 0
        again = memory.ask(PAGES[bad][1])
        assert step.raised == 0, "it is set aside for the questions that follow"
        assert any(page in one.fallback for one in again.trace.degradations)
        step.error = None
        memory.flush()
        assert memory.stats().pages_aside == 0
        assert answers(memory, *PAGES)


@quickly
@given(place=st.sampled_from(ERASING), bad=bad_pages, error=errors, other=st.booleans())
def test_words_can_be_erased_whatever_a_page_does_to_the_erasing(
    place: str, bad: str, error: Exception, other: bool
) -> None:
    step, expected = Step(), well(bad)
    goes = next(session for session in PAGES if session != bad) if other else bad
    stays = [session for session in PAGES if session != goes]
    with opened(place, step) as memory:
        tell(memory, bad)
        memory.flush()
        step.error = error
        receipt = memory.erase(page=page_of(memory, goes), reason="asked for")
        assert len(receipt.erasure.turns) == 1
        assert receipt.leftovers.clean
        assert receipt.leftovers.phrases > 0
        assert PAGES[goes][0][5:] not in str((memory.units(), memory.pages(), memory.open_pages()))
        assert {session: texts(memory)[session] for session in stays} == {one: expected[one] for one in stays}
        step.error = None
        assert answers(memory, *stays)


@quickly
@given(place=st.sampled_from((*SUMMARISING, *INDEXING)), bad=bad_pages, error=errors, whole=st.booleans())
def test_a_page_that_is_set_aside_can_be_erased_and_its_reason_goes_with_it(
    place: str, bad: str, error: Exception, whole: bool
) -> None:
    step = Step(error)
    with opened(place, step) as memory:
        tell(memory, bad)
        memory.flush()
        page = page_of(memory, bad)
        receipt = memory.erase(session=bad, reason="asked for") if whole else memory.erase(
            page=page, reason="asked for"
        )  # fmt: skip
        assert receipt.leftovers.clean
        assert memory.stats().pages_aside == 0
        assert memory.stats().problems == ()
        assert memory.flush().problems == ()
        assert answers(memory, *(session for session in PAGES if session != bad))


def test_of_a_record_that_nobody_can_tell_apart_from_what_goes_nothing_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def breaks(*given: object) -> None:
        raise ValueError("odd")

    expected = well("bees")
    with opened("", Step()) as memory:
        tell(memory, "bees")
        memory.flush()
        monkeypatch.setattr("tiermem.writing.closure.omissions_and_count", breaks)
        receipt = memory.erase(session="bees", reason="asked for")
        assert receipt.leftovers.clean
        assert texts(memory) == expected | {"bees": set()}
        assert memory.stats().pages_pending == 1, "what is left of the page is summarised anew"


def test_what_is_set_aside_is_told_on_the_command_line_by_another_process(tmp_path: Path) -> None:
    step = Step(ValueError("Exceeds the limit (4300 digits)"))
    with opened("engine.distil", step, tmp_path / "store") as memory:
        tell(memory, "bees")
        memory.flush()
        page = page_of(memory, "bees")
    shown = CliRunner().invoke(app, ["stats", "--store", str(tmp_path / "store"), "--json"])
    told = json.loads(shown.stdout)
    assert told["pages_aside"] == 1
    assert [page in problem and "called at tiermem/" in problem for problem in told["problems"]] == [True]
    view = CliRunner().invoke(app, ["stats", "--store", str(tmp_path / "store")])
    assert "1 page set aside" in " ".join(view.stdout.split())
    assert "ValueError" in view.stdout


def test_the_reason_tells_the_place_and_keeps_long_messages_short(tmp_path: Path) -> None:
    step = Step(ValueError("x" * 10_000 + "\nsecond line"))
    with opened("tiermem.writing.distil.link", step) as memory:
        tell(memory, "bees")
        (problem,) = memory.flush().problems
    assert "ValueError at test_pages_aside.py:" in problem
    assert ", called at tiermem/writing/distil.py:" in problem
    assert " in prove_claims: xxx" in problem
    assert len(problem) < 500
    assert "\n" not in problem


def test_a_fault_that_no_page_is_to_blame_for_is_raised_as_ours_with_the_cause(
    open_memory: OpenMemory,
) -> None:
    fault = RuntimeError("the engine is broken")

    async def fails(*args: Any, **kwargs: Any) -> Any:
        raise fault

    engine = replace(quoting_engine(), route=fails)
    memory = open_memory(engine=engine)
    with pytest.raises(Unexpected, match="the engine is broken") as raised:
        memory.ask("How many sails?")
    assert raised.value.__cause__ is fault


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program_is_no_fault_of_a_page(stop: type[BaseException]) -> None:
    kept: list[Ledger] = []

    async def stops(*args: Any, **kwargs: Any) -> Any:
        raise stop

    with pytest.raises((stop, BaseExceptionGroup)) as raised:
        asyncio.run(distilled(stops, kept))
    assert raised.type is stop or raised.group_contains(stop)
    assert kept[0].tier1.pages_set_aside == ()


def test_a_page_that_was_given_up_is_not_set_aside() -> None:
    kept: list[Ledger] = []

    async def given_up() -> bool:
        async def waits(*args: Any, **kwargs: Any) -> Any:
            scope.cancel()
            await anyio.sleep_forever()

        with anyio.CancelScope() as scope:
            await distilled(waits, kept)
        return scope.cancelled_caught

    assert anyio.run(given_up)
    assert kept[0].tier1.pages_set_aside == ()


async def distilled(distil: Callable[..., Any], kept: list[Ledger]) -> None:
    ledger = await ledger_opened()
    kept.append(ledger)
    writer = Writer(ledger, DictIndex(), replace(Rules().engine, distil=distil))
    await writer.observe(S1, GARDEN)
    await writer.seal()
    await writer.distil_pending()


async def raises(question: Question, evidence: Any) -> Any:
    raise KeyError("choices")


async def gives_text(question: Question, evidence: Any) -> Any:
    return "It is in Leipzig."


@pytest.mark.parametrize(
    ("compose", "error", "message"),
    [
        (raises, Unexpected, r"Error at .*tiermem/reading"),
        (gives_text, InvalidInput, "gave str, which must be a `Draft`"),
    ],
)
@pytest.mark.parametrize("pages", [1, 4, 90])
def test_an_engine_that_always_raises_hides_no_page(
    compose: Any, error: type[Exception], message: str, pages: int, tmp_path: Path
) -> None:
    engine = Engine(name="own", free=True, compose=compose)
    with tiermem.open(tmp_path / "store", engine=engine, embedder=HashEmbedder()) as memory:
        for number in range(pages):
            memory.add(f"The bank of branch {number} is in Leipzig.", speaker="Ann", session=f"s{number}")
        memory.flush()
        with pytest.raises(error, match=message):
            memory.ask("Where is the bank?")
        assert memory.stats().pages_aside == 0
        assert len(memory.search("bank", kind="turns", limit=pages)) == pages
