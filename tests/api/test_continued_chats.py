"""Chats without ids: a file continues the stored chat with which it shares enough messages."""

import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import tiermem
from tiermem.dialogue import Conversation, read_dialogue

Line = tuple[str, str, str]
"""The stamp, the speaker and the words of a message."""
CHAT: list[Line] = [
    ("14/05/2024, 09:00", "Ines", "The regatta starts at ten"),
    ("14/05/2024, 09:00", "Rui", "I bring the spinnaker"),
    ("14/05/2024, 09:01", "Ines", "ok"),
    ("15/05/2024, 18:30", "Rui", "The mast is repaired"),
    ("15/05/2024, 18:31", "Ines", "ok"),
    ("16/05/2024, 07:15", "Ines", "High tide is at noon"),
]
OTHER: list[Line] = [
    ("14/05/2024, 09:00", "Ines", "The bakery opens at six"),
    ("14/05/2024, 09:00", "Rui", "Two loaves, please"),
    ("15/05/2024, 18:30", "Rui", "The oven is at 230"),
    ("16/05/2024, 07:15", "Ines", "ok"),
]


@pytest.fixture
def memory(address: Path | str) -> Iterator[tiermem.Memory]:
    with tiermem.open(address, engine="local") as opened:
        yield opened


def chat(lines: Sequence[Line], name: str = "WhatsApp Chat.txt", **options: Any) -> Conversation:
    text = "".join(f"{stamp} - {speaker}: {words}\n" for stamp, speaker, words in lines)
    stream = io.BytesIO(text.encode())
    stream.name = name
    (conversation,) = read_dialogue(stream, **options)
    return conversation


def ingest(
    memory: tiermem.Memory, lines: Sequence[Line], name: str = "WhatsApp Chat.txt"
) -> tuple[int, set[str]]:
    """How many messages were new, and the ids of the chats."""
    stored = memory.ingest(chat(lines, name))
    memory.flush()
    return sum(added.new for _, added in stored), {session.rpartition(" ")[0] for session, _ in stored}


@pytest.mark.parametrize("start", range(4))
@pytest.mark.parametrize("end", [4, 5, 6])
def test_any_part_of_a_chat_continues_it(memory: tiermem.Memory, start: int, end: int) -> None:
    _, chats = ingest(memory, CHAT)
    assert ingest(memory, CHAT[start:end], "chat (1).txt") == (0, chats)


def test_an_export_that_begins_later_and_ends_later_continues_the_chat(memory: tiermem.Memory) -> None:
    _, chats = ingest(memory, CHAT[:5])
    assert ingest(memory, CHAT[2:]) == (1, chats)


def test_an_export_that_begins_earlier_continues_the_chat(memory: tiermem.Memory) -> None:
    _, chats = ingest(memory, CHAT[2:])
    assert ingest(memory, CHAT) == (2, chats)


@pytest.mark.parametrize("names", [{"Rui": "Rui M."}, {"Ines": "~ Inês"}, {"Ines": "I", "Rui": "R"}])
def test_a_contact_who_was_renamed_says_the_same(memory: tiermem.Memory, names: dict[str, str]) -> None:
    _, chats = ingest(memory, CHAT)
    renamed = [(stamp, names.get(speaker, speaker), words) for stamp, speaker, words in CHAT]
    assert ingest(memory, renamed) == (0, chats)
    later = ("17/05/2024, 08:00", renamed[0][1], "We sail on Friday")
    assert ingest(memory, [*renamed, later]) == (1, chats)


def test_a_clock_with_seconds_says_the_same(memory: tiermem.Memory) -> None:
    _, chats = ingest(memory, CHAT)
    assert ingest(memory, [(f"{stamp}:27", speaker, words) for stamp, speaker, words in CHAT]) == (0, chats)


@pytest.mark.parametrize("name", ["WhatsApp Chat.txt", "other.txt"])
def test_another_chat_of_the_same_people_and_minutes_is_another_chat(
    memory: tiermem.Memory, name: str
) -> None:
    _, chats = ingest(memory, CHAT)
    new, others = ingest(memory, OTHER, name)
    assert new == len(OTHER)
    assert not chats & others
    assert ingest(memory, CHAT) == (0, chats)
    assert ingest(memory, OTHER) == (0, others)


def test_chats_that_share_what_a_bot_says_are_two(memory: tiermem.Memory) -> None:
    bot = [("14/05/2024, 10:00", "Bot", f"Reminder {n}") for n in range(5)]
    mine, yours = (
        [(f"14/05/2024, 1{n % 9}:3{n}", who, f"{who} {n}") for n in range(9)] for who in ("A", "B")
    )
    _, chats = ingest(memory, [*bot, *mine])
    new, others = ingest(memory, [*bot, *yours])
    assert new == len(bot) + len(yours)
    assert not chats & others


@pytest.mark.parametrize("start", [0, 2, 3])
def test_an_erased_chat_stays_away_under_any_file_name(memory: tiermem.Memory, start: int) -> None:
    stored = memory.ingest(chat(CHAT))
    memory.flush()
    for session, _ in stored:
        memory.erase(session=session, reason="asked for")
    again = memory.ingest(chat(CHAT[start:], "chat (2).txt"))
    assert sum(added.new for _, added in again) == 0
    assert sum(added.erased for _, added in again) == len(CHAT) - start


def test_a_chat_with_ids_of_messages_is_known_though_all_words_were_edited(memory: tiermem.Memory) -> None:
    def slack(text: str) -> Conversation:
        message = {"type": "message", "user": "U1", "ts": "1719820800.0001", "text": text}
        stream = io.BytesIO(json.dumps([message]).encode())
        stream.name = "2024-07-01.json"
        (conversation,) = read_dialogue(stream)
        return conversation

    ((session, _),) = memory.ingest(slack("The mast is repaired"))
    ((again, added),) = memory.ingest(slack("The mast is not repaired"))
    assert (again, added.edited) == (session, 1)
    memory.erase(session=session, reason="asked for")
    ((again, added),) = memory.ingest(slack("The mast was repaired"))
    assert (again, added.erased) == (session, 1)


def test_a_chat_with_a_session_of_its_own_is_not_compared(memory: tiermem.Memory) -> None:
    ingest(memory, CHAT)
    stored = memory.ingest(chat(CHAT, session="boat"))
    assert sum(added.new for _, added in stored) == len(CHAT)


def test_an_agent_does_not_continue_the_chat_of_another(memory: tiermem.Memory) -> None:
    planner, boss = memory.as_agent("planner"), memory.as_agent("boss")
    for agent in (planner, boss):
        assert sum(added.new for _, added in agent.ingest(chat(CHAT))) == len(CHAT)
        assert sum(added.new for _, added in agent.ingest([chat(CHAT[1:])])) == 0
