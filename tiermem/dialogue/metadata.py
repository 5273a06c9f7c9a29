"""What a caller knows of a turn besides who said it and when: plain JSON under text keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pagestore import errors
from pagestore.plain_json import plain_json
from tiermem.errors import InvalidInput, shown


def metadata_in(value: object, name: str = "metadata") -> dict[str, Any]:
    """Metadata as a dict of its own, `None` as an empty one; `InvalidInput` for what JSON would change."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{name} must be a mapping with texts for keys, not {shown(value)}")
    try:
        return plain_json(value, name)
    except errors.InvalidInput as error:
        raise InvalidInput(str(error)) from error
