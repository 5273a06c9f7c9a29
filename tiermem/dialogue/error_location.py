"""Says where in a source a failure lies, level by level, and skips records that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from tiermem.errors import InvalidInput, NotDialogue


@dataclass(slots=True)
class _Skipping:
    """The records that were skipped, each with its place and the reason, and the place of the reader."""

    records: list[str]
    places: list[str] = field(default_factory=list)


_SKIPPING: ContextVar[_Skipping | None] = ContextVar("skipping", default=None)


@contextmanager
def skip_unreadable(records: list[str] | None) -> Iterator[None]:
    """Skip each `record` that fails inside and note it in `records`; with `None` it raises."""
    token = _SKIPPING.set(None if records is None else _Skipping(records))
    try:
        yield
    finally:
        _SKIPPING.reset(token)


@contextmanager
def place(where: str) -> Iterator[None]:
    """What fails inside becomes `NotDialogue` with `where` in front: "session_3, turn 5: no speaker"."""
    skipping = _SKIPPING.get()
    if skipping is not None:
        skipping.places.append(where)
    try:
        yield
    except NotDialogue as error:
        raise NotDialogue(f"{where}, {error}") from error
    except InvalidInput as error:
        raise NotDialogue(f"{where}: {error}") from error
    finally:
        if skipping is not None:
            skipping.places.pop()


@contextmanager
def record(where: str) -> Iterator[None]:
    """Read one record of a source: as `place`, but within `skip_unreadable` one that fails is skipped."""
    skipping = _SKIPPING.get()
    outside = () if skipping is None else tuple(skipping.places)
    try:
        with place(where):
            yield
    except NotDialogue as error:
        if skipping is None:
            raise
        skipping.records.append(", ".join((*outside, str(error))))


def listing(record: Mapping[str, Any], key: str) -> Sequence[Any]:
    """The list under `key`, an empty one when it is absent; `InvalidInput` when it is something else."""
    value = record.get(key) or []
    if not isinstance(value, list):
        raise InvalidInput(f"{key!r} is not a list")
    return value


def objects(record: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    """The objects of the list under `key`; see `listing`. What else is in it is left out."""
    return [one for one in listing(record, key) if isinstance(one, Mapping)]
