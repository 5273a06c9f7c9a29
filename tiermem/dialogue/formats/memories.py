"""What the files of other memories have in common: entries in JSON, and facts without the words they are of.

A fact that another memory concluded is a turn that this memory says, of the role `memory`: it is found, cited
and erased like any other, and an answer that rests on it alone is marked as not confirmed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from pagestore import Turn
from tiermem.dialogue.error_location import record
from tiermem.dialogue.formats.source import DialogueSource, alone
from tiermem.dialogue.identity import identify_turns
from tiermem.dialogue.interface import Conversation, DialogueSession
from tiermem.dialogue.metadata import metadata_in
from tiermem.dialogue.times import parse_time
from tiermem.dialogue.turns_file import json_lines
from tiermem.errors import InvalidInput

Entry = Mapping[str, Any]
_SEVERAL = 2
_MOST_LISTED = 20
"""Names that a note lists at most."""
ROLE = "memory"
"""Of turns that hold what a memory concluded: see `tiermem.trust.kind_of_role`."""


def entries(
    source: DialogueSource, keys: Sequence[str], *, empty: bool = False
) -> Iterator[tuple[str, Entry]]:
    """Every entry with its location: of a list, of the lists under these keys, or one a line of JSON.

    An object without such a list is an entry itself, unless there may be none (`empty`).
    """
    if not _is_document(source):
        yield from json_lines(source.text, _entry)
        return
    for document in source.elements:
        lists = [key for key in keys if isinstance(document, Mapping) and isinstance(document.get(key), list)]
        found = [(key, one) for key in lists for one in document[key]]
        found = found or ([] if empty else [("entry", document)])
        for number, (key, one) in enumerate(found, start=1):
            read = []
            with record(f"{key} {number}"):
                read.append(_entry(one))
            yield from ((f"{key} {number}", entry) for entry in read)


def first_entry(source: DialogueSource, keys: Sequence[str]) -> Entry:
    """The first entry that `entries` would give; nothing where there is none."""
    if not source.looks_like_json:
        return {}
    try:
        return next((one for _, one in entries(source, keys)), {})
    except InvalidInput:
        return {}


def fact_turn(by: str, text: object, *, name: object, at: object, known: Mapping[str, Any]) -> Turn | None:
    """A fact as what `by` says; `None` of an empty one. `InvalidInput` for what is no text.

    `name` is what the fact is called there, `at` when it was made or last changed: a fact that was changed is
    another turn. Of `known` what is nothing is left out.
    """
    if not isinstance(text, str):
        raise InvalidInput("a memory without a text")
    said_at = parse_time(at)
    if not text.strip():
        return None
    return Turn(
        speaker=by,
        text=text.strip(),
        said_at=said_at,
        role=ROLE,
        turn_id=_id(name, said_at),
        metadata=metadata_in({"from": by, **{key: value for key, value in known.items() if value}}),
    )


def by_session(turns: Iterable[tuple[str, Turn | None]]) -> tuple[DialogueSession, ...]:
    """Turns by the sessions they belong to, each in the order of its times; turns without one come first."""
    sessions: dict[str, list[Turn]] = {}
    for session, turn in turns:
        if turn is not None:
            sessions.setdefault(session, []).append(turn)
    return tuple(identify_turns(name, sorted(said, key=_order)) for name, said in sessions.items())


def session_name(by: str, names: Iterable[object]) -> str:
    """The id of a session: `mem0:ann` with the first name given, or `mem0` without one."""
    name = next((one for one in names if isinstance(one, str) and one), None)
    return by if name is None else f"{by}:{name}"


def read_memories(
    source: DialogueSource, keys: Sequence[str], read: Any, notes: tuple[str, ...] = ()
) -> tuple[Conversation, ...]:
    """One conversation of what `read` makes of the entries of a source, each with its session."""
    return alone(by_session(read_entries(entries(source, keys), read)), notes)


def owner_notes(kind: str, names: Iterable[object]) -> tuple[str, ...]:
    """A note that an export holds the memories of several users, or of what they are called there."""
    owners = sorted({name for name in names if isinstance(name, str) and name})
    if len(owners) < _SEVERAL:
        return ()
    listed = ", ".join(owners[:_MOST_LISTED]) + (", …" if len(owners) > _MOST_LISTED else "")
    return (
        f"it holds the memories of {len(owners):,} {kind} ({listed}), which one space mixes: export each by "
        f"itself and give each a space (--space {owners[0]})",
    )


def read_entries(found: Iterable[tuple[str, Entry]], read: Any) -> Iterator[tuple[str, Turn | None]]:
    """What `read` makes of every entry; `NotDialogue` says which one cannot be read."""
    for where, entry in found:
        with record(where):
            yield read(entry)


def _is_document(source: DialogueSource) -> bool:
    try:
        return source.document is not None
    except InvalidInput:
        if "\n{" in source.text:
            return False
        raise


def _entry(value: object) -> Entry:
    if not isinstance(value, Mapping):
        raise InvalidInput("an entry that is no object")
    return value


def _id(name: object, at: datetime | None) -> str | None:
    if not isinstance(name, str) or not name:
        return None
    return name if at is None else f"{name} {at.isoformat()}"


def _order(turn: Turn) -> float:
    return 0.0 if turn.said_at is None else turn.said_at.timestamp()
