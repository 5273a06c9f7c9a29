"""Values of a caller's own as they will be read back: plain JSON, or refused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pagestore.errors import InvalidInput

_DEEPEST = 100
"""Levels of lists and objects at most: reading them back takes stack for each."""


def plain_json(value: Mapping[str, Any], what: str) -> dict[str, Any]:
    """A copy of `value` as it will be read back; `InvalidInput` when that is not what was given."""
    try:
        given = dict(value)
        copy: dict[str, Any] = json.loads(json.dumps(given, ensure_ascii=False, allow_nan=False))
        # Where it is read less of the stack may be left than here.
        too_deep = _deeper(copy, _DEEPEST)
        same = too_deep or copy == given
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{what} must be plain JSON (texts, numbers, lists …): {error}") from error
    if too_deep:
        raise InvalidInput(f"{what} may be nested {_DEEPEST} levels deep")
    if not same:
        raise InvalidInput(f"{what} must survive JSON unchanged: text keys, lists for tuples")
    return copy


def _deeper(value: object, levels: int) -> bool:
    """Whether lists and objects are nested deeper than `levels`."""
    nested = [value]
    for _ in range(levels):
        nested = [inner for outer in nested for inner in _nested_in(outer)]
    return bool(nested)


def _nested_in(value: object) -> Iterator[object]:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (item for item in items if isinstance(item, dict | list))
