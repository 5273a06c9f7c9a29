"""Discord channels as DiscordChatExporter writes them in JSON: a session a day."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pagestore import Turn
from tiermem.dialogue.error_location import listing, objects, record
from tiermem.dialogue.formats.source import (
    DialogueSource,
    FormatReader,
    alone,
    by_day,
    join_texts,
    title_of,
)
from tiermem.dialogue.identity import chat_id
from tiermem.dialogue.interface import Conversation
from tiermem.dialogue.times import parse_time
from tiermem.errors import InvalidInput

_MENTION = re.compile(r"<@!?(\d{1,25})>")
_EMOJI = re.compile(r"<a?:(\w{1,40}):\d{1,25}>")


def _knows(source: DialogueSource) -> bool:
    messages = source.first.get("messages")
    first = messages[0] if isinstance(messages, list) and messages else None
    return (
        isinstance(source.first.get("channel"), Mapping)
        and isinstance(first, Mapping)
        and isinstance(first.get("author"), Mapping)
    )


def _read(source: DialogueSource) -> tuple[Conversation, ...]:
    channel = source.first.get("channel")
    if not isinstance(channel, Mapping):
        raise InvalidInput("no 'channel', as DiscordChatExporter writes it")
    turns = list(_turns(source))
    title = title_of(channel.get("name")) or source.session
    return alone(by_day(chat_id("discord", channel.get("id"), turns), turns, title))


def _turns(source: DialogueSource) -> Iterator[Turn]:
    for number, message in enumerate(listing(source.first, "messages"), start=1):
        with record(f"message {number}"):
            if not isinstance(message, Mapping) or not isinstance(message.get("author"), Mapping):
                raise InvalidInput("not a message with an 'author'")
            words = _with_names(_words(message), message)
            if words:
                yield Turn(
                    speaker=_author_name(message["author"]),
                    text=words,
                    said_at=parse_time(message.get("timestamp")),
                    role="assistant" if message["author"].get("isBot") is True else None,
                    turn_id=str(message["id"]) if "id" in message else None,
                )


def _author_name(author: Mapping[str, Any]) -> str:
    who = author.get("nickname") or author.get("name")
    if not isinstance(who, str) or not who.strip():
        raise InvalidInput("the author has no name")
    return who


def _with_names(words: str, message: Mapping[str, Any]) -> str:
    """The words with the names of those who are mentioned, in place of their ids."""
    mentioned = objects(message, "mentions")
    names = {str(one.get("id")): one.get("nickname") or one.get("name") for one in mentioned}
    words = _MENTION.sub(lambda found: f"@{names.get(found[1]) or found[1]}", words)
    return _EMOJI.sub(r":\1:", words)


def _words(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    said = content if isinstance(content, str) else ""
    files = [one.get("fileName", "") for one in objects(message, "attachments")]
    embeds = [one.get(key) for one in objects(message, "embeds") for key in ("title", "description")]
    return join_texts((said, *embeds, *(f"[file: {file}]" for file in files)))


READER = FormatReader(name="discord", knows=_knows, read=_read)
