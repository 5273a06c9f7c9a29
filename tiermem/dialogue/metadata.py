"""What a caller knows of a turn besides who said it and when: plain JSON under text keys."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tiermem.errors import InvalidInput, shown

_DEEPEST = 20


def metadata_in(value: object, name: str = "metadata") -> dict[str, Any]:
    """Metadata as a dict of its own, `None` as an empty one; `InvalidInput` for what JSON would change."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InvalidInput(f"{name} must be a mapping with texts for keys, not {shown(value)}")
    try:
        given = dict(value)
        copy: dict[str, Any] = json.loads(json.dumps(given, allow_nan=False))
        same = copy == given and _depth(copy) <= _DEEPEST
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{name} must be plain JSON (texts, numbers, lists …): {error}") from error
    if not same:
        raise InvalidInput(
            f"{name} must be plain JSON, nested {_DEEPEST} deep at most: text keys, lists for tuples"
        )
    return copy


def _depth(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(_depth, inner), default=0)
