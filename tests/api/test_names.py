"""Names of speakers are compared whatever their case and Unicode form; names of agents exactly."""

import unicodedata
from pathlib import Path

import pytest

import tiermem
from tests.api.conftest import OpenMemory
from tiermem.errors import InvalidInput


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        (unicodedata.normalize("NFD", "Zoë"), "Zoë"),
        ("Zoë", unicodedata.normalize("NFD", "zoë")),
        (unicodedata.normalize("NFD", "Łukasz Żuk"), "łukasz żuk"),
        ("Straße 7", "STRASSE 7"),
        ("Ａｎｎ", "ann"),  # full width
        ("ﬁnn", "Finn"),  # a ligature
    ],
)
def test_a_speaker_is_found_in_another_case_or_unicode_form(
    open_memory: OpenMemory, stored: str, asked: str
) -> None:
    memory = open_memory()
    memory.add("I painted the shed green.", speaker=stored)
    memory.add("I painted the shed red.", speaker="Somebody")
    memory.flush()
    for kind in ("any", "turns", "units"):
        assert {one.text[-6:] for one in memory.search("shed", kind=kind, speaker=asked)} == {"green."}
    assert "green" in memory.context("Who painted the shed?", speaker=asked).text
    assert not memory.search("shed", speaker=f"{asked}a")


def test_whom_a_question_names_is_found_in_another_unicode_form(open_memory: OpenMemory) -> None:
    memory = open_memory()
    for name in ("Bo", "André", "Carl"):
        memory.add("I like the old lighthouse.", speaker=unicodedata.normalize("NFD", name), session=name)
    memory.flush()
    found = memory.search(unicodedata.normalize("NFC", "What does André like?"), kind="turns", limit=1)
    assert unicodedata.normalize("NFC", found[0].text).startswith("André:")


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("scout", "Scout"),
        ("Zoë", unicodedata.normalize("NFD", "Zoë")),
        ("straße", "STRASSE"),
        ("a-1", "a‑1"),  # another hyphen
        ("scout", "sc\u200bout"),  # an invisible character
    ],
)
def test_a_new_agent_that_looks_like_another_is_refused(address: Path | str, known: str, new: str) -> None:
    with tiermem.open(address, engine="local", embedder="hashed", index="memory") as memory:
        memory.as_agent(known).add("The vault opens at nine.", speaker="Ann")
        for write in (
            lambda: memory.as_agent(new).add("Mine.", speaker="Ann"),
            lambda: memory.add(tiermem.Turn(speaker="Ann", text="Mine.", agent=new)),
            lambda: memory.as_agent(new).remember("The boat is mine."),
        ):
            with pytest.raises(InvalidInput, match="choose another name"):
                write()
        memory.as_agent(f"{known}-b").add("The gate opens at ten.", speaker="Ann")
        memory.as_agent(known).add("The vault closes at five.", speaker="Ann")
    with (
        tiermem.open(address, engine="local", embedder="hashed", index="memory") as memory,
        pytest.raises(InvalidInput, match="choose another name"),
    ):
        memory.as_agent(new).add("Mine.", speaker="Ann")
