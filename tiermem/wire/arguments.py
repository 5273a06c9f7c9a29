"""What a method is given, as JSON and back. What a value means is checked where the memory is.

JSON has fewer kinds than Python. Two things are therefore written in a form of their own: a `Turn` is
`{"turn": {…}}`, one of an importer `{"imported_turn": {…}}`, unlike messages, which are objects as they are;
a pair of a timeframe is `{"since": …, "until": …}`, unlike lists. A checkpoint, evidence and the session of a
file are objects of their fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import Any, get_args

from pagestore import Checkpoint, Turn
from pagestore.values import checkpoint_of
from tiermem.dialogue.interface import DialogueSession, ImportedTurn
from tiermem.dialogue.metadata import metadata_in
from tiermem.errors import InvalidInput, bind_arguments, not_one_of, shown
from tiermem.model import Answer, Budget, Evidence
from tiermem.wire.operations import WireOperation
from tiermem.wire.values import plain, read_as

STAYS = ("progress", "on_step", "into", "to", "replace")
"""What is for the caller's own process alone: callbacks, workspaces, files."""

PLACED = ("all_spaces",)
"""What is made where the store lies, and cannot be asked for from elsewhere."""


def given_as_json(
    operation: WireOperation, args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> dict[str, Any]:
    """What a method was given, by name, as JSON; what it takes by default is left out.

    Raises `TypeError` as the method itself does, `InvalidInput` for what cannot go over HTTP.
    """
    given = bind_arguments(operation.name, operation.signature, args, keywords).arguments
    if given.get("into") is not None:
        raise InvalidInput("into: a workspace needs a memory in this process, and this one is over HTTP")
    _no_place(given)
    return {name: _written(name, value) for name, value in given.items() if name not in STAYS}


def _written(name: str, value: Any) -> Any:
    if name == "timeframe":
        return _timeframe(value)
    if name == "as_of" and isinstance(value, datetime) and value.tzinfo is None:
        return value.astimezone().isoformat()  # meant on this machine's clock
    if isinstance(value, Answer):
        return value.id
    return _json(name, getattr(value, "sources", value) if name == "sources" else value)


def _timeframe(value: Any) -> Any:
    if isinstance(value, list):
        return [_timeframe(one) for one in value]
    if isinstance(value, tuple) and len(value) == 2:
        return {"since": _json("timeframe", value[0]), "until": _json("timeframe", value[1])}
    return _json("timeframe", value.date() if isinstance(value, datetime) else value)


def _json(name: str, value: Any) -> Any:
    """A value as JSON. What is known of turns must be JSON already, as where they are stored."""
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        value = dump(exclude_none=True)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Turn):
        form = "imported_turn" if isinstance(value, ImportedTurn) else "turn"
        return {form: plain(_with_plain_metadata(name, value))}
    if isinstance(value, DialogueSession):
        return plain(replace(value, turns=tuple(_with_plain_metadata(name, turn) for turn in value.turns)))
    if isinstance(value, Evidence | Checkpoint | Budget):
        return plain(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        metadata_in(value if name == "metadata" else value.get("metadata"), f"{name}: metadata")
        return {key: one.isoformat() if isinstance(one, date) else one for key, one in value.items()}
    if isinstance(value, bytes | bytearray) or not isinstance(value, Iterable):
        raise InvalidInput(f"{name}: {shown(value)} cannot go over HTTP: give texts, numbers, values of ours")
    each = enumerate(value, start=1)
    return [_json(f"turn {number}" if name == "turns" else name, one) for number, one in each]


def _with_plain_metadata(name: str, turn: Turn) -> Turn:
    """The turn with metadata that is JSON; raises `InvalidInput` if it is none."""
    return replace(turn, metadata=metadata_in(turn.metadata, f"{name}: metadata"))


def taken_from_json(operation: WireOperation, given: object) -> dict[str, Any]:
    """The keywords that JSON gives a method; `InvalidInput` where it names others, or lacks some."""
    if not isinstance(given, dict):
        raise InvalidInput(f"the body must be a JSON object of what {operation.name} takes")
    taken = {name: hint for name, hint in operation.hints.items() if name not in STAYS}
    for name in given.keys() - taken.keys():
        raise InvalidInput(f"{operation.name}: {not_one_of(name, taken, or_='nothing else')}")
    for name in taken.keys() - given.keys():
        if operation.needs(name):
            raise InvalidInput(f"{operation.name} needs {name!r}")
    if operation.several in given and not isinstance(given[operation.several], list):
        raise InvalidInput(f"{operation.several} must be a list")
    _no_place(given)
    try:
        return {name: _read(taken[name], value) for name, value in given.items()}
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"{operation.name}: what was given cannot be read: {error}") from error


def _no_place(given: Mapping[str, Any]) -> None:
    """Raise `InvalidInput` for what is made where the store lies, and goes into no one file."""
    if given.get("all_spaces") not in (None, False):
        raise InvalidInput("all_spaces: a store is backed up where it lies, by `tiermem backup`")


def _read(hint: Any, value: Any) -> Any:
    """An argument as the method takes it; what needs no other form is left to the method's own checks."""
    kinds = _kinds(hint)
    if isinstance(value, list):
        return [_read(hint, one) for one in value]
    if not isinstance(value, dict):
        return value
    if Turn in kinds and value.keys() == {"turn"}:
        return read_as(Turn, value["turn"])
    if Turn in kinds and value.keys() == {"imported_turn"}:
        return read_as(ImportedTurn, value["imported_turn"])
    if DialogueSession in kinds:
        return read_as(DialogueSession, value)
    if Checkpoint in kinds:
        return checkpoint_of(value)
    if Evidence in kinds:
        return read_as(Evidence, value)
    if date in kinds and value.keys() == {"since", "until"}:
        return value["since"], value["until"]
    return value


def _kinds(hint: Any) -> frozenset[Any]:
    """The types that a hint is made of."""
    inner = (one for one in get_args(hint) if not isinstance(one, str))
    return frozenset((hint,)).union(*map(_kinds, inner))
