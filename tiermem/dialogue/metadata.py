"""What a caller knows of a turn besides who said it and when: plain JSON, and how much it matters."""

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


def importance_in(value: object, name: str = "importance") -> float | None:
    """A number from 0 to 1, or `None`; `InvalidInput` for anything else. Truth values are no numbers."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput(f"{name} must be a number from 0 to 1, not {shown(value)}")
    return float(value)
