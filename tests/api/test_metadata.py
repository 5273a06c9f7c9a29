"""What is known of a turn besides its words: kept, given back, moved with the dialogue, erased with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import tiermem
from pagestore import Turn
from tests.api.conftest import OpenMemory
from tests.reading.world import ListIndex
from tests.stores import stored_bytes
from tiermem.apps.cli.app import app
from tiermem.dialogue import read_dialogue
from tiermem.errors import InvalidInput

SAID = "The boat is moored in Piran."


def known(memory: tiermem.Memory) -> list[Any]:
    """The metadata of every turn, as its page tells it."""
    pages: Any = [memory.page(info.id) for info in memory.pages()] or memory.open_pages()
    return [line.turn and line.turn.metadata for page in pages for line in page.lines]


def test_a_turn_keeps_its_own_and_takes_the_rest_from_the_call(open_memory: OpenMemory) -> None:
    memory = open_memory(path=":memory:", index=ListIndex())
    given: list[Any] = [
        "bare words",
        Turn(speaker="Ann", text=SAID, metadata={"channel": "boats", "deep": {"a": [1, None, "ü"]}}),
        {"role": "user", "content": "hello", "metadata": {"id": 5}},
        {"role": "user", "content": "without", "metadata": None},
    ]
    memory.add(given, metadata={"channel": "general", "day": 3})
    memory.flush()
    assert known(memory) == [
        {"channel": "general", "day": 3},
        {"channel": "boats", "day": 3, "deep": {"a": [1, None, "ü"]}},
        {"channel": "general", "day": 3, "id": 5},
        {"channel": "general", "day": 3},
    ]


def test_stated_facts_have_metadata_too(open_memory: OpenMemory) -> None:
    memory = open_memory(path=":memory:", index=ListIndex())
    unit = memory.remember(SAID, metadata={"by": "form"}).unit
    memory.correct(unit.id, "The boat is moored in Izola.", metadata={"by": "phone"})
    assert [found.text for found in memory.search("Where is the boat moored?", where={"by": "phone"})] == [
        "user: The boat is moored in Izola."
    ]


@pytest.mark.parametrize(
    "odd", ["channel", {5: "general"}, {"a": {1, 2}}, {"a": (1,)}, {"a": float("nan")}, {"a": 10**5000}]
)
def test_what_cannot_be_kept_is_refused_and_nothing_is_stored(open_memory: OpenMemory, odd: Any) -> None:
    memory = open_memory(path=":memory:", index=ListIndex())
    with pytest.raises(InvalidInput, match="metadata"):
        memory.add([SAID], metadata=odd)
    with pytest.raises(InvalidInput, match="turn 2: metadata"):
        memory.add(["fine", Turn(speaker="Ann", text=SAID, metadata=odd)])
    with pytest.raises(InvalidInput, match="turn 1: metadata"):
        memory.add([{"role": "user", "content": SAID, "metadata": odd}])
    assert memory.stats().turns == 0


def test_nesting_is_limited(open_memory: OpenMemory) -> None:
    deep: dict[str, Any] = {}
    for _ in range(5_000):
        deep = {"a": deep}
    with pytest.raises(InvalidInput, match="metadata"):
        open_memory(path=":memory:", index=ListIndex()).add(SAID, metadata=deep)


def test_it_goes_with_the_dialogue_and_comes_back(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory()
    memory.add(SAID, speaker="Ann", metadata={"channel": "boats", "n": [1]})
    memory.add("Hm.", speaker="Bob")
    memory.export(tmp_path / "dialogue.jsonl")
    (conversation,) = read_dialogue(tmp_path / "dialogue.jsonl")
    assert [turn.metadata for turn in conversation.sessions[0].turns] == [{"channel": "boats", "n": [1]}, {}]


def test_erasing_leaves_nothing_of_it(open_memory: OpenMemory, address: Path | str) -> None:
    memory = open_memory()
    memory.add([Turn(speaker="Ann", text=SAID, turn_id="1", metadata={"patient": "Zdenka Varhulik"}), "Hm."])
    memory.flush()
    memory.ask("Where is the boat moored?", where={"patient": "Zdenka Varhulik"})
    assert memory.erase(turn="1", session="main", reason="asked for").erasure.turns
    memory.close()
    left = stored_bytes(address)
    assert b"Hm." in left
    assert b"Zdenka" not in left
    assert b"Varhulik" not in left


def test_on_the_command_line(tmp_path: Path) -> None:
    def run(*words: str) -> Any:
        done = CliRunner().invoke(app, [*words, "--store", str(tmp_path / "store"), "--json"])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    for city, year in (("Piran", "2023"), ("Izola", "true")):
        file = tmp_path / f"{city}.txt"
        file.write_text(f"Ann: The boat is moored in {city}.\n", encoding="utf-8")
        told = ("--session", city, "--metadata", "channel=boats", "--metadata", f"year={year}")
        run("ingest", str(file), *told)
    for written, cities in (("year=2023", {"Piran"}), ("year=true", {"Izola"}), ("channel=cars", set())):
        found = run("search", "Where is the boat moored?", "--where", "channel=boats", "--where", written)
        assert {city for city in ("Piran", "Izola") if city in str(found)} == (
            cities if "channel" not in written else set()
        )
    refused = CliRunner().invoke(app, ["search", "boat", "--where", "channel"])
    assert (refused.exit_code, "KEY=VALUE" in refused.output) == (2, True)
