"""Files read in over HTTP, again and edited: what is edited arrives as a later version."""

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tiermem
from pagestore import Turn
from pagestore.errors import Conflict
from tests.apps.http.conftest import SETTINGS, Server
from tiermem.dialogue import Conversation, read_dialogue

Write = Callable[[str], tuple[str, Any]]
"""The name of a file and its document, with a message that says this."""
OLD, NEW = "The ferry leaves from pier 4", "The ferry leaves from pier 7"


def telegram(text: str) -> tuple[str, Any]:
    said = {"id": 3, "date": "2024-07-01T09:00:00", "from": "Rosa", "from_id": "user2", "text": text}
    return "result.json", {"name": "Trip", "id": 12, "messages": [{**said, "type": "message"}]}


def chatgpt(text: str) -> tuple[str, Any]:
    said = {"id": "b", "author": {"role": "user"}, "create_time": 1.7e9, "content": {"parts": [text]}}
    node: dict[str, Any] = {"id": "b", "parent": None, "children": [], "message": said}
    return "conversations.json", [{"title": "Trip", "id": "c4", "current_node": "b", "mapping": {"b": node}}]


def claude(text: str) -> tuple[str, Any]:
    said = {"uuid": "a", "sender": "human", "text": text, "created_at": "2025-03-01T10:00:00Z"}
    return "conversations.json", [{"uuid": "c9", "name": "Trip", "chat_messages": [said]}]


def slack(text: str) -> tuple[str, Any]:
    return "2024-07-01.json", [{"type": "message", "user": "U1", "ts": "1719820800.0001", "text": text}]


def discord(text: str) -> tuple[str, Any]:
    said = {"id": "5", "timestamp": "2024-07-01T09:00:00", "content": text, "author": {"name": "rosa"}}
    return "channel.json", {"channel": {"id": "8", "name": "trip"}, "messages": [said]}


def lines(text: str) -> tuple[str, Any]:
    said = {"speaker": "Rosa", "text": text, "timestamp": "2024-07-01T09:00", "id": "n1", "session": "trip"}
    return "trip.json", [said]


EXPORTS: list[Write] = [telegram, chatgpt, claude, slack, discord, lines]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[tiermem.Memory]:
    server = Server(tmp_path / "store", **SETTINGS)
    with tiermem.open(server.url) as opened:
        yield opened
    server.stop()


def read(export: tuple[str, Any]) -> Conversation:
    name, document = export
    stream = io.BytesIO(json.dumps(document).encode())
    stream.name = name
    (conversation,) = read_dialogue(stream)
    return conversation


def ingest(memory: tiermem.Memory, export: tuple[str, Any]) -> tuple[int, int, int]:
    """How many turns were new, edited and known."""
    added = [one for _, one in memory.ingest(read(export))]
    memory.flush()
    return sum(a.new for a in added), sum(a.edited for a in added), sum(a.known for a in added)


@pytest.mark.parametrize("write", EXPORTS)
def test_an_edited_message_is_a_later_version_over_http(memory: tiermem.Memory, write: Write) -> None:
    assert ingest(memory, write(OLD)) == (1, 0, 0)
    assert ingest(memory, write(OLD)) == (0, 0, 1)
    assert ingest(memory, write(NEW)) == (1, 1, 0)
    assert ingest(memory, write(NEW)) == (0, 0, 1)
    lines_stored = [line.turn for info in memory.pages() for line in memory.page(info.id).lines]
    assert [turn.text for turn in lines_stored if turn is not None] == [OLD, NEW]
    assert all(type(turn) is Turn for turn in lines_stored)


@pytest.mark.parametrize("write", EXPORTS)
def test_an_erased_message_stays_away_over_http_though_it_was_edited(
    memory: tiermem.Memory, write: Write
) -> None:
    ingest(memory, write(OLD))
    memory.erase(session=read(write(OLD)).sessions[0].session, reason="asked for")
    assert ingest(memory, write(NEW)) == (0, 0, 0)
    assert not memory.search("ferry", kind="turns")


@pytest.mark.parametrize("write", EXPORTS[:5])
def test_turns_that_come_from_no_importer_still_conflict_over_http(
    memory: tiermem.Memory, write: Write
) -> None:
    ingest(memory, write(OLD))
    (session,) = read(write(NEW)).sessions
    with pytest.raises(Conflict):
        memory.add(session.turns, session=session.session)
