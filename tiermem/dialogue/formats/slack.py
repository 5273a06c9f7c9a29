"""Slack's exports: the messages of one day in a JSON file, or the whole archive. A session a day.

In an archive every channel is a folder, and `users.json` tells who the user ids are. In a file by itself
names come from the messages' own `user_profile`, and otherwise the ids stand for their users.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from pagestore import Turn
from tiermem.dialogue.formats.source import Reader, Source, alone, by_day, joined
from tiermem.dialogue.interface import Conversation, DialogueSession
from tiermem.dialogue.places import listing, record
from tiermem.dialogue.turns_file import load_json
from tiermem.errors import InvalidInput

USERS = "users.json"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.json")
_MENTION = re.compile(r"<@(\w{1,40})>")


def _knows(source: Source) -> bool:
    return isinstance(source.first.get("ts"), str) and source.first.get("type") == "message"


def _read(source: Source) -> tuple[Conversation, ...]:
    return alone(by_day(source.session, list(_turns(source.document, {}))))


def read_archive(files: Mapping[str, str]) -> tuple[Conversation, ...]:
    """Every channel of an archive; `files` are the texts of its members by path."""
    users: dict[str, str] = {}
    with record(USERS):
        users = _users(load_json(next(text for name, text in files.items() if name.endswith(USERS))))
    channels: dict[str, list[Turn]] = {}
    for name in sorted(files):
        *_, channel, file = ("", "", *name.split("/"))
        if channel and _DAY.fullmatch(file):
            with record(name):
                channels.setdefault(channel, []).extend(_turns(load_json(files[name]), users))
    sessions: list[DialogueSession] = []
    for channel, turns in channels.items():
        sessions.extend(by_day(channel, turns))
    return alone(sessions)


def _users(document: object) -> dict[str, str]:
    listed = document if isinstance(document, list) else []
    return {
        str(user.get("id")): _name(user.get("profile"), user) for user in listed if isinstance(user, Mapping)
    }


def _name(profile: object, user: Mapping[str, Any]) -> str:
    own = profile if isinstance(profile, Mapping) else {}
    names = (own.get("display_name"), own.get("real_name"), user.get("real_name"), user.get("name"))
    return next((name for name in names if isinstance(name, str) and name.strip()), str(user.get("id")))


def _turns(document: object, users: Mapping[str, str]) -> Iterator[Turn]:
    if not isinstance(document, list):
        raise InvalidInput("not a list of messages")
    for number, message in enumerate(document, start=1):
        with record(f"message {number}"):
            if not isinstance(message, Mapping):
                raise InvalidInput("not a message")
            words = _words(message, users)
            if message.get("type") == "message" and words:
                yield Turn(
                    speaker=_who(message, users),
                    text=words,
                    said_at=_moment(message.get("ts")),
                    role="assistant" if "bot_id" in message else None,
                    turn_id=str(message["ts"]),
                )


def _who(message: Mapping[str, Any], users: Mapping[str, str]) -> str:
    user = message.get("user") or message.get("bot_id")
    known = users.get(str(user)) or message.get("username")
    if isinstance(known, str) and known.strip():
        return known
    if user is None:
        return "bot"
    return _name(message.get("user_profile"), {"id": user})


def _words(message: Mapping[str, Any], users: Mapping[str, str]) -> str:
    text = message.get("text")
    said = text if isinstance(text, str) else ""
    said = _MENTION.sub(lambda found: f"@{users.get(found[1], found[1])}", said)
    said = said.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    files = [one.get("name", "") for one in listing(message, "files") if isinstance(one, Mapping)]
    attached = [
        one.get("text") or one.get("fallback")
        for one in listing(message, "attachments")
        if isinstance(one, Mapping)
    ]
    return joined((said, *attached, *(f"[file: {file}]" for file in files)))


def _moment(ts: object) -> datetime:
    try:
        return datetime.fromtimestamp(float(str(ts)), tz=UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput(f"'ts' {ts!r} is not a moment") from error


READER = Reader(name="slack", knows=_knows, read=_read)
