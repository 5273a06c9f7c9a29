"""Dates that rules compute are in no context, search result or prompt; when something was said is."""

from dataclasses import replace

import pytest

import tiermem
from tests.api.conftest import OpenMemory
from tiermem.reading import quoting
from tiermem.reasoning import by_rules
from tiermem.reasoning.interface import PageView
from tiermem.reasoning.model import prompt_text
from tiermem.reasoning.rules.undated import without_rule_dates

SAID_AT = "2026-01-21"
READ_IN_PART = "Two days before yesterday I met Clara in Lisbon."
SAID = (
    "The boiler inspection is on Thursday.",
    "I picked up the red canoe yesterday near the harbour.",
    "My sister (born 1984) visited Porto last week and brought a cake.",
    "We adopted Biscuit the dog three days ago.",
    "The lease of the studio ends next month, said the landlord Marek.",
    READ_IN_PART,
    "Piano lessons with Mr Abe begin tomorrow at the music school.",
)


@pytest.fixture(params=["local", "local with a reader"])
def memory(request: pytest.FixtureRequest, open_memory: OpenMemory) -> tiermem.Memory:
    memory = open_memory(engine=replace(by_rules(), name=request.param))
    for number, text in enumerate(SAID):
        memory.add(text, speaker="Ann", said_at=SAID_AT, session=f"s{number}")
    memory.flush()
    assert {unit.made_by for unit in memory.units()} == {request.param}
    return memory


@pytest.mark.parametrize("text", SAID)
def test_contexts_and_search_results_have_the_words_and_when_they_were_said(
    memory: tiermem.Memory, text: str
) -> None:
    (unit,) = (one for one in memory.units() if one.text.startswith(f"Ann: {text[:12]}"))
    assert (unit.event_at is None) is (text == READ_IN_PART)
    context = memory.context(text)
    assert f"said {SAID_AT}\n| Ann: {text}\n" in f"{context}\n"
    assert "happened" not in context.text
    for found in (memory.search(text, kind="units"), memory.search(text)):
        assert f"Ann: {text}" in {one.text for one in found}
        assert {one.event_at for one in found} == {None}
        assert not any("January" in one.text or "February" in one.text for one in found)


@pytest.mark.parametrize("text", SAID)
def test_prompts_have_no_date_of_a_unit_of_rules(memory: tiermem.Memory, text: str) -> None:
    (unit,) = (one for one in memory.units() if one.text.startswith(f"Ann: {text[:12]}"))
    page = memory.page(unit.spans[0].page_id)
    for shown in (
        prompt_text.units([unit]),
        prompt_text.views([PageView(page=page, units=(unit,))]),
        prompt_text.evidence([quoting.unit_evidence(unit, score=1.0)]),
    ):
        assert f"Ann: {text}" in shown
        assert "happened" not in shown
        assert "2026)" not in shown
    assert f"said {SAID_AT}" in prompt_text.units([unit])


def test_a_unit_of_a_model_keeps_its_date(memory: tiermem.Memory) -> None:
    unit = replace(memory.units()[0], made_by="model:gpt")
    assert without_rule_dates(unit) is unit
    assert f"happened {unit.event_at}" in prompt_text.units([unit])


@pytest.mark.parametrize("own", ["(born 1984)", "(7 May 2025)", "(2026-01-21)", "(21 January 2026)", "(May)"])
def test_a_speakers_own_brackets_stay(open_memory: OpenMemory, own: str) -> None:
    memory = open_memory()
    text = f"My friend Clara {own} picked up the canoe yesterday."
    memory.add(text, speaker="Ann", said_at=SAID_AT)
    memory.flush()
    assert own in str(memory.context("Who picked up the canoe?"))
    assert f"Ann: {text}" in {one.text for one in memory.search("canoe")}


def test_a_unit_that_was_found_is_held_in_a_workspace(memory: tiermem.Memory) -> None:
    mind = memory.workspace()
    for found in memory.search("boiler canoe sister dog lease Clara piano", kind="units"):
        held = mind.add(found).item
        assert held is not None
        assert held.text == found.text
