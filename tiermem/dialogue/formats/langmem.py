"""LangMem (0.0.30): items of LangGraph's store, as `search` gives them, in JSON.

A list of items, or one object with `items`; one a line too. What a memory says is under `value`, as
`content`: a text, or an object of a custom schema, whose fields are written with their names. LangMem keeps
no messages, so LangMem is the speaker of every turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from pagestore import Turn
from tiermem.dialogue.formats.memories import (
    Entry,
    entries,
    fact_turn,
    first_entry,
    owner_notes,
    read_memories,
    session_name,
)
from tiermem.dialogue.formats.source import DialogueSource, FormatReader
from tiermem.dialogue.interface import Conversation

_BY = "langmem"


def _knows(source: DialogueSource) -> bool:
    first = first_entry(source, ["items"])
    value = first.get("value")
    return "namespace" in first and "key" in first and isinstance(value, Mapping) and "content" in value


def _read(source: DialogueSource) -> tuple[Conversation, ...]:
    return read_memories(source, ["items"], _item, owner_notes("namespaces", _namespaces(source)))


def _namespaces(source: DialogueSource) -> list[str]:
    """The namespaces that differ in their last part alone, which usually names a user."""
    paths = {_path(entry) for _, entry in entries(source, ["items"])}
    kinds = Counter(path[:-1] for path in paths)
    return ["/".join(path) for path in paths if len(path) > 1 and kinds[path[:-1]] > 1]


def _path(item: Entry) -> tuple[str, ...]:
    namespace = item.get("namespace")
    return tuple(str(one) for one in namespace) if isinstance(namespace, list) else ()


def _item(item: Entry) -> tuple[str, Turn | None]:
    path, value = list(_path(item)), item.get("value")
    held = value if isinstance(value, Mapping) else {}
    known = {"id": item.get("key"), "namespace": path, "kind": held.get("kind")}
    at = item.get("updated_at") or item.get("created_at")
    session = session_name(_BY, ["/".join(path)])
    return session, fact_turn(_BY, _words(held.get("content")), name=item.get("key"), at=at, known=known)


def _words(content: Any) -> object:
    """The text of a memory; of an object its one text, or every field with its name."""
    if not isinstance(content, Mapping):
        return content
    if set(content) == {"content"}:
        return _words(content["content"])
    fields = {key: value for key, value in content.items() if value not in (None, "", [], {})}
    return "\n".join(f"{key}: {value}" for key, value in fields.items())


READER = FormatReader(name="langmem", knows=_knows, read=_read)
