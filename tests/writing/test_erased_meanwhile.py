"""What one writer concludes while another one erases is not recorded, or is erased with the words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import anyio
import pytest

from pagestore import Page
from pagestore.errors import Locked
from pagestore.lines.interface import Lines
from pagestore.log import Log
from tests.ledger.building import answer
from tests.logs import new_shared_lines
from tests.writing.claiming import TwoWriters
from tests.writing.parts import GARDEN, S1, SPACE, DictIndex, finding_on
from tiermem.errors import ErasedMeanwhile
from tiermem.model import LinkedFact, Usage
from tiermem.writing import Selection, Writer
from tiermem.writing.erase import Eraser

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("logs")]
SECRET = GARDEN[2]
WORD = b"peanuts"


@pytest.fixture
def both_lines(logs: None) -> tuple[Lines, Lines]:
    """The lines of the space, as each writer has them."""
    return new_shared_lines()


@pytest.fixture
def lines(both_lines: tuple[Lines, Lines]) -> Lines:
    """The lines as the one that erases has them."""
    return both_lines[1]


@pytest.fixture
async def two(both_lines: tuple[Lines, Lines]) -> TwoWriters:
    """Two writers of a space, in which one page is sealed and not summarised."""
    one, other = [Log(lines, SPACE) for lines in both_lines]
    two = await TwoWriters.of((one, other))
    await two.writers[0].observe(S1, GARDEN)
    await two.writers[0].seal()
    await two.writers[1].pending_pages()
    return two


def holds_the_word(lines: Lines) -> bool:
    return WORD in b"".join(lines.read(0, 1000))


async def erase(two: TwoWriters) -> None:
    """Have the second writer erase the secret."""
    await two.writers[1].eraser.erase(Selection(turn=SECRET.turn_id, session=S1), "asked to")


async def test_an_answer_is_not_recorded_and_what_it_cost_is(two: TwoWriters, lines: Lines) -> None:
    (one, _), writer = two.ledgers, two.writers[0]
    since = one.erasures_by_others
    given = replace(answer("a1"), text=SECRET.text, usage=Usage(calls=2, input_tokens=7))
    await erase(two)
    await one.catch_up()
    with pytest.raises(ErasedMeanwhile, match="another process erased words of space 'space' meanwhile"):
        await writer.record_answer(given, since=since)
    assert not holds_the_word(lines)
    assert one.tier1.answers == {}
    assert one.tier1.spent_on(datetime.now(UTC).date()).calls == 2
    await writer.record_answer(replace(given, text="Nothing."), since=one.erasures_by_others)
    assert len(one.tier1.answers) == 1


async def test_a_summary_is_not_recorded_and_is_made_again(two: TwoWriters, lines: Lines) -> None:
    slow, writer = two.rules[0], two.writers[0]
    async with anyio.create_task_group() as tasks:

        async def erase_meanwhile() -> None:
            await slow.begun.wait()
            await erase(two)
            slow.may_go_on.set()

        tasks.start_soon(erase_meanwhile)
        report = await writer.distil_pending()
    assert (report.distilled, report.pending) == (0, 1)
    assert "ErasedMeanwhile" in report.unfinished[0].reason
    assert not holds_the_word(lines)
    assert (await writer.distil_pending()).units == len(GARDEN) - 1


async def test_a_decision_on_a_finding_is_not_recorded(two: TwoWriters, lines: Lines) -> None:
    one = two.ledgers[0]

    async def select(question: str, facts: Sequence[LinkedFact], pages: Sequence[Page]) -> tuple[int, ...]:
        await erase(two)
        return tuple(range(len(facts)))

    writer = Writer(one, DictIndex(), replace(two.rules[0].engine, select=select))
    finding = await finding_on(one, SECRET.text)
    await writer.record_answer(answer("a1"), [finding])
    report = await writer.apply_pending()
    assert report.decisions == ()
    assert "ErasedMeanwhile" in report.unfinished[0].reason
    assert not holds_the_word(lines)


async def test_what_is_recorded_while_an_erasing_is_worked_out_is_erased_too(
    two: TwoWriters, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    closure, recorded = Eraser._closure, list[str]()

    async def closure_meanwhile(eraser: Eraser, erased: object) -> object:
        found = await closure(eraser, erased)  # type: ignore[arg-type]
        if len(recorded) < 3:
            recorded.append(f"a{len(recorded)}")
            await two.writers[0].record_answer(replace(answer(recorded[-1]), text=SECRET.text), since=0)
        return found

    monkeypatch.setattr(Eraser, "_closure", closure_meanwhile)
    await erase(two)
    assert recorded == ["a0", "a1", "a2"]
    assert not holds_the_word(lines)
    await two.writers[0].pending_pages()
    for ledger in two.ledgers:
        assert ledger.tier1.answers == {}


async def test_an_erasing_that_others_never_let_begin_says_so(
    two: TwoWriters, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tiermem.writing.erase._TRIES", 0)
    with pytest.raises(Locked, match="erase again when they ask less"):
        await erase(two)
