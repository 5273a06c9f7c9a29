"""Units are as important as the most important turn they rest on, and no longer so when it is erased."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pagestore import Page
from tests.writing.parts import GARDEN, S1, DictIndex, Rules, finding_on, opened
from tiermem.ledger import Ledger
from tiermem.model import Claim
from tiermem.reasoning.interface import Operation
from tiermem.writing import Selection, Writer

pytestmark = pytest.mark.usefixtures("logs")

TWO = "Ann planted 12 tomatoes in the garden. Ann bought a red bicycle from Marco."


async def told(importances: tuple[float | None, ...], rules: Rules) -> tuple[Ledger, Writer]:
    ledger = await opened()
    writer = Writer(ledger, DictIndex(), rules.engine)
    for turn, importance in zip(GARDEN, importances, strict=False):
        await writer.observe(S1, [replace(turn, importance=importance)])
    await writer.seal()
    await writer.distil_pending()
    return ledger, writer


def both(page: Page) -> tuple[Claim, ...]:
    """One claim that rests on the first two turns, which its maker thinks is of some importance."""
    return (Claim(text=TWO, quotes=(GARDEN[0].text, GARDEN[1].text), importance=0.6),)


@pytest.mark.anyio
async def test_a_unit_is_as_important_as_its_maker_or_a_turn_it_rests_on_says() -> None:
    ledger, _ = await told((0.9, 0.1, None), Rules())
    assert [unit.importance for unit in ledger.tier1.units()] == [0.9, 0.5, 0.5]


@pytest.mark.anyio
async def test_of_several_turns_the_most_important_counts() -> None:
    ledger, _ = await told((0.2, 0.8), Rules(distils=both))
    assert [unit.importance for unit in ledger.tier1.units()] == [0.8]


@pytest.mark.anyio
@pytest.mark.parametrize("op", ["ADD", "UPDATE"])
async def test_a_finding_brings_the_importance_of_its_turn(op: str) -> None:
    def reconciles(fact: object, shown: object) -> Operation:
        assert isinstance(shown, list)
        if op == "ADD":
            return Operation(op="ADD", reason="new")
        unit = shown[0]
        return Operation(op="UPDATE", target=unit.id, text=f"{unit.text} {GARDEN[1].text}", reason="same")

    def distils(page: Page) -> tuple[Claim, ...]:
        return (Claim(text=GARDEN[0].text, quotes=(GARDEN[0].text,)),)

    ledger, writer = await told((None, 0.7), Rules(distils=distils, reconciles=reconciles))
    report = await writer.write_back([await finding_on(ledger, GARDEN[1].text)])
    assert [decision.op for decision in report.decisions] == [op]
    assert ledger.tier1.units()[-1].importance == 0.7


@pytest.mark.anyio
@pytest.mark.parametrize(("erased", "left"), [(0.9, 0.5), (0.3, 0.6), (None, 0.6)])
async def test_what_an_erased_turn_was_said_to_matter_is_erased_with_it(
    erased: float | None, left: float
) -> None:
    """What the maker judged is kept where it was more; where it was not, nobody knows it any more."""

    def distils(page: Page) -> tuple[Claim, ...]:
        quotes = (GARDEN[0].text, GARDEN[1].text)
        return (Claim(text=GARDEN[0].text, quotes=quotes, importance=0.6),)

    ledger, writer = await told((None, erased), Rules(distils=distils))
    (info,) = await ledger.pages()
    page = await ledger.page(info.id)
    erasure, _ = await writer.eraser.erase(Selection(turn=page.lines[1].address), "asked to")
    assert len(erasure.narrowed) == 1
    assert [unit.importance for unit in ledger.tier1.units()] == [left]
