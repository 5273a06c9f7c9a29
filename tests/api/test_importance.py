"""How much a caller says a turn matters: kept with it, and moved with it. Units: `tests/writing`."""

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
from tiermem.apps.cli.app import app
from tiermem.dialogue import read_dialogue
from tiermem.errors import InvalidInput

SAID = "The boat is moored in Piran."


def told(memory: tiermem.Memory) -> list[Any]:
    """The importance of every turn, as its page tells it."""
    pages: Any = [memory.page(info.id) for info in memory.pages()] or memory.open_pages()
    return [line.turn and line.turn.importance for page in pages for line in page.lines]


def test_a_turn_keeps_its_own_and_takes_that_of_the_call_otherwise(open_memory: OpenMemory) -> None:
    memory = open_memory(path=":memory:", index=ListIndex())
    given: list[Any] = [
        "bare words",
        Turn(speaker="Ann", text=SAID, importance=1),
        {"role": "user", "content": "hello", "importance": 0},
        {"role": "user", "content": "without", "importance": None},
    ]
    memory.add(given, importance=0.9)
    memory.add("nobody says how much this matters")
    assert told(memory) == [0.9, 1.0, 0.0, 0.9, None]


@pytest.mark.parametrize("odd", ["high", 7, -0.1, float("nan"), True, [0.5]])
def test_what_is_no_number_from_0_to_1_is_refused_and_nothing_is_stored(
    open_memory: OpenMemory, odd: Any
) -> None:
    memory = open_memory(path=":memory:", index=ListIndex())
    with pytest.raises(InvalidInput, match="importance must be a number from 0 to 1"):
        memory.add([SAID], importance=odd)
    with pytest.raises(InvalidInput, match="turn 2: importance"):
        memory.add(["fine", Turn(speaker="Ann", text=SAID, importance=odd)])
    with pytest.raises(InvalidInput, match="turn 1: importance"):
        memory.add([{"role": "user", "content": SAID, "importance": odd}])
    assert memory.stats().turns == 0


def test_what_is_stated_matters_as_much_as_was_said(open_memory: OpenMemory) -> None:
    memory = open_memory(path=":memory:", index=ListIndex())
    unit = memory.remember(SAID, importance=0.1).unit
    assert unit.importance == 0.1
    assert memory.remember("The bike stands in Izola.").unit.importance == 0.5
    assert memory.correct(unit.id, "The boat is moored in Izola.", importance=1).unit.importance == 1.0


def test_it_goes_with_the_dialogue_and_comes_back(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory()
    memory.add(SAID, speaker="Ann", importance=0.75)
    memory.add("Hm.", speaker="Bob")
    memory.export(tmp_path / "dialogue.jsonl")
    (conversation,) = read_dialogue(tmp_path / "dialogue.jsonl")
    assert [turn.importance for turn in conversation.sessions[0].turns] == [0.75, None]


def test_a_bundle_holds_it(open_memory: OpenMemory) -> None:
    memory = open_memory(path=":memory:", index=ListIndex())
    memory.add(SAID, speaker="Ann", importance=0.625)
    memory.flush()
    bundle = memory.bundle(memory.ask("Where is the boat moored?").id)
    assert '"i":0.625' in str(bundle)


def test_on_the_command_line(tmp_path: Path) -> None:
    def run(*words: str) -> Any:
        done = CliRunner().invoke(app, [*words, "--store", str(tmp_path / "store"), "--json"])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    file = tmp_path / "boats.txt"
    file.write_text(f"Ann: {SAID}\n", encoding="utf-8")
    run("ingest", str(file), "--importance", "0.9")
    stated = run("remember", "The bike stands in Izola.", "--importance", "0.8")["unit"]
    corrected = run("correct", stated["id"], "The bike stands in Koper.", "--importance", "0.7")["unit"]
    assert (stated["importance"], corrected["importance"]) == (0.8, 0.7)
    with tiermem.open(tmp_path / "store", read_only=True) as memory:
        assert told(memory) == [0.9, 0.8, 0.7]
    refused = CliRunner().invoke(
        app, ["remember", SAID, "--importance", "7", "--store", str(tmp_path / "store")]
    )
    assert (refused.exit_code, "from 0 to 1" in refused.output) == (1, True)
