"""What an operation takes and gives, as JSON Schema: made of the types of its signature."""

from __future__ import annotations

import collections.abc
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import reduce
from operator import or_
from typing import Any, Literal, NewType, Union, get_args, get_origin

from pydantic import TypeAdapter

from pagestore import Checkpoint, Turn
from tiermem.dialogue.interface import DialogueSession, ImportedTurn
from tiermem.model import AskStep, Budget, Evidence
from tiermem.wire.arguments import PLACED, STAYS
from tiermem.wire.operations import WireOperation

REFERENCES = "#/components/schemas/{model}"


_Wanted = list[tuple[str, Literal["validation", "serialization"], TypeAdapter[Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenTurn:
    """A turn with all that is known of it, unlike messages, which are objects as they are sent to a model."""

    turn: Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenImportedTurn:
    """A turn of a file: if its id is stored with other words, it is stored as a later version."""

    imported_turn: ImportedTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenTimes:
    """From one moment, or day, to another; one end may be left open."""

    since: str | None
    until: str | None


_WRITTEN: Mapping[Any, Any] = {
    Turn: GivenTurn | GivenImportedTurn,
    Checkpoint: Checkpoint,
    Evidence: Evidence,
    DialogueSession: DialogueSession,
    Budget: Budget,
    datetime: str | float,
    date: str,
    object: str | GivenTimes,
}
"""Types of arguments that are written in a form of their own. A moment may be seconds since 1970 too."""
_PLAIN = (str, int, float, bool, type(None))


def schemas(operations: Iterable[WireOperation]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """By operation the schema of its body and of its result, and the schemas that these refer to."""
    known = list(operations)
    results: _Wanted = [(one.name, "serialization", TypeAdapter(one.gives)) for one in known]
    taken: _Wanted = [
        (f"{one.name} {name}", "validation", TypeAdapter(hint))
        for one in known
        for name, hint in _argument_types(one).items()
    ]
    steps: _Wanted = [(AskStep.__name__, "serialization", TypeAdapter(AskStep))]
    made, shared = TypeAdapter.json_schemas([*results, *taken, *steps], ref_template=REFERENCES)
    given = {one.name: made[one.name, "serialization"] for one in known}
    bodies = {one.name: _body(one, made) for one in known}
    return bodies, given, shared.get("$defs", {})


def _body(operation: WireOperation, made: Mapping[Any, Any]) -> dict[str, Any]:
    names = _argument_types(operation)
    return {
        "type": "object",
        "properties": {name: made[f"{operation.name} {name}", "validation"] for name in names},
        "required": [name for name in names if operation.needs(name)],
        "additionalProperties": False,
    }


def _argument_types(operation: WireOperation) -> dict[str, Any]:
    """What of its arguments goes over HTTP, each with a type that JSON has."""
    return {
        name: _as_written(hint) for name, hint in operation.hints.items() if name not in (*STAYS, *PLACED)
    }


def _as_written(hint: Any) -> Any:
    """A type as it is written in JSON; `None` where nothing of it is."""
    if hint in _WRITTEN:
        return _WRITTEN[hint]
    origin, args = get_origin(hint), get_args(hint)
    if hint in _PLAIN or origin is Literal:
        return hint
    if origin in (Union, types.UnionType):
        kinds = [kind for kind in map(_as_written, args) if kind is not _Nothing]
        return reduce(or_, kinds)
    if origin is tuple:
        return GivenTimes
    if origin in (list, collections.abc.Iterable, collections.abc.Sequence):
        return list[_as_written(args[0])]  # type: ignore[misc]
    if origin is collections.abc.Mapping:
        return dict[str, args[1] if args[1] is Any else _as_written(args[1])]  # type: ignore[misc]
    if isinstance(hint, NewType):
        return _as_written(hint.__supertype__)
    return _Nothing


class _Nothing:
    """What has no form in JSON: an object of the caller's own."""
