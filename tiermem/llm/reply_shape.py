"""Fits a value to the JSON schema of a reply where models leave it in small ways.

Numbers and flags given as text, null for a flag or a list, one item in place of a list, and a reply in a list
of one or under the name of its schema. No word is changed, and what fits nothing stays as it is, to be
refused by the strict validation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]

_WHOLE = re.compile(r"([+-]?\d{1,18})(?:\.0{1,18})?", re.ASCII)
_NUMBER = re.compile(r"[+-]?\d{1,18}(?:\.\d{1,18})?", re.ASCII)
_FLAGS = {"true": True, "false": False}
_OTHER_THAN_LETTERS = re.compile(r"[\W_]+")
_ARGUMENTS = ("arguments", "parameters")
_MOST_WRAPPINGS = 4


def fit_to_schema(value: Any, schema: Schema) -> Any:
    """Return the value as a reply of this schema, which names the reply in its `title`."""
    reply = _unwrap(value, str(schema.get("title", "")))
    if isinstance(reply, dict):
        reply = _without_nulls(reply, schema.get("properties", {}))
    return _fit(reply, schema, schema)


def read_number(value: Any) -> Any:
    """Return the number that a text holds and nothing else; any other value as it is."""
    return float(value) if isinstance(value, str) and _NUMBER.fullmatch(value.strip()) else value


def _unwrap(value: Any, name: str) -> Any:
    """Return the reply out of lists of one, the name of its schema, or the form of a tool call."""
    for _ in range(_MOST_WRAPPINGS):
        match value:
            case [dict() as inner]:
                value = inner
            case dict() if len(value) == 1 and _is_name(next(iter(value)), name):
                (value,) = value.values()
            case {"name": str() as called} if _is_name(called, name):
                value = next((value[key] for key in _ARGUMENTS if key in value), value)
            case _:
                break
    return value


def _without_nulls(reply: dict[str, Any], properties: Mapping[str, Schema]) -> dict[str, Any]:
    """Return the reply without flags that are null, for their defaults, and with empty lists for null.

    Null in a part of a reply stays: a fact without quotes is not one with an empty list of them.
    """
    kinds = {key: properties.get(key, {}).get("type") for key, item in reply.items() if item is None}
    lists: dict[str, Any] = {key: [] for key, kind in kinds.items() if kind == "array"}
    return {key: item for key, item in reply.items() if kinds.get(key) != "boolean"} | lists


def _is_name(key: object, name: str) -> bool:
    """Whether a key is the name of a reply in any spelling, with `reply` at its end or without."""
    letters, expected = (_OTHER_THAN_LETTERS.sub("", str(one)).casefold() for one in (key, name))
    return bool(letters) and letters in {expected, expected.removesuffix("reply")}


def _fit(value: Any, schema: Schema, root: Schema) -> Any:
    if "$ref" in schema:
        return _fit(value, root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    if "anyOf" in schema:
        for option in schema["anyOf"]:
            value = _fit(value, option, root)
        return value
    match schema.get("type"), value:
        case "object", dict():
            return _fit_object(value, schema.get("properties", {}), root)
        case "object", list():
            return _fit_bare_list(value, schema.get("properties", {}), root)
        case "array", list():
            return [_fit(item, schema["items"], root) for item in value]
        case "array", str() | int() | float() | dict():
            return [_fit(value, schema["items"], root)]
        case kind, (str() | float()) as scalar:
            return _fit_scalar(scalar, kind)
        case _:
            return value


def _fit_scalar(value: str | float, kind: object) -> Any:
    match kind, value:
        case "integer", float() if value.is_integer():
            return int(value)
        case "integer", str() if whole := _WHOLE.fullmatch(value.strip()):
            return int(whole[1])
        case "number", str():
            return read_number(value)
        case "boolean", str():
            return _FLAGS.get(value.strip().lower(), value)
        case _:
            return value


def _fit_object(value: dict[str, Any], properties: Mapping[str, Schema], root: Schema) -> dict[str, Any]:
    return {
        key: _fit(item, properties[key], root) if key in properties else item for key, item in value.items()
    }


def _fit_bare_list(value: list[Any], properties: Mapping[str, Schema], root: Schema) -> list[Any]:
    """Return a list given in place of an object with one list, with its items fitted."""
    match list(properties.values()):
        case [{"type": "array", "items": items}]:
            return [_fit(item, items, root) for item in value]
        case _:
            return value
