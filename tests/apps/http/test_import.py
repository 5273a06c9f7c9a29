"""Files read in over HTTP, again and edited: what is edited arrives as a later version."""

import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tiermem
from pagestore import Turn
from pagestore.errors import Conflict
from tests.apps.http.conftest import SETTINGS, Server, keys_of
from tests.dialogue.test_copied_sessions import fork, written_session
from tiermem.dialogue import Conversation, read_dialogue
from tiermem.errors import Forbidden, InvalidInput

Write = Callable[[str], tuple[str, Any]]
"""The name of a file and its document, with a message that says this."""
COUNTS = ("new", "known", "erased")
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


def test_titles_are_recorded_and_listed_over_http(memory: tiermem.Memory) -> None:
    name, document = telegram(OLD)
    for title in ("Trip", "Regatta"):
        ingest(memory, (name, {**document, "name": title}))
        assert [(one.session, one.title) for one in memory.sessions()] == [("telegram:12 2024-07-01", title)]


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


def whatsapp_lines(names: Sequence[str], count: int) -> str:
    said = [
        "The regatta starts at ten",
        "ok",
        "The mast is repaired",
        "High tide is at noon",
        "ok",
        "Bring rope",
    ]
    return "".join(
        f"{14 + n // 2}/05/2024, 09:0{n} - {names[n % 2]}: {text}\n" for n, text in enumerate(said[:count])
    )


def dated_lines(names: Sequence[str], count: int) -> str:
    return re.sub(r"(\d\d)/05/2024, (\S+) - ", r"[2024-05-\1 \2] ", whatsapp_lines(names, count))


def read_text(text: str, name: str) -> Conversation:
    stream = io.BytesIO(text.encode())
    stream.name = name
    (conversation,) = read_dialogue(stream)
    return conversation


def report_imports(memory: tiermem.Memory, write: Callable[[Sequence[str], int], str]) -> list[Any]:
    """What each of several imports of one chat did, the last one after it was erased."""
    names = ["Ines", "Rui"]
    files = [(names, 4, "a.txt"), (names, 4, "b.txt"), (["Inês L.", "Rui"], 4, "a.txt"), (names, 6, "c.txt")]
    reports = []
    for given, count, name in files:
        reports.append(memory.ingest(read_text(write(given, count), name)))
        memory.flush()
    for session, _ in reports[-1]:
        memory.erase(session=session, reason="asked for")
    return [*reports, memory.ingest(read_text(write(names, 6), "d.txt"))]


@pytest.mark.parametrize("write", [whatsapp_lines, dated_lines])
def test_an_export_without_an_id_of_its_chat_is_known_over_http_as_in_process(
    memory: tiermem.Memory, write: Callable[[Sequence[str], int], str]
) -> None:
    reports = report_imports(memory, write)
    counts = [tuple(sum(getattr(added, name) for _, added in one) for name in COUNTS) for one in reports]
    assert counts == [(4, 0, 0), (0, 4, 0), (0, 4, 0), (2, 4, 0), (0, 0, 6)]
    with tiermem.open(":memory:", **SETTINGS) as local:
        expected = report_imports(local, write)
    assert [_without_pages(one) for one in reports] == [_without_pages(one) for one in expected]


def _without_pages(report: Any) -> list[Any]:
    """A report without the ids of pages, which a salt is in."""
    return [(session, replace(added, sealed=())) for session, added in report]


def test_a_chat_that_is_sent_reports_its_progress(memory: tiermem.Memory) -> None:
    calls: list[tuple[int, int]] = []
    text = whatsapp_lines(["Ines", "Rui"], 6)
    memory.ingest(read_text(text, "a.txt"), progress=lambda *counts: calls.append(counts))
    assert calls == [(2, 6), (4, 6), (6, 6)]


def test_metadata_of_a_chat_that_is_sent_is_stored(memory: tiermem.Memory) -> None:
    conversation = read_text(dated_lines(["Ines", "Rui"], 2), "a.txt")
    (session,) = conversation.sessions
    turns = tuple(replace(turn, metadata={"photo\ud800": [1, None]}) for turn in session.turns)
    memory.ingest(replace(conversation, sessions=(replace(session, turns=turns),)))
    memory.flush()
    (page,) = [memory.page(info.id) for info in memory.pages()]
    assert [line.turn and line.turn.metadata for line in page.lines] == [{"photo\ud800": [1, None]}] * 2


def test_an_agent_over_http_continues_its_own_chats_and_learns_of_no_other(memory: tiermem.Memory) -> None:
    planner, boss = memory.as_agent("planner"), memory.as_agent("boss")
    for write, name in ((whatsapp_lines, "a.txt"), (dated_lines, "b.txt")):
        text = write(["Ines", "Rui"], 6)
        (first, *_), *_ = [planner.ingest(read_text(text, name))]
        for agent in (boss, memory):
            (session, added), *_ = agent.ingest(read_text(text, name))
            assert (session, added.new) == (first[0], first[1].new)
            assert sum(one.new for _, one in agent.ingest(read_text(text, f"z{name}"))) == 0


def test_records_and_copies_of_sessions_of_agents_are_known_over_http(memory: tiermem.Memory) -> None:
    log = written_session()
    other = fork(log)
    other.user("Only in the fork.")
    redacted = log.read(redact=["pattern"])
    counts = [
        [(added.new, added.known, added.edited) for _, added in memory.ingest(conversation)]
        for conversation in (log.read(), redacted, other.read(), other.read())
    ]
    assert counts == [[(4, 0, 0)], [(0, 4, 0)], [(1, 0, 0)], [(0, 1, 0)]]


def test_a_key_that_may_not_write_learns_no_ids_of_stored_chats(tmp_path: Path) -> None:
    server = Server(tmp_path / "store", **SETTINGS)
    with tiermem.open(server.url) as memory:
        memory.ingest(read_text(whatsapp_lines(["Ines", "Rui"], 4), "a.txt"))
    sessions = read_text(whatsapp_lines(["I", "R"], 4), "b.txt").sessions
    keys = keys_of(tmp_path / "store")
    read, _ = keys.make("reader", spaces=["*"], rights=["read"])
    write, _ = keys.make("writer", spaces=["*"], rights=["write"])
    with tiermem.open(server.url, key=write) as writer:
        assert {turn.speaker for one in writer.continue_chats(sessions) for turn in one.turns} == {
            "Ines",
            "Rui",
        }
    with tiermem.open(server.url, key=read) as reader, pytest.raises(Forbidden):
        reader.continue_chats(sessions)
    with (
        tiermem.open(server.url, key=write) as writer,
        pytest.raises(InvalidInput, match="sessions must be those of a conversation"),
    ):
        writer.continue_chats(["main"])  # type: ignore[list-item]
    server.stop()
