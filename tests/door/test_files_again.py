"""Files read in more than once, edited, grown, erased from, or beside others with the same session name."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tiermem
from pagestore import Turn
from tests.door.conftest import OpenMemory
from tiermem.dialogue import read_dialogue

CHAT = [
    {"speaker": "Ann", "text": "My locker code is 0417."},
    {"speaker": "Bob", "text": "Noted.", "timestamp": "2023-05-08T13:56:00"},
]


@pytest.fixture
def memory(open_memory: OpenMemory) -> tiermem.Memory:
    return open_memory()


def read(folder: Path, *told: dict[str, Any]) -> Sequence[Turn]:
    """The turns of a file."""
    file = folder / "chat.jsonl"
    file.write_text("".join(json.dumps(turn) + "\n" for turn in told))
    ((session,),) = (conversation.sessions for conversation in read_dialogue(file))
    return session.turns


def texts(memory: tiermem.Memory) -> list[str | None]:
    """What is stored, in order; `None` for what was erased."""
    return [
        line.turn.text if line.turn else None for page in memory.open_pages("chat") for line in page.lines
    ]


def by_words(turn: Turn) -> Turn:
    """The turn with the id that versions made of its words."""
    assert turn.turn_id is not None
    position, _, moment = turn.turn_id.removeprefix("@").partition(" ")
    told = "\x1f".join((turn.speaker, moment, turn.text))
    return replace(turn, turn_id=f"{position}-{hashlib.sha256(told.encode()).hexdigest()[:12]}")


def test_a_file_that_has_grown_brings_what_is_new(memory: tiermem.Memory, tmp_path: Path) -> None:
    assert memory.add(read(tmp_path, *CHAT), session="chat").new == 2
    assert memory.add(read(tmp_path, *CHAT, {"speaker": "Ann", "text": "Bye."}), session="chat").new == 1
    assert memory.add(read(tmp_path, *CHAT, {"speaker": "Ann", "text": "Bye."}), session="chat").new == 0


@pytest.mark.parametrize(
    "change", [{"text": "My locker code is 0418."}, {"speaker": "Eve"}, {"timestamp": "2023-05-09T10:00:00"}]
)
def test_what_another_file_of_the_session_says_at_the_same_place_is_stored_once_too(
    memory: tiermem.Memory, tmp_path: Path, change: dict[str, str]
) -> None:
    other = [{**CHAT[0], **change}, *CHAT[1:]]
    third = [{**CHAT[0], **change, "text": "Hello"}]
    for file, new in ((CHAT, 2), (other, 1), (third, 1), (CHAT, 0), (other, 0), (third, 0)):
        assert memory.add(read(tmp_path, *file), session="chat").new == new


def test_a_turn_erased_does_not_come_back_with_its_file(memory: tiermem.Memory, tmp_path: Path) -> None:
    turns = read(tmp_path, *CHAT)
    memory.add(turns, session="chat")
    memory.erase(turn=turns[0].turn_id, session="chat", reason="asked to")
    assert memory.add(turns, session="chat").new == 0
    assert texts(memory) == [None, "Noted."]


def test_a_file_read_in_by_a_version_whose_ids_were_made_of_words_is_known(
    memory: tiermem.Memory, tmp_path: Path
) -> None:
    turns = read(tmp_path, *CHAT)
    stored = [by_words(turn) for turn in turns]
    memory.add(stored, session="chat")
    memory.erase(turn=stored[0].turn_id, session="chat", reason="asked to")
    assert memory.add(turns, session="chat").new == 0
    assert texts(memory) == [None, "Noted."]
