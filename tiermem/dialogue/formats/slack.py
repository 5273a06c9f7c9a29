"""Slack's exports: the messages of one day in a JSON file, or the whole archive. A session a day.

In an archive every channel is a folder, and `users.json` tells who the user ids are. In a file by itself
names come from the messages' own `user_profile`, and otherwise the ids are the names of their users. The ids
of channels are in `channels.json` and its like; a file by itself names no channel.
The metadata of a turn says its `channel`, and the `thread` it is in, by the time stamp of the first message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from pagestore import Turn
from tiermem.dialogue.error_location import objects, record
from tiermem.dialogue.formats.source import DialogueSource, FormatReader, alone, by_day, join_texts
from tiermem.dialogue.identity import chat_id
from tiermem.dialogue.interface import Conversation, DialogueSession
from tiermem.dialogue.turns_file import load_json
from tiermem.errors import InvalidInput

USERS = "users.json"
CHANNELS = ("channels.json", "groups.json", "mpims.json", "dms.json")
"""The files of an archive that list its channels."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.json")
_MARKUP = re.compile(r"<(?P<kind>[@#!]?)(?P<of>[^<>|]{1,2000})(?:\|(?P<label>[^<>]{0,500}))?>")


def _knows(source: DialogueSource) -> bool:
    return isinstance(source.first.get("ts"), str) and source.first.get("type") == "message"


def _read(source: DialogueSource) -> tuple[Conversation, ...]:
    turns = list(_turns(source.document, {}))
    return alone(by_day(chat_id("slack", source.own_session, turns), turns, source.session))


def read_archive(files: Mapping[str, str]) -> tuple[Conversation, ...]:
    """Every channel of an archive; `files` are the texts of its members by path."""
    users: dict[str, str] = {}
    with record(USERS):
        users = _users(load_json(next(text for name, text in files.items() if name.endswith(USERS))))
    ids = _channel_ids(files)
    channels: dict[str, list[Turn]] = {}
    for name in sorted(files):
        *_, channel, file = ("", "", *name.split("/"))
        if channel and _DAY.fullmatch(file):
            with record(name):
                channels.setdefault(channel, []).extend(_turns(load_json(files[name]), users, channel))
    sessions: list[DialogueSession] = []
    for channel, turns in channels.items():
        sessions.extend(by_day(chat_id("slack", ids.get(channel, channel), turns), turns, channel))
    return alone(sessions)


def _channel_ids(files: Mapping[str, str]) -> dict[str, str]:
    """The ids of channels by the names of their folders; a folder of direct messages is named by its id."""
    ids: dict[str, str] = {}
    for name, text in files.items():
        if name.rpartition("/")[2] in CHANNELS:
            with record(name):
                document = load_json(text)
                listed = document if isinstance(document, list) else []
                channels = [one for one in listed if isinstance(one, Mapping) and one.get("id")]
                ids |= {str(one.get("name") or one["id"]): str(one["id"]) for one in channels}
    return ids


def _users(document: object) -> dict[str, str]:
    listed = document if isinstance(document, list) else []
    return {
        str(user.get("id")): _name(user.get("profile"), user) for user in listed if isinstance(user, Mapping)
    }


def _name(profile: object, user: Mapping[str, Any]) -> str:
    own = profile if isinstance(profile, Mapping) else {}
    names = (own.get("display_name"), own.get("real_name"), user.get("real_name"), user.get("name"))
    return next((name for name in names if isinstance(name, str) and name.strip()), str(user.get("id")))


def _turns(document: object, users: Mapping[str, str], channel: str | None = None) -> Iterator[Turn]:
    if not isinstance(document, list):
        raise InvalidInput("not a list of messages")
    for number, message in enumerate(document, start=1):
        with record(f"message {number}"):
            if not isinstance(message, Mapping):
                raise InvalidInput("not a message")
            words = _words(message, users)
            if message.get("type") == "message" and words:
                known = {"channel": channel, "thread": message.get("thread_ts")}
                yield Turn(
                    metadata={key: value for key, value in known.items() if isinstance(value, str)},
                    speaker=_speaker_name(message, users),
                    text=words,
                    said_at=_moment(message.get("ts")),
                    role="assistant" if "bot_id" in message else None,
                    turn_id=str(message["ts"]),
                )


def _speaker_name(message: Mapping[str, Any], users: Mapping[str, str]) -> str:
    """Who says a message; of a bot its name."""
    profile = message.get("bot_profile")
    name = profile.get("name") if isinstance(profile, Mapping) else None
    who = _user_name(message, users)
    is_unnamed = who in (message.get("bot_id"), "bot")
    return name if is_unnamed and isinstance(name, str) and name.strip() else who


def _user_name(message: Mapping[str, Any], users: Mapping[str, str]) -> str:
    user = message.get("user") or message.get("bot_id")
    known = users.get(str(user)) or message.get("username")
    if isinstance(known, str) and known.strip():
        return known
    if user is None:
        return "bot"
    return _name(message.get("user_profile"), {"id": user})


def _words(message: Mapping[str, Any], users: Mapping[str, str]) -> str:
    text = message.get("text")
    said = _plain(text, users) if isinstance(text, str) else ""
    said = said if said.strip() else _plain("\n".join(_texts_of(message.get("blocks"), users)), users)
    attached = [
        _plain(text, users)
        for one in objects(message, "attachments")
        for text in _attachment_texts(one, users)
    ]
    files = (f"[file: {one.get('name', '')}]" for one in objects(message, "files"))
    return join_texts((said, *attached, *files))


def _plain(text: str, users: Mapping[str, str]) -> str:
    """A text of Slack without its markup: names of mentions and channels, labels of links, dates."""

    def render_markup(found: re.Match[str]) -> str:
        kind, of, label = found["kind"], found["of"], found["label"]
        if kind == "@":
            return f"@{users.get(of) or label or of}"
        if kind == "#":
            return f"#{label or of}"
        if kind == "!":
            return label or f"@{of}"
        address = of.removeprefix("mailto:").removeprefix("tel:")
        return address if not label or label in (of, address) else f"{label} ({address})"

    text = _MARKUP.sub(render_markup, text)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _attachment_texts(attachment: Mapping[str, Any], users: Mapping[str, str]) -> list[str]:
    """Title, text or blocks, and fields of an attachment; `fallback` of one that has none of them."""
    fields = objects(attachment, "fields")
    named = [join_texts((one.get("title"), one.get("value"))) for one in fields]
    title = join_texts((attachment.get("pretext"), attachment.get("title")))
    text = join_texts((attachment.get("text"),))
    body = [text] if text else _texts_of(attachment.get("blocks"), users)
    texts = [one for one in (title, *body, *named) if one]
    return texts or [join_texts((attachment.get("fallback"),))]


def _texts_of(block: object, users: Mapping[str, str]) -> Iterator[str]:
    """The texts of blocks, one for each line."""
    if isinstance(block, list):
        for one in block:
            yield from _texts_of(one, users)
    elif isinstance(block, Mapping):
        elements = block.get("elements")
        inline = [_inline(one, users) for one in elements] if isinstance(elements, list) else []
        if any(inline):
            yield "".join(inline)
        else:
            yield from _texts_of(elements, users)
        for key in ("text", "title", "fields"):
            value = block.get(key)
            yield from ([value] if isinstance(value, str) and value else _texts_of(value, users))


def _inline(element: object, users: Mapping[str, str]) -> str:
    """A piece of a line of rich text; nothing of what has pieces itself."""
    if not isinstance(element, Mapping) or "elements" in element:
        return ""
    match element.get("type"):
        case "user":
            return f"@{users.get(str(element.get('user_id'))) or element.get('user_id')}"
        case "emoji":
            return f":{element.get('name')}:"
        case "channel":
            return f"#{element.get('channel_id')}"
        case "broadcast":
            return f"@{element.get('range')}"
        case "date":
            return str(element.get("fallback") or element.get("timestamp"))
        case "link":
            url, text = str(element.get("url")), element.get("text")
            return f"{text} ({url})" if isinstance(text, str) and text != url else url
        case _:
            text = element.get("text")
            return text if isinstance(text, str) else ""


def _moment(ts: object) -> datetime:
    try:
        return datetime.fromtimestamp(float(str(ts)), tz=UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput(f"'ts' {ts!r} is not a moment") from error


READER = FormatReader(name="slack", knows=_knows, read=_read)
