"""Finds the JSON in a model's reply: inside fences, after thinking, between prose.

Tolerant of what surrounds a value, never of the value itself: nothing is completed or guessed, and a
piece of a value that was cut off is not a value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tiermem.text.unicode import join_surrogates

_MOST_FAILURES = 500
"""Openings that lead to no value before the scan gives up; a decoder's failure costs time in the length."""

_OPENING = re.compile(r"[{\[]")
_END_OF_THOUGHT = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_THOUGHT = re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


# strict=False: models write raw line breaks in strings.
_decoder = json.JSONDecoder(parse_constant=_no_constant, strict=False)


def json_values(text: str) -> Iterator[Any]:
    """Every complete top-level JSON object or array in `text`, in order; never raises.

    Thinking is left out unless the whole text is JSON. Lone surrogates in strings become U+FFFD.
    """
    text = text.strip().removeprefix("\ufeff")
    try:
        whole = _with_joined_surrogates(_decoder.decode(text))
    except (ValueError, RecursionError):
        yield from _scan(_after_thinking(text))
    else:
        yield whole


def _after_thinking(text: str) -> str:
    ends = list(_END_OF_THOUGHT.finditer(text))
    if ends:
        text = text[ends[-1].end() :]
    start = _THOUGHT.search(text)
    return text[: start.start()] if start else text


def _scan(text: str) -> Iterator[Any]:
    """Values from left to right.

    After one that does not parse the scan goes on where the decoder gave up, not one character on:
    so the whole inner values of a truncated reply are not taken for the reply.
    """
    position = failures = 0
    while (opening := _OPENING.search(text, position)) and failures < _MOST_FAILURES:
        try:
            value, position = _decoder.raw_decode(text, opening.start())
            yield _with_joined_surrogates(value)
        except json.JSONDecodeError as error:
            if error.msg.startswith("Unterminated string"):
                return
            position = max(error.pos, opening.start() + 1)
            failures += 1
        except (ValueError, RecursionError):
            return


def _with_joined_surrogates(value: Any) -> Any:
    match value:
        case str():
            return join_surrogates(value)
        case list():
            return [_with_joined_surrogates(item) for item in value]
        case dict():
            return {join_surrogates(key): _with_joined_surrogates(item) for key, item in value.items()}
        case _:
            return value
