"""ChatGPT's export (`conversations.json`): a session a chat, as it reads from its last message back.

A chat is a tree: an answer that was asked for again has left the old one on a branch of its own. What is
read is the branch that the chat shows. Hidden messages and those without words are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pagestore import Turn
from tiermem.dialogue.formats.source import Reader, Source, alone, moment
from tiermem.dialogue.identity import identified
from tiermem.dialogue.interface import Conversation, DialogueSession
from tiermem.dialogue.messages import turn_of
from tiermem.dialogue.places import record
from tiermem.errors import InvalidInput


def _knows(source: Source) -> bool:
    return isinstance(source.first.get("mapping"), Mapping)


def _read(source: Source) -> tuple[Conversation, ...]:
    chats = enumerate(source.elements, start=1)
    return alone(session for number, chat in chats for session in _chat(chat, number))


def _chat(chat: object, number: int) -> Iterator[DialogueSession]:
    with record(f"chat {number}"):
        if not isinstance(chat, Mapping) or not isinstance(chat.get("mapping"), Mapping):
            raise InvalidInput("not a chat with a 'mapping'")
        name = chat.get("conversation_id") or chat.get("id") or f"chat-{number}"
        yield identified(f"{chat.get('title') or 'chat'} ({name})", list(_turns(chat)))


def _turns(chat: Mapping[str, Any]) -> Iterator[Turn]:
    for number, message in enumerate(_branch(chat), start=1):
        with record(f"message {number}"):
            author = message.get("author")
            role = author.get("role") if isinstance(author, Mapping) else None
            words = _words(message.get("content"))
            metadata = message.get("metadata")
            hidden = isinstance(metadata, Mapping) and metadata.get("is_visually_hidden_from_conversation")
            if words and isinstance(role, str) and not hidden:
                turn = turn_of({"role": role, "content": words, "id": message.get("id")})
                yield Turn(
                    speaker=turn.speaker,
                    text=turn.text,
                    said_at=moment(message.get("create_time")) or moment(chat.get("create_time")),
                    role=turn.role,
                    turn_id=turn.turn_id,
                )


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


READER = Reader(name="chatgpt", knows=_knows, read=_read)
