"""Entries as earlier versions wrote them, in today's form. Pure, and for reading: no record is changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def in_todays_form(body: Any, today: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """The body of a record with every value in it, the innermost first, as `today` makes it."""
    if isinstance(body, Mapping):
        return today({name: in_todays_form(item, today) for name, item in body.items()})
    if isinstance(body, list | tuple):
        return [in_todays_form(item, today) for item in body]
    return body


def with_quotes(value: dict[str, Any]) -> dict[str, Any]:
    """A claim that had one `quote`, with its quotes; a citation has one still."""
    if "quote" in value and "claim" in value and "number" not in value:
        value["quotes"] = [value.pop("quote")]
    return value
