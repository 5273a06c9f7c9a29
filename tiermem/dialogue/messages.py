"""Turns out of whatever a caller holds: words, `Turn`s, chat messages, or a run of these.

A message is a mapping in one of the field's usual shapes: who spoke under `speaker`, `name` or `role`, the
words under `text`, `content`, `message` or `parts`, the moment under `timestamp`, `said_at`, `time` or
`date`, an id under `id` or `turn_id`, how much it matters (0 to 1) under `importance`, the agent whose it is
under `of_agent`, and anything else known of it under `metadata`. Messages of OpenAI, Anthropic and Gemini are
such mappings, and so are items of OpenAI's Responses API; the objects of their packages
(`response.choices[0].message`) are taken as they are. What a model thought before it spoke is not its words.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Protocol

from pagestore import Turn
from tiermem.dialogue.metadata import importance_in, metadata_in
from tiermem.dialogue.times import TimeLike, parse_time
from tiermem.errors import InvalidInput, name_in, shown

SPEAKER_KEYS = ("speaker", "name", "role")
TEXT_KEYS = ("text", "content", "message", "parts")
TIME_KEYS = ("timestamp", "said_at", "time", "date")
ID_KEYS = ("id", "turn_id")

DEFAULT_SPEAKER = "user"
LONGEST_SPEAKER = 200
"""Characters of a speaker's name at most, of turns that are new."""


class VendorMessage(Protocol):
    """A message as an object of a vendor's package, which can tell itself as a mapping."""

    role: Any

    def model_dump(self, *, exclude_none: bool = False) -> dict[str, Any]:
        """The message as the mapping it would be sent as."""
        ...


TurnLike = str | Turn | Mapping[str, Any] | VendorMessage


def as_turns(
    value: TurnLike | Iterable[TurnLike],
    *,
    speaker: str | None = None,
    role: str | None = None,
    said_at: TimeLike | None = None,
    metadata: Mapping[str, Any] | None = None,
    importance: float | None = None,
    now: datetime | None = None,
) -> tuple[Turn, ...]:
    """Convert `value` to turns, in order.

    `speaker`, `role`, `said_at` and `importance` apply where an item does not give its own. The speaker of a
    text is `speaker`, else `role`, else the user. `metadata` is added to that of every turn; where both have
    a key, the turn's value is kept.
    `now` dates texts and messages without a time, but no `Turn`: the time of a turn read from a file, for
    example, is unknown if the file has none. A system message is a turn like any other. Raises `InvalidInput`
    with the position of the turn, also for a speaker's name longer than `LONGEST_SPEAKER` characters.
    """
    try:
        moment = parse_time(said_at)
    except InvalidInput as error:
        raise InvalidInput(f"said_at: {error}") from error
    if speaker is not None:
        name_in(speaker, "speaker")
    if role is not None:
        name_in(role, "role")
    speaker = speaker or role
    given, known, matters = as_sent(value), metadata_in(metadata), importance_in(importance)
    if isinstance(given, str | Turn | Mapping):
        return (_knowing(known, matters, role, _as_turn(given, speaker, moment, now, "the turn")),)
    if isinstance(given, bytes | bytearray) or not isinstance(given, Iterable):
        raise InvalidInput(f"cannot make turns of {type(given).__name__}: {_ACCEPTED}")
    return tuple(
        _knowing(known, matters, role, _as_turn(item, speaker, moment, now, f"turn {n}"))
        for n, item in enumerate(given, start=1)
    )


_ACCEPTED = "give a str, a Turn, a message (with role and content), or an iterable of these"


def _as_turn(
    item: object, speaker: str | None, said_at: datetime | None, now: datetime | None, where: str
) -> Turn:
    item = as_sent(item)
    if isinstance(item, Turn):
        turn, unknown = _check_turn(item, where), said_at
    elif isinstance(item, str):
        turn, unknown = Turn(speaker=speaker or DEFAULT_SPEAKER, text=item), said_at or now
    elif isinstance(item, Mapping):
        try:
            turn, unknown = turn_of(item, speaker=speaker), said_at or now
        except InvalidInput as error:
            raise InvalidInput(f"{where}: {error}") from error
        except RecursionError as error:
            raise InvalidInput(f"{where} is nested too deep to be read") from error
    else:
        raise InvalidInput(f"{where} is {type(item).__name__}: {_ACCEPTED}")
    if len(turn.speaker) > LONGEST_SPEAKER:
        raise InvalidInput(
            f"{where}: speaker must be at most {LONGEST_SPEAKER} characters long, not {len(turn.speaker):,}: "
            f"{turn.speaker[:40]!r}…; shorten it"
        )
    return turn if turn.said_at is not None else replace(turn, said_at=unknown)


def _knowing(metadata: Mapping[str, Any], importance: float | None, role: str | None, turn: Turn) -> Turn:
    if role is not None and turn.role is None:
        turn = replace(turn, role=role)
    if importance is not None and turn.importance is None:
        turn = replace(turn, importance=importance)
    return replace(turn, metadata={**metadata, **turn.metadata}) if metadata else turn


def _check_turn(turn: Turn, where: str) -> Turn:
    """A turn whose fields are of their kinds; its maker may have put anything into them."""
    texts = {name: getattr(turn, name) for name in ("speaker", "text", "role", "turn_id", "trust")}
    for name, value in texts.items():
        if not isinstance(value, str) and (value is not None or name in ("speaker", "text")):
            raise InvalidInput(f"{where}: {name} must be a text, not {shown(value)}")
    if turn.said_at is not None and not isinstance(turn.said_at, datetime):
        raise InvalidInput(f"{where}: said_at must be a datetime, not {shown(turn.said_at)}")
    importance = importance_in(turn.importance, f"{where}: importance")
    metadata = metadata_in(turn.metadata, f"{where}: metadata")
    return replace(turn, metadata=metadata, importance=importance)


THINKING = "thinking"
"""The key of the metadata under which the reasoning of a model is kept, where it is."""


def turn_of(message: object, *, speaker: str | None = None, keep_thinking: bool = False) -> Turn:
    """The turn of one message; `InvalidInput` says what is missing or malformed.

    A name says more than a role, so it becomes the speaker; the role is kept too. With `keep_thinking`
    what a model thought is in the metadata.
    """
    if not isinstance(message, Mapping):
        raise InvalidInput(f"{type(message).__name__} in place of a message")
    message = _message_of_item(message)
    who = _first(message, SPEAKER_KEYS)
    who = speaker if who is None else who
    if not isinstance(who, str) or not who:
        raise InvalidInput(f"no speaker (one of {', '.join(SPEAKER_KEYS)})")
    role = message.get("role")
    return Turn(
        speaker=who,
        text=_words(message),
        said_at=parse_time(_first(message, TIME_KEYS)),
        role=role if isinstance(role, str) else None,
        turn_id=_name(_first(message, ID_KEYS), "id"),
        metadata={
            **metadata_in(message.get("metadata")),
            **(thinking_of(_first(message, TEXT_KEYS)) if keep_thinking else {}),
        },
        importance=importance_in(message.get("importance")),
        agent=_name(message.get("of_agent"), "of_agent"),
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
    raise InvalidInput(f"{what} must be a text or a whole number, not {shown(value)}")


def _words(message: Mapping[str, Any]) -> str:
    content = _first(message, (*TEXT_KEYS, "refusal", "audio"))
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list | tuple):
        raise InvalidInput(f"tool_calls must be a list, not {type(calls).__name__}")
    called = [*calls, *([message["function_call"]] if message.get("function_call") else [])]
    if content is None and not called and not any(key in message for key in TEXT_KEYS):
        raise InvalidInput(f"no words (one of {', '.join(TEXT_KEYS)})")
    said = () if content is None else (words_of(content),)
    return "\n".join((*said, *(_call(as_sent(call)) for call in called)))


_CALLS = ("function_call", "custom_tool_call", "mcp_call")
_WITHOUT_WORDS = ("reasoning", "item_reference", "compaction", "mcp_list_tools")


def _message_of_item(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """An item of the Responses API without a role as a message; anything else as it is."""
    kind = item.get("type")
    if not isinstance(kind, str) or any(item.get(key) is not None for key in ("role", "speaker", "text")):
        return item
    message = {key: item[key] for key in ("id", "metadata", "session", *TIME_KEYS) if key in item}
    if kind in _WITHOUT_WORDS:
        return {**message, "role": "assistant", "content": [item] if kind == "reasoning" else None}
    if kind.endswith("_call_output"):
        return {
            **message,
            "role": "tool",
            "content": [{"type": "tool_result", "content": item.get("output")}],
        }
    if kind in _CALLS and isinstance(item.get("name"), str):
        output = item.get("output")
        results = [] if output is None else [{"type": "tool_result", "content": output}]
        return {**message, "role": "assistant", "content": [{**item, "type": "function_call"}, *results]}
    if kind.endswith("_call"):
        return {**message, "role": "assistant", "content": [{k: v for k, v in item.items() if k != "id"}]}
    return item


def words_of(content: object) -> str:
    """What a message says: its text, or its parts one after another.

    A tool's call and result are written in brackets: `[calls find({"city": "Rome"})]`, `[result: …]`.
    A picture or a file is given by its kind and address, data in the message by its length, and speech by its
    transcript. What a model thought is left out.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        parts = [as_sent(part) for part in content]
        return "\n".join(_words_of_part(part) for part in parts if not _is_thinking(part))
    if isinstance(content, Mapping):
        return _words_of_part(content)
    raise InvalidInput(f"the words must be a text or a list of parts, not {type(content).__name__}")


def thinking_of(content: object) -> dict[str, str]:
    """What a model thought, as metadata; without signatures and what is encrypted."""
    parts = [as_sent(part) for part in content] if isinstance(content, list | tuple) else []
    thoughts = [text for part in parts if _is_thinking(part) for text in _thoughts(part)]
    return {THINKING: "\n".join(thoughts)} if thoughts else {}


_REASONING = ("thinking", "redacted_thinking", "reasoning")


def _is_thinking(part: object) -> bool:
    """Whether a part is what a model thought: Anthropic's, OpenAI's and Gemini's."""
    return isinstance(part, Mapping) and (part.get("type") in _REASONING or part.get("thought") is True)


def _thoughts(part: object) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, list | tuple):
        for one in part:
            yield from _thoughts(one)
    elif isinstance(part, Mapping):
        for key in ("thinking", "text", "summary", "content", "reasoning"):
            yield from _thoughts(part.get(key))


def as_sent(value: object) -> object:
    """An object of a vendor's package as the mapping it would be sent as; anything else as it is."""
    dump = getattr(value, "model_dump", None)
    if not callable(dump) or isinstance(value, type):
        return value
    sent = dump(exclude_none=True)
    is_empty = isinstance(sent, dict) and "role" in sent and getattr(value, "content", "") is None
    return {"content": None, **sent} if is_empty else sent


def _transcript(part: object) -> str | None:
    """The transcript of speech in a part; `None` without."""
    if not isinstance(part, Mapping) or isinstance(part.get("text"), str):
        return None
    heard = part.get("input_audio")
    heard = heard if isinstance(heard, Mapping) and "transcript" in heard else part
    transcript = heard.get("transcript")
    return transcript if isinstance(transcript, str) else None


def _words_of_part(part: object) -> str:
    """One part of a message, in full; of speech its transcript."""
    transcript = _transcript(part)
    return _part(part) if transcript is None else transcript


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        raise InvalidInput(f"a part of the content is {type(part).__name__}, not a text or a mapping")
    words = part.get("text", part.get("refusal"))
    if isinstance(words, str):
        return words
    call = _first(part, ("functionCall", "function_call"))
    if call is not None or part.get("type") in ("tool_use", "server_tool_use", "function_call"):
        return _call(part if call is None else call)
    answer = _first(part, ("functionResponse", "function_response"))
    if answer is not None or "tool_result" in str(part.get("type", "")):
        return _result(part if answer is None else answer)
    fields = {key: _short(value) for key, value in part.items() if key != "type"}
    kind = part.get("type", "part")
    return f"[{kind}: {_json(fields)}]" if fields else f"[{kind}]"


def _call(call: object) -> str:
    """`[calls name(arguments)]`, in whichever of the usual shapes the call comes."""
    function = (call.get("function") or call.get("custom") or call) if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise InvalidInput("a tool call has no function name")
    given = _first(function, ("arguments", "input", "args"))
    return f"[calls {function['name']}({given if isinstance(given, str) else _json(given or {})})]"


def _result(result: object) -> str:
    if not isinstance(result, Mapping):
        return f"[result: {_json(result)}]"
    content = _first(result, ("content", "output", "response"))
    failed = "error" if result.get("is_error") is True else "result"
    content_words = words_of(content) if isinstance(content, str | list | tuple) else _json(_short(content))
    return f"[{failed}: {content_words}]"


_LONGEST_DATA = 1_000
"""Characters above which a text without a blank is data; its length is written in its place."""


def _short(value: object) -> object:
    """A value as it is, with the length of data in place of data (bytes, or text like `data:…;base64,…`)."""
    if isinstance(value, Mapping):
        return {key: _short(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_short(inner) for inner in value]
    if isinstance(value, bytes | bytearray):
        return f"{len(value):,} bytes of data"
    if isinstance(value, str) and len(value) > _LONGEST_DATA and not any(map(str.isspace, value)):
        return f"{len(value):,} characters of data"
    return value


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=shown)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"a part of the content cannot be written down: {error}") from error
