"""Reads files of turns: JSON lines, one turn a line, or one JSON array of turns (also under `messages`).

The session of a turn is its `session`; turns that name none belong to the default one.
Sessions come in the order they first speak.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pagestore import Turn
from tiermem.dialogue.error_location import record
from tiermem.dialogue.identity import identify_turns
from tiermem.dialogue.interface import DialogueSession
from tiermem.dialogue.messages import session_of, turn_of
from tiermem.errors import InvalidInput, NotDialogue
from tiermem.trust import DEFAULT_TRUST, lower_stamps


def array_turns(document: object) -> list[tuple[str, object]]:
    """The turns of a parsed array, each with its location."""
    turns = document.get("messages") if isinstance(document, Mapping) else document
    if not isinstance(turns, list):
        raise NotDialogue("a JSON document that is neither a list of turns nor has 'messages'")
    return [(f"turn {n}", turn) for n, turn in enumerate(turns, start=1)]


def load_json(text: str) -> Any:
    """`json.loads`, also of raw control characters in strings; every failure is `InvalidInput`."""
    try:
        return json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        at = f"line {error.lineno}, column {error.colno}" if "\n" in text else f"column {error.colno}"
        raise InvalidInput(f"not JSON: {error.msg} at {at}") from error
    except (RecursionError, ValueError) as error:
        raise InvalidInput(f"JSON that cannot be read: {error}") from error


def json_lines(text: str, read: Callable[[Any], Any] = lambda value: value) -> Iterator[tuple[str, Any]]:
    """What `read` makes of each line of JSON, with its location; `NotDialogue` names the line.

    Blank lines are skipped.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            values = []
            with record(f"line {number}"):
                values.append(read(load_json(line)))
            yield from ((f"line {number}", value) for value in values)


def group_sessions(
    messages: Iterable[tuple[str, object]],
    default: str,
    *,
    stamps: bool = False,
    keep_thinking: bool = False,
) -> tuple[DialogueSession, ...]:
    """Group messages, each with its location, into sessions; `NotDialogue` names the unreadable one.

    A turn has the level of trust that is under `trust` where it is below that of its role, and with `stamps`
    whatever it is; with `stamps` it may name its agent too. With `keep_thinking` it has what a model thought
    in its metadata.
    """
    sessions: dict[str, list[Turn]] = {}
    has_unnamed = False
    by_id: dict[tuple[str, str, str | None], tuple[str, Turn]] = {}
    for where, message in messages:
        with record(where):
            turn = turn_of(message, keep_thinking=keep_thinking)
            named = session_of(message)
            session, has_unnamed = named or default, has_unnamed or not named
            turn = replace(turn, trust=_stamp_of(message))
            if not stamps:
                (turn,) = lower_stamps([turn], None, DEFAULT_TRUST)
            if turn.agent is not None and not stamps:
                raise InvalidInput(f"a file puts no words into the memory of an agent, {turn.agent!r} here")
            if turn.turn_id is not None:
                first, known = by_id.setdefault((session, turn.turn_id, turn.agent), (where, turn))
                if known != turn:
                    raise InvalidInput(f"turn id {turn.turn_id!r} is already on {first} with other words")
            sessions.setdefault(session, []).append(turn)
    return tuple(
        identify_turns(session, turns, is_file_name=has_unnamed and session == default)
        for session, turns in sessions.items()
    )


def _stamp_of(message: object) -> str | None:
    named = message.get("trust") if isinstance(message, Mapping) else None
    return named if isinstance(named, str) and named else None
