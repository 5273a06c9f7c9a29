"""A block that memory made for a prompt and that is stored again is in no search, unit or context."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

import tiermem
from tests.api.conftest import OpenMemory
from tiermem.text.own_context import HEADING, without_own_context

SAID = (
    ("Ann", "My flat is in Turku, above the chandler Virtanen."),
    ("Bo", "The ferry Galaxy leaves at 20:55.\nBring the blue folder."),
    ("Ylva", "Mittens has an appointment with the vet Lindqvist."),
)
PROMPTS: dict[str, Callable[[str], str]] = {
    "before the question": lambda block: f"{block}\n\nWho feeds the parrot?",
    "after the question": lambda block: f"Who feeds the parrot?\n\n{block}",
    "between tags": lambda block: f"<memory>\n{block}\n</memory>\nWho feeds the parrot?",
    "quoted": lambda block: "\n".join(f"> {row}" for row in block.splitlines()) + "\n\nWho feeds the parrot?",
    "indented": lambda block: f"    {block}\nWho feeds the parrot?".replace("\n|", "\n    |"),
    "Windows lines": lambda block: f"{block}\nWho feeds the parrot?".replace("\n", "\r\n"),
    "as JSON": lambda block: json.dumps({"system": block, "user": "Who feeds the parrot?"}),
    "twice": lambda block: f"{block}\nWho feeds the parrot?\n{block}",
}


def blocks_in(memory: tiermem.Memory) -> list[str]:
    return [memory.context(name, max_tokens=400).text for name in ("Turku flat", "ferry", "vet")]


@pytest.fixture
def memory(open_memory: OpenMemory) -> tiermem.Memory:
    memory = open_memory(engine="local")
    for speaker, text in SAID:
        memory.add(text, speaker=speaker, said_at="2024-01-01", session="first")
    memory.flush()
    return memory


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS)
def test_a_stored_block_is_left_out_of_searches_units_and_contexts(
    memory: tiermem.Memory, prompt: Callable[[str], str]
) -> None:
    units = {unit.text for unit in memory.units()}
    for number, block in enumerate(blocks_in(memory)):
        assert HEADING in block
        memory.add([{"role": "user", "content": prompt(block)}], session=f"later {number}")
    memory.flush()
    new = {unit.text for unit in memory.units()} - units
    assert all("parrot" in text for text in new)
    for word in ("Virtanen", "Galaxy", "Lindqvist"):
        found = memory.search(word, kind="turns", limit=1)[0]
        assert found.speaker in ("Ann", "Bo", "Ylva")
        text = memory.context(word, max_tokens=2_000).text
        assert text.count("From memory.") == 1
        assert text.count(word) == 1
    assert "parrot" in memory.context("parrot", max_tokens=500).text
    stored = "".join(memory.page(page.id).text for page in memory.pages())
    assert stored.count("From memory.") >= len(SAID)


def test_a_turn_that_is_only_a_block_is_no_source(memory: tiermem.Memory) -> None:
    (block, *_) = blocks_in(memory)
    memory.add(block, speaker="Cleo", session="later")
    text = memory.context("Turku flat", max_tokens=2_000).text
    assert "Cleo" not in text
    assert text.count("Virtanen") == 1


def test_the_rest_of_a_block_in_a_later_part_of_a_long_turn_is_left_out(open_memory: OpenMemory) -> None:
    memory = open_memory(engine="local")
    said = "Parcel {} from Zagreb holds {} lamps for Mirjana, who lives above the bakery by the old bridge."
    memory.add([{"role": "user", "content": said.format(number, number)} for number in range(120)])
    memory.flush()
    block = memory.context("parcels from Zagreb", max_tokens=9_000)
    assert len(block.sources) > 40
    memory.add([{"role": "user", "content": f"{block.text}\n\nHow many lamps?"}], session="later")
    memory.flush()
    parts = [line for page in memory.pages(session="later") for line in memory.page(page.id).lines]
    assert len(parts) > 1
    assert all("Zagreb" not in unit.text for unit in memory.units(session="later"))
    found = memory.recall("Zagreb", kind="turns", strategy="fulltext", limit=200).items
    assert not [one for one in found if one.session == "later"]


@pytest.mark.parametrize(
    "text",
    [
        "From memory. I would say it is blue.",
        "| a | b |\n| 1 | 2 |",
        "[1] said the first\n[2] said the second",
        f"{HEADING[:-5]}",
        "He wrote: lines that open with | are data.",
    ],
)
def test_other_words_are_kept(text: str) -> None:
    assert without_own_context(text) == text


def test_what_follows_a_block_is_kept() -> None:
    block = f"{HEADING}\n[1] said 2024-05-08\n| Ann: hello\n| \n[2] noted; undated\n| bye"
    for end in ("\n[3] is my answer", "\nand | this", "\n\n| a table |", " and more"):
        kept = without_own_context(f"Look: {block}{end}")
        assert kept in (f"Look: …{end}", "Look: …")
        assert (kept == "Look: …") == (end == " and more")
