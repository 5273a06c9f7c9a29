"""A file of what was done case by case, so that a run goes on where an earlier one stopped.

Its first line says what it is about, each other one is a value. Those of a case, or of cases that are done at
once, are written together.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from eval.progress import Watcher
from eval.types import Case, CaseId, Dataset
from tiermem.errors import InvalidInput


class OfCase(Protocol):
    """A value of one question of a case: a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def case(self) -> CaseId:
        """The case."""
        ...


T = TypeVar("T", bound=OfCase)
Reads = Callable[[dict[str, Any]], T]


async def case_by_case(
    doing: str,
    dataset: Dataset,
    file: Path,
    *,
    about: Mapping[str, str],
    read: Reads[T],
    do: Callable[[Sequence[Case]], AsyncIterator[Sequence[T]]],
    watcher: Watcher,
) -> list[T]:
    """What `do` makes of every case of the dataset, in their order; of those in `file`, what it made before.

    `InvalidInput` where the file is about something else.
    """
    there = _there(file, about, read)
    done = {one.case for one in there}
    left = [case for case in dataset.cases() if case.id not in done]
    watcher.starts(f"{doing} {dataset.name}", sum(len(case.questions) for case in left))
    async for found in do(left):
        with file.open("a", encoding="utf-8") as out:
            out.writelines(json.dumps(asdict(one)) + "\n" for one in found)
        there += found
    return there


def read_values(file: Path, about: Mapping[str, str], read: Reads[T]) -> list[T]:
    """The values in a file; `InvalidInput` where it is about something else, or is damaged."""
    try:
        first, *lines = file.read_text(encoding="utf-8").splitlines()
        known = json.loads(first)
        others = [name for name, value in about.items() if known[name] != value]
        found = [] if others else [read(json.loads(line)) for line in lines]
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{str(file)!r} cannot be read ({error!r}): delete it") from error
    if others:
        raise InvalidInput(f"{str(file)!r} was made otherwise ({', '.join(others)}): delete it")
    return found


def _there(file: Path, about: Mapping[str, str], read: Reads[T]) -> list[T]:
    if file.exists():
        return read_values(file, about, read)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(about) + "\n")
    return []
