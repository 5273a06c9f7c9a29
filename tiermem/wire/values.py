"""Any of our values as JSON, and back: field names are the keys, times are ISO 8601, nothing is left out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiermem.errors import shown

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails

_SHOWN = 3
"""Wrong fields that an error names."""
_JSON = frozenset((str, int, float, bool, type(None)))


def plain(value: object) -> Any:
    """`value` in dicts, lists, texts and numbers.

    Not by pydantic, which replaces lone surrogates in the keys of metadata.
    """
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

    Raises `ValueError`, which names up to three wrong fields, for what is no such value.
    """
    from pydantic import ValidationError

    try:
        return _adapter(hint).validate_python(value)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False)[:_SHOWN]
        raise ValueError("; ".join(map(_explain_field, wrong))) from error


def _explain_field(error: ErrorDetails) -> str:
    place = ".".join(map(str, error["loc"])) or "the value"
    given = "" if error["type"] == "missing" else f", not {shown(error['input'])}"
    return f"{place}: {error['msg']}{given}"


@cache
def _adapter(hint: Any) -> TypeAdapter[Any]:
    """Built once and late: importing pydantic is most of what importing TierMem would cost."""
    from pydantic import TypeAdapter

    return TypeAdapter(hint)
