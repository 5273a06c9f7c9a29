"""Mem0 (2.2): what `get_all()` gives, saved as JSON, and its local `history.db`.

Mem0 keeps facts, and of the words they were made of the last messages of each user, agent and run, in
`history.db`. These are read as what somebody said, and so is a memory that Mem0 kept as it was said
(`infer=False`: it has a role) and did not change. Every other memory is what Mem0 says. What was deleted
there is left out. A memory that was updated there is stored in each of its wordings, of which the last one
supersedes the others. Vectors are not read: they are in pickles, which run what is in them when they are
opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pagestore import Turn
from tiermem.dialogue.formats.memories import (
    Entry,
    by_session,
    entries,
    fact_turn,
    first_entry,
    owner_notes,
    read_entries,
    read_memories,
    session_name,
)
from tiermem.dialogue.formats.source import DialogueSource, FormatReader, alone
from tiermem.dialogue.interface import VERSION_OF, Conversation
from tiermem.dialogue.messages import turn_of
from tiermem.dialogue.times import parse_time
from tiermem.errors import InvalidInput

_BY = "mem0"
_LISTS = ("results", "memories")
_WHOSE = ("user_id", "agent_id", "run_id", "actor_id")
_METADATA = (*_WHOSE, "attributed_to", "categories", "metadata")
TABLES = ("history", "messages")
"""What a `history.db` of Mem0 holds."""


def _knows(source: DialogueSource) -> bool:
    first = first_entry(source, (*_LISTS, *TABLES))
    is_memory = "id" in first and isinstance(first.get("memory"), str)
    return is_memory or {"memory_id", "new_memory"} <= first.keys()


def _read(source: DialogueSource) -> tuple[Conversation, ...]:
    if "memory_id" in first_entry(source, (*_LISTS, *TABLES)):
        scopes = [row.get("session_scope") for _, row in entries(source, ["messages"], empty=True)]
        return alone(by_session(_of_database(source)), owner_notes("users", map(_user_of_scope, scopes)))
    users = [entry.get("user_id") for _, entry in entries(source, _LISTS)]
    return read_memories(source, _LISTS, _memory, owner_notes("users", users))


def _user_of_scope(scope: object) -> str | None:
    """The user of a scope of messages: `ann` of `run_id=s1&user_id=ann`."""
    fields = dict(part.split("=", 1) for part in str(scope).split("&") if "=" in part)
    return fields.get("user_id")


def _memory(entry: Entry) -> tuple[str, Turn | None]:
    """A memory of `get_all()`."""
    role, at, changed = entry.get("role"), entry.get("created_at"), entry.get("updated_at")
    session = session_name(_BY, map(entry.get, _WHOSE))
    known = {**{key: entry.get(key) for key in _METADATA}, "id": entry.get("id")}
    if isinstance(role, str) and changed in (None, at):
        return session, _read_message(role, entry.get("actor_id"), entry.get("memory"), at, known)
    return session, fact_turn(_BY, entry.get("memory"), name=entry.get("id"), at=changed or at, known=known)


def _read_message(role: object, who: object, words: object, at: object, known: Mapping[str, Any]) -> Turn:
    fields = {key: value for key, value in known.items() if value}
    name = known.get("id")
    message = {
        "role": role,
        "name": who or None,
        "content": words,
        "id": name if isinstance(name, str) else None,
        "metadata": {"from": _BY, **fields},
    }
    return replace(turn_of(message), said_at=parse_time(at))


def _of_database(source: DialogueSource) -> Iterator[tuple[str, Turn | None]]:
    """The messages, then every wording of the memories that were not deleted."""
    yield from read_entries(entries(source, ["messages"], empty=True), _message)
    histories: dict[str, list[Entry]] = {}
    for where, row in entries(source, ["history"], empty=True):
        if not isinstance(row.get("memory_id"), str):
            raise InvalidInput(f"{where}: no 'memory_id'")
        histories.setdefault(row["memory_id"], []).append(row)
    wordings = (
        (f"memory {name}", {"of": history[:number], "last": history[-1]})
        for name, history in histories.items()
        for number in range(1, len(history) + 1)
    )
    yield from read_entries(wordings, _wording)


def _message(row: Entry) -> tuple[str, Turn | None]:
    words = (row.get("role"), row.get("name"), row.get("content"), row.get("created_at"))
    return session_name(_BY, [row.get("session_scope")]), _read_message(*words, {"id": row.get("id")})


def _wording(memory: Entry) -> tuple[str, Turn | None]:
    """A memory at the end of a part of its history; nothing of one that is deleted in the end."""
    history, last = memory["of"], memory["of"][-1]
    if memory["last"].get("is_deleted") or memory["last"].get("new_memory") is None:
        return _BY, None
    if len(history) > 1 and history[-2].get("new_memory") == last.get("new_memory"):
        return _BY, None
    words, who, role = last.get("new_memory"), last.get("actor_id"), last.get("role")
    if last.get("is_deleted") or words is None:
        return _BY, None
    at = last.get("updated_at") or last.get("created_at")
    known = {"id": last["memory_id"], "actor_id": who}
    is_updated = len(history) > 1 or memory["last"] is not last
    if role and not is_updated:
        return _BY, _read_message(role, who, words, at, known)
    known |= {VERSION_OF: last["memory_id"]} if is_updated else {}
    return _BY, fact_turn(_BY, words, name=last["memory_id"], at=at, known=known)


READER = FormatReader(name="mem0", knows=_knows, read=_read)
