"""Claude's export (`conversations.json`): a session a chat.

Of a chat in which messages were edited, the branch is read that it shows. Files are kept by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pagestore import Turn
from tiermem.dialogue.error_location import listing, objects, record
from tiermem.dialogue.formats.source import DialogueSource, FormatReader, alone, join_texts, title_of
from tiermem.dialogue.identity import chat_id, identify_turns
from tiermem.dialogue.interface import Conversation, DialogueSession
from tiermem.dialogue.messages import thinking_of, words_of
from tiermem.dialogue.times import parse_time
from tiermem.errors import InvalidInput

_ROLES = {"human": "user"}


def _knows(source: DialogueSource) -> bool:
    return isinstance(source.first.get("chat_messages"), list)


def _read(source: DialogueSource) -> tuple[Conversation, ...]:
    chats = enumerate(source.elements, start=1)
    return alone(session for number, chat in chats for session in _chat(chat, number, source))


def _chat(chat: object, number: int, source: DialogueSource) -> Iterator[DialogueSession]:
    with record(f"chat {number}"):
        if not isinstance(chat, Mapping):
            raise InvalidInput("not a chat")
        turns = list(_turns(chat, source))
        title = title_of(chat.get("name"))
        yield identify_turns(chat_id("claude", chat.get("uuid"), turns), turns, title=title)


def _turns(chat: Mapping[str, Any], source: DialogueSource) -> Iterator[Turn]:
    shown = _branch(chat)
    for number, message in enumerate(listing(chat, "chat_messages"), start=1):
        if shown is not None and isinstance(message, Mapping) and message.get("uuid") not in shown:
            continue
        with record(f"message {number}"):
            if not isinstance(message, Mapping) or not isinstance(message.get("sender"), str):
                raise InvalidInput("not a message with a 'sender'")
            sender: str = message["sender"]
            role = _ROLES.get(sender, sender)
            words = _words(message)
            uuid = message.get("uuid")
            if words:
                yield Turn(
                    speaker=role,
                    text=words,
                    said_at=parse_time(message.get("created_at")),
                    role=role,
                    turn_id=uuid if isinstance(uuid, str) and uuid else None,
                    metadata=thinking_of(message.get("content")) if source.keep_thinking else {},
                )


def _branch(chat: Mapping[str, Any]) -> frozenset[object] | None:
    """The ids of the messages of the branch that is shown, `None` where the export names no parents."""
    messages = objects(chat, "chat_messages")
    parents = {one.get("uuid"): one.get("parent_message_uuid") for one in messages if _is_named(one)}
    if not parents or len(parents) < len(messages):
        return None
    at: object = chat.get("current_leaf_message_uuid")
    at = at if isinstance(at, str) and at in parents else messages[-1]["uuid"]
    shown: set[object] = set()
    while isinstance(at, str) and at in parents and at not in shown:
        shown.add(at)
        at = parents[at]
    return frozenset(shown)


def _is_named(message: Mapping[str, Any]) -> bool:
    return all(isinstance(message.get(key), str) for key in ("uuid", "parent_message_uuid"))


def _words(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    said = words_of(content) if isinstance(content, list) and content else message.get("text")
    attached = objects(message, "attachments")
    named = {one.get("file_name") for one in attached}
    names = [one.get("file_name") or one.get("file_uuid") for one in objects(message, "files")]
    files = [f"[file: {name}]" for name in names if isinstance(name, str) and name not in named]
    texts = (
        f"[file: {one.get('file_name', '')}]\n{one.get('extracted_content') or ''}".rstrip()
        for one in attached
    )
    return join_texts((said, *texts, *files)).strip()


READER = FormatReader(name="claude", knows=_knows, read=_read)
