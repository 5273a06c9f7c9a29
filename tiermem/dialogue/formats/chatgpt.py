"""ChatGPT's export (`conversations.json`): a session a chat, as it reads from its last message back.

A chat is a tree: an answer that was asked for again has left the old one on a branch of its own. What is
read is the branch that the chat shows. Hidden messages and those without words are left out. Files are kept
by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pagestore import Turn
from tiermem.dialogue.error_location import record
from tiermem.dialogue.formats.source import DialogueSource, FormatReader, alone, join_texts, title_of
from tiermem.dialogue.identity import chat_id, identify_turns
from tiermem.dialogue.interface import Conversation, DialogueSession
from tiermem.dialogue.messages import THINKING, turn_of
from tiermem.dialogue.times import parse_time
from tiermem.errors import InvalidInput


def _knows(source: DialogueSource) -> bool:
    return isinstance(source.first.get("mapping"), Mapping)


def _read(source: DialogueSource) -> tuple[Conversation, ...]:
    chats = enumerate(source.elements, start=1)
    return alone(session for number, chat in chats for session in _chat(chat, number, source))


def _chat(chat: object, number: int, source: DialogueSource) -> Iterator[DialogueSession]:
    with record(f"chat {number}"):
        if not isinstance(chat, Mapping) or not isinstance(chat.get("mapping"), Mapping):
            raise InvalidInput("not a chat with a 'mapping'")
        turns = list(_turns(chat, source))
        name = chat_id("chatgpt", chat.get("conversation_id") or chat.get("id"), turns)
        yield identify_turns(name, turns, title=title_of(chat.get("title")))


def _turns(chat: Mapping[str, Any], source: DialogueSource) -> Iterator[Turn]:
    thoughts: list[str] = []
    for number, message in enumerate(_branch(chat), start=1):
        with record(f"message {number}"):
            author = message.get("author")
            role = author.get("role") if isinstance(author, Mapping) else None
            thoughts += _thoughts(message.get("content")) if source.keep_thinking else []
            metadata = message.get("metadata")
            metadata = metadata if isinstance(metadata, Mapping) else {}
            words = join_texts((_words(message.get("content")), *_files(metadata)))
            hidden = metadata.get("is_visually_hidden_from_conversation")
            if words and isinstance(role, str) and not hidden:
                turn = turn_of({"role": role, "content": words, "id": message.get("id")})
                thinking = {THINKING: "\n".join(thoughts)} if thoughts and role == "assistant" else {}
                thoughts = [] if role == "assistant" else thoughts
                said_at = parse_time(message.get("create_time")) or parse_time(chat.get("create_time"))
                yield replace(turn, said_at=said_at, metadata=thinking)


def _files(metadata: Mapping[str, Any]) -> list[str]:
    """The names of the files of a message."""
    listed = metadata.get("attachments")
    files = listed if isinstance(listed, list) else []
    names = (one.get("name") for one in files if isinstance(one, Mapping))
    return [f"[file: {name}]" for name in names if isinstance(name, str) and name]


def _thoughts(content: object) -> list[str]:
    """What the model thought, of a message that is no more than that."""
    listed = content.get("thoughts") if isinstance(content, Mapping) else None
    thoughts = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    texts = (join_texts((one.get("summary"), one.get("content"))) for one in thoughts)
    return [text for text in texts if text]


def _branch(chat: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The messages of the branch that is shown, first to last."""
    nodes = chat["mapping"]
    at = chat.get("current_node") or _last_leaf(nodes)
    found: list[Mapping[str, Any]] = []
    passed: set[object] = set()
    while isinstance(at, str) and at in nodes and at not in passed:
        passed.add(at)
        node = nodes[at]
        if not isinstance(node, Mapping):
            raise InvalidInput(f"{at!r} is not a message of the tree")
        if isinstance(node.get("message"), Mapping):
            found.append(node["message"])
        at = node.get("parent")
    return found[::-1]


def _last_leaf(nodes: Mapping[str, Any]) -> str | None:
    leaves = [name for name, node in nodes.items() if isinstance(node, Mapping) and not node.get("children")]
    return leaves[-1] if leaves else None


def _words(content: object) -> str:
    if not isinstance(content, Mapping):
        return ""
    parts = content.get("parts")
    pieces = parts if isinstance(parts, list) else [content.get("text") or content.get("result")]
    return "\n".join(_part(part) for part in pieces if part).strip()


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping) and isinstance(part.get("text"), str):
        return str(part["text"])
    kind = part.get("content_type") if isinstance(part, Mapping) else None
    return f"[{kind or 'part'}]"


READER = FormatReader(name="chatgpt", knows=_knows, read=_read)
