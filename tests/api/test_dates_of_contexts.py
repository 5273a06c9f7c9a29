"""No date that was computed from words is in a context, a result or a prompt: without a model only "said"."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

import tiermem
from tests.api.conftest import OpenMemory
from tiermem.model import Evidence
from tiermem.reasoning import Draft, Engine
from tiermem.reasoning.interface import ABSTAINED
from tiermem.reasoning.model import prompt_text
from tiermem.text.question import Question

SAID_AT = "2026-01-15"
"""A Thursday."""
SAID = (
    "We fly to Faro on Thursday 22nd.",
    "Let's meet at the mill next Friday at noon.",
    "The plumber comes the day after tomorrow.",
    "I had the knee surgery two weeks ago.",
    "The lease of the studio runs until the end of June.",
    "I start at the bakery a week from tomorrow.",
    "She left for Bergen the other day.",
    "We met in Ghent a year and a half ago.",
    "Grandpa (born 1931) turned 95 yesterday.",
    "Nächsten Dienstag fahre ich nach Graz.",
    "Mañana tengo el examen de inglés.",
    "Il y a trois jours, j'ai perdu mes clés.",
    "Przedwczoraj oddałam rower do naprawy.",
    "前天我把車賣了。",
)
_DAY = re.compile(r"\d{4}-\d\d(?:-\d\d)?|\bJanuary\b|happened|planned for|dated")


@pytest.fixture(params=[False, True], ids=["open", "sealed"])
def memory(open_memory: OpenMemory, request: pytest.FixtureRequest) -> tiermem.Memory:
    memory = open_memory(engine="local")
    for number, text in enumerate(SAID):
        memory.add(text, speaker="Ann", session=f"s{number}", said_at=f"{SAID_AT}T10:00")
    if request.param:
        memory.flush()
    return memory


@pytest.mark.parametrize("text", SAID)
def test_a_context_and_results_say_when_it_was_said_and_no_other_day(
    memory: tiermem.Memory, text: str
) -> None:
    context = memory.context(text, asked_at="2026-03-01", max_tokens=200)
    assert f"said {SAID_AT}\n| Ann: {text}" in context.text
    assert {found[0] for found in _DAY.finditer(context.text)} == {SAID_AT}
    for kind in ("any", "turns", "units"):
        for found in memory.search(text, kind=kind):
            assert found.event_at is None
            assert found.text.removeprefix("Ann: ") in SAID
    assert all(unit.event_at is None for unit in memory.units())


@pytest.mark.parametrize("text", SAID)
def test_an_engine_is_given_no_other_day(open_memory: OpenMemory, text: str) -> None:
    given: list[Evidence] = []

    async def compose(question: Question, evidence: Sequence[Evidence]) -> Draft:
        given.extend(evidence)
        return ABSTAINED

    memory = open_memory(engine=Engine(name="test", free=True, compose=compose))
    memory.add(text, speaker="Ann", said_at=f"{SAID_AT}T10:00")
    memory.flush()
    memory.ask(text, asked_at="2026-03-01")
    assert [item.text for item in given if text in item.text]
    assert all(item.event_at is None for item in given)
    shown = prompt_text.evidence(given)
    assert {found[0] for found in _DAY.finditer(shown)} == {SAID_AT}
