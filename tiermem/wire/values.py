"""Any of our values as JSON, and back: field names are the keys, times are ISO 8601, nothing is left out."""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pagestore import Checkpoint
from pagestore.values import checkpoint_of

_JSON = frozenset((str, int, float, bool, type(None)))
_Read = Callable[[Any], Any]


def plain(value: object) -> Any:
    """`value` in dicts, lists, texts and numbers."""
    kind: Any = type(value)
    if kind in _JSON:
        return value
    if (names := _names(kind)) is not None:
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    return value


@cache
def _names(kind: Any) -> tuple[str, ...] | None:
    """The fields of a dataclass; `None` of any other type. Long lists ask for them often."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None


def as_json(value: object) -> bytes:
    """`value` as JSON in ASCII: lone surrogates, which pages keep, are escapes in it."""
    return json.dumps(plain(value), separators=(",", ":"), allow_nan=False).encode("ascii")


def read_as(hint: Any, value: Any) -> Any:
    """The value of this type that `plain` made `value` of. What is not known of it is passed over.

    Raises `AttributeError`, `KeyError`, `TypeError` or `ValueError` for what is no such value.
    """
    return _reader(hint)(value)


@cache
def _reader(hint: Any) -> _Read:
    """What reads values of a type."""
    origin, args = get_origin(hint), get_args(hint)
    if hasattr(hint, "__supertype__"):
        return _reader(hint.__supertype__)
    if origin is Annotated:
        return _reader(args[0])
    if origin in (Union, types.UnionType):
        return _choice(args)
    if origin is tuple and args[1:] != (...,):
        return _tuple_reader(args)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(args[1])
    if isinstance(origin, type) and args:
        return _several(list if origin is list else tuple, args[0])
    return _READERS.get(hint) or (_fields(hint) if is_dataclass(hint) else _as_it_is)


def _as_it_is(value: Any) -> Any:
    return value


_READERS: dict[Any, _Read] = {
    datetime: datetime.fromisoformat,
    date: date.fromisoformat,
    Path: Path,
    Checkpoint: checkpoint_of,
}


def _several(kind: Callable[[Any], Any], item: Any) -> _Read:
    def read(value: Any) -> Any:
        each = _reader(item)
        return kind(each(one) for one in value)

    return read


def _tuple_reader(items: tuple[Any, ...]) -> _Read:
    def read(value: Any) -> Any:
        return tuple(_reader(item)(one) for item, one in zip(items, value, strict=True))

    return read


def _mapping(item: Any) -> _Read:
    def read(value: Any) -> Any:
        return {key: _reader(item)(one) for key, one in value.items()}

    return read


def _fields(kind: Any) -> _Read:
    """A dataclass, whose fields may be of its own kind: they are looked at when one is read."""

    @cache
    def readers() -> list[tuple[str, _Read, bool]]:
        hints = get_type_hints(kind, include_extras=True)
        return [
            (field.name, _reader(hints[field.name]), _has_default(field))
            for field in fields(kind)
            if field.init
        ]

    def read(value: Any) -> Any:
        found = {
            name: each(value[name]) for name, each, optional in readers() if name in value or not optional
        }
        return kind(**found)

    return read


def _has_default(field: Any) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _choice(kinds: tuple[Any, ...]) -> _Read:
    """One of several types: of dataclasses the one whose fields these are."""
    known: list[Any] = [kind for kind in kinds if is_dataclass(kind)]
    named = {kind: {field.name for field in fields(kind)} for kind in known}
    moment = next((kind for kind in kinds if kind in (datetime, date)), None)
    others = [kind for kind in kinds if get_origin(kind) is not None]

    def read(value: Any) -> Any:
        if isinstance(value, Mapping) and known:
            return _reader(min(known, key=lambda kind: len(named[kind] ^ value.keys())))(value)
        if isinstance(value, str) and moment is not None and str not in kinds:
            return _reader(moment)(value)
        if isinstance(value, list | Mapping) and others:
            return _reader(others[0])(value)
        return value

    return read
