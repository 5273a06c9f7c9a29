"""Exports of whole accounts of ChatGPT and Claude: numbered files, branches, files by name."""

import json
from typing import Any

import pytest

from pagestore import Turn
from tests.dialogue.test_chats import opened, read_one, said, zipped
from tiermem.dialogue import read_dialogue


def gpt_chat(number: int, **message: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [f"Song {number}"]}
    node = {"id": f"g{number}", "author": {"role": "user"}, "content": content, **message}
    return {"title": "Choir", "id": f"k{number}", "mapping": {"n": {"message": node}}, "current_node": "n"}


def claude_chat(number: int, **message: Any) -> dict[str, Any]:
    first = {"uuid": f"m{number}", "sender": "human", "text": f"Song {number}", **message}
    return {"uuid": f"k{number}", "name": "Choir", "chat_messages": [first]}


@pytest.mark.parametrize("chat", [gpt_chat, claude_chat])
@pytest.mark.parametrize(
    "names",
    [
        ("conversations-000.json", "conversations-001.json", "conversations-002.json"),
        ("conversations_8.json", "conversations_9.json", "conversations_10.json"),
        ("export/conversations.json", "export/conversations-1.json", "export/conversations-2.json"),
        ("conversations (1).json", "conversations (2).json", "conversations (3).json"),
        ("conversations1.json", "conversations2.json", "conversations3.json"),
    ],
)
def test_all_numbered_files_of_an_archive_are_read_in_order(chat: Any, names: tuple[str, ...]) -> None:
    files = {name: json.dumps([chat(n)]) for n, name in enumerate(names)}
    others = {"user.json": "{}", "users.json": "[]", "projects.json": "[]", "message_feedback.json": "[]"}
    conversations = read_dialogue(opened(zipped(others | files), "export.zip"))
    texts = [turn.text for one in conversations for session in one.sessions for turn in session.turns]
    assert texts == ["Song 0", "Song 1", "Song 2"]


ROOT = "00000000-0000-4000-8000-000000000000"


def spoken(uuid: str, parent: str, sender: str = "human") -> dict[str, Any]:
    return {"uuid": uuid, "parent_message_uuid": parent, "sender": sender, "text": f"Words {uuid}"}


TREE = [
    spoken("a", ROOT),
    spoken("b", "a", "assistant"),
    spoken("c", "b"),
    spoken("d", "a", "assistant"),
    spoken("e", "d"),
]


@pytest.mark.parametrize(
    ("messages", "leaf", "shown"),
    [
        (TREE, None, "ade"),
        (TREE, "c", "abc"),
        (TREE, "d", "ad"),
        (TREE, "gone", "ade"),
        ([*TREE, spoken("f", "c")], None, "abcf"),
        (TREE[:3], None, "abc"),
        ([{**one, "parent_message_uuid": None} for one in TREE], None, "abcde"),
        ([spoken("a", "b"), spoken("b", "a")], None, "ab"),
    ],
)
def test_the_branch_of_claude_that_is_shown_is_read(messages: Any, leaf: str | None, shown: str) -> None:
    chat = {"uuid": "k1", "name": "Choir", "chat_messages": messages, "current_leaf_message_uuid": leaf}
    (words,) = said(read_one(json.dumps([chat]), "conversations.json")).values()
    assert [text for _, text in words] == [f"Words {uuid}" for uuid in shown]


@pytest.mark.parametrize(
    ("chat", "text"),
    [
        (claude_chat(1, text="", files=[{"file_name": "altos.pdf"}]), "[file: altos.pdf]"),
        (
            claude_chat(1, text="", files=[{"file_name": "a.png"}, {"file_name": "b.png"}]),
            "[file: a.png]\n[file: b.png]",
        ),
        (
            claude_chat(1, text="See", files=[{"file_name": "altos.pdf"}]),
            "See\n[file: altos.pdf]",
        ),
        (
            claude_chat(1, text="", attachments=[{"file_name": "a.txt"}], files=[{"file_name": "a.txt"}]),
            "[file: a.txt]",
        ),
        (claude_chat(1, text="", files=[{"file_uuid": "u-7"}]), "[file: u-7]"),
        (
            gpt_chat(1, content={"parts": [""]}, metadata={"attachments": [{"name": "altos.pdf"}]}),
            "[file: altos.pdf]",
        ),
        (
            gpt_chat(1, metadata={"attachments": [{"name": "altos.pdf"}, {"id": "x"}]}),
            "Song 1\n[file: altos.pdf]",
        ),
    ],
)
def test_files_are_kept_by_name(chat: Any, text: str) -> None:
    (session,) = read_one(json.dumps([chat]), "conversations.json").sessions
    (turn,) = session.turns
    assert isinstance(turn, Turn)
    assert turn.text == text
