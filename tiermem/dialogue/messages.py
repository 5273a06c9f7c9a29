"""Turns out of whatever a caller holds: words, `Turn`s, chat messages, or a run of these.

A message is a mapping in one of the field's usual shapes: who spoke under `speaker`, `name` or `role`,
the words under `text`, `content` or `message`, the moment under `timestamp`, `said_at`, `time` or
`date`, and an id under `id` or `turn_id`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from pagestore import Turn
from tiermem.dialogue.times import parse_time
from tiermem.errors import InvalidInput

SPEAKER_KEYS = ("speaker", "name", "role")
TEXT_KEYS = ("text", "content", "message")
TIME_KEYS = ("timestamp", "said_at", "time", "date")
ID_KEYS = ("id", "turn_id")

DEFAULT_SPEAKER = "user"

TurnLike = str | Turn | Mapping[str, Any]


def as_turns(
    value: TurnLike | Iterable[TurnLike],
    *,
    speaker: str | None = None,
    said_at: datetime | str | None = None,
    now: datetime | None = None,
) -> tuple[Turn, ...]:
    """The turns `value` stands for, in order.

    `speaker` and `said_at` are for what does not say so itself; bare words without a speaker are the
    user's. `now` dates words and messages that tell no time, but no `Turn`: its maker, a file for
    example, knew that nobody knows. A system message is a turn like any other. Raises `InvalidInput`,
    naming the turn by its position.
    """
    try:
        moment = parse_time(said_at)
    except InvalidInput as error:
        raise InvalidInput(f"said_at: {error}") from error
    given: object = value
    if isinstance(given, str | Turn | Mapping):
        return (_as_turn(given, speaker, moment, now, "the turn"),)
    if isinstance(given, bytes | bytearray) or not isinstance(given, Iterable):
        raise InvalidInput(f"cannot make turns of {type(given).__name__}: {_ACCEPTED}")
    return tuple(_as_turn(item, speaker, moment, now, f"turn {n}") for n, item in enumerate(given, start=1))


_ACCEPTED = "give a str, a Turn, a message mapping with role and content, or an iterable of these"


def _as_turn(
    item: object, speaker: str | None, said_at: datetime | None, now: datetime | None, where: str
) -> Turn:
    if isinstance(item, Turn):
        turn, unknown = item, said_at
    elif isinstance(item, str):
        turn, unknown = Turn(speaker=speaker or DEFAULT_SPEAKER, text=item), said_at or now
    elif isinstance(item, Mapping):
        try:
            turn, unknown = turn_of(item, speaker=speaker), said_at or now
        except InvalidInput as error:
            raise InvalidInput(f"{where}: {error}") from error
    else:
        raise InvalidInput(f"{where} is {type(item).__name__}: {_ACCEPTED}")
    return turn if turn.said_at is not None else replace(turn, said_at=unknown)


def turn_of(message: object, *, speaker: str | None = None) -> Turn:
    """The turn of one message; `InvalidInput` says what is missing or malformed.

    A name tells more than a role, so it becomes the speaker; the role is kept beside it.
    """
    if not isinstance(message, Mapping):
        raise InvalidInput(f"{type(message).__name__} in place of a message")
    who = _first(message, SPEAKER_KEYS)
    who = speaker if who is None else who
    if not isinstance(who, str) or not who.strip():
        raise InvalidInput(f"no speaker (one of {', '.join(SPEAKER_KEYS)})")
    role = message.get("role")
    return Turn(
        speaker=who,
        text=_words(message),
        said_at=parse_time(_first(message, TIME_KEYS)),
        role=role if isinstance(role, str) else None,
        turn_id=_name(_first(message, ID_KEYS), "id"),
    )


def session_of(message: object) -> str | None:
    """The session a message names under `session` or `session_id`, `None` when it names none."""
    if not isinstance(message, Mapping):
        return None
    return _name(_first(message, ("session", "session_id")), "session")


def _first(message: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((message[key] for key in keys if message.get(key) is not None), None)


def _name(value: object, what: str) -> str | None:
    if value is None or (isinstance(value, str) and value):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise InvalidInput(f"{what} must be a text or a whole number, not {value!r}")


def _words(message: Mapping[str, Any]) -> str:
    content = _first(message, TEXT_KEYS)
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list | tuple):
        raise InvalidInput(f"tool_calls must be a list, not {type(calls).__name__}")
    if content is None and not calls:
        raise InvalidInput(f"no words (one of {', '.join(TEXT_KEYS)})")
    said = () if content is None else (_content(content),)
    return "\n".join((*said, *(_call(call) for call in calls)))


def _content(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        return "\n".join(_part(part) for part in content)
    raise InvalidInput(f"the words must be a text or a list of parts, not {type(content).__name__}")


def _part(part: object) -> str:
    """One part of a message; what is not words leaves its kind as a mark."""
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        raise InvalidInput(f"a part of the content is {type(part).__name__}, not a text or a mapping")
    words = part.get("text", part.get("refusal"))
    return words if isinstance(words, str) else f"[{part.get('type', 'part')}]"


def _call(call: object) -> str:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise InvalidInput("a tool call has no function name")
    arguments = function.get("arguments", "")
    given = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return f"[calls {function['name']}({given})]"
