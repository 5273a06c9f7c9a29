"""Says where in a source a failure lies, level by level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tiermem.errors import InvalidInput, NotDialogue


@contextmanager
def place(where: str) -> Iterator[None]:
    """What fails inside becomes `NotDialogue` with `where` in front: "session_3, turn 5: no speaker"."""
    try:
        yield
    except NotDialogue as error:
        raise NotDialogue(f"{where}, {error}") from error
    except InvalidInput as error:
        raise NotDialogue(f"{where}: {error}") from error


def listing(record: Mapping[str, Any], key: str) -> Sequence[Any]:
    """The list under `key`, an empty one when it is absent; `InvalidInput` when it is something else."""
    value = record.get(key) or []
    if not isinstance(value, list):
        raise InvalidInput(f"{key!r} is not a list")
    return value
