"""Hindsight (1.1): memory units as its client lists or recalls them, dumped to JSON.

One object with `items` or `results`, a list of units, or one a line. Hindsight shows no words with a unit,
so all of it is what Hindsight says; units that are not valid any more are left out.
"""

from __future__ import annotations

from pagestore import Turn
from tiermem.dialogue.formats.memories import Entry, fact_turn, first_entry, read_memories
from tiermem.dialogue.formats.source import DialogueSource, FormatReader
from tiermem.dialogue.interface import Conversation

_BY = "hindsight"
_KINDS = ("world", "experience", "observation", "opinion")
_LISTS = ("items", "results")


def _knows(source: DialogueSource) -> bool:
    first = first_entry(source, _LISTS)
    kind = first.get("fact_type", first.get("type"))
    return isinstance(first.get("text"), str) and "id" in first and kind in _KINDS


def _read(source: DialogueSource) -> tuple[Conversation, ...]:
    return read_memories(source, _LISTS, _unit)


def _unit(unit: Entry) -> tuple[str, Turn | None]:
    if unit.get("state") not in (None, "", "valid"):
        return _BY, None
    known = {
        "id": unit.get("id"),
        "kind": unit.get("fact_type") or unit.get("type"),
        **{key: unit.get(key) for key in ("context", "entities", "tags", "document_id", "occurred_start")},
    }
    at = unit.get("mentioned_at") or unit.get("date") or None
    return _BY, fact_turn(_BY, unit.get("text"), name=unit.get("id"), at=at, known=known)


READER = FormatReader(name="hindsight", knows=_knows, read=_read)
