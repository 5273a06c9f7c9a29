"""Telegram's exported chats (`result.json`, of one chat or of a whole account): a session a day.

What is no text is in brackets: `[photo]`, `[voice_message]`. Notices of the app ("invite_members") are
said by whom they are about. A forwarded message is said by its author. The metadata says who forwarded it
(`forwarded_by`), what it replies to (`reply_to`), the emoji of a sticker, and how a call went.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pagestore import Turn
from tiermem.dialogue.error_location import listing, record
from tiermem.dialogue.formats.source import (
    DialogueSource,
    FormatReader,
    alone,
    by_day,
    join_texts,
    title_of,
)
from tiermem.dialogue.identity import chat_id
from tiermem.dialogue.interface import Conversation, DialogueSession
from tiermem.dialogue.times import parse_time
from tiermem.errors import InvalidInput

_KINDS = ("media_type", "photo", "file", "location_information", "poll", "contact_information")


def _knows(source: DialogueSource) -> bool:
    chats = source.first.get("chats")
    if isinstance(chats, Mapping) and isinstance(chats.get("list"), list):
        return True
    messages = source.first.get("messages")
    first = messages[0] if isinstance(messages, list) and messages else None
    return isinstance(first, Mapping) and "date" in first and ("from" in first or "actor" in first)


def _read(source: DialogueSource) -> tuple[Conversation, ...]:
    first = source.first
    if not isinstance(first.get("chats"), Mapping):
        return alone(_chat(first, 1, source.session))
    listed = [chat for key in ("chats", "left_chats") for chat in listing(first.get(key) or {}, "list")]
    chats = enumerate(listed, start=1)
    return alone(one for n, chat in chats for one in _chat(chat, n, source.session))


def _chat(chat: object, number: int, otherwise: str) -> Iterator[DialogueSession]:
    """The days of a chat."""
    with record(f"chat {number}"):
        if not isinstance(chat, Mapping):
            raise InvalidInput("not a chat")
        turns = list(_turns(chat))
        title = title_of(chat.get("name")) or otherwise
        yield from by_day(chat_id("telegram", chat.get("id"), turns), turns, title)


def _turns(chat: Mapping[str, Any]) -> Iterator[Turn]:
    for number, message in enumerate(listing(chat, "messages"), start=1):
        with record(f"message {number}"):
            if not isinstance(message, Mapping):
                raise InvalidInput("not a message")
            words = _words(message)
            if words:
                sender, author = _sender_name(message), message.get("forwarded_from")
                is_forwarded = isinstance(author, str) and bool(author.strip())
                yield Turn(
                    metadata={**_metadata(message), **({"forwarded_by": sender} if is_forwarded else {})},
                    speaker=str(author) if is_forwarded else sender,
                    text=words,
                    said_at=parse_time(message.get("date")),
                    role="system" if message.get("type") == "service" else None,
                    turn_id=str(message["id"]) if "id" in message else None,
                )


def _metadata(message: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of a message besides its words."""
    known: dict[str, Any] = {"reply_to": message.get("reply_to_message_id")}
    if message.get("media_type") == "sticker":
        known["sticker"] = message.get("sticker_emoji")
    if message.get("action") == "phone_call":
        known["call_seconds"] = message.get("duration_seconds")
        known["call_ended"] = message.get("discard_reason")
    return {key: value for key, value in known.items() if isinstance(value, str | int)}


def _sender_name(message: Mapping[str, Any]) -> str:
    who = message.get("from") or message.get("actor") or message.get("from_id") or message.get("actor_id")
    return who if isinstance(who, str) and who.strip() else "Deleted Account"


def _words(message: Mapping[str, Any]) -> str:
    marks = [f"[{_kind(message, key)}]" for key in _KINDS if message.get(key)][:1]
    action = message.get("action")
    notice = [f"[{action}]"] if isinstance(action, str) else []
    return join_texts((*notice, *marks, _text(message.get("text"))))


def _kind(message: Mapping[str, Any], key: str) -> str:
    value = message[key]
    return value if key == "media_type" and isinstance(value, str) else key.partition("_")[0]


def _text(text: object) -> str:
    """A text, or a list of texts and of pieces with a `text` (links, names, code)."""
    if isinstance(text, str):
        return text
    parts = text if isinstance(text, list) else []
    return "".join(
        part if isinstance(part, str) else str(part.get("text", "")) if isinstance(part, Mapping) else ""
        for part in parts
    )


READER = FormatReader(name="telegram", knows=_knows, read=_read)
