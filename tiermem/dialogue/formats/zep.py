"""Zep (4.0) and Graphiti (0.31): episodes, messages and edges, as their packages dump them to JSON.

A list of them, pages of them (`items`), or one object with lists of `episodes`, `messages` and `edges`; one a
line too. Episodes and messages are what was said: an episode of the kind `message` says who speaks on each
line ("Ann: …"). An edge is a fact that Zep concluded, and what Zep says; one that holds no more there
(`invalid_at`, `expired_at`) is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pagestore import Turn
from tiermem.dialogue.error_location import record
from tiermem.dialogue.formats.memories import (
    Entry,
    by_session,
    entries,
    fact_turn,
    first_entry,
    owner_notes,
    read_entries,
    session_name,
)
from tiermem.dialogue.formats.source import DialogueSource, FormatReader, alone
from tiermem.dialogue.interface import Conversation
from tiermem.dialogue.metadata import metadata_in
from tiermem.dialogue.times import parse_time
from tiermem.errors import InvalidInput

_BY = "zep"
_LISTS = ("episodes", "messages", "edges", "items")
_SPEAKS = re.compile(r"(?P<who>[^:\n]{1,80}):[ \t](?P<said>.*)")
_WRITTEN = "tool"
"""The role of an episode that is a text or JSON, which has no speaker."""


def _knows(source: DialogueSource) -> bool:
    first = first_entry(source, _LISTS)
    return _is_edge(first) or _is_episode(first) or _is_message(first)


def _is_edge(entry: Entry) -> bool:
    return isinstance(entry.get("fact"), str) and "source_node_uuid" in entry


def _is_episode(entry: Entry) -> bool:
    return isinstance(entry.get("content"), str) and "source" in entry and "uuid" in entry


def _is_message(entry: Entry) -> bool:
    return isinstance(entry.get("content"), str) and "role" in entry and "thread_uuid" in entry


def _read(source: DialogueSource) -> tuple[Conversation, ...]:
    graphs = [entry.get("group_id") or entry.get("graph_uuid") for _, entry in entries(source, _LISTS)]
    return alone(by_session(_turns(source)), owner_notes("graphs", graphs))


def _turns(source: DialogueSource) -> Iterator[tuple[str, Turn | None]]:
    for where, entry in entries(source, _LISTS):
        if _is_edge(entry):
            yield from read_entries([(where, entry)], _edge)
        else:
            with record(where):
                session = session_name(_BY, map(entry.get, ("thread_uuid", "group_id", "graph_uuid")))
                yield from ((session, turn) for turn in _read_turns(entry))


def _edge(entry: Entry) -> tuple[str, Turn | None]:
    session = session_name(_BY, map(entry.get, ("group_id", "graph_uuid")))
    if entry.get("invalid_at") or entry.get("expired_at"):
        return session, None
    known = {
        "id": entry.get("uuid"),
        "relation": entry.get("name"),
        "valid_at": entry.get("valid_at"),
        "episodes": entry.get("episodes") or entry.get("episode_uuids"),
    }
    at = entry.get("created_at")
    return session, fact_turn(_BY, entry["fact"], name=entry.get("uuid"), at=at, known=known)


def _read_turns(entry: Entry) -> Iterator[Turn]:
    """The turns of an episode or a message."""
    content, name = entry.get("content"), entry.get("uuid")
    if not isinstance(content, str) or not isinstance(name, str):
        raise InvalidInput("neither an edge nor an episode nor a message")
    at = parse_time(entry.get("reference_time") or entry.get("valid_at") or entry.get("created_at"))
    fields = {key: entry.get(key) for key in ("name", "source_description") if entry.get(key)}
    metadata = metadata_in({"from": _BY, **fields} if "source" in entry else {"from": _BY})
    for number, (who, role, words) in enumerate(_speakers(entry, content), start=1):
        if words.strip():
            yield Turn(
                speaker=who,
                text=words.strip(),
                said_at=at,
                role=role,
                turn_id=name if number == 1 else f"{name}/{number}",
                metadata=metadata,
            )


def _speakers(entry: Entry, content: str) -> list[tuple[str, str | None, str]]:
    """Speaker, role, words of each turn: a message names the speaker in a field, an episode in its text."""
    role = entry.get("role") if isinstance(entry.get("role"), str) else None
    who = entry.get("role_name") or (entry.get("name") if "source" not in entry else None)
    if role is not None or isinstance(who, str):
        return [(who if isinstance(who, str) and who else str(role), role, content)]
    if entry.get("source") != "message":
        description = entry.get("source_description")
        return [
            (description if isinstance(description, str) and description else _WRITTEN, _WRITTEN, content)
        ]
    found: list[tuple[str, str | None, str]] = []
    for line in content.split("\n"):
        speaks = _SPEAKS.fullmatch(line)
        if speaks is not None:
            who = speaks["who"].strip()
            found.append(
                (who, who if who in ("user", "assistant", "system", "tool") else None, speaks["said"])
            )
        elif found:
            found[-1] = (*found[-1][:2], f"{found[-1][2]}\n{line}")
        else:
            found.append(("user", None, line))
    return found


READER = FormatReader(name="zep", knows=_knows, read=_read)
