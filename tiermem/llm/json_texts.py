"""The texts of a JSON value, keys of objects among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def change_texts(value: Any, change: Callable[[str], str]) -> Any:
    """The value with every text in it as `change` makes it."""
    match value:
        case str():
            return change(value)
        case list():
            return [change_texts(item, change) for item in value]
        case dict():
            return {change(key): change_texts(item, change) for key, item in value.items()}
        case _:
            return value
