"""A filter by name finds whom WhatsApp marks as a number that is not saved."""

from pathlib import Path

import pytest

from pagestore import Turn
from tests.api.conftest import OpenMemory
from tiermem.dialogue import read_dialogue
from tiermem.model import TurnFilter


@pytest.mark.parametrize(
    ("wanted", "there", "keeps"),
    [
        ("Tom", "~ Tom", True),
        ("tom", "~\u202fTom", True),
        ("Zoë", "~\xa0Zoe\u0308", True),
        ("Łucja Nowak", "~Łucja Nowak", True),
        ("~ Tom", "~ Tom", True),
        ("小明", "~ 小明", True),
        ("~ Tom", "Tom", True),
        ("Tom", "~ Tomas", False),
        ("Tom", "Tom ~", False),
        ("~", "~ Tom", False),
        ("Tom", "- Tom", False),
    ],
)
def test_the_mark_is_no_part_of_a_name(wanted: str, there: str, keeps: bool) -> None:
    assert TurnFilter(speaker=wanted).keeps(Turn(speaker=there, text="x")) is keeps


@pytest.mark.parametrize("mark", ["~ ", "~\u202f", "~\xa0", "~"])
def test_a_filter_finds_the_messages_of_a_number_that_is_not_saved(
    open_memory: OpenMemory, tmp_path: Path, mark: str
) -> None:
    chat = tmp_path / "_chat.txt"
    chat.write_text(
        f"[14/05/2024, 21:58:01] {mark}Tom: The boat is in Kiel.\n"
        "[14/05/2024, 21:59:01] Ines: The boat is blue.\n[14/05/2024, 21:59:09] Rui: What boat?\n"
    )
    memory = open_memory()
    memory.ingest(read_dialogue(chat))
    found = memory.search("boat", kind="turns", speaker="Tom")
    assert [one.text.rpartition(": ")[2] for one in found] == ["The boat is in Kiel."]
    assert "Kiel" in memory.context("boat", speaker="tom").text
