"""What reading any dataset takes: its JSON, plain or compressed, and turns without its names for them."""

from __future__ import annotations

import hashlib
import json
import re
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, Final

from pagestore import Turn
from tiermem.dialogue.packed import unpack
from tiermem.errors import InvalidInput

_NUMBERS: Final = re.compile(r"(\d+)")


def read_json(path: Path) -> tuple[Any, str]:
    """The parsed content of a `.json`, `.json.gz` or `.json.xz` file, and the SHA-256 of the JSON itself.

    The digest is taken after decompression, so the same data has the same digest however it is packed.
    """
    try:
        raw = unpack(path.read_bytes())
    except (OSError, InvalidInput) as error:
        raise InvalidInput(f"cannot read {str(path)!r}: {error}") from error
    try:
        return json.loads(raw), hashlib.sha256(raw).hexdigest()
    except ValueError as error:
        raise InvalidInput(f"{str(path)!r} is not JSON: {error}") from error


def read_folder(path: Path, name: str) -> tuple[list[tuple[str, Any]], str]:
    """The JSON files of a folder, or of a tar archive of it, whose path ends like `name`, and one digest.

    Sorted by their paths below the folder, numbers in them as numbers. The digest is over these paths and
    the content: the same data has the same digest however it is packed.
    """
    try:
        files = dict(_packed(path) if path.is_file() else _unpacked(path))
    except (OSError, tarfile.TarError) as error:
        raise InvalidInput(f"cannot read {str(path)!r}: {error}") from error
    wanted = sorted((one for one in files if PurePath(one).match(name)), key=_by_number)
    if not wanted:
        raise InvalidInput(f"{str(path)!r} holds no file {name!r}: name their folder, or its archive")
    digest = hashlib.sha256()
    for one in wanted:
        digest.update(f"{one}\n{hashlib.sha256(files[one]).hexdigest()}\n".encode())
    try:
        return [(one, json.loads(files[one])) for one in wanted], digest.hexdigest()
    except ValueError as error:
        raise InvalidInput(f"a file in {str(path)!r} is not JSON: {error}") from error


def _unpacked(path: Path) -> Iterator[tuple[str, bytes]]:
    for file in path.rglob("*.json"):
        yield file.relative_to(path).as_posix(), file.read_bytes()


def _packed(path: Path) -> Iterator[tuple[str, bytes]]:
    """The files of an archive, without the folder that all of them lie in."""
    with tarfile.open(path) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.name.endswith(".json") else None
            if content is not None:
                yield PurePath(*PurePath(member.name).parts[1:]).as_posix(), content.read()


def _by_number(path: str) -> list[tuple[int, str]]:
    return [(int(part) if part.isdigit() else -1, part) for part in _NUMBERS.split(path)]


def unnamed(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """The turns without the ids a file or its reader gave them: no name may reach a system."""
    return tuple(replace(turn, turn_id=None) for turn in turns)
