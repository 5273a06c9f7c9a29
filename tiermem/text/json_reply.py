"""The JSON object inside a model's reply, whatever stands around it."""

from __future__ import annotations

import json
import re
from typing import Any

_LONGEST = 200_000
_TRIES = 200
_DEEPEST = 64
_THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.S | re.I)


def parse_json_object(text: str, *, key: str | None = None) -> dict[str, Any] | None:
    """The first JSON object of `text` (that has `key`, if given), `None` when there is none.

    Code fences, prose before and after and thinking blocks are passed over. Never raises: nesting is
    bounded before parsing, and an overlong reply is read up to its limit only.
    """
    text = _THINKING.sub("", text[:_LONGEST])
    decoder = json.JSONDecoder()
    at = -1
    for _ in range(_TRIES):
        at = text.find("{", at + 1)
        if at < 0:
            return None
        if _depth(text, at) > _DEEPEST:
            continue
        try:
            value, _end = decoder.raw_decode(text, at)
        except ValueError:
            continue
        if isinstance(value, dict) and (key is None or key in value):
            return value
    return None


def _depth(text: str, at: int) -> int:
    """How deep brackets nest from `at` to where they close, strings taken as text."""
    depth = deepest = 0
    quoted = escaped = False
    for char in text[at:]:
        if quoted:
            quoted = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            quoted = True
        elif char in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "}]":
            depth -= 1
            if depth == 0 or deepest > _DEEPEST:
                break
    return deepest
