"""Finds the JSON in a model's reply: inside fences, after thinking, between prose.

Tolerant of what surrounds a value, never of the value itself: nothing is completed or guessed, and a
piece of a value that was cut off is not a value. Punctuation of a whole value may be wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tiermem.llm.json_texts import change_texts
from tiermem.llm.near_json import find_end, repair_json
from tiermem.text.unicode import join_surrogates

_MOST_FAILURES = 500
"""Openings that lead to no value before the scan gives up; a decoder's failure costs time in the length."""

_OPENING = re.compile(r"[{\[]")
_THINKING = "(?:[a-z]{1,20}:)?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad)"
"""The names of XML-like tags around thinking, with the prefix of a vendor or without."""
_END_OF_THOUGHT = re.compile(
    rf"""</{_THINKING}> | \[/think(?:ing)?\] | ◁/think▷
      | <\|end_(?:of_)?(?:thought|thinking)\|> | <\|inner_suffix\|> | <channel\|>
      | <\|channel\|>(?:final|commentary)[^<]{{0,80}}(?:<\|constrain\|>[^<]{{0,80}})?<\|message\|>
      | assistantfinal(?=\s{{0,9}}[{{\[`])""",
    re.IGNORECASE | re.VERBOSE,
)
"""The channels are those of gpt-oss; some servers drop its marks and leave the names of the channels."""
_THOUGHT = re.compile(
    rf"""<{_THINKING}> | \[think(?:ing)?\] | ◁think▷
      | <\|(?:begin_of|start)_(?:thought|thinking)\|> | <\|inner_prefix\|> | <\|channel>thought
      | <\|channel\|>analysis | \Aanalysis(?-i:(?=[A-Z]))""",
    re.IGNORECASE | re.VERBOSE,
)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


# strict=False: models write raw line breaks in strings.
_decoder = json.JSONDecoder(parse_constant=_no_constant, strict=False)


@dataclass(frozen=True, slots=True)
class JsonInReply:
    """A value in a reply, whether its punctuation was repaired, and whether a broken value is around it."""

    value: Any
    is_repaired: bool = False
    is_inner: bool = False


def json_or_nearly(text: str) -> Iterator[JsonInReply]:
    """Every complete top-level JSON object or array in `text`, in order; never raises.

    Values that are whole objects or arrays once their punctuation is repaired are among them. Thinking is
    left out unless the whole text is JSON. Lone surrogates in strings become U+FFFD.
    """
    text = text.strip().removeprefix("\ufeff")
    try:
        whole = change_texts(_decoder.decode(text), join_surrogates)
    except (ValueError, RecursionError):
        yield from _scan(_after_thinking(text))
    else:
        yield JsonInReply(whole)


def _after_thinking(text: str) -> str:
    ends = list(_END_OF_THOUGHT.finditer(text))
    if ends:
        text = text[ends[-1].end() :]
    start = _THOUGHT.search(text)
    return text[: start.start()] if start else text


def _scan(text: str) -> Iterator[JsonInReply]:
    """Values from left to right.

    After one that does not parse the scan goes on where the decoder gave up, not one character on:
    so the whole inner values of a truncated reply are not taken for the reply.
    """
    position = failures = 0
    repairs = _Repairs(text)
    while (opening := _OPENING.search(text, position)) and failures < _MOST_FAILURES:
        try:
            value, position = _decoder.raw_decode(text, opening.start())
            is_inner = opening.start() < repairs.position
            yield JsonInReply(change_texts(value, join_surrogates), is_inner=is_inner)
        except json.JSONDecodeError as error:
            value = repairs.value_at(opening.start())
            if value is not None:
                yield JsonInReply(change_texts(value, join_surrogates), is_repaired=True)
                position = repairs.position
                continue
            if error.msg.startswith("Unterminated string"):
                return
            position = max(error.pos, opening.start() + 1)
            failures += 1
        except (ValueError, RecursionError):
            return


class _Repairs:
    """Repairs of values in a text, from left to right; each part of the text is read once.

    Nothing is repaired inside a value that could not be repaired, or after one that was cut off.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.position = 0
        """The end of the last value that was read."""

    def value_at(self, start: int) -> Any:
        """Return the object or array at this position; `None` if it cannot be repaired."""
        if start < self.position:
            return None
        end = find_end(self._text, start)
        self.position = len(self._text) if end is None else end
        return None if end is None else repair_json(self._text[start:end])
