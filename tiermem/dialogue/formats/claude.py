"""Claude's export (`conversations.json`): a session a chat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pagestore import Turn
from tiermem.dialogue.formats.source import Reader, Source, alone, joined, moment
from tiermem.dialogue.identity import identified
from tiermem.dialogue.interface import Conversation, DialogueSession
from tiermem.dialogue.messages import words_of
from tiermem.dialogue.places import listing, record
from tiermem.errors import InvalidInput

_ROLES = {"human": "user"}


def _knows(source: Source) -> bool:
    return isinstance(source.first.get("chat_messages"), list)


def _read(source: Source) -> tuple[Conversation, ...]:
    chats = enumerate(source.elements, start=1)
    return alone(session for number, chat in chats for session in _chat(chat, number))


def _chat(chat: object, number: int) -> Iterator[DialogueSession]:
    with record(f"chat {number}"):
        if not isinstance(chat, Mapping):
            raise InvalidInput("not a chat")
        name = chat.get("uuid") or f"chat-{number}"
        yield identified(f"{chat.get('name') or 'chat'} ({name})", list(_turns(chat)))


def _turns(chat: Mapping[str, Any]) -> Iterator[Turn]:
    for number, message in enumerate(listing(chat, "chat_messages"), start=1):
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
                    said_at=moment(message.get("created_at")),
                    role=role,
                    turn_id=uuid if isinstance(uuid, str) and uuid else None,
                )


def _words(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    said = words_of(content) if isinstance(content, list) and content else message.get("text")
    attached = [
        f"[file: {one.get('file_name', '')}]\n{one.get('extracted_content') or ''}".rstrip()
        for one in listing(message, "attachments")
        if isinstance(one, Mapping)
    ]
    return joined((said, *attached)).strip()


READER = Reader(name="claude", knows=_knows, read=_read)
